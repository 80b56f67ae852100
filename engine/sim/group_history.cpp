#include "sim/group_history.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tidemark::sim {

void GroupHistory::breach(std::string_view invariant, std::string text) const {
  if (whole_) judge_.breach(invariant, std::move(text));
}

void GroupHistory::told(const std::string& member, int32_t generation, const TopicPartition& partition) {
  auto& [owner, since] = last_.try_emplace(partition, member, generation).first->second;
  // Answers may come in another order than they were given.
  if (generation < since) return;
  owner = member;
  since = generation;
}

void GroupHistory::assigned(const std::string& member, int32_t generation,
                            const std::vector<TopicPartition>& partitions) {
  int32_t& last = generations_.try_emplace(member, generation).first->second;
  if (generation < last)
    breach("G3", fmt::format("the generation of {} in {} fell from {} to {}", member, group_, last, generation));
  last = generation;
  for (const TopicPartition& partition : partitions) {
    const auto [owner, first] = owners_.try_emplace({generation, partition}, member);
    if (!first && owner->second != member)
      breach("G1", fmt::format("{} belongs to {} and to {} in generation {} of {}", partition, owner->second, member,
                               generation, group_));
    told(member, generation, partition);
  }
}

void GroupHistory::owns(const std::string& member, int32_t epoch, const std::vector<TopicPartition>& partitions) {
  const bool isMember = epoch > 0;
  int32_t& newest = generations_.try_emplace(member, epoch).first->second;
  if (isMember && epoch < newest)
    breach("G3", fmt::format("the epoch of {} in {} fell from {} to {}", member, group_, newest, epoch));
  // One that was fenced begins anew.
  newest = epoch;
  for (auto& [partition, spans] : spans_)
    for (Span& span : spans)
      if (span.member == member) span.goesOn &= std::ranges::find(partitions, partition) != partitions.end();
  for (const TopicPartition& partition : partitions) {
    std::vector<Span>& spans = spans_[partition];
    auto own = std::ranges::find_if(spans, [&](const Span& each) { return each.member == member && each.goesOn; });
    if (own == spans.end()) {
      own = spans.insert(own, {.member = member, .first = epoch, .last = epoch, .goesOn = true});
      told(member, epoch, partition);
    }
    own->last = std::max(own->last, epoch);
    for (const Span& other : spans)
      if (other.member != member && other.first <= own->last && own->first <= other.last)
        breach("G1", fmt::format("{} belongs to {} in epochs {} to {} of {}, and to {} in epochs {} to {}", partition,
                                 member, own->first, own->last, group_, other.member, other.first, other.last));
  }
}

bool GroupHistory::isOwner(const std::string& member, int32_t generation, const TopicPartition& partition) const {
  const auto found = last_.find(partition);
  return found == last_.end() || found->second.first == member || found->second.second < generation;
}

void GroupHistory::committed(const std::string& member, const TopicPartition& partition, Offset offset, bool wasOwner,
                             bool isCertain) {
  if (!wasOwner)
    breach("G3", fmt::format("{} committed offset {} of {} in {}, after {} had been given the partition", member,
                             offset, partition, group_, last_.at(partition).first));
  if (!isCertain) return;
  Offset& known = offsets_.try_emplace(partition, offset).first->second;
  known = std::max(known, offset);
}

Offset GroupHistory::offset(const TopicPartition& partition) const {
  const auto found = offsets_.find(partition);
  return found == offsets_.end() ? Offset(0) : found->second;
}

void GroupHistory::begins(const std::string& member, const TopicPartition& partition, Offset from, Offset known) {
  if (from < known)
    breach("G4", fmt::format("{} begins at offset {} of {}, although {} was committed in {} before it got the "
                             "partition",
                             member, from, partition, known, group_));
}

void GroupHistory::atRest(const Offsets& knownBefore, const Offsets& committed) const {
  for (const auto& [partition, known] : knownBefore) {
    // The group was empty since: what was known then may be gone.
    if (!offsets_.contains(partition)) continue;
    const auto told = committed.find(partition);
    if (told == committed.end())
      breach("G5", fmt::format("{} has no offset of {} any more, although it has members and {} was committed", group_,
                               partition, known));
    else if (told->second < known)
      breach("G4", fmt::format("{} stands at offset {} of {}, although {} was committed", group_, told->second,
                               partition, known));
  }
}

}  // namespace tidemark::sim
