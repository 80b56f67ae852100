#include "tidemark/clusters/groups.h"
#include "tidemark/checks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "client/admin.h"
#include "tidemark/answers.h"
#include "tidemark/clusters/cluster_session.h"
#include "tidemark/clusters/columns.h"
#include "tidemark/commands.h"
#include "tidemark/console.h"
#include "tidemark/suggest.h"

namespace tidemark::app {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kPatience{15};

/// "orders:0,1;payments:2", by topic, as Kafka's tool writes assignments.
std::string assignmentText(const std::vector<TopicPartition>& partitions) {
  std::map<std::string, std::string> topics;
  for (const TopicPartition& one : partitions) {
    std::string& list = topics[one.topic];
    list += (list.empty() ? "" : ",") + std::to_string(one.partition.value());
  }
  std::string text;
  for (const auto& [topic, list] : topics) text += (text.empty() ? "" : ";") + topic + ":" + list;
  return text;
}

json partitionsJson(const std::vector<TopicPartition>& partitions) {
  json list = json::array();
  for (const TopicPartition& one : partitions)
    list.push_back({{"topic", one.topic}, {"partition", one.partition.value()}});
  return list;
}

std::string numberText(int64_t number) {
  return number < 0 ? std::string() : std::to_string(number);
}

/// One line of `describe`: a partition, who has it, and how far it is behind.
struct Row {
  TopicPartition partition;
  std::optional<Offset> committed;
  std::optional<Offset> end;
  const client::GroupMember* member = nullptr;

  std::optional<int64_t> lag() const {
    if (!committed || !end) return std::nullopt;
    return std::max<int64_t>(0, *end - *committed);
  }
};

/// What is committed and what is assigned, in one list by partition.
std::vector<Row> rowsOf(const client::GroupDescription& group, const std::vector<client::CommittedOffset>& offsets) {
  std::map<TopicPartition, Row> rows;
  for (const client::CommittedOffset& one : offsets) rows[one.partition].committed = one.offset;
  for (const client::GroupMember& member : group.members)
    for (const TopicPartition& one : member.assigned) rows[one].member = &member;
  std::vector<Row> list;
  for (auto& [partition, row] : rows) {
    row.partition = partition;
    list.push_back(row);
  }
  return list;
}

}  // namespace

GroupCommands::GroupCommands(CLI::App& app)
    : ClusterCommand(app, "groups", "list, describe and reset the groups of any cluster") {
  CLI::App* listing = addAction("list", "all groups: type, protocol, state, coordinator");
  listing->add_option("--state", state_, "only groups in this state: Empty, Stable, PreparingRebalance, …");
  listing->add_option("--type", type_, "only groups of this type: classic, consumer, share, streams");
  CLI::App* describing = addAction("describe", "offsets and lag of each partition, and who has it");
  describing->add_option("groups", names_, "the groups; without: all");
  describing->add_flag("--members", members_, "members instead of offsets");
  describing->add_flag("--state", stateOnly_, "coordinator, assignor, state and epochs instead of offsets");
  describing->add_flag("--verbose", verbose_, "with --members: assignments and epochs too");
  CLI::App* reset =
      addAction("reset-offsets", "show what a reset of committed offsets would change; --execute does it");
  reset->footer("The group must have no members. Nothing is written without --execute.");
  reset->add_option("group", names_, "the group")->required()->expected(1);
  auto* where = reset->add_option_group("where to", "one of");
  where->add_flag("--to-earliest", toEarliest_, "the beginning of each log");
  where->add_flag("--to-latest", toLatest_, "its end");
  where->add_flag("--to-current", toCurrent_, "what is committed; the end where nothing is");
  where->add_option("--to-offset", toOffset_, "an offset, or the nearest that exists")
      ->check(wholeNumber(0, INT64_MAX));
  where->add_option("--shift-by", shiftBy_, "so many records on; back, if negative")
      ->check(wholeNumber(-INT64_MAX, INT64_MAX));
  where->add_option("--to-datetime", toDatetime_,
                    "the first record not older than YYYY-MM-DDThh:mm:ss.sss (UTC, or with a zone)");
  where->add_option("--by-duration", byDuration_, "the first record not older than that, as PnDTnHnMnS");
  where->require_option(1);
  reset->add_option("--topic", topics_, "TOPIC or TOPIC:PARTITION,PARTITION…; may be repeated");
  reset->add_flag("--all-topics", allTopics_, "all partitions that the group has committed for");
  auto* doIt = reset->add_flag("--execute", execute_, "do it");
  reset->add_flag("--dry-run", dryRun_, "only show it (this is so without --execute)")->excludes(doIt);
  CLI::App* forget = addAction("delete-offsets", "forget committed offsets of topics that no member is subscribed to");
  forget->add_option("group", names_, "the group")->required()->expected(1);
  forget->add_option("--topic", topics_, "TOPIC or TOPIC:PARTITION,PARTITION…; may be repeated")->required();
  forget->add_flag("--dry-run", dryRun_, "only show it");
  CLI::App* removal = addAction("delete", "remove groups without members, and their offsets");
  removal->add_option("groups", names_, "the groups")->required();
  removal->add_flag("--dry-run", dryRun_, "only show it");
}

int GroupCommands::run() {
  const auto usage = [](const Error& error) {
    Console::complain("tidemark: " + error.message);
    return kUsage;
  };
  if (const auto endpoints = parseBootstrap(bootstrap_); !endpoints) return usage(endpoints.error());
  if (action_ == "reset-offsets") {
    if (const auto to = resetTo(); !to) return usage(to.error());
    if (topics_.empty() == !allTopics_)
      return usage({ErrorCode::InvalidRequest, "reset-offsets takes either --all-topics or --topic"});
  }
  if (const auto which = scope(); !which) return usage(which.error());
  const int status = runSession("groups", bootstrap_, [this](ClusterSession& session) { return act(session); });
  return status == kOk && partial_ ? kPartial : status;
}

Result<void> GroupCommands::act(ClusterSession& session) {
  if (action_ == "list") return list(session);
  if (action_ == "describe") return describe(session);
  if (action_ == "reset-offsets") return resetOffsets(session);
  if (action_ == "delete-offsets") return deleteOffsets(session);
  return remove(session);
}

Result<client::Gathered<client::ListedGroup>> GroupCommands::all(ClusterSession& session) {
  const auto admin = session.make<client::GroupAdmin>(kListPatience);
  return session.ask<client::Gathered<client::ListedGroup>>([&](auto done) { admin->listGroups(std::move(done)); });
}

Result<void> GroupCommands::list(ClusterSession& session) {
  TIDEMARK_ASSIGN(auto found, all(session));
  std::vector<client::ListedGroup>& groups = found.all;
  partial_ = complainOfMissing("groups", found.missing);
  const auto same = [](std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) { return (x | 0x20) == (y | 0x20); });
  };
  std::erase_if(groups, [&](const client::ListedGroup& group) {
    return (!state_.empty() && !same(state_, group.state)) ||
           (!type_.empty() && !same(type_, client::nameOf(group.type)));
  });
  if (json_) {
    json all = json::array();
    for (const client::ListedGroup& group : groups)
      all.push_back({{"group", group.id},
                     {"type", client::nameOf(group.type)},
                     {"protocol", group.protocolType},
                     {"state", group.state},
                     {"coordinator", group.coordinator.value()}});
    say({{"groups", std::move(all)}});
    return {};
  }
  std::vector<std::vector<std::string>> rows;
  for (const client::ListedGroup& group : groups)
    rows.push_back({group.id, std::string(client::nameOf(group.type)), group.protocolType, group.state,
                    std::to_string(group.coordinator.value())});
  Console::printText(columns({"GROUP", "TYPE", "PROTOCOL", "STATE", "COORDINATOR"}, rows));
  return {};
}

Result<client::ListedGroup> GroupCommands::find(ClusterSession& session, const std::string& name) {
  TIDEMARK_ASSIGN(auto found, all(session));
  std::vector<std::string> names;
  for (client::ListedGroup& group : found.all) {
    if (group.id == name) return std::move(group);
    names.push_back(group.id);
  }
  if (complainOfMissing("groups", found.missing))
    return fail(ErrorCode::BrokerNotAvailable,
                fmt::format("there is no group {} at the brokers that answer; it may be at the others", name));
  const std::string near = nearest(name, names);
  return fail(ErrorCode::GroupIdNotFound, fmt::format("there is no group {}{}", name,
                                                      near.empty() ? "; `tidemark groups list` shows those there are"
                                                                   : "; the nearest is " + near));
}

Result<void> GroupCommands::describe(ClusterSession& session) {
  if (names_.empty()) {
    TIDEMARK_ASSIGN(const auto found, all(session));
    partial_ = complainOfMissing("groups", found.missing);
    for (const client::ListedGroup& group : found.all) TIDEMARK_TRY(describeOne(session, group));
    return {};
  }
  for (const std::string& name : names_) {
    TIDEMARK_ASSIGN(const auto group, find(session, name));
    TIDEMARK_TRY(describeOne(session, group));
  }
  return {};
}

Result<void> GroupCommands::describeOne(ClusterSession& session, const client::ListedGroup& listed) {
  const auto groups = session.make<client::GroupAdmin>(kPatience);
  TIDEMARK_ASSIGN(const auto group, session.ask<client::GroupDescription>([&](auto done) {
    groups->describeGroup(listed.id, listed.type, std::move(done));
  }));
  TIDEMARK_ASSIGN(const auto offsets, session.ask<std::vector<client::CommittedOffset>>([&](auto done) {
    groups->committedOffsets(listed.id, listed.type, std::move(done));
  }));
  std::vector<Row> rows = rowsOf(group, offsets);
  if (json_ || (!members_ && !stateOnly_)) {
    const auto admin = session.make<client::Admin>(kPatience);
    const auto ends = session.askAll<client::ListedOffset>(rows, [&](const Row& row, auto done) {
      admin->listOffset(row.partition, client::kLatestTimestamp, std::move(done));
    });
    // A partition that is gone, or that nobody leads, has no end that could be told.
    for (size_t i = 0; i < rows.size(); ++i)
      if (ends[i]) rows[i].end = ends[i]->offset;
  }
  if (json_) {
    json members = json::array();
    for (const client::GroupMember& member : group.members) {
      json one{{"id", member.id},
               {"clientId", member.clientId},
               {"host", member.host},
               {"assigned", partitionsJson(member.assigned)}};
      if (!member.instanceId.empty()) one["instanceId"] = member.instanceId;
      if (!member.rack.empty()) one["rack"] = member.rack;
      if (member.epoch >= 0) one["epoch"] = member.epoch;
      if (group.type == client::GroupType::Consumer) one["target"] = partitionsJson(member.target);
      if (!member.tasks.empty()) one["tasks"] = member.tasks;
      members.push_back(std::move(one));
    }
    json partitions = json::array();
    for (const Row& row : rows) {
      json one{{"topic", row.partition.topic},
               {"partition", row.partition.partition.value()},
               {"currentOffset", nullptr},
               {"logEndOffset", nullptr},
               {"lag", nullptr},
               {"member", nullptr}};
      if (row.committed) one["currentOffset"] = row.committed->value();
      if (row.end) one["logEndOffset"] = row.end->value();
      if (row.lag()) one["lag"] = *row.lag();
      if (row.member != nullptr) one["member"] = row.member->id;
      partitions.push_back(std::move(one));
    }
    json whole{{"group", group.id},
               {"type", client::nameOf(group.type)},
               {"state", group.state},
               {"protocol", group.protocolType},
               {"assignor", group.assignor},
               {"coordinator", listed.coordinator.value()},
               {"members", std::move(members)},
               {"partitions", std::move(partitions)}};
    if (group.epoch >= 0) whole["epoch"] = group.epoch;
    if (group.assignmentEpoch >= 0) whole["assignmentEpoch"] = group.assignmentEpoch;
    say(whole);
    return {};
  }
  std::vector<std::vector<std::string>> table;
  if (stateOnly_) {
    Console::printText(
        columns({"GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH",
                 "#MEMBERS"},
                {{group.id, std::to_string(listed.coordinator.value()), group.assignor, group.state,
                  numberText(group.epoch), numberText(group.assignmentEpoch), std::to_string(group.members.size())}}));
    return {};
  }
  if (members_) {
    std::vector<std::string> heads{"GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS"};
    if (verbose_) heads.insert(heads.end(), {"CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-ASSIGNMENT"});
    for (const client::GroupMember& member : group.members) {
      std::vector<std::string> row{group.id,          member.id,
                                   member.instanceId, member.host,
                                   member.clientId,   std::to_string(member.assigned.size() + member.tasks.size())};
      std::string assigned = assignmentText(member.assigned);
      for (const std::string& task : member.tasks) assigned += (assigned.empty() ? "" : ",") + task;
      if (verbose_) row.insert(row.end(), {numberText(member.epoch), assigned, assignmentText(member.target)});
      table.push_back(std::move(row));
    }
    Console::printText(columns(heads, table));
    return {};
  }
  if (group.members.empty()) Console::complain(fmt::format("group {} has no active members", group.id));
  for (const Row& row : rows)
    table.push_back({group.id, row.partition.topic, std::to_string(row.partition.partition.value()),
                     row.committed ? std::to_string(row.committed->value()) : "",
                     row.end ? std::to_string(row.end->value()) : "", row.lag() ? std::to_string(*row.lag()) : "",
                     row.member != nullptr ? row.member->id : "", row.member != nullptr ? row.member->host : "",
                     row.member != nullptr ? row.member->clientId : ""});
  const bool share = group.type == client::GroupType::Share;
  Console::printText(columns({"GROUP", "TOPIC", "PARTITION", share ? "START-OFFSET" : "CURRENT-OFFSET",
                              "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"},
                             table));
  return {};
}

}  // namespace tidemark::app
