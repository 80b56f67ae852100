#pragma once

#include <optional>
#include <vector>

#include <QString>

#include "observe/snapshot.h"

namespace tidemark::widgets {

/// A compacted log of one broker, as the Cleaner view shows it.
struct CleanerRow {
  enum class State { Running, Due, Idle, SetAside };
  observe::CleanerSnapshot log;
  State state = State::Idle;

  std::pair<TopicPartition, NodeId> key() const { return {log.partition, log.broker}; }
  int64_t allBytes() const noexcept { return log.cleanBytes + log.dirtyBytes + log.uncleanableBytes; }
  /// Everything that is drawn.
  friend bool operator==(const CleanerRow& a, const CleanerRow& b);
};

/// The logs to be shown, by topic, partition and broker. `broker` none: of all of them. `emptyToo`: also those that
/// hold nothing, as most partitions of an internal topic do.
std::vector<CleanerRow> cleanerRows(const observe::ClusterSnapshot& cluster, NodeId broker, bool emptyToo);

/// "cleans now", "due: older than max.compaction.lag.ms", "not dirty enough", …
QString cleanerStateText(const CleanerRow& row);
QString percentText(double part);
/// The last pass as facts, name and value; empty if there was none. `now`: of the snapshot, for what is left of a
/// horizon.
std::vector<std::pair<QString, QString>> passFacts(const CleanerRow& row, platform::WallTime now);

}  // namespace tidemark::widgets
