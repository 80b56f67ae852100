#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/auto_topics.h"
#include "broker/forwarding.h"
#include "broker/group_service.h"
#include "broker/lifecycle.h"
#include "broker/producer_ids.h"
#include "broker/requests.h"
#include "broker/share/latest_offsets.h"
#include "broker/share/share_persister.h"
#include "broker/share/share_service.h"
#include "broker/share/share_state_service.h"
#include "broker/shared.h"
#include "broker/traffic.h"
#include "broker/transaction/transaction_service.h"
#include "metadata/publisher.h"
#include "network/server.h"
#include "replication/replica_manager.h"

namespace tidemark::broker {

/// The broker role of a node: registers with the controller, follows the metadata log, holds replicas, serves clients;
/// Kafka's BrokerServer. Its order of start is Kafka's: listen, register, catch up with the metadata, load the logs,
/// take up the roles, answer requests (connections wait in the backlog till then), be unfenced.
class BrokerServer final : private network::RequestHandler, private metadata::Publisher {
 public:
  explicit BrokerServer(Shared& shared);
  ~BrokerServer() override;

  /// Before the quorum starts. An address in use is an error that names it.
  Result<void> listen();
  void start();
  /// Controlled: leadership moves first (at most `timeout`), logs are closed, the clean marker is written. `done` runs
  /// on the background executor.
  void shutdown(platform::Duration timeout, platform::Task done);

  /// Unfenced and serving. Any thread.
  bool isRunning() const { return lifecycle_->state() == LifecycleState::Running; }
  LifecycleState state() const { return lifecycle_->state(); }
  BrokerEpoch epoch() const { return lifecycle_->epoch(); }
  /// Of the named listener, with its port.
  platform::Endpoint endpoint(const std::string& listener) const { return server_->endpoint(listener); }
  /// Called on some thread when state() changes; set before start().
  void onStateChanged(std::function<void(LifecycleState)> handler) { onStateChanged_ = std::move(handler); }
  /// Called on the metadata executor after each update was taken up; set before start().
  void onMetadataApplied(std::function<void()> handler) { onMetadataApplied_ = std::move(handler); }
  /// The quorum has another leader: what waits for the controller is sent again. Any thread.
  void controllerChanged();

  replication::ReplicaManager& replicas() noexcept { return *replicas_; }
  GroupService& groups() noexcept { return *groups_; }
  ShareService& shares() noexcept { return *shares_; }
  TransactionService& transactions() noexcept { return *transactions_; }
  network::Server& server() noexcept { return *server_; }
  Traffic& traffic() noexcept { return traffic_; }
  /// What was taken up of the metadata. Any thread.
  metadata::ImagePtr image() const { return replicas_->image(); }

 private:
  void handle(network::RequestPtr request) override;
  bool isQuick(protocol::ApiKey key) const override;
  std::string name() const override { return "BrokerServer"; }
  void onUpdate(const metadata::Delta& delta, metadata::ImagePtr image) override;
  void onLeaderChange(const raft::LeaderAndEpoch& leader, const metadata::CommittedState& state) override;

  void take(const replication::MetadataChange& change);
  void begin();
  void begun(const Result<void>& loaded, const metadata::ImagePtr& image);
  void apply(const replication::MetadataChange& change);
  /// Takes up `cordoned.log.dirs`, once the cluster's metadata.version knows of it.
  void cordon(const metadata::Image& image);
  /// Says once of each setting that it changes nothing here.
  void warnOfUnused(const config::ConfigMap& set);
  bool ready(BrokerEpoch epoch) const;
  replication::TopicSettings settingsOf(const metadata::Image& image, const std::string& topic) const;
  std::shared_ptr<const config::BrokerConfig> config() const;
  void stopRoles(platform::Task done);
  void endAfterAnswers(const std::string& reason);
  void closeLogs(platform::Task done);

  Shared& shared_;
  const FindController find_;
  const std::shared_ptr<platform::Executor> metadataExecutor_;
  const std::shared_ptr<platform::Executor> controllerExecutor_;
  const std::shared_ptr<platform::Executor> isrExecutor_;
  /// Of all that moves records of share groups.
  const std::shared_ptr<platform::Executor> shareExecutor_;
  std::function<void(LifecycleState)> onStateChanged_;
  std::function<void()> onMetadataApplied_;

  std::unique_ptr<Lifecycle> lifecycle_;
  /// Of the ISR executor.
  std::unique_ptr<ControllerChannel> alterPartitionChannel_;
  std::unique_ptr<replication::ReplicaManager> replicas_;
  std::unique_ptr<Forwarding> forwarding_;
  std::unique_ptr<AutoTopicCreation> autoTopics_;
  std::unique_ptr<ProducerIds> producerIds_;
  std::unique_ptr<ShareStateService> shareStates_;
  std::unique_ptr<SharePersister> sharePersister_;
  std::unique_ptr<LatestOffsets> latestOffsets_;
  std::unique_ptr<DeadLetterWriter> deadLetters_;
  std::unique_ptr<ShareService> shares_;
  std::unique_ptr<GroupService> groups_;
  std::unique_ptr<TransactionService> transactions_;
  Traffic traffic_;
  std::unique_ptr<BrokerContext> context_;
  /// Null: requests come straight to us.
  std::unique_ptr<network::RequestHandler> between_;
  std::unique_ptr<network::Server> server_;

  /// What the image that was taken up last contains; −1 before the first.
  std::atomic<int64_t> takenOffset_{-1};
  std::atomic<bool> loaded_{false};
  /// Of a registration that told more than our logs hold; none: −1, which no registration has.
  std::atomic<BrokerEpoch> givenUp_{BrokerEpoch()};

  mutable Mutex mutex_;
  std::shared_ptr<const config::BrokerConfig> config_ GUARDED_BY(mutex_);

  /// Of the executor to the controller.
  platform::Timer endTimer_;

  // Of the metadata executor.
  metadata::ImagePtr latest_;
  enum class Logs : uint8_t { Unread, Loading, Loaded };
  Logs logsAre_ = Logs::Unread;
  /// What was taken up last.
  std::optional<std::vector<std::string>> cordoned_;
  std::set<std::string> warnings_;
  /// What came while the logs were loaded, and who wants to stop.
  std::vector<replication::MetadataChange> waiting_;
  platform::Task afterLoading_;
};

}  // namespace tidemark::broker
