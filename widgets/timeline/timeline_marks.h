#pragma once

#include <optional>
#include <vector>

#include "timeline/cause_words.h"

namespace tidemark::widgets {

/// Where everything of the timeline stands from left to right: names, the time, and what holds at the cursor.
inline constexpr double kTimelineLeft = 152;
inline constexpr double kTimelineRight = 168;

/// Something that happened once, to be stepped to, hovered over and clicked.
struct TimelineMark {
  platform::WallTime at;
  /// Its number in the history; of a fault the one that told of it.
  uint64_t event = 0;
  /// The fault that began, 0 if it is an event.
  int fault = 0;
  /// Whom it is about; none: the partition.
  NodeId broker = kNoNode;
  /// After it; none if it does not change that.
  PartitionEpoch epoch;
  /// A leader was elected.
  bool elects = false;
  /// Records were lost.
  bool grave = false;
  /// Of the partition's own, or of a broker and the quorum.
  bool ofPartition = false;
  /// "{1, 2}" or "leader 2": to stand beside it.
  QString note;
  friend bool operator==(const TimelineMark&, const TimelineMark&) = default;
};

/// By time. Of brokers only those that hold a copy.
std::vector<TimelineMark> marksOf(const TimelinePast& past, const TopicPartition& partition);

/// Nothing if it is not remembered any more.
std::optional<CauseWords> causeOf(const TimelineMark& mark, const TimelinePast& past, const TopicPartition& partition,
                                  const observe::ClusterSnapshot& cluster);

}  // namespace tidemark::widgets
