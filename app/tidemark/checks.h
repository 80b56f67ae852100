#pragma once

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

}  // namespace tidemark::app
