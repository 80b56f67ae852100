#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include "base/bytes.h"
#include "inspect/check.h"
#include "inspect/finding.h"
#include "platform/file_system.h"

namespace tidemark::inspect {

/// What is told of one segment: of each kind of finding so many one by one, the rest as a number. For one check, on its
/// thread; the sink outlives it.
class SegmentFindings {
 public:
  /// `logPath`: the .log that stands for the segment. `trusted`: as in CheckOptions.
  SegmentFindings(const FindingSink& sink, std::string logPath, bool trusted)
      : sink_(sink), logPath_(std::move(logPath)), trusted_(trusted) {}

  /// Of what the next start puts right if it reads the segment again.
  Severity repairable() const { return trusted_ ? Severity::Error : Severity::Warning; }
  void tell(Finding finding);
  /// Tells how many there were of kinds that were not told one by one.
  void finish();

 private:
  const FindingSink& sink_;
  const std::string logPath_;
  const bool trusted_;
  size_t told_[static_cast<size_t>(FindingKind::Unreadable) + 1] = {};
};

/// As many of these bytes as a finding shows.
ByteVector shownBytes(ByteView bytes);
/// The same of a file's bytes at a place; fewer if it cannot be read.
ByteVector shownBytes(const platform::File& file, uint64_t position, uint64_t length);

}  // namespace tidemark::inspect
