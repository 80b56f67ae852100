#include "sim/group_load.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tidemark::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kReaders = "readers";
const std::string kWatchers = "watchers";

}  // namespace

std::vector<std::string> GroupPlan::clients() const {
  if (!hasWatchers) return {};
  return {"watcher-1", "watcher-2"};
}

GroupPlan drawGroups(uint64_t seed) {
  platform::Generator dice(platform::mix(seed, "groups"));
  GroupPlan plan;
  plan.hasWatchers = dice.chance(50);
  plan.hasStatic = dice.chance(40);
  plan.politeGuests = dice.chance(50);
  plan.hasStaticReader = dice.chance(40);
  plan.offsetsExpire = dice.chance(30);
  return plan;
}

// --- Member
// -----------------------------------------------------------------------------------------------------------

Member::Member(platform::World& world, const std::string& name, const std::vector<platform::Endpoint>& bootstrap,
               Options options, const std::string& group, Judge& judge, Tally& tally, Journal& journal,
               GroupHistory& history)
    : Application(world, name, bootstrap),
      options_(std::move(options)),
      group_(group),
      judge_(judge),
      tally_(tally),
      journal_(journal),
      history_(history) {
  executor_->post([this] {
    admin_ = std::make_unique<client::GroupAdmin>(*client_, seconds(15));
    start();
    commit();
  });
}

Member::~Member() {
  end();
}

void Member::start() {
  const auto onRecord = [this](const client::ConsumedRecord& record) { consumed(record); };
  const auto onAssignment = [this](int32_t generation, const std::vector<TopicPartition>& partitions) {
    assigned(generation, partitions);
  };
  const auto onError = [this](const Error& error) {
    if (error.code == ErrorCode::FencedInstanceId && !options_.instanceId.empty())
      return executor_->post([this] { startAgain(); });
    error_ = error.message;
    if (error.code == ErrorCode::IllegalGeneration) judge_.breach("G6", fmt::format("{}: {}", name_, error.message));
  };
  if (options_.reconciles) {
    reconciling_ =
        std::make_unique<client::ReconcilingConsumer>(*client_,
                                                      client::ReconcilingOptions{.groupId = group_,
                                                                                 .instanceId = options_.instanceId,
                                                                                 .topics = {options_.topic},
                                                                                 .rebalanceTimeout = seconds(10)},
                                                      onRecord, onAssignment, onError);
    return;
  }
  client::GroupOptions options;
  options.groupId = group_;
  options.instanceId = options_.instanceId;
  options.topics = {options_.topic};
  options.sessionTimeout = seconds(6);
  options.rebalanceTimeout = seconds(10);
  options.heartbeatInterval = seconds(1);
  options.autoCommitInterval = platform::Duration(0);
  classic_ = std::make_unique<client::GroupConsumer>(*client_, std::move(options), onRecord, onAssignment, onError);
}

void Member::startAgain() {
  tally_.count("static member told that it is fenced");
  // What it has asked for may still come to pass, but not after it is a member again.
  committing_ = false;
  owned_.clear();
  positions_.clear();
  begins_.clear();
  if (reconciling_) history_.owns(identity(), 0, {});
  classic_.reset();
  reconciling_.reset();
  start();
}

int32_t Member::generation() const {
  if (reconciling_) return reconciling_->epoch() > 0 ? reconciling_->epoch() : -1;
  return classic_ ? classic_->generation() : -1;
}

std::vector<TopicPartition> Member::assignment() const {
  if (reconciling_) return reconciling_->assignment();
  return classic_ ? classic_->assignment() : std::vector<TopicPartition>();
}

void Member::leave() {
  executor_->post([this] {
    timer_.cancel();
    if (reconciling_) return reconciling_->leave([] {});
    if (classic_) classic_->leave([] {});
  });
}

void Member::askForOffsets() {
  executor_->post([this] {
    knownBefore_ = history_.offsets();
    admin_->committedOffsets(group_, client::GroupType::Classic,
                             [this](const Result<std::vector<client::CommittedOffset>>& committed) {
                               if (!committed) {
                                 asking_ = executor_->schedule(milliseconds(500), [this] { askForOffsets(); });
                                 return;
                               }
                               offsets_.emplace();
                               for (const client::CommittedOffset& each : *committed)
                                 (*offsets_)[each.partition] = each.offset;
                             });
  });
}

void Member::consumed(const client::ConsumedRecord& record) {
  const Offset offset = record.record.offset;
  journal_.consumed(record.where, offset, record.record.value ? asText(*record.record.value) : std::string_view());
  if (const auto begins = begins_.extract(record.where)) history_.begins(name_, record.where, offset, begins.mapped());
  positions_[record.where] = offset.next();
}

void Member::assigned(int32_t generation, const std::vector<TopicPartition>& partitions) {
  const std::set<TopicPartition> now(partitions.begin(), partitions.end());
  if (options_.reconciles) {
    history_.owns(identity(), generation, partitions);
  } else {
    history_.assigned(identity(), generation, partitions);
    // Each generation gives everything anew.
    owned_.clear();
    committing_ = false;
  }
  std::erase_if(positions_,
                [&](const auto& entry) { return !owned_.contains(entry.first) || !now.contains(entry.first); });
  for (const TopicPartition& each : now) {
    if (owned_.contains(each)) continue;
    begins_[each] = history_.offset(each);
    inDoubt_.erase(each);
  }
  owned_ = now;
  std::erase_if(begins_, [&](const auto& entry) { return !now.contains(entry.first); });
}

void Member::commit() {
  // One after the other: of two on their way the older may be the one that stays. So it may be with one that had no
  // answer: until the partition is given anew nothing is certain.
  if (!positions_.empty() && !committing_) {
    committing_ = true;
    std::map<TopicPartition, bool> owner;
    for (const auto& [partition, offset] : positions_)
      owner[partition] = history_.isOwner(identity(), generation(), partition);
    auto answered = [this, sent = positions_, owner = std::move(owner), generation = generation(),
                     emptied = history_.timesEmptied()](const Result<void>& result) {
      // In another generation of a classic group the next may be under way.
      if (options_.reconciles || generation == this->generation()) committing_ = false;
      for (const auto& [partition, offset] : sent) {
        if (!result) inDoubt_.insert(partition);
        if (result)
          history_.committed(
              name_, partition, offset, owner.at(partition),
              !inDoubt_.contains(partition) && owned_.contains(partition) && emptied == history_.timesEmptied());
      }
    };
    if (reconciling_) {
      reconciling_->commit(std::move(answered));
    } else {
      classic_->commit(std::move(answered));
    }
  }
  timer_ = executor_->schedule(milliseconds(700), [this] { commit(); });
}

// --- GroupLoad
// --------------------------------------------------------------------------------------------------------

GroupLoad::GroupLoad(Setup setup, GroupPlan plan) : setup_(std::move(setup)), plan_(plan) {
  const auto add = [&](const std::string& name, bool reconciles) {
    groups_.push_back(std::make_unique<Group>(Group{.name = name,
                                                    .reconciles = reconciles,
                                                    .history = GroupHistory(setup_.judge, name),
                                                    .members = {},
                                                    .guest = {},
                                                    .isStatic = {}}));
  };
  add(kReaders, false);
  if (plan_.hasWatchers) add(kWatchers, true);
}

std::unique_ptr<Member> GroupLoad::member(Group& group, const std::string& name, const std::string& instanceId) {
  return std::make_unique<Member>(
      setup_.world, name, bootstrap_,
      Member::Options{.topic = setup_.topic, .reconciles = group.reconciles, .instanceId = instanceId}, group.name,
      setup_.judge, setup_.tally, setup_.journal, group.history);
}

void GroupLoad::begin(const std::vector<platform::Endpoint>& bootstrap) {
  bootstrap_ = bootstrap;
  for (const auto& group : groups_) {
    for (int i = 1; i <= 2; ++i)
      group->members.push_back(member(*group, fmt::format("{}-{}", group->reconciles ? "watcher" : "member", i)));
    if (group->reconciles ? plan_.hasStatic : plan_.hasStaticReader)
      group->isStatic = member(*group, group->name + "-static-0", group->name + "-static");
  }
}

void GroupLoad::third(int number) {
  for (const auto& group : groups_) {
    if (group->guest) {
      setup_.tally.count(plan_.politeGuests ? "member leaves" : "member dies");
      if (plan_.politeGuests) {
        group->guest->leave();
        leaving_.push_back(std::move(group->guest));
      }
      group->guest.reset();
    }
    if (number < 3)
      group->guest = member(*group, fmt::format("{}-{}", group->reconciles ? "visitor" : "guest", number));
    if (group->isStatic && number == 2) {
      group->isStatic.reset();
      group->isStatic = member(*group, group->name + "-static-1", group->name + "-static");
      setup_.tally.count("static member comes back");
    }
  }
}

void GroupLoad::on(const Seen& seen) {
  const auto* changed = as<events::GroupStateChanged>(seen);
  if (changed == nullptr) return;
  for (const auto& group : groups_) {
    if (group->name != changed->group.view()) continue;
    if (changed->to == events::GroupState::Empty && plan_.offsetsExpire) group->history.emptied();
    // Without members and offsets it needs no time for that.
    if (changed->to == events::GroupState::Dead) group->history.removed();
  }
}

void GroupLoad::askForOffsets() {
  for (const auto& group : groups_) group->members.front()->askForOffsets();
}

std::string GroupLoad::whatIsNotTold() const {
  for (const auto& group : groups_)
    if (!group->members.front()->offsets()) return fmt::format("the offsets of {} are not to be had", group->name);
  return {};
}

void GroupLoad::judgeAtRest() {
  for (const auto& group : groups_) {
    const Member& asked = *group->members.front();
    group->history.atRest(asked.knownBefore(), *asked.offsets());
  }
}

void GroupLoad::lost() {
  for (const auto& group : groups_) group->history.lost();
}

std::string GroupLoad::whatIsNotWhole() const {
  for (const auto& group : groups_)
    if (std::string wrong = whatOf(*group); !wrong.empty()) return wrong;
  return {};
}

std::string GroupLoad::whatOf(const Group& group) const {
  std::vector<const Member*> all;
  for (const auto& each : group.members) all.push_back(each.get());
  if (group.isStatic) all.push_back(group.isStatic.get());
  std::vector<TopicPartition> assigned;
  for (const Member* each : all) {
    if (!each->error().empty()) return fmt::format("L4: {}: {}", each->name(), each->error());
    if (each->generation() < 0 || each->generation() != all.front()->generation())
      return fmt::format("L4: {} is in generation {} of {}, {} in {}", each->name(), each->generation(), group.name,
                         all.front()->name(), all.front()->generation());
    for (const TopicPartition& partition : each->assignment()) assigned.push_back(partition);
  }
  std::ranges::sort(assigned);
  if (std::ranges::adjacent_find(assigned) != assigned.end() ||
      assigned.size() != static_cast<size_t>(setup_.partitions))
    return fmt::format("L4: in {} {} of {} partitions are assigned: {}", group.name, assigned.size(), setup_.partitions,
                       fmt::join(assigned, ", "));
  return {};
}

}  // namespace tidemark::sim
