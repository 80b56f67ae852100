#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "events/text.h"
#include "platform/clock.h"

namespace tidemark::events {

// Each kind of event: plain values, no owner, valid for ever. `fields(visit)` calls visit(name, value) for each of them
// in order, which is what text, JSON and tables are made of.

/// A voter asks whether an election could succeed, its epoch unchanged.
struct PreVoteStarted {
  static constexpr std::string_view kName = "PreVoteStarted";
  LeaderEpoch epoch;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("epoch", epoch);
  }
};

/// A voter became a candidate in `epoch`.
struct ElectionStarted {
  static constexpr std::string_view kName = "ElectionStarted";
  LeaderEpoch epoch;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("epoch", epoch);
  }
};

/// By this node to `candidate`.
struct VoteGranted {
  static constexpr std::string_view kName = "VoteGranted";
  NodeId candidate;
  LeaderEpoch epoch;
  bool preVote = false;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("candidate", candidate);
    visit("epoch", epoch);
    visit("preVote", preVote);
  }
};

/// By this node to `candidate`.
struct VoteRefused {
  static constexpr std::string_view kName = "VoteRefused";
  NodeId candidate;
  LeaderEpoch epoch;
  bool preVote = false;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("candidate", candidate);
    visit("epoch", epoch);
    visit("preVote", preVote);
  }
};

/// As this node sees it; `leader` may be none.
struct QuorumLeaderChanged {
  static constexpr std::string_view kName = "QuorumLeaderChanged";
  NodeId leader;
  LeaderEpoch epoch;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("leader", leader);
    visit("epoch", epoch);
  }
};

/// This node became the active controller.
struct ControllerActivated {
  static constexpr std::string_view kName = "ControllerActivated";
  LeaderEpoch epoch;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("epoch", epoch);
  }
};

/// Of the metadata log, up to `end`.
struct SnapshotTaken {
  static constexpr std::string_view kName = "SnapshotTaken";
  Offset end;
  LeaderEpoch epoch;
  int64_t sizeInBytes = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("end", end);
    visit("epoch", epoch);
    visit("sizeInBytes", sizeInBytes);
  }
};

/// With the active controller.
struct BrokerRegistered {
  static constexpr std::string_view kName = "BrokerRegistered";
  NodeId node;
  BrokerEpoch epoch;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("node", node);
    visit("epoch", epoch);
  }
};

/// The active controller takes the broker out of every ISR.
struct BrokerFenced {
  static constexpr std::string_view kName = "BrokerFenced";
  NodeId node;
  BrokerEpoch epoch;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("node", node);
    visit("epoch", epoch);
  }
};

/// The broker may lead again.
struct BrokerUnfenced {
  static constexpr std::string_view kName = "BrokerUnfenced";
  NodeId node;
  BrokerEpoch epoch;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("node", node);
    visit("epoch", epoch);
  }
};

}  // namespace tidemark::events
