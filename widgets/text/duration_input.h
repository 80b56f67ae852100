#pragma once

#include <chrono>
#include <optional>

#include <QString>

namespace tidemark::widgets {

/// A span of time as somebody writes it: "12.5s", "800ms", "1m08s", "1 h 02 m", or seconds without a unit. The largest
/// unit comes first, and only the last number has a fraction. Nothing if the text is none.
std::optional<std::chrono::milliseconds> parseDuration(const QString& text);

}  // namespace tidemark::widgets
