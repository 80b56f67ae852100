#include "map/map_scene.h"

#include <algorithm>

#include <QCoreApplication>

#include "faults/fault_offers.h"
#include "models/readers.h"
#include "text/fault_words.h"
#include "text/format.h"
#include "text/node_words.h"
#include "theme/shapes.h"

namespace tidemark::widgets {

namespace {

using observe::BrokerState;

struct MapNames {
  Q_DECLARE_TR_FUNCTIONS(Map)
};

/// "For 0 s" is nothing to be told.
constexpr auto kJustNow = std::chrono::seconds(1);

/// In whole seconds: it is painted once a second.
QString wholeSeconds(platform::Duration duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  if (seconds < std::chrono::seconds(1)) return MapNames::tr("< 1 s");
  return seconds < std::chrono::minutes(1) ? MapNames::tr("%1 s").arg(seconds.count()) : durationText(seconds);
}

bool isDown(BrokerState state) {
  return state == BrokerState::Killed || state == BrokerState::Stopped;
}

MapDirection directionOf(const observe::ClusterSnapshot& cluster, const faults::End& from, const faults::End& to) {
  MapDirection result;
  for (const observe::FaultSnapshot& fault : cluster.faults) {
    if (std::ranges::none_of(fault.links, [&](const faults::LinkRule& rule) { return isAbout(rule, from, to); }))
      continue;
    MapWay way = MapWay::Cut;
    QString text = MapNames::tr("cut");
    switch (fault.fault.kind) {
      case faults::Kind::Delay:
        way = MapWay::Slowed;
        text = QStringLiteral("+%1").arg(durationText(fault.fault.delay));
        break;
      case faults::Kind::Throttle:
        way = MapWay::Slowed;
        text = rateText(static_cast<double>(fault.fault.bytesPerSecond));
        break;
      case faults::Kind::Hold:
        way = MapWay::Held;
        text = MapNames::tr("held");
        break;
      case faults::Kind::Reset:
        way = fault.fault.trigger.which == faults::Trigger::Which::Each ? MapWay::Cut : MapWay::Slowed;
        text = MapNames::tr("reset");
        break;
      default:
        break;
    }
    // The worst one is drawn, all are told.
    result.way = std::max(result.way, way);
    result.fault = result.fault.isEmpty() ? text : MapNames::tr("%1, %2").arg(result.fault, text);
  }
  return result;
}

QString faultAge(const observe::ClusterSnapshot& cluster, const observe::BrokerSnapshot& broker) {
  const QString word = lookOf(broker.state).word;
  for (const observe::FaultSnapshot& fault : cluster.faults)
    if (fault.broker == broker.id && fault.fault.kind == faults::Kind::Pause &&
        fault.fault.duration > platform::Duration{})
      return MapNames::tr("%1 %2 of %3").arg(word, wholeSeconds(fault.since), wholeSeconds(fault.fault.duration));
  return broker.inState < kJustNow ? MapNames::tr("%1 just now").arg(word)
                                   : MapNames::tr("%1 for %2").arg(word, wholeSeconds(broker.inState));
}

MapBroker mapBrokerOf(const observe::ClusterSnapshot& cluster, const observe::BrokerSnapshot& broker) {
  MapBroker shown;
  shown.id = broker.id;
  shown.state = broker.state;
  shown.name = nodeTitle(broker);
  shown.isBroker = broker.isBroker;
  shown.port = QStringLiteral(":%1").arg(broker.isBroker ? broker.listener.port : broker.controller.port);
  if (broker.state != BrokerState::Running) {
    shown.trouble = faultAge(cluster, broker);
    const QString word = lookOf(broker.state).word;
    shown.shortTrouble = broker.inState < kJustNow ? MapNames::tr("%1 just now").arg(word)
                                                   : MapNames::tr("%1 %2").arg(word, wholeSeconds(broker.inState));
  }
  shown.reason = downReason(broker);
  const bool mute = broker.state == BrokerState::Paused || isDown(broker.state);
  if (broker.isBroker) {
    shown.leads =
        mute && broker.leaderCount > 0
            ? MapNames::tr("leads %1: their clients wait").arg(broker.leaderCount)
            : MapNames::tr("leads %1 of %n partition(s)", nullptr, broker.replicaCount).arg(broker.leaderCount);
    shown.shortLeads = MapNames::tr("leads %1 of %2").arg(broker.leaderCount).arg(broker.replicaCount);
    shown.machine = MapNames::tr("%1 net · %2 io").arg(broker.networkThreads).arg(broker.handlerThreads);
    // Of one that is down nobody need know: that is not 0 B.
    if (broker.diskBytes > 0 || !isDown(broker.state))
      shown.machine = MapNames::tr("%1 · log %2").arg(shown.machine, bytesText(broker.diskBytes));
  }
  shown.isController = cluster.quorum.leader == broker.id;
  const auto voter = std::ranges::find(cluster.quorum.voters, broker.id, &observe::VoterSnapshot::id);
  shown.isVoter = voter != cluster.quorum.voters.end() && !voter->observer;
  if (shown.isController) {
    shown.controller = MapNames::tr("active controller · epoch %1").arg(cluster.quorum.epoch.value());
    shown.shortController = MapNames::tr("active · epoch %1").arg(cluster.quorum.epoch.value());
  } else if (voter != cluster.quorum.voters.end()) {
    const QString role = voter->observer ? MapNames::tr("observer") : MapNames::tr("voter");
    const int64_t behind = cluster.quorum.highWatermark - voter->logEnd;
    // How long the active controller has had no fetch of it.
    const QString silence = wholeSeconds(voter->sinceFetch.value_or(broker.inState));
    shown.controller = isDown(broker.state)         ? MapNames::tr("%1, down").arg(role)
                       : voter->logEnd == kNoOffset ? role
                       : mute                       ? MapNames::tr("%1, silent for %2").arg(role, silence)
                       : behind > 50                ? MapNames::tr("%1, %2 behind").arg(role, grouped(behind))
                                                    : MapNames::tr("%1, follows").arg(role);
    shown.shortController = mute && !isDown(broker.state) ? MapNames::tr("silent %1").arg(silence) : shown.controller;
  } else {
    shown.shortController = shown.controller = MapNames::tr("no voter");
  }
  for (const observe::FailedDirectorySnapshot& failed : broker.failedDirectories)
    shown.failedDirectories
        << MapNames::tr("log directory %1 failed: %2").arg(fromUtf8(failed.path), fromUtf8(failed.reason));
  if (broker.fencedIn) shown.warning = MapNames::tr("fenced in %1").arg(wholeSeconds(*broker.fencedIn));
  for (const observe::FaultSnapshot& fault : cluster.faults)
    if (fault.broker == broker.id && fault.links.empty() && fault.fault.kind != faults::Kind::Pause &&
        fault.fault.kind != faults::Kind::Kill) {
      if (shown.faults.isEmpty()) shown.faultKind = fault.fault.kind;
      shown.faults << faultTitle(fault.fault);
    }
  return shown;
}

std::vector<MapClient> clientsOf(const observe::ClusterSnapshot& cluster) {
  std::vector<MapClient> clients;
  for (const observe::ConnectionSnapshot& connection : cluster.connections) {
    auto found = std::ranges::find(clients, connection.client, &MapClient::name);
    if (found == clients.end()) {
      found = clients.emplace(clients.end());
      found->name = connection.client;
      found->own = connection.own;
    }
    if (found->software.isEmpty() && !connection.softwareName.empty())
      found->software =
          MapNames::tr("%1 %2").arg(fromUtf8(connection.softwareName), fromUtf8(connection.softwareVersion)).trimmed();
  }
  std::ranges::sort(clients, {}, &MapClient::name);
  const auto readers = readersOf(cluster);
  for (MapClient& client : clients) {
    QStringList reads;
    for (const observe::ReaderSnapshot* reader : readers) {
      if (reader->client != client.name || reads.size() == 3) continue;
      if (const QString name = partitionText(reader->partition); !reads.contains(name)) reads << name;
    }
    client.reads = !reads.isEmpty();
    client.does = client.reads ? MapNames::tr("reads %1").arg(reads.join(QStringLiteral(", ")))
                  : client.own ? MapNames::tr("of this window")
                               : MapNames::tr("writes or asks");
    // Whoever reads fetches, and whoever does not writes: a fault of requests that a client does not send is none of
    // its own.
    const auto sends = [&client](const faults::Fault& fault) {
      return fault.api.empty() || (fault.api == "Fetch" ? client.reads : fault.api != "Produce" || !client.reads);
    };
    for (const observe::FaultSnapshot& fault : cluster.faults)
      if (const auto* who = std::get_if<faults::ClientsName>(&fault.fault.target);
          who != nullptr && (who->client.empty() || who->client == client.name) && sends(fault.fault)) {
        if (client.faults.isEmpty()) client.faultKind = fault.fault.kind;
        client.faults << faultTitle(fault.fault);
      }
  }
  return clients;
}

std::vector<MapConsequence> consequencesOf(const observe::ClusterSnapshot& cluster) {
  using Kind = MapConsequence::Kind;
  int under = 0;
  int below = 0;
  int offline = 0;
  for (const observe::TopicSnapshot& topic : cluster.topics) {
    if (topic.name == "__cluster_metadata") continue;
    for (const observe::PartitionSnapshot& partition : topic.partitions) {
      under += partition.underReplicated();
      below += partition.leader != kNoNode && observe::isBelowMinInSync(topic, partition);
      offline += partition.leader == kNoNode;
    }
  }
  std::vector<MapConsequence> list;
  if (cluster.quorum.leader == kNoNode)
    list.push_back({Kind::NoController, MapNames::tr("no controller is active: nothing is decided")});
  if (offline > 0) list.push_back({Kind::Offline, MapNames::tr("%n partition(s) have no leader", nullptr, offline)});
  if (below > 0) list.push_back({Kind::BelowMinimum, MapNames::tr("%n partition(s) refuse acks=all", nullptr, below)});
  if (under > 0)
    list.push_back({Kind::UnderReplicated, MapNames::tr("%n partition(s) under-replicated", nullptr, under)});
  for (const observe::BrokerSnapshot& broker : cluster.brokers) {
    const bool mute = broker.state == BrokerState::Paused || isDown(broker.state);
    if (mute && broker.leaderCount > 0)
      list.push_back({Kind::Mute, MapNames::tr("%n partition(s) led by %1 do not answer", nullptr, broker.leaderCount)
                                      .arg(broker.id.value())});
    if (broker.fencedIn)
      list.push_back(
          {Kind::Fencing,
           MapNames::tr("%1 is fenced in %2").arg(QString::number(broker.id.value()), wholeSeconds(*broker.fencedIn))});
  }
  return list;
}

}  // namespace

const MapLink* MapScene::link(const MapPick& pick) const noexcept {
  const auto found = std::ranges::find_if(links, [&pick](const MapLink& link) { return link.pick() == pick; });
  return found == links.end() ? nullptr : &*found;
}

void MapRates::clear() {
  *this = {};
}

void MapRates::add(const observe::ClusterSnapshot& cluster) {
  const auto count = [this](const TopicPartition& partition, const Key& key, Offset at) {
    if (at == kNoOffset) return;
    auto [seen, isNew] =
        m_seen.try_emplace({partition, key.client.empty() ? std::to_string(key.follower.value()) : 'c' + key.client},
                           Seen{key.leader, at});
    if (!isNew && seen->second.leader == key.leader && at > seen->second.at) m_counts[key] += at - seen->second.at;
    seen->second = {key.leader, at};
    m_counts.try_emplace(key, 0);
  };
  for (const observe::TopicSnapshot& topic : cluster.topics) {
    if (topic.name == "__cluster_metadata") continue;
    for (const observe::PartitionSnapshot& partition : topic.partitions)
      for (const observe::ReplicaSnapshot& copy : partition.copies)
        if (copy.broker != partition.leader && partition.leader != kNoNode)
          count({topic.name, partition.index}, {partition.leader, copy.broker, {}}, copy.fetchOffset);
  }
  for (const observe::ReaderSnapshot* reader : readersOf(cluster))
    if (const auto* partition = observe::findPartition(cluster, reader->partition);
        partition != nullptr && !reader->client.empty())
      count(reader->partition, {partition->leader, kNoNode, reader->client}, reader->fetchOffset);
  // Names of clients that come and go are not kept for ever.
  if (m_seen.size() > kMostSeen) m_seen.clear();
  if (!m_since) m_since = cluster.at;
  const auto gone = cluster.at - *m_since;
  if (gone < kSpan) return;
  m_rates.clear();
  for (const auto& [key, records] : m_counts)
    m_rates[key] = static_cast<double>(records) / std::chrono::duration<double>(gone).count();
  m_counts.clear();
  m_since = cluster.at;
}

double MapRates::between(NodeId leader, NodeId follower) const noexcept {
  const auto found = m_rates.find({leader, follower, {}});
  return found == m_rates.end() ? -1 : found->second;
}

double MapRates::toClient(NodeId leader, const std::string& client) const noexcept {
  const auto found = m_rates.find({leader, kNoNode, client});
  return found == m_rates.end() ? -1 : found->second;
}

MapScene mapScene(const observe::ClusterSnapshot& cluster, const MapRates& rates) {
  MapScene scene;
  for (const observe::BrokerSnapshot& broker : cluster.brokers) scene.brokers.push_back(mapBrokerOf(cluster, broker));
  scene.clients = clientsOf(cluster);
  const auto end = [](NodeId node) { return faults::End{.node = node, .port = {}, .client = {}}; };
  const auto downAt = [&cluster](NodeId id) {
    const auto* broker = observe::findBroker(cluster, id);
    return broker == nullptr || isDown(broker->state);
  };
  for (size_t i = 0; i < scene.brokers.size(); ++i)
    for (size_t j = i + 1; j < scene.brokers.size(); ++j) {
      MapLink& link = scene.links.emplace_back();
      link.broker = scene.brokers[i].id;
      link.other = scene.brokers[j].id;
      link.name = nodeText(cluster, link.broker);
      link.otherName = nodeText(cluster, link.other);
      link.ofController = !scene.brokers[i].isBroker || !scene.brokers[j].isBroker;
      link.from = directionOf(cluster, end(link.broker), end(link.other));
      link.to = directionOf(cluster, end(link.other), end(link.broker));
      link.from.rate = rates.between(link.broker, link.other);
      link.to.rate = rates.between(link.other, link.broker);
      link.down = downAt(link.broker) || downAt(link.other);
    }
  for (const MapClient& client : scene.clients) {
    std::vector<NodeId> connected;
    for (const observe::ConnectionSnapshot& connection : cluster.connections)
      if (connection.client == client.name && std::ranges::find(connected, connection.broker) == connected.end())
        connected.push_back(connection.broker);
    std::ranges::sort(connected);
    const faults::End self{.node = kNoNode, .port = {}, .client = client.name};
    for (const NodeId broker : connected) {
      MapLink& link = scene.links.emplace_back();
      link.broker = broker;
      link.client = client.name;
      link.name = nodeText(cluster, broker);
      link.otherName = fromUtf8(client.name);
      link.from = directionOf(cluster, end(broker), self);
      link.to = directionOf(cluster, self, end(broker));
      link.from.rate = rates.toClient(broker, client.name);
      link.down = downAt(broker);
    }
  }
  scene.consequences = consequencesOf(cluster);
  return scene;
}

}  // namespace tidemark::widgets
