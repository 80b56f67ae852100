#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "platform/process.h"

/// The platform of real threads, sockets, files and clocks.
namespace tidemark::platform {

struct NativeOptions {
  /// In front of each line of the log: "broker-1".
  std::string name;
  /// Lines below this level are not even formatted.
  Logger::Level level = Logger::Level::Info;
  /// Where log lines go, called on any thread. Empty: to the standard error through spdlog.
  std::function<void(Logger::Level level, std::string_view process, std::string_view component, std::string_view text)>
      sink;
};

/// A Process with real threads. Its first call has SIGPIPE ignored in the whole program. Destroying the last handle of
/// a Process that still runs kills it without calling its death handler; not from inside one of its own tasks.
std::shared_ptr<Process> makeNativeProcess(NativeOptions options);

/// Raises the soft limit of open files to the hard one and returns what it is now.
uint64_t raiseFileLimit();

/// `count` TCP ports that are free on `host` now, below 32768 so that no outgoing connection takes one meanwhile. Not
/// reserved: whoever asks next for such a port may get it. `host`: a numeric address, or "" for all.
Result<std::vector<uint16_t>> pickFreePorts(const std::string& host, size_t count);

}  // namespace tidemark::platform
