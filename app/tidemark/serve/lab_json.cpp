#include "tidemark/serve/lab_json.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "faults/fault_json.h"

namespace tidemark::app {
namespace {

using nlohmann::json;

json numbers(const std::vector<NodeId>& nodes) {
  json list = json::array();
  for (const NodeId node : nodes) list.push_back(node.value());
  return list;
}

std::string_view nameOf(observe::BrokerState state) {
  switch (state) {
    case observe::BrokerState::Starting:
      return "starting";
    case observe::BrokerState::Running:
      return "running";
    case observe::BrokerState::Fenced:
      return "fenced";
    case observe::BrokerState::Paused:
      return "paused";
    case observe::BrokerState::Stopping:
      return "stopping";
    case observe::BrokerState::Stopped:
      return "stopped";
    case observe::BrokerState::Killed:
      return "killed";
  }
  return "?";
}

int64_t msOf(platform::Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

/// A drift of a clock is less than a millisecond soon after it began.
double fineMsOf(platform::Duration duration) {
  return std::chrono::duration<double, std::milli>(std::chrono::floor<std::chrono::microseconds>(duration)).count();
}

json lastingOf(const faults::Lasting& lasting) {
  json left = json::object();
  if (!lasting.paths.empty()) left["paths"] = lasting.paths;
  if (lasting.morePaths > 0) left["morePaths"] = lasting.morePaths;
  if (!lasting.lostBytes.empty()) left["lostBytes"] = lasting.lostBytes;
  if (lasting.lostInAll > 0) left["lostInAll"] = lasting.lostInAll;
  if (lasting.flippedByte) left["flippedByte"] = *lasting.flippedByte;
  if (lasting.wall != platform::milliseconds{}) left["wallMs"] = lasting.wall.count();
  if (lasting.monotonic != platform::Duration{}) left["monotonicMs"] = fineMsOf(lasting.monotonic);
  return left;
}

/// "1", "controller 2", "clients", "clients named billing"
std::string endText(const faults::End& end) {
  if (end.node == kNoNode) return end.client.empty() ? "clients" : "clients named " + end.client;
  return fmt::format("{}{}", end.port == faults::Port::Controller ? "controller " : "", end.node);
}

json linksOf(const std::vector<faults::LinkRule>& links) {
  json list = json::array();
  for (const faults::LinkRule& each : links) list.push_back(endText(each.from) + "->" + endText(each.to));
  return list;
}

/// {"delayMs": 50}: what its words leave out.
json amountsOf(const faults::Fault& fault) {
  json amounts = json::parse(faults::toJson(fault));
  for (const char* inWords : {"kind", "target", "trigger", "durationMs"}) amounts.erase(inWords);
  return amounts;
}

/// Of a fault that is set; FaultStatus and FaultSnapshot say it alike.
template <class Set>
void addProgress(const Set& fault, NodeId node, json& into) {
  into["state"] = fault.waits ? "waiting" : "active";
  into["sinceMs"] = msOf(fault.since);
  into["fired"] = fault.fired;
  // Whom its target meant when it began.
  if (node != kNoNode) into["node"] = node.value();
  if (!fault.links.empty()) into["links"] = linksOf(fault.links);
  // Of a link that keeps back what it carries: how much waits.
  if (!fault.waits && faults::keepsBack(fault.fault.kind)) into["held"] = fault.held;
  // Until it begins, or until it ends.
  if (fault.left) into["leftMs"] = msOf(*fault.left);
  if (!fault.lasting.isNothing()) into["lasting"] = lastingOf(fault.lasting);
}

/// What a client gets no answer from leads nothing, whoever is still on record: a broker that starts has yet to learn
/// that it leads.
bool answers(const observe::ClusterSnapshot& cluster, NodeId node) {
  const auto found = std::ranges::find(cluster.brokers, node, &observe::BrokerSnapshot::id);
  return found != cluster.brokers.end() && found->state != observe::BrokerState::Killed &&
         found->state != observe::BrokerState::Stopped && found->state != observe::BrokerState::Paused &&
         found->state != observe::BrokerState::Starting;
}

json answering(const observe::ClusterSnapshot& cluster, NodeId node) {
  return answers(cluster, node) ? json(node.value()) : json();
}

}  // namespace

json statusOf(const observe::ClusterSnapshot& cluster) {
  json status{{"clusterId", cluster.clusterId}, {"bootstrap", cluster.bootstrap}};
  status["controller"] = answering(cluster, cluster.quorum.leader);
  json nodes = json::array();
  for (const observe::BrokerSnapshot& each : cluster.brokers) {
    json node{{"id", each.id.value()}, {"state", nameOf(each.state)}, {"broker", each.isBroker}};
    if (each.isBroker)
      node.update({{"listener", fmt::format("{}", each.listener)},
                   {"leads", answers(cluster, each.id) ? each.leaderCount : 0},
                   {"holds", each.replicaCount}});
    if (!each.diedOf.empty()) node["diedOf"] = each.diedOf;
    nodes.push_back(std::move(node));
  }
  status["nodes"] = std::move(nodes);
  json partitions = json::array();
  for (const observe::TopicSnapshot& topic : cluster.topics)
    for (const observe::PartitionSnapshot& each : topic.partitions)
      partitions.push_back(
          {{"topic", topic.name},
           {"partition", each.index.value()},
           {"leader", answering(cluster, each.leader)},
           {"leaderEpoch", each.leaderEpoch.value()},
           {"replicas", numbers(each.replicas)},
           {"isr", numbers(each.isr)},
           {"highWatermark", each.highWatermark == kNoOffset ? json() : json(each.highWatermark.value())}});
  status["partitions"] = std::move(partitions);
  json faults = json::array();
  for (const observe::FaultSnapshot& each : cluster.faults) {
    json shown = amountsOf(each.fault);
    shown.update({{"id", each.id}, {"fault", faults::textOf(each.fault)}});
    addProgress(each, each.broker, shown);
    faults.push_back(std::move(shown));
  }
  status["faults"] = std::move(faults);
  return status;
}

nlohmann::json faultsOf(const faults::FaultBook::Lists& lists) {
  json set = json::array();
  for (const faults::FaultStatus& each : lists.set) {
    json shown{{"id", each.id}, {"fault", json::parse(faults::toJson(each.fault))}};
    addProgress(each, each.node, shown);
    set.push_back(std::move(shown));
  }
  json over = json::array();
  for (const faults::FaultOver& each : lists.over) {
    json shown{{"id", each.id},
               {"fault", json::parse(faults::toJson(each.fault))},
               {"ended", faults::nameOf(each.ending)},
               {"sinceMs", msOf(each.since)},
               {"endedAgoMs", msOf(each.ago)},
               {"fired", each.fired}};
    if (each.node != kNoNode) shown["node"] = each.node.value();
    if (!each.reason.empty()) shown["reason"] = each.reason;
    if (!each.lasting.isNothing()) shown["lasting"] = lastingOf(each.lasting);
    over.push_back(std::move(shown));
  }
  return {{"faults", std::move(set)}, {"over", std::move(over)}};
}

nlohmann::json placedOf(const cluster::Cluster::PlacedFault& placed) {
  json answer{{"fault", placed.id}};
  std::string note;
  for (const faults::Unmatched& each : placed.unmatched)
    note += (note.empty() ? "" : "; ") + faults::textOf(each, placed.who);
  if (!note.empty()) answer["note"] = "nothing matches it now: " + note;
  return answer;
}

nlohmann::json lostOf(const TopicPartition& partition, const events::RecordsLost& lost) {
  json told{{"event", "records-at-risk"}, {"topic", partition.topic},      {"partition", partition.partition.value()},
            {"from", lost.from.value()},  {"leader", lost.leader.value()}, {"epoch", lost.epoch.value()}};
  if (lost.to == kNoOffset) return told;
  told["event"] = "records-lost";
  told["to"] = lost.to.value();
  told["atLeast"] = lost.to - lost.from;
  told["atMost"] = lost.gaveUpTo - lost.from;
  return told;
}

nlohmann::json healedOf(int which, const observe::Healed& healed) {
  json answer = which == 0 ? json{{"healed", "all"}, {"count", healed.count}} : json{{"healed", which}};
  if (healed.down.empty()) return answer;
  answer["down"] = numbers(healed.down);
  answer["advice"] = "`restart N` starts a broker that was stopped or died of something";
  return answer;
}

}  // namespace tidemark::app
