#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "client/client.h"
#include "client/log_position.h"

namespace tidemark::client {

/// A topic that an application needs for itself: the coordinator has it created.
struct StreamsTopic {
  std::string name;
  /// 0: the broker's default.
  int16_t replicationFactor = 0;
  std::vector<std::pair<std::string, std::string>> configs;
};

/// A part of an application that is connected within itself: what it reads, what it stores, what it writes on.
struct StreamsSubtopology {
  std::string id;
  std::vector<std::string> sourceTopics;
  std::vector<StreamsTopic> changelogs;
  /// Written by another subtopology, and by this one.
  std::vector<StreamsTopic> repartitionSources;
  std::vector<std::string> repartitionSinks;
};

struct StreamsOptions {
  std::string groupId;
  /// A static member's; empty: a dynamic one.
  std::string instanceId;
  std::vector<StreamsSubtopology> topology;
  platform::Duration rebalanceTimeout = std::chrono::minutes(5);
};

/// The partitions of one number in all source topics of a subtopology.
struct StreamsTask {
  std::string subtopology;
  int32_t partition = 0;
  friend auto operator<=>(const StreamsTask&, const StreamsTask&) = default;
};

struct StreamsTasks {
  std::set<StreamsTask> active;
  /// Copies of a task's state: kept, and restored before the task comes.
  std::set<StreamsTask> standby;
  std::set<StreamsTask> warmup;

  bool empty() const noexcept { return active.empty() && standby.empty() && warmup.empty(); }
  friend bool operator==(const StreamsTasks&, const StreamsTasks&) = default;
};

/// A member of a streams group (KIP-1071): one stream thread, as far as its coordinator sees it. It brings the
/// topology, owns the tasks that heartbeats give it, and says that it has given up others once whoever runs them is
/// done with them. What tasks do is up to its user: it reads nothing. A member that was fenced abandons everything and
/// joins again. Executor as the Client's.
class StreamsMember {
 public:
  using Done = Client::Done;
  struct Handlers {
    /// What it owns from now on, and in which member epoch. Epoch 0: it was fenced, or has left, and owns nothing.
    std::function<void(int32_t epoch, const StreamsTasks&)> onTasks;
    /// These are to be given up; they are owned until `closed` is called. None: they are closed at once.
    std::function<void(const StreamsTasks&, platform::Task closed)> onRevoked = {};
    /// Only errors that do not pass.
    std::function<void(const Error&)> onError = {};
  };

  StreamsMember(Client& client, StreamsOptions options, Handlers handlers);
  ~StreamsMember();
  StreamsMember(const StreamsMember&) = delete;
  StreamsMember& operator=(const StreamsMember&) = delete;

  /// Commits offsets of source topics, in its epoch of now.
  void commit(const std::map<TopicPartition, LogPosition>& positions, Done done);
  /// A static member for a while: its tasks wait for it until its session is over.
  void leave(platform::Task done);

  /// Made by itself, for as long as it lives.
  std::string memberId() const;
  /// 0 while it joins.
  int32_t epoch() const noexcept;
  const StreamsTasks& tasks() const noexcept;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tidemark::client
