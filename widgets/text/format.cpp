#include "text/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <QCoreApplication>
#include <QDateTime>

namespace tidemark::widgets {
namespace {

struct FormatWords {
  Q_DECLARE_TR_FUNCTIONS(Format)
};

constexpr QChar kThinSpace(0x2005);

/// Three digits that mean something: "3.1", "37.0", "812".
QString shortNumber(double value) {
  return QString::number(value, 'f', value < 99.95 ? 1 : 0);
}

QString joined(std::span<const NodeId> nodes) {
  QStringList ids;
  for (const NodeId node : nodes) ids << QString::number(node.value());
  return ids.join(QStringLiteral(", "));
}

}  // namespace

QString grouped(int64_t number) {
  if (number < 0) return QStringLiteral("–");
  QString digits = QString::number(number);
  for (qsizetype at = digits.size() - 3; at > 0; at -= 3) digits.insert(at, kThinSpace);
  return digits;
}

QString offsetText(Offset offset) {
  return grouped(offset.value());
}

QString rangeText(Offset from, Offset to) {
  return to - from <= 1 ? offsetText(from) : QStringLiteral("%1 – %2").arg(offsetText(from), offsetText(to - 1));
}

QString bytesText(int64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits{"KB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000) return QStringLiteral("%1 B").arg(bytes);
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (value /= 1000; value >= 999.5 && unit + 1 < kUnits.size(); value /= 1000) ++unit;
  return QStringLiteral("%1 %2").arg(shortNumber(value), QLatin1String(kUnits[unit]));
}

QString binaryBytesText(int64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 0) return QStringLiteral("–");
  if (bytes < 1024) return QStringLiteral("%1 B").arg(bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1023.5 && unit + 1 < kUnits.size(); value /= 1024) ++unit;
  // What is set is mostly a whole number.
  const QString number = value == std::floor(value) ? QString::number(value, 'f', 0) : shortNumber(value);
  return QStringLiteral("%1 %2").arg(number, QLatin1String(kUnits[unit]));
}

QString rateText(double bytesPerSecond) {
  return FormatWords::tr("%1/s").arg(bytesText(static_cast<int64_t>(bytesPerSecond)));
}

QString durationText(platform::Duration duration) {
  using namespace std::chrono;
  if (duration < platform::Duration::zero()) duration = platform::Duration::zero();
  const double seconds = std::chrono::duration<double>(duration).count();
  if (seconds < 0.9995) return FormatWords::tr("%1 ms").arg(qRound(seconds * 1000));
  if (seconds < 59.95) return FormatWords::tr("%1 s").arg(QString::number(seconds, 'f', 1));
  const auto whole = static_cast<int64_t>(seconds);
  const auto two = [](int64_t value) { return QStringLiteral("%1").arg(value, 2, 10, QLatin1Char('0')); };
  if (whole < 3600) return FormatWords::tr("%1 m %2 s").arg(whole / 60).arg(two(whole % 60));
  return FormatWords::tr("%1 h %2 m").arg(whole / 3600).arg(two(whole / 60 % 60));
}

QString shortDurationText(platform::Duration duration) {
  using namespace std::chrono;
  if (duration < minutes(1)) return durationText(duration);
  if (duration < hours(1)) return FormatWords::tr("%1 m").arg(duration_cast<minutes>(duration).count());
  if (duration < hours(48)) return FormatWords::tr("%1 h").arg(duration_cast<hours>(duration).count());
  return FormatWords::tr("%1 d").arg(duration_cast<hours>(duration).count() / 24);
}

QString agoText(platform::Duration duration) {
  if (duration < std::chrono::milliseconds(50)) return FormatWords::tr("just now");
  return FormatWords::tr("%1 ago").arg(durationText(duration));
}

QString timeText(platform::WallTime time) {
  return QDateTime::fromMSecsSinceEpoch(time.time_since_epoch().count()).toString(QStringLiteral("HH:mm:ss.zzz"));
}

QString momentText(int64_t millisecondsSince1970) {
  if (millisecondsSince1970 < 0) return QStringLiteral("–");
  const QDateTime moment = QDateTime::fromMSecsSinceEpoch(millisecondsSince1970);
  return moment.toString(moment.date() == QDate::currentDate() ? QStringLiteral("HH:mm:ss.zzz")
                                                               : QStringLiteral("yyyy-MM-dd HH:mm:ss.zzz"));
}

QString nodesText(std::span<const NodeId> nodes) {
  std::vector<NodeId> sorted(nodes.begin(), nodes.end());
  std::ranges::sort(sorted);
  return QStringLiteral("{%1}").arg(joined(sorted));
}

QString nodeListText(std::span<const NodeId> nodes) {
  return QStringLiteral("[%1]").arg(joined(nodes));
}

int pluralOf(int64_t number) noexcept {
  return static_cast<int>(std::clamp<int64_t>(number, 0, 1'000'000'000));
}

QString partitionText(const TopicPartition& partition) {
  return QStringLiteral("%1-%2").arg(fromUtf8(partition.topic)).arg(partition.partition.value());
}

QString segmentFileName(Offset base) {
  return QStringLiteral("%1.log").arg(base.value(), 20, 10, QLatin1Char('0'));
}

}  // namespace tidemark::widgets
