#include "faults/place.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "faults/tellers.h"
#include "protocol/api.h"

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

using Members = std::vector<Member>;

std::vector<NodeId> idsOf(const Members& members) {
  std::vector<NodeId> ids;
  ids.reserve(members.size());
  for (const Member& each : members) ids.push_back(each.id);
  return ids;
}

const Member* memberOf(const Members& members, NodeId id) {
  const auto found = std::ranges::find(members, id, &Member::id);
  return found == members.end() ? nullptr : &*found;
}

/// "broker 2", "controller 4": what it is called.
std::string nameOf(const Member& member) {
  return fmt::format("{} {}", member.isBroker ? "broker" : "controller", member.id);
}

std::unexpected<Error> impossible(std::string why) {
  return fail(ErrorCode::InvalidRequest, std::move(why));
}

/// "brokers 1, 2, 3 and controllers 4, 5": what all of them are called.
std::string namesOf(const Members& members) {
  std::string brokers;
  std::string controllers;
  for (const Member& each : members) {
    std::string& names = each.isBroker ? brokers : controllers;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", each.id);
  }
  const auto named = [](std::string_view what, const std::string& names) {
    return names.empty() ? "" : fmt::format("{}{} {}", what, names.contains(',') ? "s" : "", names);
  };
  return fmt::format("{}{}{}", named("broker", brokers), brokers.empty() || controllers.empty() ? "" : " and ",
                     named("controller", controllers));
}

/// `what`: whom it was taken for; a number alone may be any node.
Result<Member> known(NodeId id, const Members& members, std::string_view what = "node") {
  if (const Member* found = memberOf(members, id)) return *found;
  return impossible(fmt::format("there is no {} {}: the {} {}", what, id,
                                members.size() == 1 ? "only node is" : "nodes are", namesOf(members)));
}

/// What is said of a node is that it is: a broker, or a controller and nothing else.
Result<void> checkCalled(const NodeName& name, const Members& members) {
  TIDEMARK_ASSIGN(const Member member, known(name.id, members, name.isController ? "controller" : "broker"));
  if (!name.isController && !member.isBroker)
    return impossible(fmt::format("there is no broker {0}: node {0} is a controller, write controller {0}", name.id));
  if (name.isController && !member.isController)
    return impossible(fmt::format("there is no controller {0}: node {0} is a broker, write broker {0}", name.id));
  if (name.isController && member.isBroker)
    return impossible(fmt::format(
        "node {0} is broker and controller in one process, so that nothing happens to controller {0} alone: write "
        "broker {0}",
        name.id));
  return {};
}

/// Whom a name may ever stand for.
Members candidates(const NodeName& name, const Members& members) {
  Members all;
  for (const Member& each : members)
    if (name.by == NodeName::By::Number     ? each.id == name.id
        : name.by == NodeName::By::LeaderOf ? each.isBroker
                                            : each.isController)
      all.push_back(each);
  return all;
}

Result<Member> resolve(const NodeName& name, const ClusterView& cluster) {
  const Members members = cluster.members();
  switch (name.by) {
    case NodeName::By::LeaderOf: {
      TIDEMARK_ASSIGN(const NodeId leader, cluster.leaderOf(name.partition));
      return known(leader, members);
    }
    case NodeName::By::ActiveController: {
      TIDEMARK_ASSIGN(const NodeId active, cluster.activeController());
      return known(active, members);
    }
    case NodeName::By::Number:
      break;
  }
  return known(name.id, members);
}

/// Whom a name that is no number means, in a sentence.
std::string meant(const NodeName& name) {
  return name.by == NodeName::By::LeaderOf ? fmt::format("the leader of {}", name.partition)
                                           : std::string("the active controller");
}

/// Something that a node must have: for whoever the name may ever stand for, and for whoever it stands for now.
/// `lacks` says why `who` has it not.
template <class Has, class Lacks>
Result<void> require(const NodeName& name, const ClusterView& cluster, const Has& has, const Lacks& lacks) {
  const Members all = candidates(name, cluster.members());
  if (name.by == NodeName::By::Number) {
    for (const Member& each : all)
      if (!has(each)) return impossible(lacks(nameOf(each)));
    return {};
  }
  if (std::ranges::none_of(all, has)) return impossible(lacks(meant(name)));
  TIDEMARK_ASSIGN(const Member now, resolve(name, cluster));
  if (!has(now))
    return fail(ErrorCode::BrokerNotAvailable, lacks(fmt::format("{}, {} now,", meant(name), nameOf(now))));
  return {};
}

Result<End> resolve(const LinkEnd& end, const ClusterView& cluster) {
  if (end.isClients) return End{.node = kNoNode, .port = Port::Any, .client = end.client};
  const Members members = cluster.members();
  if (end.node.by == NodeName::By::Number)
    TIDEMARK_TRY(known(end.node.id, members,
                       end.port == Port::Controller ? "controller"
                       : end.port == Port::Broker   ? "broker"
                                                    : "node"));
  if (end.port == Port::Broker)
    TIDEMARK_TRY(require(end.node, cluster, std::mem_fn(&Member::isBroker), [](const std::string& who) {
      return fmt::format("{} is no broker, and has no listener of one", who);
    }));
  if (end.port == Port::Controller)
    TIDEMARK_TRY(require(end.node, cluster, std::mem_fn(&Member::isController), [](const std::string& who) {
      return fmt::format("{} is no controller, and has no listener of one", who);
    }));
  TIDEMARK_ASSIGN(const Member node, resolve(end.node, cluster));
  return End{.node = node.id, .port = end.port, .client = {}};
}

Result<std::vector<LinkRule>> resolve(const LinkName& link, const ClusterView& cluster) {
  TIDEMARK_ASSIGN(const End from, resolve(link.from, cluster));
  TIDEMARK_ASSIGN(const End to, resolve(link.to, cluster));
  // The names were not the same: who leads may be another one later.
  if (from.node == to.node) {
    TIDEMARK_ASSIGN(const Member both, known(from.node, cluster.members()));
    return fail(ErrorCode::BrokerNotAvailable, fmt::format("both ends of the link are {} now", nameOf(both)));
  }
  std::vector<LinkRule> rules{{.from = from, .to = to}};
  if (link.bothWays) rules.push_back({.from = to, .to = from});
  return rules;
}

Result<std::vector<LinkRule>> shape(const Fault& fault, NodeId node, const Members& members) {
  const std::vector<NodeId> nodes = idsOf(members);
  switch (fault.kind) {
    case Kind::Isolate:
      if (nodes.size() == 1 && !fault.clients)
        return impossible(fmt::format("there is nobody to isolate {} from: it is the only node, and clients are let in",
                                      nameOf(members.front())));
      return isolated(node, nodes, fault.clients);
    case Kind::Halves:
      for (const auto* group : {&fault.left, &fault.right})
        for (const NodeId each : *group) TIDEMARK_TRY(known(each, members));
      return halves(fault.left, fault.right);
    case Kind::Bridge:
      if (nodes.size() < kSmallestBridge)
        return impossible(
            fmt::format("a bridge needs at least {} brokers, there are {}", kSmallestBridge, nodes.size()));
      return bridge(node, nodes);
    default:
      if (nodes.size() < kSmallestRing || nodes.size() % 2 == 0)
        return impossible(fmt::format("a ring of majorities needs an odd number of brokers from {} on, there are {}",
                                      kSmallestRing, nodes.size()));
      return ringOfMajorities(nodes);
  }
}

Result<void> checkTaken(const Fault& fault, const NodeName& name, const ClusterView& cluster) {
  if (fault.api.empty()) return {};
  return require(
      name, cluster, [&](const Member& each) { return takes(each, fault.api); },
      [&](const std::string& who) {
        const bool brokersDo = takes({.id = {}, .isController = false}, fault.api);
        return fmt::format("{} takes no {} requests: {} do", who, fault.api, brokersDo ? "brokers" : "controllers");
      });
}

Result<void> checkTeller(const Trigger& trigger, const Members& members) {
  if (trigger.teller == kNoNode) return {};
  TIDEMARK_ASSIGN(const Member teller, known(trigger.teller, members));
  const Tellers tellers = tellersOf(trigger.event);
  if ((teller.isBroker && (tellers & kBrokersTell)) || (teller.isController && (tellers & kControllersTell))) return {};
  return impossible(fmt::format("{} never tells {}: {} do", nameOf(teller), trigger.event,
                                (tellers & kBrokersTell) ? "brokers" : "controllers"));
}

}  // namespace

bool takes(const Member& member, std::string_view api) noexcept {
  const protocol::ApiInfo* info = protocol::findApi(api);
  return info != nullptr && ((member.isBroker && info->onBroker) || (member.isController && info->onController));
}

bool matches(const LinkRule& rule, const Passage& passage) noexcept {
  return matchesEnd(rule.from, passage, !passage.toAcceptor) && matchesEnd(rule.to, passage, passage.toAcceptor);
}

Result<Place> placeOf(const Fault& fault, const ClusterView& cluster) {
  Place place;
  const Members members = cluster.members();
  TIDEMARK_TRY(checkTeller(fault.trigger, members));
  if (const auto* node = std::get_if<NodeName>(&fault.target)) {
    if (node->by == NodeName::By::Number) TIDEMARK_TRY(checkCalled(*node, members));
    if (areaOf(fault.kind) == Area::Requests) TIDEMARK_TRY(checkTaken(fault, *node, cluster));
    TIDEMARK_ASSIGN(const Member found, resolve(*node, cluster));
    place.node = found.id;
  } else if (const auto* clients = std::get_if<ClientsName>(&fault.target)) {
    place.client = clients->client;
  } else if (const auto* link = std::get_if<LinkName>(&fault.target)) {
    TIDEMARK_ASSIGN(place.links, resolve(*link, cluster));
    return place;
  }
  if (areaOf(fault.kind) == Area::Links) {
    TIDEMARK_ASSIGN(place.links, shape(fault, place.node, members));
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
