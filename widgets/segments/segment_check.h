#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "segments/partition_reader.h"

namespace tidemark::widgets {

/// What the window and a check that is under way tell each other; any thread.
struct CheckTicket {
  /// Set by the window: the check ends as soon as it can, and what it did not finish counts as not checked.
  std::atomic<bool> stop{false};
  /// Bytes that were read since it began. Only grows.
  std::atomic<int64_t> bytesRead{0};
};

/// A segment that is to be checked, as long as it was when it was listed.
struct SegmentToCheck {
  Offset base;
  int64_t bytes = 0;
  bool active = false;
  friend bool operator==(const SegmentToCheck&, const SegmentToCheck&) = default;
};

/// A segment that was checked to its end.
struct CheckedSegment {
  SegmentToCheck segment;
  /// At most kMostFindings.
  std::vector<FindingEntry> findings;
  /// How many of all that were made are severe, kept or not.
  int severe = 0;

  static constexpr size_t kMostFindings = 100;
};

struct CheckedSegments {
  std::vector<CheckedSegment> done;
  /// Could not be checked: gone, or cut, meanwhile, or a `.log` that cannot be read. They are listed again if they are
  /// still there.
  std::vector<SegmentToCheck> passedOver;
};

/// Checks segments, every byte of them, until all are done or `ticket` says stop. Runs inside a look.
Result<CheckedSegments> checkSegments(const observe::LookAccess& access, ReaderCache& cache,
                                      const std::vector<SegmentToCheck>& segments, CheckTicket& ticket);

/// The partition with each finding marked at its segment: where in the `.log` the first of them begins, and which of
/// the files beside it have one.
PartitionPicturePtr withFindings(const PartitionPicturePtr& read, std::span<const CheckedSegment* const> checked);

}  // namespace tidemark::widgets
