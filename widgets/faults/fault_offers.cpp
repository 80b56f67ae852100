#include "faults/fault_offers.h"

#include <algorithm>

#include <QCoreApplication>

#include "observe/fault_check.h"
#include "text/format.h"

namespace tidemark::widgets {

namespace {

using namespace std::chrono_literals;
using faults::Fault;
using faults::Kind;

struct OfferNames {
  Q_DECLARE_TR_FUNCTIONS(Faults)
};

Fault offered(Kind kind, faults::Target target, platform::Duration duration = {}) {
  Fault fault;
  fault.kind = kind;
  fault.target = std::move(target);
  fault.duration = duration;
  return fault;
}

Fault delayed(Kind kind, faults::Target target, std::chrono::milliseconds delay) {
  Fault fault = offered(kind, std::move(target));
  fault.delay = delay;
  return fault;
}

/// The files of the partition, or all.
Fault onFiles(Fault fault, const std::string& path) {
  fault.path = path;
  return fault;
}

Fault refused(faults::Target target, const char* api, ErrorCode error) {
  Fault fault = offered(Kind::RequestError, std::move(target), 10s);
  fault.api = api;
  fault.error = error;
  return fault;
}

Fault onRequests(Kind kind, faults::Target target, const char* api, platform::Duration duration = {}) {
  Fault fault = offered(kind, std::move(target), duration);
  fault.api = api;
  return fault;
}

Fault jumping(faults::Target target, std::chrono::milliseconds offset) {
  Fault fault = offered(Kind::ClockJump, std::move(target));
  fault.offset = offset;
  return fault;
}

Fault onPartition(Fault fault, const TopicPartition& partition) {
  fault.topic = partition.topic;
  fault.partition = partition.partition;
  return fault;
}

/// In a link a number is the node.
faults::NodeName numbered(NodeId node) {
  return {.by = faults::NodeName::By::Number, .id = node, .partition = {}};
}

bool fitsEnd(const faults::End& rule, const faults::End& end) noexcept {
  if (rule.node != end.node) return false;
  if (rule.node != kNoNode)
    return rule.port == faults::Port::Any || end.port == faults::Port::Any || rule.port == end.port;
  return rule.client.empty() || end.client.empty() || rule.client == end.client;
}

}  // namespace

std::vector<FaultOffer> offersForBroker(const faults::NodeName& broker) {
  std::vector<FaultOffer> offers{{OfferNames::tr("Isolate"), offered(Kind::Isolate, broker)},
                                 {OfferNames::tr("Slow by 200 ms"), delayed(Kind::Slow, broker, 200ms)},
                                 {OfferNames::tr("Pause for 5 s"), offered(Kind::Pause, broker, 5s)},
                                 {OfferNames::tr("Lose power"), offered(Kind::PowerLoss, broker)},
                                 {OfferNames::tr("Disk full"), offered(Kind::FullDisk, broker), true},
                                 {OfferNames::tr("Disk slow by 50 ms"), delayed(Kind::SlowDisk, broker, 50ms)},
                                 {OfferNames::tr("Disk fails"), offered(Kind::DiskError, broker)},
                                 {OfferNames::tr("Clock jumps ahead by 1 h"), jumping(broker, 1h), true},
                                 {OfferNames::tr("Clock jumps back by 1 h"), jumping(broker, -1h)}};
  if (broker.isController) return offers;
  offers.push_back(
      {OfferNames::tr("Refuse Produce for 10 s"), refused(broker, "Produce", ErrorCode::NotEnoughReplicas), true});
  offers.push_back({OfferNames::tr("Refuse Fetch for 10 s"), refused(broker, "Fetch", ErrorCode::NotLeaderOrFollower)});
  return offers;
}

std::vector<FaultOffer> offersForLink(const faults::LinkEnd& from, const faults::LinkEnd& to) {
  std::vector<FaultOffer> offers;
  const faults::LinkName both{.from = from, .to = to, .bothWays = true};
  const faults::LinkName there{.from = from, .to = to, .bothWays = false};
  const faults::LinkName back{.from = to, .to = from, .bothWays = false};
  const auto named = [](const QString& what, const faults::LinkName& link) {
    return OfferNames::tr("%1 %2 → %3").arg(what, endText(link.from), endText(link.to));
  };
  offers.push_back({OfferNames::tr("Cut"), offered(Kind::Cut, both)});
  offers.push_back({OfferNames::tr("Slow by 100 ms"), delayed(Kind::Delay, both, 100ms)});
  offers.push_back({OfferNames::tr("Hold, to be stepped"), offered(Kind::Hold, both)});
  Fault narrow = offered(Kind::Throttle, both);
  narrow.bytesPerSecond = 10'000;
  offers.push_back({OfferNames::tr("Throttle to 10 KB/s"), std::move(narrow)});
  Fault lossy = offered(Kind::Reset, both);
  lossy.trigger.which = faults::Trigger::Which::EveryNth;
  lossy.trigger.n = 20;
  offers.push_back({OfferNames::tr("Reset at each 20th transfer"), std::move(lossy)});
  for (const faults::LinkName& way : {there, back}) {
    offers.push_back({named(OfferNames::tr("Cut"), way), offered(Kind::Cut, way), true});
    offers.push_back({named(OfferNames::tr("Slow by 100 ms"), way), delayed(Kind::Delay, way, 100ms)});
    offers.push_back({named(OfferNames::tr("Hold"), way), offered(Kind::Hold, way)});
  }
  return offers;
}

std::vector<FaultOffer> offersForPartition(const TopicPartition& partition) {
  const faults::NodeName leader = leaderNamed(partition);
  const std::string files = fmt::format("{}-{}/*", partition.topic, partition.partition.value());
  const faults::Target anyone;
  return {{OfferNames::tr("Isolate its leader"), offered(Kind::Isolate, leader)},
          {OfferNames::tr("Pause its leader for 5 s"), offered(Kind::Pause, leader, 5s)},
          {OfferNames::tr("Kill its leader"), offered(Kind::Kill, leader)},
          {OfferNames::tr("Its files slow by 50 ms, at the leader"),
           onFiles(delayed(Kind::SlowDisk, leader, 50ms), files), true},
          {OfferNames::tr("No room for it at the leader"), onFiles(offered(Kind::FullDisk, leader), files)},
          {OfferNames::tr("Refuse Produce to it for 10 s"),
           onPartition(refused(anyone, "Produce", ErrorCode::NotEnoughReplicas), partition), true},
          {OfferNames::tr("Drop Produce to it for 10 s"),
           onPartition(onRequests(Kind::RequestDrop, anyone, "Produce", 10s), partition)}};
}

std::vector<FaultOffer> offersForClients(const std::string& client) {
  const faults::Target who = faults::ClientsName{client};
  Fault slow = delayed(Kind::RequestDelay, who, 200ms);
  return {{OfferNames::tr("Requests 200 ms late"), std::move(slow)},
          {OfferNames::tr("Drop its requests for 10 s"), offered(Kind::RequestDrop, who, 10s)},
          {OfferNames::tr("Disconnect it, for 5 s"), offered(Kind::RequestDisconnect, who, 5s)},
          {OfferNames::tr("Refuse its Produce for 10 s"), refused(who, "Produce", ErrorCode::NotEnoughReplicas), true},
          {OfferNames::tr("Refuse its Fetch for 10 s"), refused(who, "Fetch", ErrorCode::NotLeaderOrFollower)}};
}

faults::NodeName nodeNamed(const observe::BrokerSnapshot& node) {
  return {.by = faults::NodeName::By::Number, .id = node.id, .partition = {}, .isController = !node.isBroker};
}

faults::NodeName leaderNamed(const TopicPartition& partition) {
  return {.by = faults::NodeName::By::LeaderOf, .id = {}, .partition = partition};
}

faults::LinkEnd endNamed(NodeId broker) {
  return {.isClients = false, .node = numbered(broker), .port = faults::Port::Any, .client = {}};
}

faults::LinkEnd controllerEnd(NodeId node) {
  return {.isClients = false, .node = numbered(node), .port = faults::Port::Controller, .client = {}};
}

faults::LinkEnd clientsEnd(const std::string& client) {
  return {.isClients = true, .node = {}, .port = faults::Port::Any, .client = client};
}

QString endText(const faults::LinkEnd& end) {
  if (end.isClients) return end.client.empty() ? OfferNames::tr("clients") : fromUtf8(end.client);
  const QString number = QString::number(end.node.id.value());
  return end.port == faults::Port::Controller ? OfferNames::tr("controller %1").arg(number) : number;
}

bool isAbout(const faults::LinkRule& rule, const faults::End& from, const faults::End& to) noexcept {
  return fitsEnd(rule.from, from) && fitsEnd(rule.to, to);
}

std::vector<const observe::FaultSnapshot*> faultsOfBroker(const observe::ClusterSnapshot& cluster, NodeId broker) {
  std::vector<const observe::FaultSnapshot*> found;
  for (const observe::FaultSnapshot& fault : cluster.faults) {
    bool about = fault.broker == broker;
    if (const auto* node = std::get_if<faults::NodeName>(&fault.fault.target); node != nullptr && fault.waits)
      about = observe::resolve(*node, cluster) == broker;
    for (const faults::LinkRule& rule : fault.links)
      about = about || rule.from.node == broker || rule.to.node == broker;
    if (about) found.push_back(&fault);
  }
  return found;
}

std::vector<const observe::FaultSnapshot*> faultsOfLink(const observe::ClusterSnapshot& cluster, const faults::End& one,
                                                        const faults::End& other) {
  std::vector<const observe::FaultSnapshot*> found;
  for (const observe::FaultSnapshot& fault : cluster.faults)
    if (std::ranges::any_of(fault.links, [&](const faults::LinkRule& rule) {
          return isAbout(rule, one, other) || isAbout(rule, other, one);
        }))
      found.push_back(&fault);
  return found;
}

}  // namespace tidemark::widgets
