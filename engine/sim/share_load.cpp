#include "sim/share_load.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace tidemark::sim {
namespace {

using client::AcknowledgeType;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kSharers = "sharers";
/// `group.share.record.lock.duration.ms`
constexpr milliseconds kLockDuration = seconds(4);
/// A clock goes twice as fast at most (seam_faults.cpp).
constexpr milliseconds kLockedFor = kLockDuration / 2;
/// A process for each third of the faults, and one for after them.
constexpr size_t kLives = 4;
/// So long after the last fault no lock is left and no write is waited for: what is not done by then nobody does.
constexpr platform::Duration kUntilExcused = seconds(25);

}  // namespace

std::vector<std::pair<std::string, std::string>> SharePlan::settings(int copies, int minInsyncReplicas) const {
  if (!any()) return {};
  std::vector<std::pair<std::string, std::string>> settings = {
      {"share.coordinator.state.topic.num.partitions", "2"},
      {"share.coordinator.state.topic.replication.factor", std::to_string(copies)},
      {"share.coordinator.state.topic.min.isr", std::to_string(minInsyncReplicas)},
      {"group.share.min.session.timeout.ms", "3000"},
      {"group.share.session.timeout.ms", "3000"},
      {"group.share.min.heartbeat.interval.ms", "500"},
      {"group.share.heartbeat.interval.ms", "500"},
      {"group.share.min.record.lock.duration.ms", "1000"},
      {"group.share.record.lock.duration.ms", std::to_string(kLockDuration.count())},
      {"group.share.initialize.retry.interval.ms", "2000"},
      {"group.share.delivery.count.limit", std::to_string(deliveryCountLimit)}};
  if (snapshotsOften) {
    settings.emplace_back("share.coordinator.snapshot.update.records.per.snapshot", "10");
    settings.emplace_back("share.coordinator.cold.partition.snapshot.interval.ms", "3000");
  }
  return settings;
}

std::vector<std::vector<std::string>> SharePlan::clients() const {
  std::vector<std::vector<std::string>> names;
  for (int i = 1; i <= members; ++i) {
    auto& own = names.emplace_back();
    for (size_t life = 0; life < kLives; ++life) own.push_back(fmt::format("sharer-{}-{}", i, life));
  }
  return names;
}

SharePlan drawShares(uint64_t seed) {
  platform::Generator dice(platform::mix(seed, "shares"));
  SharePlan plan;
  if (!dice.chance(33)) return plan;
  plan.members = static_cast<int>(1 + dice.below(3));
  plan.deliveryCountLimit = static_cast<int16_t>(3 + dice.below(3));
  plan.snapshotsOften = dice.chance(50);
  return plan;
}

// --- ShareMember -----------------------------------------------------------------------------------------------------

ShareMember::ShareMember(platform::World& world, const std::string& name,
                         const std::vector<platform::Endpoint>& bootstrap, Options options, Journal& journal,
                         ShareHistory& history)
    : Application(world, name, bootstrap),
      options_(std::move(options)),
      choices_(platform::mix(options_.seed, name)),
      journal_(journal),
      history_(history) {
  executor_->post([this] {
    if (!options_.configures) return start();
    admin_ = std::make_unique<client::Admin>(*client_);
    admin_->alterConfigs(client::ConfigResourceType::Group, options_.group,
                         {{.name = "share.auto.offset.reset", .value = "earliest"}}, [this](const Result<void>& done) {
                           if (!done) error_ = done.error().message;
                           // Until every broker has heard of it.
                           starting_ = executor_->schedule(seconds(1), [this] { start(); });
                         });
  });
}

ShareMember::~ShareMember() {
  end();
  history_.gone(name_, now());
}

void ShareMember::start() {
  consumer_ = std::make_unique<client::ShareConsumer>(
      *client_, client::ShareOptions{.groupId = options_.group, .topics = {options_.topic}},
      client::ShareConsumer::Handlers{
          .onRecord = [this](const client::AcquiredRecord& record) { given(record); },
          .onAcknowledged =
              [this](const client::Acknowledged& acknowledged) { history_.told(name_, acknowledged, now()); },
          .onAnswer = [this](const client::ShareConsumer::Answer& answer) { history_.answered(name_, answer, now()); },
          .onPassedOn = [this](const client::ShareConsumer::PassedOn& passed) { history_.passedOn(passed); },
          .onError = [this](const Error& error) { error_ = error.message; }});
  tick();
}

void ShareMember::given(const client::AcquiredRecord& record) {
  const client::Delivery& delivery = record.delivery;
  journal_.consumed(delivery.where, delivery.offset,
                    record.record.value ? asText(*record.record.value) : std::string_view());
  history_.given(name_, delivery, now());
  if (calm_) return say(delivery, AcknowledgeType::Accept);
  const uint64_t dice = choices_.below(1000);
  if (dice < 700) {
    say(delivery, AcknowledgeType::Accept);
  } else if (dice < 890) {
    waiting_.emplace(now() + choices_.between(milliseconds(50), milliseconds(1500)), delivery);
  } else if (dice < 893) {
    // Its lock may have run out by then.
    waiting_.emplace(now() + choices_.between(kLockDuration, kLockDuration * 2), delivery);
  } else if (dice < 970) {
    say(delivery, AcknowledgeType::Release);
  } else if (dice < 985) {
    say(delivery, AcknowledgeType::Reject);
  }
}

void ShareMember::say(const client::Delivery& delivery, AcknowledgeType type) {
  history_.said(name_, delivery, type, now());
  consumer_->acknowledge(delivery, type);
}

void ShareMember::tick() {
  while (!waiting_.empty() && waiting_.begin()->first <= now()) {
    const client::Delivery delivery = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    say(delivery, AcknowledgeType::Accept);
  }
  if (choices_.chance(30)) consumer_->commit();
  timer_ = executor_->schedule(milliseconds(400), [this] { tick(); });
}

void ShareMember::leave() {
  executor_->post([this] {
    timer_.cancel();
    starting_.cancel();
    if (consumer_) consumer_->leave([] {});
  });
}

// --- ShareLoad -------------------------------------------------------------------------------------------------------

ShareLoad::ShareLoad(Setup setup, SharePlan plan)
    : setup_(std::move(setup)),
      plan_(plan),
      dice_(platform::mix(setup_.seed, "share members")),
      history_(setup_.judge, setup_.tally, kSharers,
               {.deliveryCountLimit = plan.deliveryCountLimit, .lockedFor = kLockedFor}),
      members_(static_cast<size_t>(plan.members)),
      lives_(static_cast<size_t>(plan.members)) {}

void ShareLoad::come(size_t place) {
  const size_t life = lives_[place]++;
  members_[place] = std::make_unique<ShareMember>(
      setup_.world, plan_.clients()[place].at(life), bootstrap_,
      ShareMember::Options{.topic = setup_.topic, .group = kSharers, .configures = life == 0, .seed = setup_.seed},
      setup_.journal, history_);
}

void ShareLoad::begin(const std::vector<platform::Endpoint>& bootstrap) {
  bootstrap_ = bootstrap;
  for (size_t place = 0; place < members_.size(); ++place) come(place);
}

void ShareLoad::third(int number) {
  for (size_t place = 0; place < members_.size(); ++place) {
    std::unique_ptr<ShareMember>& member = members_[place];
    if (!member) {
      come(place);
      continue;
    }
    const uint64_t dice = dice_.below(100);
    if (dice >= 60) continue;
    if (dice < 20) {
      setup_.tally.count("share member leaves");
      member->leave();
      leaving_.push_back(std::move(member));
    } else {
      setup_.tally.count("share member dies");
    }
    member.reset();
    if (number == 3 || dice_.chance(50)) come(place);
  }
}

void ShareLoad::calmDown() {
  calmSince_ = setup_.world.now();
  for (const auto& member : members_) member->calmDown();
}

void ShareLoad::on(const Seen& seen) {
  if (!plan_.any()) return;
  if (const auto* became = as<events::BecameLeader>(seen)) history_.moved(seen.partition, seen.broker, became->epoch);
}

std::string ShareLoad::whatIsNotWhole() const {
  std::set<TopicPartition> assigned;
  for (const auto& member : members_) {
    if (!member->error().empty()) return fmt::format("L4: {}: {}", member->name(), member->error());
    if (member->epoch() <= 0) return fmt::format("L4: {} is no member of {}", member->name(), kSharers);
    for (const TopicPartition& partition : member->assignment()) assigned.insert(partition);
  }
  if (!plan_.any() || assigned.size() == static_cast<size_t>(setup_.partitions)) return {};
  return fmt::format("L4: in {} {} of {} partitions are assigned", kSharers, assigned.size(), setup_.partitions);
}

std::string ShareLoad::whatIsNotDone(const Reader::Records& records) {
  if (!plan_.any()) return {};
  return history_.whatIsNotDone(records, setup_.topic, setup_.world.now() - calmSince_ > kUntilExcused);
}

}  // namespace tidemark::sim
