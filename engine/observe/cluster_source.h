#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "faults/fault.h"
#include "observe/history.h"
#include "observe/snapshot.h"

namespace tidemark::log {
class PartitionLog;
}
namespace tidemark::platform {
class Process;
}

namespace tidemark::observe {

struct TopicOptions {
  std::string name;
  int partitions = 1;
  /// -1: the cluster's default.
  int replicationFactor = -1;
  /// Topic configuration, as Kafka names it.
  std::vector<Setting> configs;
};

struct LaunchOptions {
  /// 1 to 7.
  int brokers = 3;
  /// The first so many brokers are the quorum's voters as well; 0: all of them.
  int controllers = 0;
  /// So many more nodes, numbered behind the brokers, are the quorum's voters instead, and nothing else; 0: none.
  int separateControllers = 0;
  std::string host = "127.0.0.1";
  /// Of broker 1; node i gets port + i − 1, its controller port + 100 + i − 1. 0: free ones are picked.
  uint16_t port = 19092;
  /// Empty: a temporary folder, removed at the end. A folder that holds a cluster already: that cluster goes on.
  std::string dataFolder;
  /// How many log directories each broker has.
  int logDirectories = 1;
  /// Created once the brokers are ready, unless it exists.
  std::optional<TopicOptions> firstTopic;
  /// Override the profile.
  std::vector<Setting> settings;
  /// Of each broker, in order; empty: they have none. As the settings of this launch, whatever an earlier one had.
  std::vector<std::string> racks = {};
  /// Levels of features that a new cluster begins with instead of the newest; one that is there already keeps its own.
  std::map<std::string, int16_t, std::less<>> features = {};
};

/// What a data folder holds: a cluster that launch() goes on with, under its own addresses.
struct StoredCluster {
  int brokers = 0;
  std::string host;
  /// Of the nodes, then those of their controllers.
  std::vector<uint16_t> ports;
  /// How many of the nodes, the last ones, are controllers and nothing else.
  int separateControllers = 0;
};

/// What healing has done.
struct Healed {
  /// How many faults there were.
  size_t count = 0;
  /// Nodes that are down all the same: no fault holds them, they were stopped or died of something.
  std::vector<NodeId> down;
};

/// Files that somebody wants to read: those of a partition as one broker of the cluster has them, or a path.
struct LookPlace {
  /// None: `path` counts.
  NodeId broker = kNoNode;
  TopicPartition partition;
  /// A file or folder of this machine, no matter who wrote it.
  std::string path;

  friend bool operator==(const LookPlace&, const LookPlace&) = default;
};

/// What a look gets to see; valid while it runs.
struct LookAccess {
  /// Whose files and log lines are used; nothing is written through it.
  platform::Process* process = nullptr;
  /// The partition's folder, or the path that was asked for.
  std::string path;
  /// The log itself while its broker runs, else null: the files may change at any time then.
  std::shared_ptr<const log::PartitionLog> log;
};

/// The one thing through which a window (or a test) sees a cluster and acts on it.
///
/// Calls come from one thread, the window's, and return at once: a command is posted, and its `done` is called exactly
/// once on some other thread or later on the same one, never inside the call. snapshot() hands out the newest value
/// that was made (a mailbox with one slot); asking for it also asks for the next one to be made when something changes.
class ClusterSource {
 public:
  using Done = std::move_only_function<void(Result<void>)>;

  virtual ~ClusterSource() = default;

  /// It is no cluster that runs, but what one did once: looked at, and not touched.
  virtual bool isRecorded() const { return false; }

  /// The newest snapshot, never null; without a cluster its `clusterId` and `brokers` are empty.
  virtual SnapshotPtr snapshot() = 0;

  /// Events numbered above `since`, oldest first; at most `limit`, the newest ones.
  virtual EventBatch drainEvents(uint64_t since, size_t limit) = 0;

  /// `wake` is called, on any thread, when there is a newer snapshot or event than the last one handed out: at most
  /// once until snapshot() is called again. It only posts a message. An empty function takes it back: when that call
  /// has returned, no wake-up runs any more.
  virtual void onChange(std::function<void()> wake) = 0;

  /// Which partition is wanted with segments, batches and index entries; none: no details.
  virtual void watch(std::optional<TopicPartition> partition) = 0;

  /// What launch() would set differently from Kafka's defaults.
  virtual std::vector<Setting> profile(int brokers) const = 0;

  /// Nothing if the folder is empty or not there yet; an error that says why no cluster can be launched on it. Reads
  /// one small file.
  virtual Result<std::optional<StoredCluster>> stored(const std::string& folder) const = 0;

  /// Done when every broker is registered and the first topic, if any, has leaders.
  virtual void launch(LaunchOptions options, Done done) = 0;
  /// Controlled shutdown of all brokers; a launch under way is ended at once, and fails. Afterwards launch() may be
  /// called again.
  virtual void shutdown(Done done) = 0;

  /// As SIGKILL: nothing is flushed, sockets close. The data folder stays.
  virtual void killBroker(NodeId broker, Done done) = 0;
  /// As SIGSTOP and SIGCONT.
  virtual void pauseBroker(NodeId broker, Done done) = 0;
  virtual void resumeBroker(NodeId broker, Done done) = 0;
  /// Starts a broker that was killed or stopped; one that runs is first shut down in control.
  virtual void restartBroker(NodeId broker, Done done) = 0;
  /// Controlled shutdown: leadership moves first.
  virtual void stopBroker(NodeId broker, Done done) = 0;

  virtual void createTopic(TopicOptions topic, Done done) = 0;

  /// What a reset of committed offsets would change, by partition; nothing is written.
  using OffsetsPlanned = std::move_only_function<void(Result<std::vector<OffsetEdit>>)>;
  virtual void planOffsets(OffsetResetRequest request, OffsetsPlanned done) = 0;
  /// Commits these offsets for a group without members, and forgets those that have no `to`; the error tells of the
  /// first partition that its coordinator refuses.
  virtual void editOffsets(std::string group, events::GroupKind kind, std::vector<OffsetEdit> edits, Done done) = 0;
  /// NonEmptyGroup while it has members.
  virtual void deleteGroup(std::string group, Done done) = 0;
  /// Fences the producer of a transactional id by a newer epoch, which aborts what it has open.
  virtual void abortTransaction(std::string transactionalId, Done done) = 0;

  /// Sets a fault that was checked (faults/fault.h): it begins now or when its trigger says, and is told under the
  /// number that `done` gets. An error says why it is impossible for this cluster as it is. The snapshot lists what is
  /// set.
  virtual void setFault(faults::Fault fault, std::move_only_function<void(Result<int>)> done) = 0;
  using FaultsHealed = std::move_only_function<void(Result<Healed>)>;
  /// Ends it: links carry what they held, a broker that it took down is started, one that it paused goes on.
  virtual void healFault(int id, FaultsHealed done) = 0;
  /// All of them; an error tells of the first broker that does not come back.
  virtual void healAll(FaultsHealed done) = 0;
  /// Lets the next transfers pass that a hold keeps back; how many there were.
  virtual void stepFault(int id, size_t count, std::move_only_function<void(Result<size_t>)> done) = 0;

  /// Runs `look` exactly once, never inside the call: on a background thread of the broker that holds the files, on one
  /// of the lab's own if that broker does not run or a path was given. It may take its time, but reads only. Instead of
  /// access it gets an error if there is no such broker or partition, or if the broker ended before its turn came; then
  /// it may be on any thread and must return at once.
  using Look = std::move_only_function<void(const Result<LookAccess>&)>;
  virtual void look(LookPlace place, Look look) = 0;
};

}  // namespace tidemark::observe
