#include "faults/place.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::faults {
namespace {

constexpr size_t kSmallestRing = 5;
constexpr size_t kSmallestBridge = 3;

void both(std::vector<LinkRule>& rules, NodeId a, NodeId b) {
  rules.push_back({.from = {.node = a, .port = {}, .client = {}}, .to = {.node = b, .port = {}, .client = {}}});
  rules.push_back({.from = {.node = b, .port = {}, .client = {}}, .to = {.node = a, .port = {}, .client = {}}});
}

bool matchesEnd(const End& end, const Passage& passage, bool isAcceptor) noexcept {
  if (isAcceptor) return end.node == passage.acceptor && (end.port == Port::Any || end.port == passage.port);
  if (end.node != passage.opener) return false;
  if (end.node == kNoNode) return end.client.empty() || end.client == passage.client;
  return end.port != Port::Controller || passage.port == Port::Controller;
}

Result<NodeId> known(NodeId node, const std::vector<NodeId>& nodes) {
  if (std::ranges::find(nodes, node) != nodes.end()) return node;
  return fail(ErrorCode::InvalidRequest, fmt::format("there is no broker {}", node));
}

Result<NodeId> resolve(const NodeName& name, const ClusterView& cluster) {
  switch (name.by) {
    case NodeName::By::LeaderOf:
      return cluster.leaderOf(name.partition);
    case NodeName::By::ActiveController:
      return cluster.activeController();
    case NodeName::By::Number:
      break;
  }
  return known(name.id, cluster.nodes());
}

Result<End> resolve(const LinkEnd& end, const ClusterView& cluster) {
  if (end.isClients) return End{.node = kNoNode, .port = Port::Any, .client = end.client};
  TIDEMARK_ASSIGN(const NodeId node, resolve(end.node, cluster));
  return End{.node = node, .port = end.port, .client = {}};
}

Result<std::vector<LinkRule>> resolve(const LinkName& link, const ClusterView& cluster) {
  TIDEMARK_ASSIGN(const End from, resolve(link.from, cluster));
  TIDEMARK_ASSIGN(const End to, resolve(link.to, cluster));
  if (from.node == to.node)
    return fail(ErrorCode::InvalidRequest, fmt::format("both ends of the link are broker {} now", from.node));
  std::vector<LinkRule> rules{{.from = from, .to = to}};
  if (link.bothWays) rules.push_back({.from = to, .to = from});
  return rules;
}

Result<std::vector<LinkRule>> shape(const Fault& fault, NodeId node, const std::vector<NodeId>& nodes) {
  switch (fault.kind) {
    case Kind::Isolate:
      return isolated(node, nodes, fault.clients);
    case Kind::Halves:
      for (const auto* group : {&fault.left, &fault.right})
        for (const NodeId each : *group) TIDEMARK_TRY(known(each, nodes));
      return halves(fault.left, fault.right);
    case Kind::Bridge:
      if (nodes.size() < kSmallestBridge)
        return fail(ErrorCode::InvalidRequest,
                    fmt::format("a bridge needs at least {} brokers, there are {}", kSmallestBridge, nodes.size()));
      return bridge(node, nodes);
    default:
      if (nodes.size() < kSmallestRing || nodes.size() % 2 == 0)
        return fail(ErrorCode::InvalidRequest,
                    fmt::format("a ring of majorities needs an odd number of brokers from {} on, there are {}",
                                kSmallestRing, nodes.size()));
      return ringOfMajorities(nodes);
  }
}

}  // namespace

bool matches(const LinkRule& rule, const Passage& passage) noexcept {
  return matchesEnd(rule.from, passage, !passage.toAcceptor) && matchesEnd(rule.to, passage, passage.toAcceptor);
}

Result<Place> placeOf(const Fault& fault, const ClusterView& cluster) {
  Place place;
  if (fault.trigger.teller != kNoNode) TIDEMARK_TRY(known(fault.trigger.teller, cluster.nodes()));
  if (const auto* node = std::get_if<NodeName>(&fault.target)) {
    TIDEMARK_ASSIGN(place.node, resolve(*node, cluster));
  } else if (const auto* clients = std::get_if<ClientsName>(&fault.target)) {
    place.client = clients->client;
  } else if (const auto* link = std::get_if<LinkName>(&fault.target)) {
    TIDEMARK_ASSIGN(place.links, resolve(*link, cluster));
    return place;
  }
  if (areaOf(fault.kind) == Area::Links) {
    TIDEMARK_ASSIGN(place.links, shape(fault, place.node, cluster.nodes()));
  }
  return place;
}

std::vector<LinkRule> isolated(NodeId node, std::span<const NodeId> nodes, bool fromClients) {
  std::vector<LinkRule> rules;
  for (const NodeId other : nodes)
    if (other != node) both(rules, node, other);
  if (fromClients) both(rules, node, kNoNode);
  return rules;
}

std::vector<LinkRule> halves(std::span<const NodeId> left, std::span<const NodeId> right) {
  std::vector<LinkRule> rules;
  for (const NodeId one : left)
    for (const NodeId other : right) both(rules, one, other);
  return rules;
}

std::vector<LinkRule> bridge(NodeId node, std::span<const NodeId> nodes) {
  std::vector<NodeId> rest;
  std::ranges::copy_if(nodes, std::back_inserter(rest), [node](NodeId each) { return each != node; });
  const size_t middle = (rest.size() + 1) / 2;
  return halves(std::span(rest).first(middle), std::span(rest).subspan(middle));
}

std::vector<LinkRule> ringOfMajorities(std::span<const NodeId> nodes) {
  std::vector<LinkRule> rules;
  // A majority of n is itself and (n − 1) / 2 others, half of them on each side; of 4k + 3 one side has one more, which
  // would not be mutual, so both have.
  const size_t reach = ((nodes.size() - 1) / 2 + 1) / 2;
  for (size_t i = 0; i < nodes.size(); ++i)
    for (size_t j = i + 1; j < nodes.size(); ++j) {
      const size_t distance = std::min(j - i, nodes.size() - (j - i));
      if (distance > reach) both(rules, nodes[i], nodes[j]);
    }
  return rules;
}

}  // namespace tidemark::faults
