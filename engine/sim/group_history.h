#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "sim/checker.h"

namespace tidemark::sim {

/// What the members of one group were told, as it happens. Members are known by name, static ones by their instance.
/// G1: no partition belongs to two members in one generation or epoch. G3: generation and epoch of a member only rise,
/// and who has lost a partition commits no more for it. G4: what was committed is where the next owner begins. G5: it
/// is still there in the end.
class GroupHistory {
 public:
  using Offsets = std::map<TopicPartition, Offset>;

  GroupHistory(Judge& judge, std::string group) : judge_(judge), group_(std::move(group)) {}

  /// Records that the coordinator goes by, or that members read, are lost: nothing of all this is asked any more.
  void lost() noexcept { whole_ = false; }

  /// The group had no members for a moment, and what it has committed may expire.
  void emptied() {
    offsets_.clear();
    ++timesEmptied_;
  }
  uint64_t timesEmptied() const noexcept { return timesEmptied_; }
  /// And was forgotten as a whole: another of that name counts its epochs from the beginning.
  void removed() {
    emptied();
    owners_.clear();
    generations_.clear();
    spans_.clear();
    last_.clear();
  }

  /// In a classic group: what a member has in a generation.
  void assigned(const std::string& member, int32_t generation, const std::vector<TopicPartition>& partitions);
  /// By the consumer protocol: what a member owns in an epoch, from now on; none: it is no member any more.
  void owns(const std::string& member, int32_t epoch, const std::vector<TopicPartition>& partitions);

  /// Whether this member may commit for the partition, as far as anybody was told.
  bool isOwner(const std::string& member, int32_t generation, const TopicPartition& partition) const;
  /// An offset was committed. `wasOwner`: as it was asked for. `isCertain`: no older commit of that member can come
  /// after it, so who takes the partition over begins there or later.
  void committed(const std::string& member, const TopicPartition& partition, Offset offset, bool wasOwner,
                 bool isCertain);
  Offset offset(const TopicPartition& partition) const;
  /// The first record that a member was given of a partition; `known`: offset() when it got it.
  void begins(const std::string& member, const TopicPartition& partition, Offset from, Offset known);
  /// What is known to be committed; the group may have more.
  const Offsets& offsets() const noexcept { return offsets_; }
  /// What the group has committed, as its coordinator says while nothing breaks; `knownBefore`: offsets() as it was
  /// asked, for its members go on.
  void atRest(const Offsets& knownBefore, const Offsets& committed) const;

 private:
  /// Epochs, the first and the last, in which somebody owned a partition without a break.
  struct Span {
    std::string member;
    int32_t first;
    int32_t last;
    bool goesOn;
  };

  /// Unless something is lost.
  void breach(std::string_view invariant, std::string text) const;
  void told(const std::string& member, int32_t generation, const TopicPartition& partition);

  Judge& judge_;
  const std::string group_;
  bool whole_ = true;
  std::map<std::pair<int32_t, TopicPartition>, std::string> owners_;
  std::map<std::string, int32_t> generations_;
  std::map<TopicPartition, std::vector<Span>> spans_;
  /// Whom it was given last, and in which generation.
  std::map<TopicPartition, std::pair<std::string, int32_t>> last_;
  Offsets offsets_;
  uint64_t timesEmptied_ = 0;
};

}  // namespace tidemark::sim
