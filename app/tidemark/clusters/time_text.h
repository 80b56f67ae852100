#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::app {

/// "2026-11-30T14:02:11.385", with "Z" or "+01:00" behind it, as milliseconds since 1970; without a zone it is UTC, as
/// Kafka's tools take it. Time and milliseconds may be left out. Nothing if it is none.
std::optional<int64_t> parseDatetime(std::string_view text);
/// ISO 8601's "P1DT2H30M5.5S", in milliseconds. Nothing if it is none.
std::optional<int64_t> parseDuration(std::string_view text);
/// "2026-11-30T14:02:11.385Z".
std::string datetimeText(int64_t millisecondsSince1970);

}  // namespace tidemark::app
