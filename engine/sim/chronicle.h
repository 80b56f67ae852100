#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>

#include "sim/checker.h"

namespace tidemark::sim {

/// The last things that happened, for the report of a failure: time downwards, a column for each broker.
class Chronicle final : public Checker {
 public:
  using Now = std::function<platform::MonotonicTime()>;
  Chronicle(Now now, int nodes) : now_(std::move(now)), nodes_(nodes) {}
  void started(NodeId broker) override;
  void on(const Seen& seen) override;
  /// Something that was done from outside: a fault, its end.
  void note(std::string text);

  uint64_t events() const noexcept { return events_; }
  /// The newest `lines` of what is kept, each with its time since the start.
  std::string excerpt(size_t lines) const;

 private:
  struct Line {
    platform::MonotonicTime at;
    /// kNoNode: it came from outside.
    NodeId broker = kNoNode;
    TopicPartition partition;
    std::optional<events::Payload> payload;
    std::string text;
  };
  void keep(Line line);

  const Now now_;
  const int nodes_;
  uint64_t events_ = 0;
  std::deque<Line> lines_;
};

/// Seconds since the start of a simulated world.
double secondsOf(platform::MonotonicTime at);

}  // namespace tidemark::sim
