#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "broker/node.h"
#include "events/event.h"

namespace tidemark::sim {

/// An invariant of the list (R2, K1, …) that did not hold, with its numbers.
struct Breach {
  std::string invariant;
  std::string text;
};

/// Where breaches are told; the first one counts.
class Judge {
 public:
  void breach(std::string_view invariant, std::string text) {
    if (!first_) first_ = Breach{std::string(invariant), std::move(text)};
  }
  const std::optional<Breach>& first() const noexcept { return first_; }

 private:
  std::optional<Breach> first_;
};

/// The invariant that a process names which died of it ("…: K2: the vote changes"); "error" if it names none.
inline std::string_view invariantOf(std::string_view text) {
  for (size_t at = text.find(": "); at != text.npos; at = text.find(": ", at + 1)) {
    size_t end = at + 2;
    if (end >= text.size() || !std::string_view("RKTGSL").contains(text[end])) continue;
    end = text.find_first_not_of("0123456789", end + 1);
    if (end != text.npos && end > at + 3 && text[end] == ':') return text.substr(at + 2, end - at - 2);
  }
  return "error";
}

/// An event of a broker, told right after the simulated step in which it happened.
struct Seen {
  NodeId broker;
  const events::Event& event;
  /// Of the event; an empty topic if it is about none.
  const TopicPartition& partition;
  /// The broker as it is now; null while it is being opened and after its death.
  broker::Node* node;
};

/// Watches one kind of invariant. Only looks.
class Checker {
 public:
  virtual ~Checker() = default;
  /// A new process of that broker begins.
  virtual void started(NodeId /*broker*/) {}
  /// It has read its disk.
  virtual void opened(NodeId /*broker*/, broker::Node& /*node*/) {}
  virtual void on(const Seen& /*seen*/) {}
  /// Some events of it were not kept: what was made of them is to be looked up.
  virtual void missed(NodeId /*broker*/, broker::Node& /*node*/) {}
};

template <class Kind>
const Kind* as(const Seen& seen) {
  return std::get_if<Kind>(&seen.event.payload);
}

}  // namespace tidemark::sim
