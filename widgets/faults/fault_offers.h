#pragma once

#include <string>
#include <vector>

#include <QString>

#include "faults/fault.h"
#include "observe/snapshot.h"

namespace tidemark::widgets {

/// A fault that can be had with one click.
struct FaultOffer {
  QString text;
  faults::Fault fault;
  /// Begins a group: a line stands before it.
  bool begins = false;
};

/// The common faults of a node, however it is named; of one that is called a controller none about clients' requests.
std::vector<FaultOffer> offersForBroker(const faults::NodeName& broker);
/// Of a link, both ways and each way; `between` says how its ends are called.
std::vector<FaultOffer> offersForLink(const faults::LinkEnd& from, const faults::LinkEnd& to);
/// Of what a partition's leader does for it.
std::vector<FaultOffer> offersForPartition(const TopicPartition& partition);
/// Of what a client asks for, by its name; empty: of all clients.
std::vector<FaultOffer> offersForClients(const std::string& client);

faults::NodeName nodeNamed(const observe::BrokerSnapshot& node);
faults::NodeName leaderNamed(const TopicPartition& partition);
faults::LinkEnd endNamed(NodeId broker);
faults::LinkEnd controllerEnd(NodeId node);
faults::LinkEnd clientsEnd(const std::string& client);
/// "2", "controller 3", "kcat".
QString endText(const faults::LinkEnd& end);

/// Those of the list that a broker suffers from: its own, and links of it that are said to be broken.
std::vector<const observe::FaultSnapshot*> faultsOfBroker(const observe::ClusterSnapshot& cluster, NodeId broker);
/// Those about what goes between the two, in either direction; no broker stands for the client of that name.
std::vector<const observe::FaultSnapshot*> faultsOfLink(const observe::ClusterSnapshot& cluster, const faults::End& one,
                                                        const faults::End& other);
/// Whether a rule is about what is sent from one to the other.
bool isAbout(const faults::LinkRule& rule, const faults::End& from, const faults::End& to) noexcept;

}  // namespace tidemark::widgets
