#include "text/duration_input.h"

#include <array>
#include <cmath>

#include <QRegularExpression>

namespace tidemark::widgets {

std::optional<std::chrono::milliseconds> parseDuration(const QString& text) {
  static const QRegularExpression whole(
      QStringLiteral(R"(^\s*(?:(\d{1,6})\s*h)?\s*(?:(\d{1,6})\s*m)?\s*(?:(\d{1,9}(?:\.\d{1,9})?)\s*s?)?\s*$)"));
  static const QRegularExpression thousandths(QStringLiteral(R"(^\s*(\d{1,9}(?:\.\d{1,9})?)\s*ms\s*$)"));
  if (const auto found = thousandths.match(text); found.hasMatch())
    return std::chrono::milliseconds(std::llround(found.captured(1).toDouble()));
  const auto found = whole.match(text);
  if (!found.hasMatch() || text.trimmed().isEmpty()) return std::nullopt;
  constexpr std::array<double, 3> kUnits{3'600'000, 60'000, 1000};
  double milliseconds = 0;
  for (int i = 0; i < 3; ++i) milliseconds += found.captured(i + 1).toDouble() * kUnits[static_cast<size_t>(i)];
  return std::chrono::milliseconds(std::llround(milliseconds));
}

}  // namespace tidemark::widgets
