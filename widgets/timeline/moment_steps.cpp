#include "timeline/moment_steps.h"

#include <algorithm>
#include <cmath>

#include <QDateTime>

namespace tidemark::widgets {

namespace {

constexpr double kDayMs = 86400e3;
/// Pixels from label to label: those that tell milliseconds are longer.
constexpr double kApart = 84;
constexpr double kApartWithMs = 116;

}  // namespace

double momentStep(double milliseconds, double pixels) {
  static constexpr double kSteps[] = {1,     2,     5,      10,     20,     50,      100,     200,     500,
                                      1e3,   2e3,   5e3,    10e3,   15e3,   30e3,    60e3,    120e3,   300e3,
                                      600e3, 900e3, 1800e3, 3600e3, 7200e3, 10800e3, 21600e3, 43200e3, kDayMs};
  for (const double step : kSteps)
    if (step * pixels >= milliseconds * (step < 1000 ? kApartWithMs : kApart)) return step;
  return std::ceil(milliseconds * kApart / std::max(1.0, pixels) / kDayMs) * kDayMs;
}

QString momentText(double milliseconds, double step) {
  const QDateTime moment = QDateTime::fromMSecsSinceEpoch(std::llround(milliseconds));
  if (step < 1000) return moment.toString(QStringLiteral("HH:mm:ss.zzz"));
  if (step < 60e3) return moment.toString(QStringLiteral("HH:mm:ss"));
  return moment.toString(step < kDayMs ? QStringLiteral("HH:mm") : QStringLiteral("yyyy-MM-dd"));
}

}  // namespace tidemark::widgets
