#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cluster/platform.h"
#include "observe/cluster_source.h"
#include "observe/history.h"

namespace tidemark::widgets::fake {

/// A cluster for tests of the window: no brokers, no sockets, no threads, only numbers that behave as those of a
/// cluster do. Time goes on when advance() is called and not otherwise; the same calls give the same cluster.
class FakeCluster : public observe::ClusterSource {
 public:
  using Duration = platform::Duration;

  FakeCluster();
  ~FakeCluster() override;

  /// Lets time pass: load is written, followers fetch, controllers notice who is gone, commands are answered.
  void advance(Duration time);
  /// Records a second that "a producer" writes into each partition of every topic that is not internal.
  void setLoad(double recordsPerSecond) { m_recordsPerSecond = recordsPerSecond; }
  /// A snapshot from elsewhere is handed out from now on, for scenes that are drawn by hand.
  void show(observe::ClusterSnapshot snapshot);
  void append(const events::Event& event, const std::string& topic, PartitionIndex partition);
  /// The next command fails with this.
  void failNext(Error error) { m_nextError = std::move(error); }
  /// What a folder is said to hold.
  std::map<std::string, Result<std::optional<observe::StoredCluster>>> folders;
  /// Launches at once and lets the cluster come up.
  void launchNow(observe::LaunchOptions options);
  int snapshotsTaken() const noexcept { return m_snapshotsTaken; }
  const std::optional<TopicPartition>& watched() const noexcept { return m_watched; }
  const observe::LaunchOptions& launched() const noexcept { return m_options; }
  std::vector<std::string> commands;
  /// Of the last editOffsets().
  std::vector<observe::OffsetEdit> edited;

  observe::SnapshotPtr snapshot() override;
  observe::EventBatch drainEvents(uint64_t since, size_t limit) override;
  void onChange(std::function<void()> wake) override { m_wake = std::move(wake); }
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
  void planOffsets(observe::OffsetResetRequest request, OffsetsPlanned done) override;
  void editOffsets(std::string group, events::GroupKind kind, std::vector<observe::OffsetEdit> edits,
                   Done done) override;
  void deleteGroup(std::string group, Done done) override;
  void abortTransaction(std::string transactionalId, Done done) override;
  void look(observe::LookPlace place, Look look) override;
  void setFault(faults::Fault fault, std::move_only_function<void(Result<int>)> done) override;
  void healFault(int id, FaultsHealed done) override;
  void healAll(FaultsHealed done) override;
  void stepFault(int id, size_t count, std::move_only_function<void(Result<size_t>)> done) override;
  /// What the next fault names and is not there.
  std::vector<faults::Unmatched> unmatched;
  /// What the next fault that ends leaves behind.
  faults::Lasting lasting;
  /// It is down by itself: no fault holds it.
  void die(NodeId id);
  /// A fault met something, as if the seam had told so.
  void fire(int id, uint64_t times);
  /// Its links keep back so many transfers.
  void hold(int id, size_t transfers);

  /// Where the files of a copy lie that somebody looks at; others are not found. Looks run in the next advance().
  std::map<std::pair<NodeId, TopicPartition>, std::string> copyFolders;
  /// A log that is open, of a copy that somebody looks at, and whose files it is on.
  struct LiveCopy {
    std::shared_ptr<platform::Process> process;
    std::shared_ptr<const log::PartitionLog> log;
    std::string folder;
  };
  std::map<std::pair<NodeId, TopicPartition>, LiveCopy> liveCopies;
  int looks = 0;

 private:
  struct Partition;
  struct Broker {
    observe::BrokerSnapshot shown;
    Duration changed{};
    bool runs() const { return shown.state == observe::BrokerState::Running; }
  };
  struct SetFault {
    observe::FaultSnapshot shown;
    /// When it was set, and when it began.
    Duration at{};
    Duration begun{};
  };

  void step(Duration time);
  void runLooks();
  void write(Partition& partition);
  void follow(Partition& partition);
  void moveHighWatermark(Partition& partition);
  void lead(Partition& partition, NodeId leader, events::ElectionCause cause);
  void notice(Broker& broker);
  void addTopic(const observe::TopicOptions& options, bool internal);
  void emit(NodeId broker, const events::Payload& payload, const std::string& topic = {},
            PartitionIndex partition = PartitionIndex());
  void changed();
  void answer(Done done, std::function<Result<void>()> act);
  /// `count` is read when the answer is due.
  Done answerHealed(std::shared_ptr<size_t> count, FaultsHealed done);
  Broker* find(NodeId id);
  Result<void> harm(NodeId id, faults::Kind kind);
  Result<void> mend(NodeId id, faults::Ending ending = faults::Ending::Healed);
  /// Partitions that waited for it have a leader again.
  void returned(NodeId id);
  Result<void> endFault(int id, faults::Ending ending = faults::Ending::Healed);
  void keepOver(const SetFault& fault, faults::Ending ending);
  void expireFaults();
  observe::ClusterSnapshot take() const;
  NodeId controller() const;
  /// Controllers of their own leave the brokers no vote.
  bool votes(const Broker& node) const;

  Duration m_now{};
  std::map<int32_t, Broker> m_brokers;
  std::deque<Partition> m_partitions;
  std::vector<observe::TopicSnapshot> m_topics;
  /// Those that took a broker down by hand are among them.
  std::vector<SetFault> m_faults;
  std::vector<observe::FaultOverSnapshot> m_faultsOver;
  int m_nextFault = 1;
  observe::LaunchOptions m_options;
  double m_recordsPerSecond = 0;
  uint32_t m_random = 12345;
  std::optional<TopicPartition> m_watched;
  std::optional<Error> m_nextError;
  observe::History m_history;
  std::vector<std::pair<Done, std::function<Result<void>()>>> m_pending;
  std::vector<std::pair<observe::LookPlace, Look>> m_looks;
  /// Lends its files to looks.
  std::shared_ptr<platform::Process> m_reader;
  observe::SnapshotPtr m_snapshot;
  bool m_launchPending = false;
  bool m_dirty = false;
  bool m_frozen = false;
  bool m_wakeSent = false;
  uint64_t m_version = 0;
  int m_launches = 0;
  int m_snapshotsTaken = 0;
  int m_nextEpoch = 30;
  NodeId m_controller;
  int m_quorumEpoch = 1;
  std::function<void()> m_wake;
};

}  // namespace tidemark::widgets::fake
