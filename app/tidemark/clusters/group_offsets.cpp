#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemark/answers.h"
#include "tidemark/clusters/cluster_session.h"
#include "tidemark/clusters/columns.h"
#include "tidemark/clusters/groups.h"
#include "tidemark/clusters/time_text.h"
#include "tidemark/console.h"

// What `groups` changes: committed offsets, and whole groups.

namespace tidemark::app {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kOffsetPatience{15};

/// Why a group does not let it happen, and what to do about it.
std::string refusal(ErrorCode code, const std::string& group) {
  switch (code) {
    case ErrorCode::NonEmptyGroup:
    case ErrorCode::UnknownMemberId:
    case ErrorCode::StaleMemberEpoch:
    case ErrorCode::IllegalGeneration:
      return fmt::format(
          "group {0} has members: stop its clients first (`tidemark groups describe {0} --members` shows them)", group);
    case ErrorCode::GroupSubscribedToTopic:
      return "a member is subscribed to the topic: stop it first";
    case ErrorCode::GroupIdNotFound:
      return fmt::format("there is no group {}", group);
    case ErrorCode::UnknownTopicOrPartition:
      return "there is no such partition";
    default:
      return std::string(errorName(code));
  }
}

/// Prints what became of each partition; fails if one was refused.
Result<void> report(const std::string& group, const std::vector<client::PartitionOutcome>& outcomes) {
  std::map<std::string, std::string> refused;
  for (const client::PartitionOutcome& one : outcomes) {
    if (one.code == ErrorCode::None) continue;
    std::string& which = refused[refusal(one.code, group)];
    which += fmt::format("{}{}", which.empty() ? "" : ", ", one.partition);
  }
  if (refused.empty()) return {};
  std::string text;
  for (const auto& [why, which] : refused)
    text += fmt::format("{}not changed: {}: {}", text.empty() ? "" : "; ", which, why);
  return fail(ErrorCode::InvalidRequest, text);
}

bool isInactive(const std::string& state) {
  return state.empty() || state == "Empty" || state == "Dead";
}

}  // namespace

Result<client::ResetTo> GroupCommands::resetTo() const {
  using Kind = client::ResetTo::Kind;
  if (toEarliest_) return client::ResetTo{Kind::Earliest, 0};
  if (toLatest_) return client::ResetTo{Kind::Latest, 0};
  if (toCurrent_) return client::ResetTo{Kind::Current, 0};
  if (toOffset_ != INT64_MIN) return client::ResetTo{Kind::Offset, toOffset_};
  if (shiftBy_ != INT64_MIN) return client::ResetTo{Kind::ShiftBy, shiftBy_};
  if (!toDatetime_.empty()) {
    const auto time = parseDatetime(toDatetime_);
    if (!time)
      return fail(
          ErrorCode::InvalidRequest,
          fmt::format("--to-datetime {}: write YYYY-MM-DDThh:mm:ss.sss, with Z or +hh:mm behind it if it is not UTC",
                      toDatetime_));
    return client::ResetTo{Kind::Datetime, *time};
  }
  const auto duration = parseDuration(byDuration_);
  if (!duration)
    return fail(
        ErrorCode::InvalidRequest,
        fmt::format("--by-duration {}: write PnDTnHnMnS, for example PT15M, of a hundred years at most", byDuration_));
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  return client::ResetTo{Kind::Datetime, now.count() - *duration};
}

Result<client::ResetScope> GroupCommands::scope() const {
  client::ResetScope which;
  for (const std::string& text : topics_) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos) {
      which.topics.push_back(text);
      continue;
    }
    std::istringstream numbers(text.substr(colon + 1));
    size_t count = 0;
    for (std::string number; std::getline(numbers, number, ','); ++count) {
      int32_t index = -1;
      const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
      if (error != std::errc() || end != number.data() + number.size() || index < 0)
        return fail(ErrorCode::InvalidRequest,
                    fmt::format("--topic {}: \"{}\" is no partition; write TOPIC:0,1,2", text, number));
      which.partitions.push_back({text.substr(0, colon), PartitionIndex(index)});
    }
    if (count == 0) return fail(ErrorCode::InvalidRequest, fmt::format("--topic {}: write TOPIC:0,1,2", text));
  }
  return which;
}

Result<void> GroupCommands::resetOffsets(ClusterSession& session) {
  const std::string& name = names_[0];
  // A group that is not there yet may be given offsets, as with Kafka's tool; it begins with them.
  auto listed = find(session, name);
  if (!listed && listed.error().code != ErrorCode::GroupIdNotFound) return fail(std::move(listed).error());
  if (!listed && allTopics_) return fail(std::move(listed).error());
  const client::ListedGroup group = listed ? *listed : client::ListedGroup{.id = name};
  if (!isInactive(group.state))
    return fail(
        ErrorCode::NonEmptyGroup,
        fmt::format("group {} is {}, and offsets can be reset only while it has no members: stop its clients first",
                    name, group.state));
  const auto reset = session.make<client::ResetPlanner>(kOffsetPatience);
  TIDEMARK_ASSIGN(const auto to, resetTo());
  TIDEMARK_ASSIGN(const auto which, scope());
  TIDEMARK_ASSIGN(const auto changes, session.ask<client::ResetPlanner::Changes>([&](auto done) {
    reset->plan(name, group.type, which, to, std::move(done));
  }));
  if (execute_) {
    std::vector<client::CommittedOffset> offsets;
    for (const client::OffsetChange& one : changes)
      offsets.push_back({.partition = one.partition, .offset = one.to, .leaderEpoch = kNoLeaderEpoch, .metadata = {}});
    const auto admin = session.make<client::GroupAdmin>(kOffsetPatience);
    auto outcomes = session.ask<std::vector<client::PartitionOutcome>>(
        [&](auto done) { admin->alterOffsets(name, group.type, offsets, std::move(done)); });
    if (!outcomes) return fail(outcomes.error().code, refusal(outcomes.error().code, name));
    TIDEMARK_TRY(report(name, *outcomes));
  }
  if (json_) {
    json all = json::array();
    for (const client::OffsetChange& one : changes) {
      json row{{"topic", one.partition.topic},
               {"partition", one.partition.partition.value()},
               {"currentOffset", nullptr},
               {"newOffset", one.to.value()},
               {"clipped", one.clipped}};
      if (one.from) row["currentOffset"] = one.from->value();
      all.push_back(std::move(row));
    }
    say({{"group", name}, {"executed", execute_}, {"offsets", std::move(all)}});
    return {};
  }
  std::vector<std::vector<std::string>> rows;
  for (const client::OffsetChange& one : changes) {
    rows.push_back({name, one.partition.topic, std::to_string(one.partition.partition.value()),
                    one.from ? std::to_string(one.from->value()) : "", std::to_string(one.to.value())});
    if (one.clipped)
      Console::complain(fmt::format("{}: there is no such offset, {} is the nearest: the log is from {} to {}",
                                    one.partition, one.to, one.logStart, one.end));
  }
  Console::printText(columns({"GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "NEW-OFFSET"}, rows));
  if (!execute_) Console::complain("nothing was changed: add --execute to do it");
  return {};
}

Result<void> GroupCommands::deleteOffsets(ClusterSession& session) {
  TIDEMARK_ASSIGN(const auto group, find(session, names_[0]));
  TIDEMARK_ASSIGN(const auto which, scope());
  const auto admin = session.make<client::GroupAdmin>(kOffsetPatience);
  TIDEMARK_ASSIGN(const auto committed, session.ask<std::vector<client::CommittedOffset>>([&](auto done) {
    admin->committedOffsets(group.id, group.type, std::move(done));
  }));
  std::vector<TopicPartition> partitions;
  for (const client::CommittedOffset& one : committed)
    if (std::ranges::find(which.topics, one.partition.topic) != which.topics.end() ||
        std::ranges::find(which.partitions, one.partition) != which.partitions.end())
      partitions.push_back(one.partition);
  if (partitions.empty())
    return fail(ErrorCode::InvalidRequest,
                fmt::format("group {} has committed nothing for that: `tidemark groups describe {}` shows what it has",
                            group.id, group.id));
  if (!dryRun_) {
    auto outcomes = session.ask<std::vector<client::PartitionOutcome>>(
        [&](auto done) { admin->deleteOffsets(group.id, group.type, partitions, std::move(done)); });
    if (!outcomes) return fail(outcomes.error().code, refusal(outcomes.error().code, group.id));
    TIDEMARK_TRY(report(group.id, *outcomes));
  }
  if (json_) {
    json all = json::array();
    for (const TopicPartition& one : partitions)
      all.push_back({{"topic", one.topic}, {"partition", one.partition.value()}});
    say({{"group", group.id}, {"executed", !dryRun_}, {"deleted", std::move(all)}});
    return {};
  }
  std::vector<std::vector<std::string>> rows;
  for (const TopicPartition& one : partitions)
    rows.push_back({one.topic, std::to_string(one.partition.value()), dryRun_ ? "would be deleted" : "deleted"});
  Console::printText(columns({"TOPIC", "PARTITION", "STATUS"}, rows));
  return {};
}

Result<void> GroupCommands::remove(ClusterSession& session) {
  const auto admin = session.make<client::GroupAdmin>(kOffsetPatience);
  for (const std::string& name : names_) {
    TIDEMARK_ASSIGN(const auto group, find(session, name));
    if (dryRun_ && !isInactive(group.state))
      return fail(ErrorCode::NonEmptyGroup, refusal(ErrorCode::NonEmptyGroup, name));
    if (!dryRun_) {
      const auto done = session.ask<void>([&](auto handler) { admin->deleteGroup(name, std::move(handler)); });
      if (!done) return fail(done.error().code, refusal(done.error().code, name));
    }
    if (json_)
      say({{dryRun_ ? "wouldDelete" : "deleted", name}});
    else
      Console::print(fmt::format("{} {}", dryRun_ ? "would delete" : "deleted", name));
  }
  return {};
}

}  // namespace tidemark::app
