#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace tidemark::bench {

/// `--NAME VALUE` pairs; what is missing or odd throws std::runtime_error.
class Options {
 public:
  Options(int count, char** words) {
    for (int i = 0; i < count; i += 2) {
      if (std::strncmp(words[i], "--", 2) != 0 || i + 1 == count) {
        throw std::runtime_error(fmt::format("{}: expected --NAME VALUE", words[i]));
      }
      values_[words[i] + 2] = words[i + 1];
    }
  }

  const std::string& text(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) throw std::runtime_error("--" + name + " is missing");
    return found->second;
  }
  double number(const std::string& name) const { return std::stod(text(name)); }
  int64_t count(const std::string& name) const { return static_cast<int64_t>(number(name)); }
  size_t size(const std::string& name) const { return std::stoul(text(name)); }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace tidemark::bench
