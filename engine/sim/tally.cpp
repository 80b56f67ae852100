#include "sim/tally.h"

#include <array>

#include <fmt/format.h>

#include "sim/replica_logs.h"

namespace tidemark::sim {
namespace {

constexpr auto kDemanded = std::to_array<std::string_view>({
    "leader change",
    "ISR shrink",
    "ISR expand",
    "truncation that removed bytes",
    "duplicate answered from the window",
    "quorum leader change",
    "split vote",
    "parked produce timed out",
    "parked fetch timed out",
    "recovery after a kill",
    "record acknowledged by all",
    "seam: wipe",
    "seam: bit-flip",
    "coordinator of groups moved",
    "coordinator of transactions moved",
    "rebalance of a classic group",
    "rebalance by the consumer protocol",
    "member missed its session",
    "member said that it leaves",
    "static member comes back",
    "offset committed",
    "offsets in a transaction",
    "transaction committed",
    "transaction aborted",
    "transaction over several partitions",
    "transaction timed out",
    "transaction of a fenced producer ended",
    "transactional producer told that it is fenced",
    "commit without an answer",
    "transaction of transaction.version 0",
    "transaction of transaction.version 1",
    "coordinator of share states moved",
    "share member dies",
    "share member leaves",
    "share session lost",
    "shared record accepted",
    "shared record released",
    "shared record rejected",
    "shared record delivered again",
    "shared record delivered for the last time",
    "acknowledgement without a lock refused",
    "acknowledgement without an answer",
    "rebalance of a streams group",
    "streams member dies",
    "streams member leaves",
    "streams member leaves for a while",
    "streams member told that it is fenced",
    "streams task moved to another member",
    "standby task owned",
});

}  // namespace

void Tally::on(const Seen& seen) {
  if (as<events::BecameLeader>(seen)) {
    if (led_.insert(seen.partition).second) return;
    count("leader change");
    if (seen.partition.topic == "__consumer_offsets") count("coordinator of groups moved");
    if (seen.partition.topic == "__transaction_state") count("coordinator of transactions moved");
    if (seen.partition.topic == "__share_group_state") count("coordinator of share states moved");
  } else if (as<events::IsrShrunk>(seen)) {
    count("ISR shrink");
  } else if (as<events::IsrExpanded>(seen)) {
    count("ISR expand");
  } else if (const auto* truncated = as<events::LogTruncated>(seen)) {
    if (truncated->to < truncated->from)
      count(seen.partition == metadataPartition() ? "truncation of the quorum's log" : "truncation that removed bytes");
  } else if (as<events::DuplicateAnswered>(seen)) {
    count("duplicate answered from the window");
  } else if (const auto* stands = as<events::ElectionStarted>(seen)) {
    candidates_[stands->epoch].insert(seen.broker);
  } else if (const auto* changed = as<events::QuorumLeaderChanged>(seen)) {
    if (changed->leader == seen.broker) count("quorum leader change");
  } else if (as<events::ProduceExpired>(seen)) {
    count("parked produce timed out");
  } else if (as<events::FetchExpired>(seen)) {
    count("parked fetch timed out");
  } else if (const auto* recovered = as<events::LogRecovered>(seen)) {
    if (seen.partition != metadataPartition()) count("recovery after a kill");
    if (recovered->removedBytes > 0) count("recovery that removed bytes");
  } else if (as<events::SnapshotTaken>(seen)) {
    count("snapshot of the quorum's log");
  } else if (const auto* transaction = as<events::TransactionStateChanged>(seen)) {
    if (transaction->cause == events::TransactionCause::Fenced) count("transaction of a fenced producer ended");
    if (transaction->cause == events::TransactionCause::TimedOut) count("transaction timed out");
  } else if (const auto* completed = as<events::RebalanceCompleted>(seen)) {
    count(completed->kind == events::GroupKind::Classic   ? "rebalance of a classic group"
          : completed->kind == events::GroupKind::Streams ? "rebalance of a streams group"
                                                          : "rebalance by the consumer protocol");
  } else if (const auto* left = as<events::MemberLeft>(seen)) {
    if (left->cause == events::GroupCause::SessionMissed) count("member missed its session");
    if (left->cause == events::GroupCause::MemberLeft) count("member said that it leaves");
  } else if (as<events::OffsetCommitted>(seen)) {
    count("offset committed");
  } else if (as<events::ProducerFenced>(seen)) {
    count("batch of a fenced producer refused");
  }
}

uint64_t Tally::times(std::string_view what) const {
  const auto found = rows_.find(std::string(what));
  return found != rows_.end() ? found->second : 0;
}

void Tally::finish() {
  for (const auto& [epoch, nodes] : candidates_)
    if (nodes.size() > 1) count("split vote");
}

void Tally::add(const Tally& other) {
  for (const auto& [name, times] : other.rows_) count(name, times);
}

std::vector<std::string> Tally::missing() const {
  std::vector<std::string> names;
  for (std::string_view name : kDemanded)
    if (!rows_.contains(std::string(name))) names.emplace_back(name);
  return names;
}

std::string Tally::table() const {
  std::string text;
  for (const auto& [name, times] : rows_) text += fmt::format("{:>12}  {}\n", times, name);
  for (const std::string& name : missing()) text += fmt::format("{:>12}  {}\n", 0, name);
  return text;
}

}  // namespace tidemark::sim
