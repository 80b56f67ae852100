#pragma once

#include <cstdint>
#include <optional>

#include <QDateTime>
#include <QString>

namespace tidemark::widgets {

/// What somebody wants to find in a log.
struct LookupTarget {
  bool byTime = false;
  /// An offset, or milliseconds since 1970 (also the special timestamps of ListOffsets, below zero).
  int64_t value = 0;
  friend bool operator==(const LookupTarget&, const LookupTarget&) = default;
};

/// Reads an offset ("1177", "1 177", "0x499"), a time of today ("14:01", "14:01:08.970"), of another day ("2026-11-30
/// 14:01:08", with or without T, Z or an offset of hours), milliseconds since 1970 ("@1790604068970"), or "earliest",
/// "latest", "max". Nothing if it is none of these.
std::optional<LookupTarget> readTarget(const QString& text, const QDateTime& now);

}  // namespace tidemark::widgets
