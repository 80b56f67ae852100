#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "observe/recording.h"

// A recording as a file: one JSON object a line, so that it can be searched and cut with what every machine has.
//
//   {"recording":1}                                          the first line: the format's version
//   {"snapshot":{…}}                                          recording_fields.h; once a second
//   {"event":"IsrShrunk","at":…,"wall":…,"broker":1,"sequence":…,"topic":"orders","partition":0,"fields":{…}}
//
// in the order in which things happened. Left out is what is as by default: 0, false, nothing, and −1 of an id, an
// offset or an epoch. Durations and "at" are nanoseconds, "wall" milliseconds since 1970, enumerators of events their
// names, others numbers, a fault as parseFault() takes it. Unknown members are passed over, unknown events are an
// error.
namespace tidemark::observe {

/// Writes what happens, line by line. Belongs to one thread.
class RecordingWriter {
 public:
  /// `write` takes a line without its end.
  explicit RecordingWriter(std::function<void(std::string_view)> write);

  void add(const ObservedEvent& event);
  /// Only once so much time has passed that another snapshot is kept.
  void add(const ClusterSnapshot& cluster);
  /// All of it, from the first snapshot on.
  void add(const Recording& recording);
  /// Whether a snapshot made now would be kept.
  bool wantsSnapshot(MonotonicTime now) const noexcept { return !last_ || now - *last_ >= Recording::kApart; }

 private:
  const std::function<void(std::string_view)> write_;
  std::optional<MonotonicTime> last_;
};

/// Reads them again.
class RecordingReader {
 public:
  /// Larger recordings are refused: this many events fit into memory.
  static constexpr size_t kMostEvents = 5'000'000;

  /// InvalidRequest says which line is wrong, and how; nothing is taken after that.
  Result<void> take(std::string_view line);
  /// What was read. InvalidRequest if there was nothing that can be shown.
  Result<Recording> finish();

 private:
  Recording recording_{Recording::Bounds{.events = kMostEvents, .snapshots = SIZE_MAX}};
  uint64_t line_ = 0;
  uint64_t event_ = 0;
};

}  // namespace tidemark::observe
