#include "sim/share_history.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

namespace tidemark::sim {
namespace {

using client::AcknowledgeType;

/// So long after the client gave up a request may still arrive.
constexpr platform::Duration kLatestArrival = std::chrono::seconds(10);

/// The request was refused as a whole, or this of it: nothing of it counts. After any other error nobody knows.
bool isRefusal(ErrorCode error) {
  return error == ErrorCode::InvalidRecordState || error == ErrorCode::ShareSessionNotFound ||
         error == ErrorCode::InvalidShareSessionEpoch;
}

}  // namespace

void ShareHistory::breach(std::string_view invariant, std::string text) const {
  if (whole_) judge_.breach(invariant, std::move(text));
}

std::string ShareHistory::textOf(const TopicPartition& where, Offset offset) const {
  return fmt::format("offset {} of {} in {}", offset, where, group_);
}

ShareHistory::Turn* ShareHistory::find(Record& record, const std::string& member, const client::Delivery& delivery) {
  for (Turn& turn : record.turns | std::views::reverse)
    if (turn.member == member && turn.delivery.session == delivery.session && turn.delivery.asked == delivery.asked)
      return &turn;
  return nullptr;
}

void ShareHistory::given(const std::string& member, const client::Delivery& delivery, Time now) {
  Record& record = records_[delivery.where][delivery.offset];
  const auto text = [&] { return textOf(delivery.where, delivery.offset); };
  if (delivery.count < 1 || delivery.count > settings_.deliveryCountLimit)
    breach("G10", fmt::format("{} was given to {} for the {}. time, with a limit of {}", text(), member, delivery.count,
                              settings_.deliveryCountLimit));
  const bool deposed = isDeposed(delivery);
  if (deposed) tally_.count("shared record delivered by a deposed leader");
  if (!deposed && record.done && delivery.asked >= *record.done)
    breach("G7", fmt::format("{} was given to {} although it was confirmed before to be accepted or rejected", text(),
                             member));
  if (!deposed && delivery.asked >= record.releasedAt && delivery.count <= record.released)
    breach("G10", fmt::format("{} was given to {} for the {}. time, although its {}. delivery was over before", text(),
                              member, delivery.count, record.released));
  for (Turn& turn : record.turns) {
    if (turn.member == member) turn.over = true;
    if (turn.over || turn.said || turn.delivery.leader != delivery.leader || turn.told > delivery.asked ||
        now - turn.delivery.asked >= settings_.lockedFor)
      continue;
    suspicions_[{turn.member, turn.delivery.session}].push_back(
        {.since = now,
         .text = fmt::format("{} was given to {} although {} held it, whose share session went on", text(), member,
                             turn.member)});
  }
  record.turns.push_back({.member = member, .delivery = delivery, .told = now});
  tally_.count("shared record delivered");
  if (delivery.count > 1) tally_.count("shared record delivered again");
  if (delivery.count == settings_.deliveryCountLimit) tally_.count("shared record delivered for the last time");
}

void ShareHistory::said(const std::string& member, const client::Delivery& delivery, AcknowledgeType type, Time now) {
  Turn* turn = find(records_[delivery.where][delivery.offset], member, delivery);
  if (turn == nullptr) return;
  turn->said = now;
  turn->type = type;
}

void ShareHistory::told(const std::string& member, const client::Acknowledged& acknowledged, Time now) {
  const client::Delivery& delivery = acknowledged.delivery;
  Record& record = records_[delivery.where][delivery.offset];
  Turn* turn = find(record, member, delivery);
  if (turn == nullptr) return;
  turn->over = true;
  if (isRefusal(acknowledged.error)) {
    turn->refused = true;
    if (acknowledged.error == ErrorCode::InvalidRecordState) tally_.count("acknowledgement without a lock refused");
    return;
  }
  if (acknowledged.error != ErrorCode::None) return tally_.count("acknowledgement without an answer");
  checkOneHolder(record, *turn, now);
  switch (acknowledged.type) {
    case AcknowledgeType::Accept:
    case AcknowledgeType::Reject:
      tally_.count(acknowledged.type == AcknowledgeType::Accept ? "shared record accepted" : "shared record rejected");
      if (!record.done) record.done = now;
      return;
    case AcknowledgeType::Release:
      tally_.count("shared record released");
      if (delivery.count <= record.released) return;
      record.released = delivery.count;
      record.releasedAt = now;
      return;
    case AcknowledgeType::Gap:
      return;
  }
}

void ShareHistory::passedOn(const client::ShareConsumer::PassedOn& passed) {
  for (Offset offset = passed.first; offset <= passed.last; offset = offset.next()) {
    int16_t& count = records_[passed.where][offset].passedOn;
    count = std::max(count, passed.count);
  }
}

/// Whoever is told that what it said counts has held the record until then, unless all is done with it anyway.
void ShareHistory::checkOneHolder(const Record& record, const Turn& turn, Time now) const {
  if (record.turns.size() == 1 || !turn.said) return;
  // It may have been given the record again, and said it of that.
  const auto excuses = [&](const Turn& other) {
    return other.member == turn.member ? &other != &turn && other.told >= turn.told : other.saidFinal();
  };
  if (std::ranges::any_of(record.turns, excuses) || mostDeliveries(&record) >= settings_.deliveryCountLimit) return;
  for (const Turn& other : record.turns)
    if (other.member != turn.member && other.delivery.asked >= turn.told && other.told <= *turn.said)
      breach("G8", fmt::format("{} was given to {} while {} held it, who was told {} ms later that what it said of it "
                               "counts",
                               textOf(turn.delivery.where, turn.delivery.offset), other.member, turn.member,
                               std::chrono::duration_cast<std::chrono::milliseconds>(now - other.told).count()));
}

void ShareHistory::answered(const std::string& member, const client::ShareConsumer::Answer& answer, Time now) {
  if (answer.error != ErrorCode::None) {
    if (isRefusal(answer.error)) return tally_.count("share session lost");
    unanswered_.push_back(now);
    return;
  }
  const auto found = suspicions_.find({member, answer.session});
  if (found == suspicions_.end()) return;
  for (const Suspicion& suspicion : found->second)
    if (answer.asked >= suspicion.since) breach("G8", suspicion.text);
}

void ShareHistory::gone(const std::string& member, Time now) {
  // One request at each leader may be under way; more do not make a record's deliveries more.
  unanswered_.push_back(now);
  std::erase_if(suspicions_, [&](const auto& entry) { return entry.first.first == member; });
  for (auto& [partition, records] : records_)
    for (auto& [offset, record] : records)
      for (Turn& turn : record.turns)
        if (turn.member == member) turn.over = true;
}

bool ShareHistory::isDeposed(const client::Delivery& delivery) const {
  const auto leader = leaders_.find(delivery.where);
  return leader != leaders_.end() && leader->second.node != delivery.leader;
}

void ShareHistory::moved(const TopicPartition& partition, NodeId node, LeaderEpoch epoch) {
  Leader& leader = leaders_.try_emplace(partition, node, epoch).first->second;
  if (leader.epoch < epoch) leader = {node, epoch};
  const auto found = records_.find(partition);
  if (found == records_.end()) return;
  for (auto& [offset, record] : found->second)
    for (Turn& turn : record.turns) turn.over = true;
}

int64_t ShareHistory::mostDeliveries(const Record* record) const {
  const auto since = [this](Time time) {
    return std::ranges::count_if(unanswered_, [&](Time ended) { return ended + kLatestArrival >= time; });
  };
  int64_t most = 0;
  if (record == nullptr || record->turns.empty()) return since({});
  for (const Turn& turn : record->turns) most = std::max(most, turn.delivery.count + since(turn.told));
  return most;
}

bool ShareHistory::isDone(const Record* record, bool excuses) const {
  if (record != nullptr && record->passedOn >= settings_.deliveryCountLimit) return true;
  if (record != nullptr && !record->turns.empty()) {
    const client::Delivery& last = record->turns.back().delivery;
    if (record->done || last.count >= settings_.deliveryCountLimit) return true;
    // Nobody knows whether it counts; if it does not the record comes again.
    if (std::ranges::any_of(record->turns,
                            [&](const Turn& turn) { return turn.saidFinal() && *turn.said >= last.asked; }))
      return true;
  }
  return excuses && mostDeliveries(record) >= settings_.deliveryCountLimit;
}

std::string ShareHistory::whatIsNotDone(const Records& records, std::string_view topic, bool excuses) {
  if (!whole_) return {};
  const auto look = [&](Offset& from, const TopicPartition& partition, const std::map<Offset, std::string>& all) {
    const std::map<Offset, Record>& known = records_[partition];
    for (auto at = all.lower_bound(from); at != all.end(); ++at) {
      const auto record = known.find(at->first);
      if (!isDone(record == known.end() ? nullptr : &record->second, excuses)) return at->first;
      from = at->first;
    }
    return kNoOffset;
  };
  std::string wrong;
  bool all = true;
  for (const auto& [partition, held] : records) {
    if (partition.topic != topic) continue;
    const Offset missing = look(doneTo_.try_emplace(partition, Offset(0)).first->second, partition, held);
    if (missing == kNoOffset) continue;
    all = false;
    if (!wrong.empty()) continue;
    const auto& known = records_[partition];
    const auto record = known.find(missing);
    wrong = fmt::format("{} was given out {} times and is neither accepted nor rejected nor given up",
                        textOf(partition, missing), record == known.end() ? 0 : record->second.turns.size());
  }
  // What was in doubt may have come again since.
  if (all)
    for (auto& [partition, from] : doneTo_)
      if (std::exchange(from, Offset(0)) != Offset(0) && records.contains(partition))
        if (const Offset missing = look(from, partition, records.at(partition)); missing != kNoOffset)
          wrong = fmt::format("{} came again and is not done", textOf(partition, missing));
  return wrong;
}

}  // namespace tidemark::sim
