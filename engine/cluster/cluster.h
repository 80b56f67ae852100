#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"
#include "base/result.h"
#include "broker/node.h"
#include "client/admin.h"
#include "client/client.h"
#include "cluster/platform.h"
#include "cluster/topology.h"
#include "faults/fault_book.h"
#include "faults/faulty_process.h"
#include "faults/unmatched.h"
#include "metadata/features.h"
#include "observe/cluster_source.h"
#include "observe/collector.h"

namespace tidemark::cluster {

class FailedDirectories;

/// What a launched cluster tells whoever wants to use it.
struct Ready {
  /// Of the first broker that runs.
  std::string bootstrap;
  /// What the brokers listen on and what clients are told; of the folder, if that held a cluster already.
  std::string host;
  std::string advertisedHost;
  /// Of the first broker.
  uint16_t port = 0;
  /// Of each broker.
  int logDirectories = 1;
  std::vector<int> brokers;
  /// How many nodes are controllers and nothing else.
  int separateControllers = 0;
  /// Nodes of a stored cluster that could not start, which the others do without.
  std::vector<int> missing;
  std::string clusterId;
  /// What differs from Kafka's defaults.
  config::ConfigMap profile;
};

/// Runs the brokers of one cluster, each on a Process of its own, and breaks them on request: all that an application
/// needs. Brokers meet only over sockets; what is shown of them is read from them, not kept beside them.
///
/// Calls may come from any thread and return at once; `done` handlers run on the cluster's own executor. Destroying it
/// kills what still runs and removes a temporary folder; not from inside a handler.
class Cluster final : public observe::ClusterSource {
 public:
  explicit Cluster(std::unique_ptr<ClusterPlatform> platform);
  ~Cluster() override;

  observe::SnapshotPtr snapshot() override;
  observe::EventBatch drainEvents(uint64_t since, size_t limit) override;
  void onChange(std::function<void()> wake) override;
  void watch(std::optional<TopicPartition> partition) override;
  std::vector<observe::Setting> profile(int brokers) const override;
  Result<std::optional<observe::StoredCluster>> stored(const std::string& folder) const override;
  void launch(observe::LaunchOptions options, Done done) override;
  void shutdown(Done done) override;
  void killBroker(NodeId broker, Done done) override;
  void pauseBroker(NodeId broker, Done done) override;
  void resumeBroker(NodeId broker, Done done) override;
  void restartBroker(NodeId broker, Done done) override;
  void stopBroker(NodeId broker, Done done) override;
  void createTopic(observe::TopicOptions topic, Done done) override;
  void setFault(faults::Fault fault, std::move_only_function<void(Result<int>)> done) override;
  void healFault(int id, FaultsHealed done) override;
  void healAll(FaultsHealed done) override;
  void stepFault(int id, size_t count, std::move_only_function<void(Result<size_t>)> done) override;
  void look(observe::LookPlace place, Look look) override;
  void planOffsets(observe::OffsetResetRequest request, OffsetsPlanned done) override;
  void editOffsets(std::string group, events::GroupKind kind, std::vector<observe::OffsetEdit> edits,
                   Done done) override;
  void deleteGroup(std::string group, Done done) override;
  void abortTransaction(std::string transactionalId, Done done) override;

  struct PlacedFault {
    int id = 0;
    /// What it names and nobody is now.
    std::vector<faults::Unmatched> unmatched;
    /// What its node is called; empty if it is not about one.
    std::string who;
  };
  /// As setFault(); looks as well for what the fault names, on its broker's disk too.
  void placeFault(faults::Fault fault, std::move_only_function<void(Result<PlacedFault>)> done);
  void listFaults(std::move_only_function<void(faults::FaultBook::Lists)> done);
  /// As it is now, whether anybody looks or not.
  void describeNow(std::move_only_function<void(observe::SnapshotPtr)> done);

  /// What nobody asked for; before launch(). On the cluster's executor.
  struct News {
    /// A broker died by itself.
    std::function<void(NodeId, const std::string& reason)> died;
    /// A broker is not ready after the time that a start takes.
    std::function<void(NodeId)> late;
    /// Acknowledged records may be lost, at an election, or are: whenever a replica tells that it held more of them.
    std::function<void(const TopicPartition&, const events::RecordsLost&)> lost;
  };
  void onNews(News news) { news_ = std::move(news); }
  /// How long whoever starts or stops a broker, or heals what took one down, waits for it; then an error says what it
  /// lacks, and it goes on. Zero: as long as it takes. Before launch().
  void setPatience(platform::Duration patience) { patience_ = patience; }
  /// More than a start takes, and less than somebody at a prompt bears.
  static constexpr platform::Duration kUsualPatience = std::chrono::seconds(30);
  /// What brokers tell clients instead of the host they bind to; before launch().
  void advertise(std::string host);
  /// The leader of a partition as a running broker knows it; an error that says why there is none.
  void findLeader(TopicPartition partition, std::move_only_function<void(Result<NodeId>)> done);
  /// As a running broker knows them: an error if none runs.
  void listTopics(std::move_only_function<void(Result<std::vector<std::string>>)> done);
  /// After launch().
  void whenReady(std::move_only_function<void(const Ready&)> done);
  /// Kills every broker at once, as when the program is asked a second time to end.
  void abandon(Done done);

  /// For tests: the node, on the cluster's executor or where nothing else runs. Null unless it runs.
  broker::Node* node(NodeId id);
  /// For tests, where nothing else runs: a broker from its start on, also while its node is being opened. Nulls unless
  /// it was started.
  struct Started {
    std::shared_ptr<events::Recorder> recorder;
    broker::Node* node = nullptr;
  };
  Started started(NodeId id) const;
  /// For the simulator, where nothing else runs: the cluster as it is now, with what its coordinators know. Sets
  /// nothing going, and reads no file.
  observe::SnapshotPtr describeNow();
  /// For tests, before launch(): has a say in how each node is started.
  void onNodeOptions(std::function<void(broker::NodeOptions&)> alter) { alterOptions_ = std::move(alter); }

 private:
  struct Slot;
  struct Errands;
  using Handler = std::move_only_function<void(Result<void>)>;

  void run(std::move_only_function<void()> task);
  // Of the executor, in launch.cpp, ending.cpp and topics.cpp.
  void launchNow(observe::LaunchOptions options, Handler done);
  Result<void> prepare(const observe::LaunchOptions& options);
  /// Of a folder; nothing if it is empty or not there.
  Result<std::optional<Topology>> storedTopology(const std::string& folder) const;
  /// KafkaStorageError if those of all voters are gone; says so if those of most are. Of a stored cluster.
  Result<void> checkMetadataLogs();
  void startNode(Slot& slot, Handler done);
  config::ConfigMap settingsOf(const NodePlace& place) const;
  void opened(NodeId id, uint64_t incarnation, Result<void> result);
  void stateChanged(NodeId id, uint64_t incarnation, broker::LifecycleState state);
  void died(NodeId id, uint64_t incarnation, const std::string& reason);
  void stopNode(Slot& slot, Handler done);
  void killNode(Slot& slot, observe::BrokerState state);
  void killAll(observe::BrokerState state);
  void enter(Slot& slot, observe::BrokerState state);
  void settle(Slot& slot, Result<void> result);
  void shutdownNow(Handler done);
  void forgetCluster();
  void removeFresh();
  /// What a launch that was refused has made.
  void undoPrepare();
  /// How many controllers run, and how many there are.
  std::pair<size_t, size_t> controllersUp() const;
  /// A majority of them runs: leadership can be handed over.
  bool hasMajority() const;
  /// `inOrder`: partition i is led by broker i + 1, and so on, as the first page draws it.
  void createTopicNow(const observe::TopicOptions& topic, bool inOrder, Handler done);
  /// Whether a stored cluster starts although these nodes do not: they are damaged, and a majority of the voters is
  /// not.
  bool canDoWithout(const std::map<NodeId, Error>& failed) const;
  /// Says so, and what to do about it.
  void leaveOut(NodeId id, const Error& error);
  /// Says which partitions wait for a node that was left out.
  void tellLeaderless() const;
  void createFirstTopic(const std::optional<observe::TopicOptions>& topic);
  /// Calls back once it holds, asked again whenever a broker has taken up metadata; with an error if it takes too long.
  void awaitMetadata(std::function<bool()> holds, Handler done);
  bool isEverywhere(const std::string& topic) const;
  /// Each broker that runs knows that all others do, and of no partition without leader that could have one.
  bool isSettled() const;
  void metadataApplied();
  Result<Slot*> find(NodeId id);
  Result<NodeId> leaderNow(const TopicPartition& partition) const;
  /// Into the history: what no broker tells of itself.
  void tell(NodeId broker, const events::Payload& payload);
  void finishLaunch(Result<void> result);
  /// The newest image of a running broker, or null.
  metadata::ImagePtr newestImage() const;

  // In breaking.cpp.
  class View;
  void killNow(Slot& slot);
  void pauseNow(Slot& slot);
  Result<void> resumeNow(Slot& slot);
  void restartNow(Slot& slot, Handler done);
  /// A fault that somebody's hand has set: it is in the list before it has its effect.
  void noteFault(faults::Kind kind, NodeId broker);
  /// What took the broker down or paused it is over.
  void noteRecovery(NodeId broker);
  /// Somebody took the broker down on purpose.
  bool wasHarmed(NodeId broker) const;
  /// The book knows who listens where.
  void tellListeners();
  void dropFaults();
  /// The recorders are listened to for the events that faults wait for.
  void listenForFaults();
  /// What was told since then: faults that waited for it begin, losses are news.
  void hearEvents();
  /// Says it once, however many replicas held the same records.
  void tellLoss(const observe::ObservedEvent& event);
  /// Begins and ends what is due, and sees to it that it is called when more is.
  void advanceFaults();
  struct SetFault {
    int id = 0;
    /// Where it acts, or would now; none if that is not one broker.
    NodeId node = kNoNode;
  };
  Result<SetFault> setNow(const faults::Fault& fault);
  /// For snapshots, as long as the fault is in one of the two lists.
  void keepUnmatched(int fault, std::vector<faults::Unmatched> unmatched);
  Result<void> beginFault(int id, const faults::Fault& fault);
  Result<void> checkBroker(faults::Kind kind, const Slot& slot) const;
  void harm(Slot& slot, faults::Kind kind, int fault);
  /// Ends it; `done` once what it took down is up again.
  void endFault(int id, faults::Ending how, Handler done);
  /// `done`, or what it hears once patience is at its end, whichever comes first.
  Handler patiently(NodeId broker, Handler done);
  observe::Healed healed(size_t count) const;
  std::string whyNotYet(const Slot& slot, platform::Duration waited) const;
  /// What may keep it from starting: ", 2 faults are set, and it was launched with key=value"; empty if nothing.
  std::string whatIsUnusual() const;

  // In damage.cpp.
  /// Of the machine of a broker, whether it runs or not, and without faults.
  Result<void> withFiles(const Slot& slot, const std::function<Result<void>(platform::FileSystem&)>& use);
  /// Its folders that are there; InvalidRequest if none is.
  Result<std::vector<std::string>> foldersOf(const Slot& slot, platform::FileSystem& files) const;
  Result<void> loseUnsynced(Slot& slot, const std::vector<faults::UnsyncedFile>& lost, faults::Lasting& lasting);
  Result<void> wipe(const Slot& slot, const faults::Fault& fault, faults::Lasting& lasting);
  Result<void> flipBit(const Slot& slot, const faults::Fault& fault, faults::Lasting& lasting);

  // In unmatched.cpp.
  /// InvalidRequest if none of their files can have that path; `node`: whose, if that is known.
  Result<void> checkNames(const faults::Fault& fault, NodeId node) const;
  bool isConnected(std::string_view client) const;
  std::vector<faults::Unmatched> unmatched(const faults::Fault& fault, NodeId node);

  // In look.cpp.
  void lookNow(const observe::LookPlace& place, Look look);
  /// The folder of a partition on a broker that does not run.
  Result<std::string> storedPartition(const Slot& slot, const TopicPartition& partition) const;

  // In snapshot.cpp.
  void changed();
  void refresh();
  /// All kinds of events while somebody looks, else those that faults and news are about.
  events::Kinds wantedEvents() const;
  void listenTo(Slot& slot, const events::Kinds& kinds);
  void listenToAll();
  /// Keeps what is known of a node's replicas, for when it does not run any more.
  void remember(Slot& slot);
  std::shared_ptr<observe::ClusterSnapshot> describe();
  void describeBroker(const Slot& slot, observe::ClusterSnapshot& into) const;
  void describeFaults(observe::ClusterSnapshot& into) const;
  void describeQuorum(observe::ClusterSnapshot& into) const;
  void describeCleaners(observe::ClusterSnapshot& into) const;
  // In group_snapshot.cpp.
  /// Asks the brokers that run for the groups they coordinate, a few times a second at most.
  void askGroups();
  void groupsTold(NodeId id, uint64_t incarnation, std::vector<observe::GroupSnapshot> groups);
  static void takeGroupsNow(Slot& slot);
  void describeGroups(observe::ClusterSnapshot& into);
  // In share_snapshot.cpp.
  void askShares(Slot& slot);
  static void takeSharesNow(Slot& slot, platform::MonotonicTime now);
  void describeShares(observe::ClusterSnapshot& into) const;
  /// Timestamp of the first record that a group has not committed.
  std::optional<platform::WallTime> firstPending(const observe::ClusterSnapshot& in, const TopicPartition& partition,
                                                 Offset committed);
  // In transaction_snapshot.cpp.
  void describeTransactions(observe::ClusterSnapshot& into) const;
  /// Asks the brokers that run for the transactions they coordinate.
  void askForTransactions();
  void askForTransactions(Slot& slot);
  static void takeTransactionsNow(Slot& slot);
  // In topic_snapshot.cpp.
  /// Of the brokers that run.
  std::map<NodeId, FailedDirectories> describeDirectories(observe::ClusterSnapshot& into) const;
  void describeTopics(const metadata::Image& image, const std::map<NodeId, FailedDirectories>& failed,
                      observe::ClusterSnapshot& into) const;
  void describeReplica(const Slot& slot, const TopicPartition& name, bool watched,
                       observe::ReplicaSnapshot& into) const;

  const std::unique_ptr<ClusterPlatform> platform_;
  std::function<void(broker::NodeOptions&)> alterOptions_;
  const std::shared_ptr<platform::Process> lab_;
  const std::shared_ptr<platform::Executor> executor_;
  /// Where files are looked at that no running broker holds: made at the first look.
  std::shared_ptr<platform::Executor> looker_;
  observe::Collector collector_;
  const std::shared_ptr<faults::FaultBook> faults_;
  platform::Timer faultTimer_;
  /// By fault: what it named and nobody was when it was set.
  std::map<int, std::vector<faults::Unmatched>> unmatched_;
  platform::Duration patience_{};
  News news_;

  // Of the executor.
  std::string advertised_;
  std::optional<Topology> topology_;
  std::string dataFolder_;
  bool temporary_ = false;
  /// Of the data folder, as long as its cluster runs: two programs never share one.
  std::unique_ptr<platform::FileLock> folderLock_;
  /// The folder held no cluster before: a launch that fails leaves none there either.
  bool fresh_ = false;
  config::ConfigMap settings_;
  /// Of each broker, in order; empty: they have none of their own.
  std::vector<std::string> racks_;
  /// Levels that a new cluster begins with instead of the newest.
  metadata::FeatureLevels features_;
  std::map<NodeId, std::unique_ptr<Slot>> slots_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<Errands> errands_;
  /// Of all brokers of all clusters launched here: late news of one that is gone must find nobody.
  uint64_t incarnations_ = 0;
  uint64_t version_ = 0;
  /// Somebody looks: events are gathered and snapshots made.
  bool looking_ = false;
  /// Faults wait for such events; those up to this number were heard.
  events::Kinds awaited_;
  uint64_t heardOf_ = 0;
  /// Up to where the records of a partition are known to be lost, and since which election.
  std::map<TopicPartition, std::pair<LeaderEpoch, Offset>> lossesTold_;
  bool refreshDue_ = false;
  platform::MonotonicTime lastRefresh_{};
  platform::Timer refreshTimer_;
  platform::Timer groupTimer_;
  /// So that a record is read once, not with every snapshot.
  std::map<TopicPartition, std::pair<Offset, std::optional<platform::WallTime>>> pendingTimes_;
  struct MetadataWait {
    uint64_t number = 0;
    std::function<bool()> holds;
    platform::Timer timeout;
    Handler done;
  };
  /// Of the launch under way.
  Handler launching_;
  std::list<MetadataWait> metadataAwaited_;
  uint64_t metadataWaits_ = 0;
  std::optional<TopicPartition> watched_;

  mutable Mutex mutex_;
  observe::SnapshotPtr newest_ GUARDED_BY(mutex_);
  /// The window took the newest one, so the next is worth making.
  bool wanted_ GUARDED_BY(mutex_) = true;
  bool dirty_ GUARDED_BY(mutex_) = false;
  std::function<void()> wake_ GUARDED_BY(mutex_);
  bool wakeArmed_ GUARDED_BY(mutex_) = true;
};

}  // namespace tidemark::cluster
