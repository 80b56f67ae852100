#pragma once

#include <functional>
#include <memory>

#include "broker/share/broker_channels.h"
#include "broker/share/share_state_service.h"
#include "coordinator/share_state/share_state_operations.h"

namespace tidemark::broker {

/// Brings the state of share-partitions to whoever is their share coordinator, and again while that moves, loads or
/// cannot be reached; Kafka's DefaultStatePersister. What comes for one group and coordinator at about the same time
/// goes in one request. Any thread; answers come on the executor.
class SharePersister final : public coordinator::ShareStatePersister {
 public:
  struct Dependencies {
    platform::Process* process = nullptr;
    /// Serial.
    std::shared_ptr<platform::Executor> executor;
    std::function<metadata::ImagePtr()> image;
    NodeId self;
    std::string listener;
    /// The coordinator of this broker.
    coordinator::ShareStateCoordinator* local = nullptr;
    /// The state topic is needed and is not there.
    std::function<void()> createTopic;
  };

  explicit SharePersister(Dependencies dependencies);
  ~SharePersister() override;

  void initialize(coordinator::ShareStateInitialization what,
                  coordinator::Reply<coordinator::ShareStateAnswer> reply) override;
  void read(coordinator::ShareStateReading what, coordinator::Reply<coordinator::ShareStateRead> reply) override;
  void write(coordinator::ShareStateWrite what, coordinator::Reply<coordinator::ShareStateAnswer> reply) override;
  void remove(coordinator::ShareKey key, coordinator::Reply<coordinator::ShareStateAnswer> reply) override;
  void summarize(coordinator::ShareStateReading what,
                 coordinator::Reply<coordinator::ShareStateSummary> reply) override;
  /// Forgets everything.
  void close();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark::broker
