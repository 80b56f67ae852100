#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "faults/fault.h"

namespace tidemark::faults {

/// One end of a link once names are resolved: a node, or clients if there is none.
struct End {
  NodeId node = kNoNode;
  Port port = Port::Any;
  /// Of a client; empty: all clients.
  std::string client;

  friend bool operator==(const End&, const End&) = default;
};

/// What one end sends to the other.
struct LinkRule {
  End from;
  End to;

  friend bool operator==(const LinkRule&, const LinkRule&) = default;
};

/// One direction of one connection, as the side sees it at which it is faulted: between brokers the one that connected,
/// with clients the one that accepted.
struct Passage {
  /// None: a client.
  NodeId opener = kNoNode;
  std::string client;
  NodeId acceptor = kNoNode;
  /// Which listener of the acceptor; never Any.
  Port port = Port::Broker;
  /// From the opener to the acceptor, or back.
  bool toAcceptor = true;
};

/// Whether the rule is about that direction. A controller opens connections to controllers only, so "controller 1" is
/// the opener of these alone; a node that is both cannot be told apart there.
bool matches(const LinkRule& rule, const Passage& passage) noexcept;

/// Where a fault acts, in numbers.
struct Place {
  /// None: every node.
  NodeId node = kNoNode;
  /// Requests: of which client; empty: of all.
  std::string client;
  /// Of a fault of links.
  std::vector<LinkRule> links;

  bool isAt(NodeId other) const noexcept { return node == kNoNode || node == other; }
};

/// A node of a cluster, and what it is.
struct Member {
  NodeId id;
  bool isBroker = true;
  bool isController = true;

  friend bool operator==(const Member&, const Member&) = default;
};

/// Whether it answers requests of the API (Kafka's name of it).
bool takes(const Member& member, std::string_view api) noexcept;

/// Who is who in a cluster at this moment.
class ClusterView {
 public:
  virtual ~ClusterView() = default;
  /// All of them, running or not, in order.
  virtual std::vector<Member> members() const = 0;
  /// Errors say why there is none.
  virtual Result<NodeId> leaderOf(const TopicPartition& partition) const = 0;
  virtual Result<NodeId> activeController() const = 0;
};

/// Resolves names and draws shapes. InvalidRequest if that can never be in this cluster: it has no such broker or
/// controller, whoever could be meant is never asked or told that, the shape does not fit it. LeaderNotAvailable or
/// BrokerNotAvailable if nobody is what was named, or who is it now is no one to whom it can happen.
Result<Place> placeOf(const Fault& fault, const ClusterView& cluster);

// Shapes: who does not hear whom.

/// Nothing to or from the node.
std::vector<LinkRule> isolated(NodeId node, std::span<const NodeId> nodes, bool fromClients);
/// Nothing between the two groups.
std::vector<LinkRule> halves(std::span<const NodeId> left, std::span<const NodeId> right);
/// Two halves of the rest that only the bridge sees both of.
std::vector<LinkRule> bridge(NodeId node, std::span<const NodeId> nodes);
/// Each sees a majority, itself counted, and no two the same one: its neighbours in a ring. At least 5, an odd number.
std::vector<LinkRule> ringOfMajorities(std::span<const NodeId> nodes);

}  // namespace tidemark::faults
