#pragma once

#include <QString>

#include "observe/snapshot.h"

namespace tidemark::widgets {

/// "Broker 3", or "Controller 4" of a node that is a controller and nothing else: where a title begins.
QString nodeTitle(const observe::BrokerSnapshot& node);
/// The same within a sentence.
QString nodeText(const observe::BrokerSnapshot& node);
/// Of a node that is named by its number; one that is not in the cluster is taken for a broker.
QString nodeTitle(const observe::ClusterSnapshot& cluster, NodeId id);
QString nodeText(const observe::ClusterSnapshot& cluster, NodeId id);

/// Of one that is killed: what it died of, as far as that is known. Empty in every other state.
QString downReason(const observe::BrokerSnapshot& node);

/// What a copy lost with the power of its broker, "1 283 – 1 294, 12 records"; empty: nothing that is known.
QString powerLossText(const observe::ReplicaSnapshot& copy);

/// How many nodes are brokers, and how many are controllers and nothing else.
struct NodeCounts {
  int brokers = 0;
  /// Of them, those that are controllers as well. While nobody knows the quorum: all.
  int brokersVoting = 0;
  /// Nodes that are nothing else.
  int controllers = 0;
  int brokersUp = 0;
  int controllersUp = 0;
};
NodeCounts countNodes(const observe::ClusterSnapshot& cluster);

}  // namespace tidemark::widgets
