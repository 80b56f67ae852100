#include "client/offset_reset.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace tidemark::client {

Result<OffsetChange> resetOf(const TopicPartition& partition, const ResetTo& to, const ResetNumbers& numbers) {
  OffsetChange change{.partition = partition,
                      .from = numbers.committed,
                      .to = numbers.end,
                      .logStart = numbers.logStart,
                      .end = numbers.end};
  const auto clip = [&](Offset wanted) {
    change.to = std::clamp(wanted, numbers.logStart, std::max(numbers.logStart, numbers.end));
    change.clipped = change.to != wanted;
  };
  switch (to.kind) {
    case ResetTo::Kind::Earliest:
      change.to = numbers.logStart;
      break;
    case ResetTo::Kind::Latest:
      break;
    case ResetTo::Kind::Current:
      if (numbers.committed) clip(*numbers.committed);
      break;
    case ResetTo::Kind::Offset:
      clip(Offset(to.value));
      break;
    case ResetTo::Kind::ShiftBy: {
      if (!numbers.committed)
        return fail(ErrorCode::InvalidRequest, fmt::format("nothing is committed for {}, so that it cannot be shifted: "
                                                           "name partitions that have a commit, or reset to an offset",
                                                           partition));
      const int64_t from = numbers.committed->value();
      // Far beyond either end is the end.
      const bool over = to.value > 0 && from > std::numeric_limits<int64_t>::max() - to.value;
      clip(over ? Offset(std::numeric_limits<int64_t>::max()) : Offset(from + to.value));
      break;
    }
    case ResetTo::Kind::Datetime:
      if (numbers.atTime) change.to = *numbers.atTime;
      break;
  }
  return change;
}

/// One plan under way, kept by the answers that it waits for.
struct ResetPlanner::Plan {
  std::string group;
  ResetScope scope;
  ResetTo to;
  GroupAdmin::Handler<Changes> handler;
  std::map<TopicPartition, ResetNumbers> numbers;
  size_t waitsFor = 0;
  bool over = false;

  void failed(Error error) {
    if (std::exchange(over, true)) return;
    handler(fail(std::move(error)));
  }
  void finish() {
    Changes changes;
    for (const auto& [partition, found] : numbers) {
      auto change = resetOf(partition, to, found);
      if (!change) return failed(std::move(change).error());
      changes.push_back(*std::move(change));
    }
    over = true;
    handler(std::move(changes));
  }
};

ResetPlanner::ResetPlanner(Client& client, platform::Duration timeout)
    : admin_(client, timeout), groups_(client, timeout) {}

ResetPlanner::~ResetPlanner() = default;

void ResetPlanner::plan(std::string group, GroupType type, ResetScope scope, ResetTo to,
                        GroupAdmin::Handler<Changes> handler) {
  auto made = std::make_shared<Plan>();
  made->group = std::move(group);
  made->scope = std::move(scope);
  made->to = to;
  made->handler = std::move(handler);
  groups_.committedOffsets(made->group, type, [this, made](Result<std::vector<CommittedOffset>> committed) {
    if (!committed) return made->failed(std::move(committed).error());
    for (const CommittedOffset& one : *committed) made->numbers[one.partition].committed = one.offset;
    resolve(made);
  });
}

/// Which partitions are meant.
void ResetPlanner::resolve(const std::shared_ptr<Plan>& plan) {
  const ResetScope& scope = plan->scope;
  if (scope.topics.empty() && scope.partitions.empty()) {
    if (plan->numbers.empty())
      return plan->failed({ErrorCode::InvalidRequest,
                           fmt::format("group {} has committed nothing: say which topics are meant", plan->group)});
    return measure(plan);
  }
  std::map<TopicPartition, ResetNumbers> wanted;
  for (const TopicPartition& one : scope.partitions) wanted[one];
  const auto keep = [](const std::shared_ptr<Plan>& of, std::map<TopicPartition, ResetNumbers> named) {
    for (auto& [partition, numbers] : named)
      if (const auto known = of->numbers.find(partition); known != of->numbers.end())
        numbers.committed = known->second.committed;
    of->numbers = std::move(named);
  };
  if (scope.topics.empty()) {
    keep(plan, std::move(wanted));
    return measure(plan);
  }
  auto named = std::make_shared<std::map<TopicPartition, ResetNumbers>>(std::move(wanted));
  plan->waitsFor = scope.topics.size();
  for (const std::string& name : scope.topics)
    admin_.describeTopic(name, [this, plan, named, name, keep](Result<TopicDescription> topic) {
      if (plan->over) return;
      if (!topic)
        return plan->failed(topic.error().code == ErrorCode::UnknownTopicOrPartition
                                ? Error{topic.error().code, fmt::format("there is no topic {}", name)}
                                : std::move(topic).error());
      for (const auto& [index, partition] : topic->partitions) (*named)[{name, PartitionIndex(index)}];
      if (--plan->waitsFor > 0) return;
      keep(plan, std::move(*named));
      measure(plan);
    });
}

/// Where their logs begin and end.
void ResetPlanner::measure(const std::shared_ptr<Plan>& plan) {
  const bool byTime = plan->to.kind == ResetTo::Kind::Datetime;
  plan->waitsFor = plan->numbers.size() * (byTime ? 3 : 2);
  if (plan->waitsFor == 0) return plan->finish();
  for (const auto& [which, numbers] : plan->numbers) {
    const auto ask = [&, this, &asked = which](int64_t timestamp, auto take) {
      admin_.listOffset(asked, timestamp, [plan, partition = asked, take](Result<ListedOffset> listed) {
        if (plan->over) return;
        if (!listed)
          return plan->failed(listed.error().code == ErrorCode::UnknownTopicOrPartition
                                  ? Error{listed.error().code, fmt::format("there is no partition {}", partition)}
                                  : std::move(listed).error());
        take(plan->numbers[partition], listed->offset);
        if (--plan->waitsFor == 0) plan->finish();
      });
    };
    ask(kEarliestTimestamp, [](ResetNumbers& of, Offset offset) { of.logStart = offset; });
    ask(kLatestTimestamp, [](ResetNumbers& of, Offset offset) { of.end = offset; });
    if (byTime)
      ask(plan->to.value, [](ResetNumbers& of, Offset offset) {
        if (offset >= Offset(0)) of.atTime = offset;
      });
  }
}

}  // namespace tidemark::client
