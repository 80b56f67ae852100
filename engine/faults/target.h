#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/ids.h"
#include "base/result.h"

namespace tidemark::faults {

/// A node, by its number or by what it is at the moment when a fault begins.
struct NodeName {
  enum class By : uint8_t { Number, LeaderOf, ActiveController };
  By by = By::Number;
  NodeId id;
  TopicPartition partition;
  /// Of a number: it is called a controller, as a node that is no broker is. It stands for the same node.
  bool isController = false;

  friend bool operator==(const NodeName&, const NodeName&) = default;
};

/// Which of a node's listeners a connection came to.
enum class Port : uint8_t { Any, Broker, Controller };

/// One end of a link: a node (at one of its listeners, if it is the end that was connected to), or clients.
struct LinkEnd {
  bool isClients = false;
  NodeName node;
  Port port = Port::Any;
  /// Of a client; empty: all clients.
  std::string client;

  friend bool operator==(const LinkEnd&, const LinkEnd&) = default;
};

/// What is sent from one end to the other, or both ways.
struct LinkName {
  LinkEnd from;
  LinkEnd to;
  bool bothWays = false;

  friend bool operator==(const LinkName&, const LinkName&) = default;
};

/// Clients by the client id of their requests; empty: all.
struct ClientsName {
  std::string client;

  friend bool operator==(const ClientsName&, const ClientsName&) = default;
};

/// Where a fault acts, in symbols. Nothing: everywhere.
using Target = std::variant<std::monostate, NodeName, LinkName, ClientsName>;

/// "broker 3", "controller 4", "leader of orders-0", "the active controller", "clients", "clients named billing", "link
/// 1->3", "link 1<->controller 3", "link clients named billing->2": the same words that textOf() writes. "" is
/// everywhere. The ends of a link are nodes or clients; a bare number is a node with all its listeners. Between nodes
/// the word "link" may be left out when it is read. InvalidRequest says what is wrong.
Result<Target> parseTarget(std::string_view text);
std::string textOf(const Target& target);

}  // namespace tidemark::faults
