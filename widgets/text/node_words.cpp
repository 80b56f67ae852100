#include "text/node_words.h"

#include <algorithm>

#include <QCoreApplication>

#include "text/format.h"

namespace tidemark::widgets {

namespace {

struct NodeWords {
  Q_DECLARE_TR_FUNCTIONS(Nodes)
};

}  // namespace

QString nodeTitle(const observe::BrokerSnapshot& node) {
  return (node.isBroker ? NodeWords::tr("Broker %1") : NodeWords::tr("Controller %1")).arg(node.id.value());
}

QString nodeText(const observe::BrokerSnapshot& node) {
  return (node.isBroker ? NodeWords::tr("broker %1") : NodeWords::tr("controller %1")).arg(node.id.value());
}

QString nodeTitle(const observe::ClusterSnapshot& cluster, NodeId id) {
  const auto* node = observe::findBroker(cluster, id);
  return node == nullptr ? NodeWords::tr("Broker %1").arg(id.value()) : nodeTitle(*node);
}

QString nodeText(const observe::ClusterSnapshot& cluster, NodeId id) {
  const auto* node = observe::findBroker(cluster, id);
  return node == nullptr ? NodeWords::tr("broker %1").arg(id.value()) : nodeText(*node);
}

QString downReason(const observe::BrokerSnapshot& node) {
  if (node.state != observe::BrokerState::Killed) return {};
  return node.diedOf.empty() ? NodeWords::tr("ended without a shutdown")
                             : NodeWords::tr("died of: %1").arg(fromUtf8(node.diedOf));
}

QString powerLossText(const observe::ReplicaSnapshot& copy) {
  if (copy.lostTo == kNoOffset) return {};
  const int64_t count = copy.lostTo - copy.logEnd;
  return NodeWords::tr("%1, %2 record(s)", nullptr, pluralOf(count))
      .arg(rangeText(copy.logEnd, copy.lostTo), grouped(count));
}

NodeCounts countNodes(const observe::ClusterSnapshot& cluster) {
  NodeCounts counts;
  for (const observe::BrokerSnapshot& node : cluster.brokers) {
    const bool up = node.state == observe::BrokerState::Running || node.state == observe::BrokerState::Fenced;
    ++(node.isBroker ? counts.brokers : counts.controllers);
    (node.isBroker ? counts.brokersUp : counts.controllersUp) += up;
    const auto voter = std::ranges::find(cluster.quorum.voters, node.id, &observe::VoterSnapshot::id);
    const bool votes = cluster.quorum.voters.empty() || (voter != cluster.quorum.voters.end() && !voter->observer);
    counts.brokersVoting += node.isBroker && votes;
  }
  return counts;
}

}  // namespace tidemark::widgets
