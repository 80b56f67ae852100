#pragma once

#include <optional>
#include <span>
#include <vector>

#include <QString>

#include "base/ids.h"
#include "platform/clock.h"

// How numbers, sizes, times and names are written everywhere in the window.
namespace tidemark::widgets {

/// "1 286": groups of three, parted by a thin space; "–" for none (below zero).
QString grouped(int64_t number);
QString offsetText(Offset offset);
/// Of the offsets in [from, to): "1 283 – 1 294", or the only one.
QString rangeText(Offset from, Offset to);
/// "3.1 GB", "64 KB", "812 B": powers of 1000.
QString bytesText(int64_t bytes);
/// "13.6 KiB", "1 MiB", "812 B": powers of 1024, for what is set in them (segments, indexes).
QString binaryBytesText(int64_t bytes);
/// "12.4 MB/s".
QString rateText(double bytesPerSecond);
/// "640 ms", "12.4 s", "1 m 08 s", "2 h 05 m".
QString durationText(platform::Duration duration);
/// Where there is little room: "12.4 s", "18 m", "5 h", "3 d"; what is left over is not told.
QString shortDurationText(platform::Duration duration);
/// "12.4 s ago", "just now" under 50 ms.
QString agoText(platform::Duration duration);
/// "14:02:11.385", local time.
QString timeText(platform::WallTime time);
/// "14:02:11.385" if that was today, else with the day in front: "2026-11-30 14:02:11.385". "–" below zero.
QString momentText(int64_t millisecondsSince1970);
/// A set, "{1, 2}": by broker, whatever the order.
QString nodesText(std::span<const NodeId> nodes);
/// An order that means something, "[2, 3, 1]": the first is preferred.
QString nodeListText(std::span<const NodeId> nodes);
/// For tr(): which plural a number takes, however large it is.
int pluralOf(int64_t number) noexcept;
/// "orders-0".
QString partitionText(const TopicPartition& partition);
/// As Kafka names the file of a segment: twenty digits.
QString segmentFileName(Offset base);

inline QString fromUtf8(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace tidemark::widgets
