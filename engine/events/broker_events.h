#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "events/text.h"
#include "platform/clock.h"

namespace tidemark::events {

using platform::Duration;
using ClientText = ShortText<40>;
using AddressText = ShortText<48>;

/// Why a broker no longer runs.
enum class DownCause : uint8_t { Stopped, Killed, InvariantBroken };
std::string_view nameOf(DownCause value) noexcept;

enum class FaultKind : uint8_t { Kill, Pause, Other };
std::string_view nameOf(FaultKind value) noexcept;

// Each kind of event: plain values, no owner, valid for ever. `fields(visit)` calls visit(name, value) for each of them
// in order, which is what text, JSON and tables are made of.

/// All its roles are up.
struct BrokerStarted {
  static constexpr std::string_view kName = "BrokerStarted";
  NodeId node;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("node", node);
  }
};

/// It no longer runs.
struct BrokerDown {
  static constexpr std::string_view kName = "BrokerDown";
  NodeId node;
  DownCause cause{};
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("node", node);
    visit("cause", cause);
  }
};

/// As by SIGSTOP.
struct BrokerPaused {
  static constexpr std::string_view kName = "BrokerPaused";
  NodeId node;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("node", node);
  }
};

/// As by SIGCONT.
struct BrokerResumed {
  static constexpr std::string_view kName = "BrokerResumed";
  NodeId node;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("node", node);
  }
};

/// By a client or another broker.
struct ConnectionOpened {
  static constexpr std::string_view kName = "ConnectionOpened";
  int64_t connection = 0;
  AddressText address;
  ShortText<24> listener;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("connection", connection);
    visit("address", address);
    visit("listener", listener);
  }
};

/// The peer's first request told who it is.
struct ConnectionIdentified {
  static constexpr std::string_view kName = "ConnectionIdentified";
  int64_t connection = 0;
  ClientText client;
  ShortText<24> software;
  ShortText<16> version;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("connection", connection);
    visit("client", client);
    visit("software", software);
    visit("version", version);
  }
};

/// By either side.
struct ConnectionClosed {
  static constexpr std::string_view kName = "ConnectionClosed";
  int64_t connection = 0;
  ClientText client;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("connection", connection);
    visit("client", client);
  }
};

/// In the committed metadata.
struct TopicCreated {
  static constexpr std::string_view kName = "TopicCreated";
  TopicTag topic = kNoTopicTag;
  int32_t partitions = 0;
  int32_t replicationFactor = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("topic", topic);
    visit("partitions", partitions);
    visit("replicationFactor", replicationFactor);
  }
};

/// In the committed metadata.
struct TopicDeleted {
  static constexpr std::string_view kName = "TopicDeleted";
  TopicTag topic = kNoTopicTag;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("topic", topic);
  }
};

/// A dynamic configuration, of a topic if `topic` is one, else of broker `node` or of all if none.
struct ConfigChanged {
  static constexpr std::string_view kName = "ConfigChanged";
  TopicTag topic = kNoTopicTag;
  NodeId node;
  ShortText<48> key;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("topic", topic);
    visit("node", node);
    visit("key", key);
  }
};

/// `duration` zero: until healed.
struct FaultInjected {
  static constexpr std::string_view kName = "FaultInjected";
  int32_t fault = 0;
  FaultKind kind{};
  NodeId node;
  ShortText<40> target;
  Duration duration{};
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("fault", fault);
    visit("kind", kind);
    visit("node", node);
    visit("target", target);
    visit("duration", duration);
  }
};

/// By hand or because its time was over.
struct FaultHealed {
  static constexpr std::string_view kName = "FaultHealed";
  int32_t fault = 0;
  FaultKind kind{};
  NodeId node;
  ShortText<40> target;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("fault", fault);
    visit("kind", kind);
    visit("node", node);
    visit("target", target);
  }
};

/// A rule that cannot be broken was; the broker dies of it.
struct InvariantBroken {
  static constexpr std::string_view kName = "InvariantBroken";
  ShortText<80> rule;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("rule", rule);
  }
};

}  // namespace tidemark::events
