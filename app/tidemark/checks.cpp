#include "tidemark/checks.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

namespace tidemark::app {
namespace {

namespace fs = std::filesystem;

template <class Number>
CLI::Validator within(Number least, Number most, std::string name) {
  return CLI::Validator(
      [least, most, name](std::string& text) {
        Number value{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        // Not "out of range", so that what is no number at all is not taken either.
        const bool taken = error == std::errc{} && end == text.data() + text.size() && value >= least && value <= most;
        return taken ? std::string() : fmt::format("{} is not a {} from {} to {}", text, name, least, most);
      },
      "", name);
}

/// As the file system has it; what is not there yet by its name.
fs::path real(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::error_code code;
  fs::path named = fs::absolute(path, code);
  // A link may lead to what is not there yet.
  for (int links = 0; links < kMostLinks && fs::is_symlink(named, code); ++links)
    named = named.parent_path() / fs::read_symlink(named, code);
  fs::path found = fs::weakly_canonical(named, code);
  // "folder/" is the folder.
  return found.has_filename() ? found : found.parent_path();
}

}  // namespace

CLI::Validator wholeNumber(int64_t least, int64_t most) {
  return within(least, most, "whole number");
}

CLI::Validator wholeNumber(uint64_t least) {
  return within(least, std::numeric_limits<uint64_t>::max(), "whole number");
}

CLI::Validator number(double least, double most) {
  return within(least, most, "number");
}

const CLI::Option* emptyOption(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (std::ranges::any_of(option->results(), [](const std::string& value) { return value.empty(); })) return option;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (const CLI::Option* found = emptyOption(*command)) return found;
  return nullptr;
}

bool isSameFile(const std::string& one, const std::string& other) {
  std::error_code code;
  // Nothing is kept in a terminal or in /dev/null.
  if (fs::exists(one, code) && !fs::is_regular_file(one, code)) return false;
  return fs::equivalent(one, other, code) || real(one) == real(other);
}

bool isInside(const std::string& path, const std::string& folder) {
  const fs::path inner = real(path);
  const fs::path outer = real(folder);
  return std::ranges::mismatch(outer, inner).in1 == outer.end();
}

}  // namespace tidemark::app
