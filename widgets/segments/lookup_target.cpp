#include "segments/lookup_target.h"

#include <QRegularExpression>

#include "inspect/partition_view.h"

namespace tidemark::widgets {

std::optional<LookupTarget> readTarget(const QString& text, const QDateTime& now) {
  const QString trimmed = text.trimmed();
  const QString word = trimmed.toLower();
  if (word == QStringLiteral("earliest")) return LookupTarget{true, log::kEarliestTimestamp};
  if (word == QStringLiteral("latest")) return LookupTarget{true, log::kLatestTimestamp};
  if (word == QStringLiteral("max")) return LookupTarget{true, log::kMaxTimestamp};

  bool good = false;
  if (trimmed.startsWith(QLatin1Char('@'))) {
    const qint64 moment = trimmed.mid(1).trimmed().toLongLong(&good);
    if (good && moment >= 0) return LookupTarget{true, moment};
    return std::nullopt;
  }
  if (trimmed.contains(QLatin1Char(':'))) {
    QString clock = trimmed;
    QDate day = now.date();
    static const QRegularExpression withDay(QStringLiteral("^(\\d{4}-\\d{2}-\\d{2})[T ]+(.+)$"));
    if (const auto match = withDay.match(trimmed); match.hasMatch()) {
      day = QDate::fromString(match.captured(1), Qt::ISODate);
      clock = match.captured(2);
    }
    static const QRegularExpression withZone(QStringLiteral("^([0-9:.]+)\\s*(Z|[+-]\\d{2}:?\\d{2})$"));
    std::optional<int> offset;
    if (const auto match = withZone.match(clock); match.hasMatch()) {
      const QString zone = match.captured(2);
      clock = match.captured(1);
      offset = 0;
      if (zone != QStringLiteral("Z")) {
        const int minutes = zone.mid(1, 2).toInt() * 60 + zone.right(2).toInt();
        offset = (zone.startsWith(QLatin1Char('-')) ? -minutes : minutes) * 60;
      }
    }
    QTime time;
    for (const char* format : {"H:m:s.zzz", "H:m:s.zz", "H:m:s.z", "H:m:s", "H:m"}) {
      time = QTime::fromString(clock, QLatin1String(format));
      if (time.isValid()) break;
    }
    if (!day.isValid() || !time.isValid()) return std::nullopt;
    const QDateTime moment = offset ? QDateTime(day, time, Qt::OffsetFromUTC, *offset) : QDateTime(day, time);
    if (!moment.isValid() || moment.toMSecsSinceEpoch() < 0) return std::nullopt;
    return LookupTarget{true, moment.toMSecsSinceEpoch()};
  }
  QString digits = trimmed;
  // Numbers are shown in groups, and copied as they are shown.
  static const QRegularExpression between(QStringLiteral("(?<=\\d)[\\s\\x{2005}\\x{202f}_',](?=\\d{3})"));
  digits.remove(between);
  const qint64 value = digits.toLongLong(&good, word.startsWith(QStringLiteral("0x")) ? 16 : 10);
  if (!good || value < 0) return std::nullopt;
  return LookupTarget{false, value};
}

}  // namespace tidemark::widgets
