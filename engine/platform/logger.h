#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tidemark::platform {

/// Where a Process tells, in words, what it does. Any thread. Debug lines are formatted only if somebody wants them.
class Logger {
 public:
  enum class Level : uint8_t { Debug, Info, Warning, Error };

  virtual ~Logger() = default;
  virtual void write(Level level, std::string_view component, std::string_view text) = 0;
  virtual bool enabled(Level level) const noexcept = 0;

  template <class... Arguments>
  void debug(std::string_view component, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    log(Level::Debug, component, format, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  void info(std::string_view component, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    log(Level::Info, component, format, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  void warning(std::string_view component, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    log(Level::Warning, component, format, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  void error(std::string_view component, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    log(Level::Error, component, format, std::forward<Arguments>(arguments)...);
  }

 private:
  template <class... Arguments>
  void log(Level level, std::string_view component, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (enabled(level)) write(level, component, fmt::format(format, std::forward<Arguments>(arguments)...));
  }
};

}  // namespace tidemark::platform
