#pragma once

#include <charconv>
#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

namespace tidemark::app {

/// A number above 0. (CLI11's own says in which range, whose end has 309 digits.)
inline CLI::Validator aboveZero() {
  return CLI::Validator(
      [](std::string& text) {
        double value = 0;
        return CLI::detail::lexical_cast(text, value) && value > 0 ? std::string() : text + " is not a number above 0";
      },
      "", "above 0");
}

/// A whole number from 0 on that fits 64 bits. (CLI11 takes what is negative or too large for another.)
inline CLI::Validator wholeNumber() {
  return CLI::Validator(
      [](std::string& text) {
        uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = error == std::errc{} && end == text.data() + text.size();
        return whole ? std::string() : text + " is not a whole number from 0 to 18446744073709551615";
      },
      "", "whole number");
}

}  // namespace tidemark::app
