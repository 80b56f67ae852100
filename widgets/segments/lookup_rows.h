#pragma once

#include <vector>

#include <QString>

#include "segments/segment_types.h"

namespace tidemark::widgets {

/// A step of a lookup that the reader can stop at.
struct LookupRow {
  enum class Mark { Segment, Probe, Floor, Scan, Found, Miss };
  Mark mark = Mark::Probe;
  /// Of a probe or a batch, counted from 1.
  int number = 0;
  /// Index of the engine's own step.
  size_t step = 0;
  log::LookupStep::Index index = log::LookupStep::Index::None;
  QString slot;
  QString entry;
  QString leadsTo;
  QString then;
  friend bool operator==(const LookupRow&, const LookupRow&) = default;
};
std::vector<LookupRow> lookupRows(const LookupPicture& lookup);

/// What came of it, as far as the steps up to `step` tell.
struct LookupSums {
  int probes = 0;
  /// Entries of the index that was searched last.
  size_t entries = 0;
  std::optional<log::LookupStep> timeFloor;
  std::optional<log::LookupStep> floor;
  /// The segment's begin counts, since no entry is below what is sought.
  bool noFloor = false;
  int batches = 0;
  int64_t bytesScanned = 0;
  std::optional<log::LookupStep> found;
  std::optional<log::LookupStep> record;
};
LookupSums sumUp(const LookupPicture& lookup, int step);

}  // namespace tidemark::widgets
