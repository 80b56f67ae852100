#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "platform/clock.h"
#include "platform/simulated/generator.h"

namespace tidemark::platform {

enum class TraceKind : uint8_t { Run, File, Network, Process, Log, Note };

/// What happened, as a running hash and, if somebody asks for it, as text. Takes no pointers and no real time.
class Trace {
 public:
  explicit Trace(std::function<void(std::string_view line)> sink) : sink_(std::move(sink)) {}

  /// `text` makes the line; it is called only if lines are wanted.
  template <class Text>
  void record(MonotonicTime at, TraceKind kind, uint64_t a, uint64_t b, uint64_t c, Text&& text) {
    hash_ = mix(hash_, static_cast<uint64_t>(at.time_since_epoch().count()) ^ (static_cast<uint64_t>(kind) << 60));
    hash_ = mix(hash_, a ^ (b << 24) ^ (c << 40) ^ (c >> 24));
    if (sink_) write(at, kind, text());
  }
  uint64_t hash() const noexcept { return hash_; }

 private:
  void write(MonotonicTime at, TraceKind kind, const std::string& text);

  uint64_t hash_ = 0;
  std::function<void(std::string_view line)> sink_;
};

}  // namespace tidemark::platform
