#pragma once

#include <optional>
#include <string>
#include <vector>

#include <QString>

#include "groups/group_past.h"
#include "theme/shapes.h"

// A group as it is drawn: values and words, no colours. Two equal scenes are painted once.
namespace tidemark::widgets {

/// One stretch of a lane in the sequence of a rebalance.
struct SequenceBar {
  enum class Kind { Owns, Waits, Synced, Lost, Coordinator, CoordinatorStable, Revokes };
  Kind kind = Kind::Owns;
  /// Seconds since the rebalance began; the first one begins before it.
  double from = 0;
  double to = 0;
  QString text;
  friend bool operator==(const SequenceBar&, const SequenceBar&) = default;
};

struct SequenceLane {
  QString name;
  /// Software, "leader", "new".
  QString note;
  std::vector<SequenceBar> bars;
  /// What stands below it.
  QString says;
  bool coordinator = false;
  friend bool operator==(const SequenceLane&, const SequenceLane&) = default;
};

/// A rebalance over time.
struct SequenceScene {
  bool shown = false;
  QString title;
  /// Seconds since the rebalance began.
  double begin = -0.2;
  double end = 1;
  /// It is under way.
  std::optional<double> now;
  std::vector<SequenceLane> lanes;
  /// "began by", "waits for", …: head and text.
  std::vector<std::pair<QString, QString>> facts;
  friend bool operator==(const SequenceScene&, const SequenceScene&) = default;
};

/// Who has a partition, or a task of a streams application, and who is to have it.
struct AssignmentCell {
  bool target = false;
  bool owned = false;
  bool revoking = false;
  /// It is to have it, and somebody else has it still.
  bool waits = false;
  /// Of tasks: as what it is owned, and as what it is to be.
  observe::TaskRole role = observe::TaskRole::Active;
  observe::TaskRole targetRole = observe::TaskRole::Active;
  friend bool operator==(const AssignmentCell&, const AssignmentCell&) = default;
};

struct AssignmentRow {
  QString name;
  QString note;
  QString epoch;
  bool behind = false;
  QString state;
  StateShape shape = StateShape::Disc;
  /// Under the state.
  QString says;
  /// One for each column.
  std::vector<AssignmentCell> cells;
  friend bool operator==(const AssignmentRow&, const AssignmentRow&) = default;
};

struct AssignmentScene {
  /// Columns are tasks, by subtopology, and not partitions.
  bool ofTasks = false;
  /// Topics, or subtopologies, with how many columns each has.
  std::vector<std::pair<QString, int>> topics;
  /// Partition of each column; of a task Kafka's name for it, "0_3".
  std::vector<QString> columns;
  /// More partitions than are drawn.
  int hidden = 0;
  /// Target and owned are told apart: the coordinator assigns.
  bool hasTarget = false;
  /// What the number in a target cell says.
  QString epoch;
  std::vector<AssignmentRow> rows;
  friend bool operator==(const AssignmentScene&, const AssignmentScene&) = default;
};

/// A part of a streams application.
struct TopologyPart {
  QString id;
  QString title;
  /// "reads", "keeps", "writes": head and topics.
  std::vector<std::pair<QString, QString>> lines;
  /// It writes what the part drawn right of it reads.
  bool feedsNext = false;
  friend bool operator==(const TopologyPart&, const TopologyPart&) = default;
};

struct LagRow {
  QString partition;
  QString owner;
  QString committed;
  QString highWatermark;
  QString lag;
  QString seconds;
  bool behind = false;
  /// Oldest first, one a second.
  std::vector<double> history;
  friend bool operator==(const LagRow&, const LagRow&) = default;
};

struct ShareBatch {
  QString offsets;
  QString state;
  int deliveries = 0;
  QString member;
  QString lock;
  double from = 0;
  double to = 1;
  friend bool operator==(const ShareBatch&, const ShareBatch&) = default;
};
/// The records of a partition between where a share group starts and what it has not touched yet.
struct ShareLane {
  QString partition;
  QString note;
  std::vector<ShareBatch> batches;
  friend bool operator==(const ShareLane&, const ShareLane&) = default;
};

struct HappenedRow {
  QString time;
  QString text;
  uint64_t event = 0;
  friend bool operator==(const HappenedRow&, const HappenedRow&) = default;
};

struct RebalanceRow {
  QString generation;
  QString cause;
  QString took;
  QString idle;
  bool current = false;
  friend bool operator==(const RebalanceRow&, const RebalanceRow&) = default;
};

struct GroupScene {
  QString id;
  QString kind;
  QString facts;
  std::vector<QString> states;
  QString state;
  QString stateNote;
  SequenceScene sequence;
  std::vector<TopologyPart> topology;
  AssignmentScene assignment;
  std::vector<ShareLane> shared;
  std::vector<HappenedRow> happened;
  std::vector<LagRow> lag;
  QString lagSum;
  std::vector<RebalanceRow> rebalances;
  friend bool operator==(const GroupScene&, const GroupScene&) = default;
};

/// The most columns of partitions that are drawn; the table twin has all.
inline constexpr int kMostColumns = 24;
inline constexpr size_t kMostHappened = 10;

/// `record` may be null. `picked`: which rebalance is drawn, counted from the newest; `now`: the moment that is looked
/// at.
GroupScene groupScene(const observe::GroupSnapshot& group, const GroupRecord* record, size_t picked, GroupTime now);
SequenceScene sequenceScene(const Rebalance& rebalance, const observe::GroupSnapshot* group, GroupTime now);

}  // namespace tidemark::widgets
