#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <QString>
#include <QStringList>

#include "observe/snapshot.h"

namespace tidemark::widgets {

/// Something on the map that can be picked: a broker, its controller, a client, or the link between two of them.
struct MapPick {
  enum class What { Nothing, Broker, Controller, Client, Link } what = What::Nothing;
  NodeId broker;
  /// The other broker of a link; none if `client` is the other end.
  NodeId other;
  std::string client;
  friend auto operator<=>(const MapPick&, const MapPick&) = default;
};

/// What is done to one direction of a link.
enum class MapWay { Open, Slowed, Held, Cut };

struct MapDirection {
  MapWay way = MapWay::Open;
  /// "+80 ms", "cut", "10 kB/s"; empty if it is open.
  QString fault;
  /// Records a second; −1: not known.
  double rate = -1;
  friend bool operator==(const MapDirection&, const MapDirection&) = default;
};

struct MapLink {
  /// Of two brokers the lower number; of a client its broker.
  NodeId broker;
  NodeId other;
  std::string client;
  /// From `broker`, and to it.
  MapDirection from;
  MapDirection to;
  /// What its ends are called: "broker 1", "controller 4", the client's name.
  QString name;
  QString otherName;
  /// An end is a controller and nothing else: no records go over it, only what is decided and told.
  bool ofController = false;
  /// A node at one of its ends does not run: nobody is connected.
  bool down = false;
  MapPick pick() const { return {MapPick::What::Link, broker, other, client}; }
  /// The same is done to both directions.
  bool isDoneToBoth() const noexcept {
    return from.way != MapWay::Open && from.way == to.way && from.fault == to.fault;
  }
  /// Its two directions are drawn as one: a client's, one broken in the same way in both, and what no records go over.
  bool isOneStroke() const noexcept {
    return !client.empty() || isDoneToBoth() || (ofController && from.way == MapWay::Open && to.way == MapWay::Open);
  }
  friend bool operator==(const MapLink&, const MapLink&) = default;
};

/// A node: a broker, or a controller that is nothing else.
struct MapBroker {
  NodeId id;
  /// "Broker 1", "Controller 4".
  QString name;
  bool isBroker = true;
  observe::BrokerState state = observe::BrokerState::Running;
  /// ":19092".
  QString port;
  /// "paused 12 s of 25 s"; empty while it runs.
  QString trouble;
  /// Of one that is killed: "died of …", "ended without a shutdown"; empty in every other state.
  QString reason;
  QString leads;
  /// Threads and disk.
  QString machine;
  /// "voter, follows", "voter, silent for 12 s", "active controller · epoch 7".
  QString controller;
  /// The same in a few words, for cards that have little room.
  QString shortTrouble;
  QString shortLeads;
  QString shortController;
  /// The active one.
  bool isController = false;
  bool isVoter = false;
  /// "fenced in 5 s".
  QString warning;
  /// Log directories that failed while it goes on with its others: "/data/2 failed: reason", one each.
  QStringList failedDirectories;
  /// Faults that are its own, and of which kind the first one is.
  QStringList faults;
  faults::Kind faultKind{};
  friend bool operator==(const MapBroker&, const MapBroker&) = default;
};

struct MapClient {
  std::string name;
  QString software;
  /// "reads orders-0 at 1 286", "writes and asks".
  QString does;
  bool reads = false;
  bool own = false;
  QStringList faults;
  faults::Kind faultKind{};
  friend bool operator==(const MapClient&, const MapClient&) = default;
};

/// Something that the state of the cluster leads to, read off the snapshot.
struct MapConsequence {
  enum class Kind { UnderReplicated, BelowMinimum, Offline, Mute, Fencing, NoController } kind = Kind::UnderReplicated;
  QString text;
  friend bool operator==(const MapConsequence&, const MapConsequence&) = default;
};

/// All that the map shows, as values: what is equal is not painted again.
struct MapScene {
  std::vector<MapBroker> brokers;
  std::vector<MapClient> clients;
  std::vector<MapLink> links;
  std::vector<MapConsequence> consequences;
  friend bool operator==(const MapScene&, const MapScene&) = default;
  const MapLink* link(const MapPick& pick) const noexcept;
};

/// How many records a second went over each link, measured from what followers and readers asked for: told anew once a
/// second, so that it can be read.
class MapRates {
 public:
  void add(const observe::ClusterSnapshot& cluster);
  void clear();
  /// From a leader to a follower; −1: not known yet.
  double between(NodeId leader, NodeId follower) const noexcept;
  double toClient(NodeId leader, const std::string& client) const noexcept;

 private:
  struct Key {
    NodeId leader;
    NodeId follower;
    std::string client;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Seen {
    NodeId leader;
    Offset at;
  };
  static constexpr auto kSpan = std::chrono::seconds(1);
  static constexpr size_t kMostSeen = 100'000;

  std::map<std::pair<TopicPartition, std::string>, Seen> m_seen;
  std::map<Key, int64_t> m_counts;
  std::map<Key, double> m_rates;
  std::optional<observe::MonotonicTime> m_since;
};

MapScene mapScene(const observe::ClusterSnapshot& cluster, const MapRates& rates);

}  // namespace tidemark::widgets
