#include "sim/streams_load.h"

#include <fmt/format.h>

namespace tidemark::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kStreamers = "streamers";
/// Subtopologies: the one counts what it reads and writes it on, the other reads that.
const std::string kCounts = "0";
const std::string kTotals = "1";
/// A process for each third of the faults, one for after them, and one that a static member comes back as.
constexpr size_t kStreamerLives = 5;

std::vector<client::StreamsSubtopology> topologyOver(const std::string& topic, int copies) {
  const auto internal = [copies](std::string name, std::vector<std::pair<std::string, std::string>> configs) {
    return client::StreamsTopic{
        .name = std::move(name), .replicationFactor = static_cast<int16_t>(copies), .configs = std::move(configs)};
  };
  const std::string between = kStreamers + "-by-key-repartition";
  return {{.id = kCounts,
           .sourceTopics = {topic},
           .changelogs = {internal(kStreamers + "-counts-changelog", {{"cleanup.policy", "compact"}})},
           .repartitionSources = {},
           .repartitionSinks = {between}},
          {.id = kTotals,
           .sourceTopics = {},
           .changelogs = {},
           .repartitionSources = {internal(between, {{"cleanup.policy", "delete"}, {"retention.ms", "-1"}})},
           .repartitionSinks = {}}};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> StreamsPlan::settings() const {
  if (!any()) return {};
  return {{"group.streams.min.session.timeout.ms", "3000"},
          {"group.streams.session.timeout.ms", "3000"},
          {"group.streams.min.heartbeat.interval.ms", "500"},
          {"group.streams.heartbeat.interval.ms", "500"},
          {"group.streams.initial.rebalance.delay.ms", std::to_string(initialDelay.count())},
          {"group.streams.assignment.interval.ms", std::to_string(assignmentInterval.count())},
          {"group.streams.num.standby.replicas", std::to_string(standbys)}};
}

std::vector<std::vector<std::string>> StreamsPlan::clients() const {
  std::vector<std::vector<std::string>> names;
  for (int i = 1; i <= members; ++i) {
    auto& own = names.emplace_back();
    for (size_t life = 0; life < kStreamerLives; ++life) own.push_back(fmt::format("streamer-{}-{}", i, life));
  }
  return names;
}

StreamsPlan drawStreams(uint64_t seed) {
  platform::Generator dice(platform::mix(seed, "streams"));
  StreamsPlan plan;
  if (!dice.chance(33)) return plan;
  plan.members = static_cast<int>(1 + dice.below(3));
  plan.standbys = dice.chance(60) ? 1 : 0;
  plan.hasStatic = dice.chance(40);
  if (dice.chance(50)) plan.initialDelay = milliseconds(200 + dice.below(2000));
  if (dice.chance(50)) plan.assignmentInterval = milliseconds(200 + dice.below(1500));
  return plan;
}

// --- StreamsApplication
// -----------------------------------------------------------------------------------------------

StreamsApplication::StreamsApplication(platform::World& world, const std::string& name,
                                       const std::vector<platform::Endpoint>& bootstrap, Options options,
                                       StreamsHistory& history)
    : Application(world, name, bootstrap),
      options_(std::move(options)),
      choices_(platform::mix(options_.seed, name)),
      history_(history) {
  executor_->post([this] {
    admin_ = std::make_unique<client::GroupAdmin>(*client_, seconds(15));
    start();
    commit();
  });
}

StreamsApplication::~StreamsApplication() {
  end();
  if (!left_) history_.gone(identity());
}

void StreamsApplication::start() {
  closing_.cancel();
  committing_ = false;
  member_ = std::make_unique<client::StreamsMember>(
      *client_,
      client::StreamsOptions{.groupId = options_.group,
                             .instanceId = options_.instanceId,
                             .topology = topologyOver(options_.topic, options_.copies),
                             .rebalanceTimeout = seconds(10)},
      client::StreamsMember::Handlers{
          .onTasks = [this](int32_t epoch, const client::StreamsTasks& tasks) { given(epoch, tasks); },
          .onRevoked =
              [this](const client::StreamsTasks&, platform::Task closed) {
                const auto takes =
                    choices_.chance(50) ? platform::Duration{} : choices_.between(milliseconds(10), milliseconds(1500));
                closing_ = executor_->schedule(takes, std::move(closed));
              },
          .onError =
              [this](const Error& error) {
                if (error.code != ErrorCode::FencedInstanceId || options_.instanceId.empty()) {
                  error_ = error.message;
                  return;
                }
                // A request of the process before came late: as whoever looks after a process would.
                executor_->post([this] {
                  given(0, {});
                  if (!left_) start();
                });
              }});
}

void StreamsApplication::given(int32_t epoch, const client::StreamsTasks& tasks) {
  // Whoever has its place may have come already.
  if (!left_) history_.owns(identity(), epoch, tasks);
  std::erase_if(positions_, [&](const auto& entry) { return !tasks.active.contains(entry.first); });
  for (const client::StreamsTask& task : tasks.active) {
    if (task.subtopology != kCounts) continue;
    if (positions_.try_emplace(task, history_.offset(task)).second) inDoubt_.erase(task);
  }
}

void StreamsApplication::commit() {
  // One after the other: of two on their way the older may be the one that stays. So it may be with one that had no
  // answer: until the task is given anew nothing is certain.
  if (!positions_.empty() && !committing_) {
    committing_ = true;
    std::map<TopicPartition, client::LogPosition> offsets;
    std::map<client::StreamsTask, StreamsHistory::Commit> sent;
    for (auto& [task, position] : positions_) {
      position = position.next();
      offsets.emplace(TopicPartition{options_.topic, PartitionIndex(task.partition)}, position);
      sent.emplace(task, history_.commits(identity(), member_->epoch(), task, position));
    }
    member_->commit(offsets, [this, sent = std::move(sent)](const Result<void>& result) {
      committing_ = false;
      for (const auto& [task, asked] : sent) {
        if (!result) inDoubt_.insert(task);
        if (result) history_.committed(identity(), task, asked, !inDoubt_.contains(task) && positions_.contains(task));
      }
    });
  }
  timer_ = executor_->schedule(milliseconds(700), [this] { commit(); });
}

void StreamsApplication::leave() {
  left_ = true;
  history_.gone(identity());
  executor_->post([this] {
    timer_.cancel();
    closing_.cancel();
    if (member_) member_->leave([] {});
  });
}

void StreamsApplication::askForOffsets() {
  executor_->post([this] {
    knownBefore_ = history_.offsets();
    admin_->committedOffsets(options_.group, client::GroupType::Streams,
                             [this](const Result<std::vector<client::CommittedOffset>>& committed) {
                               if (!committed) {
                                 asking_ = executor_->schedule(milliseconds(500), [this] { askForOffsets(); });
                                 return;
                               }
                               offsets_.emplace();
                               for (const client::CommittedOffset& each : *committed)
                                 (*offsets_)[{kCounts, each.partition.partition.value()}] = each.offset;
                             });
  });
}

// --- StreamsLoad
// ------------------------------------------------------------------------------------------------------

StreamsLoad::StreamsLoad(Setup setup, StreamsPlan plan)
    : setup_(std::move(setup)),
      plan_(plan),
      dice_(platform::mix(setup_.seed, "streams members")),
      history_(setup_.judge, setup_.tally, kStreamers,
               {.topology = {{.subtopology = kCounts, .tasks = setup_.partitions, .isStateful = true},
                             {.subtopology = kTotals, .tasks = setup_.partitions, .isStateful = false}},
                .standbys = plan.standbys}),
      members_(static_cast<size_t>(plan.members)),
      lives_(static_cast<size_t>(plan.members)) {}

void StreamsLoad::come(size_t place) {
  const size_t life = lives_[place]++;
  members_[place] = std::make_unique<StreamsApplication>(
      setup_.world, plan_.clients()[place].at(life), bootstrap_,
      StreamsApplication::Options{.topic = setup_.topic,
                                  .copies = setup_.copies,
                                  .group = kStreamers,
                                  .instanceId = plan_.hasStatic && place == 0 ? kStreamers + "-static" : "",
                                  .seed = setup_.seed},
      history_);
}

void StreamsLoad::begin(const std::vector<platform::Endpoint>& bootstrap) {
  bootstrap_ = bootstrap;
  for (size_t place = 0; place < members_.size(); ++place) come(place);
}

void StreamsLoad::third(int number) {
  for (size_t place = 0; place < members_.size(); ++place) {
    std::unique_ptr<StreamsApplication>& member = members_[place];
    if (!member) {
      come(place);
      continue;
    }
    const uint64_t dice = dice_.below(100);
    if (dice >= 70) continue;
    if (dice < 35) {
      setup_.tally.count(plan_.hasStatic && place == 0 ? "streams member leaves for a while" : "streams member leaves");
      member->leave();
      leaving_.push_back(std::move(member));
    } else {
      setup_.tally.count("streams member dies");
    }
    member.reset();
    if (number == 3 || dice_.chance(50)) come(place);
  }
}

void StreamsLoad::on(const Seen& seen) {
  const auto* changed = as<events::GroupStateChanged>(seen);
  if (changed == nullptr || changed->group.view() != kStreamers) return;
  if (changed->to == events::GroupState::Empty && setup_.offsetsExpire) history_.emptied();
  // Without members and offsets it needs no time for that.
  if (changed->to == events::GroupState::Dead) history_.removed();
}

std::string StreamsLoad::whatIsNotWhole() const {
  if (!plan_.any()) return {};
  std::vector<std::string> members;
  for (const auto& member : members_) {
    if (!member->error().empty()) return fmt::format("L4: {}: {}", member->name(), member->error());
    members.push_back(member->identity());
  }
  return history_.whatIsNotWhole(members);
}

void StreamsLoad::askForOffsets() {
  if (plan_.any()) members_.front()->askForOffsets();
}

std::string StreamsLoad::whatIsNotTold() const {
  if (!plan_.any() || members_.front()->offsets()) return {};
  return fmt::format("the offsets of {} are not to be had", kStreamers);
}

void StreamsLoad::judgeAtRest() const {
  if (plan_.any()) history_.atRest(members_.front()->knownBefore(), *members_.front()->offsets());
}

}  // namespace tidemark::sim
