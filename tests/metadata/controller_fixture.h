#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "metadata/controller/cluster_control.h"
#include "metadata/controller/config_control.h"
#include "metadata/controller/feature_control.h"
#include "metadata/controller/partition_control.h"
#include "metadata/controller/reassignment_control.h"
#include "metadata/controller/topic_control.h"
#include "metadata/image_writer.h"
#include "metadata/replay.h"

namespace tidemark::metadata::test {

/// A small generator of its own, so that tables of a test stay what they are.
class SeededRandom final : public platform::Random {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}
  uint64_t next() override {
    state_ += 0x9e3779b97f4a7c15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

inline Uuid uuid(uint8_t high, uint8_t low = 0) {
  return Uuid({high, low, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
}

inline std::vector<NodeId> nodes(std::initializer_list<int> ids) {
  std::vector<NodeId> result;
  for (int id : ids) result.emplace_back(id);
  return result;
}

inline ErrorCode codeOf(int16_t number) {
  return static_cast<ErrorCode>(number);
}

/// An active controller without a log: handlers run, their records are replayed at once.
class ControllerFixture {
 public:
  explicit ControllerFixture(uint64_t seed = 1) : random_(seed) {
    settings_.nodeId = NodeId(1);
    settings_.clusterId = "the-cluster";
    settings_.quorum = nodes({1});
    commit(bootstrapRecords());
  }

  /// Handles a request; its records take effect.
  template <class Request>
  Result<typename Request::Response> handle(const Request& request, int16_t version = Request::kMaxVersion) {
    auto outcome = metadata::handle(view(version), request);
    if (!outcome) return std::unexpected(outcome.error());
    lastRecords = outcome->records;
    commit(outcome->records);
    if (outcome->soft) outcome->soft(heartbeats_, end_ - 1);
    return std::move(outcome->response);
  }
  /// As handle(), for requests that must go well.
  template <class Request>
  typename Request::Response expect(const Request& request, int16_t version = Request::kMaxVersion) {
    auto response = handle(request, version);
    EXPECT_TRUE(response) << (response ? "" : response.error().message);
    return response ? std::move(*response) : typename Request::Response();
  }

  void commit(const Records& records) {
    Changes changes;
    for (const Record& record : records) {
      // Through bytes, as the log would take it.
      const Result<ByteVector> bytes = encodeRecord(record);
      ASSERT_TRUE(bytes) << bytes.error().message;
      const Result<Record> decoded = decodeRecord(*bytes);
      ASSERT_TRUE(decoded) << decoded.error().message;
      ASSERT_EQ(*decoded, record);
      const Result<void> replayed = replayRecord(image_, *decoded, changes);
      ASSERT_TRUE(replayed) << replayed.error().message;
      log.push_back(record);
    }
    end_ = end_ + static_cast<int64_t>(records.size());
  }

  ControllerView view(int16_t version = 0) {
    return {.image = image_,
            .heartbeats = heartbeats_,
            .settings = settings_,
            .now = now_,
            .random = random_,
            .nextOffset = end_,
            .requestVersion = version};
  }

  protocol::BrokerRegistrationRequest registration(int id, uint8_t incarnation = 1) {
    protocol::BrokerRegistrationRequest request{.brokerId = id, .clusterId = "the-cluster"};
    request.incarnationId = uuid(static_cast<uint8_t>(100 + id), incarnation);
    request.listeners.push_back({.name = "PLAINTEXT", .host = "h", .port = static_cast<uint16_t>(9000 + id)});
    for (const FeatureDefinition& feature : knownFeatures()) {
      request.features.push_back({.name = feature.name,
                                  .minSupportedVersion = feature.minSupported,
                                  .maxSupportedVersion = feature.maxSupported});
    }
    request.rack.reset();
    request.logDirs = {uuid(static_cast<uint8_t>(id))};
    return request;
  }
  BrokerEpoch registerBroker(int id, uint8_t incarnation = 1) {
    return BrokerEpoch(expect(registration(id, incarnation)).brokerEpoch);
  }
  protocol::BrokerHeartbeatRequest heartbeatOf(int id) {
    const BrokerRegistration* broker = image_.cluster.broker(NodeId(id));
    return {
        .brokerId = id, .brokerEpoch = broker ? broker->epoch.value() : -1, .currentMetadataOffset = end_.value() - 1};
  }
  protocol::BrokerHeartbeatResponse heartbeat(int id) { return expect(heartbeatOf(id)); }
  /// Registers and unfences.
  void startBrokers(std::initializer_list<int> ids) {
    for (int id : ids) {
      registerBroker(id);
      EXPECT_FALSE(heartbeat(id).isFenced);
    }
  }
  void fence(int id) {
    auto request = heartbeatOf(id);
    request.wantFence = true;
    EXPECT_TRUE(expect(request).isFenced);
  }
  /// A topic whose partitions have these replicas.
  void createTopic(const std::string& name, std::vector<std::vector<int32_t>> replicas,
                   std::vector<std::pair<std::string, std::string>> configs = {}) {
    protocol::CreateTopicsRequest request;
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    topic.numPartitions = -1;
    topic.replicationFactor = -1;
    for (size_t i = 0; i < replicas.size(); ++i) {
      topic.assignments.push_back({.partitionIndex = static_cast<int32_t>(i), .brokerIds = replicas[i]});
    }
    for (auto& [key, value] : configs) {
      auto& config = topic.configs.emplace_back();
      config.name = key;
      config.value = protocol::Text(value);
    }
    const auto response = expect(request);
    ASSERT_EQ(codeOf(response.topics.at(0).errorCode), ErrorCode::None) << response.topics[0].errorMessage->view();
  }
  const PartitionRegistration& partition(const std::string& topic, int index = 0) {
    const PartitionRegistration* found = image_.topics.partition(topic, PartitionIndex(index));
    EXPECT_TRUE(found) << topic;
    static const PartitionRegistration kNone;
    return found ? *found : kNone;
  }
  void advance(platform::Duration by) { now_ += by; }
  /// Fences every broker whose session ran out; how many.
  int fenceStale() {
    int count = 0;
    while (true) {
      const auto outcome = fenceStaleBroker(view());
      if (!outcome.response) return count;
      commit(outcome.records);
      outcome.soft(heartbeats_, end_ - 1);
      ++count;
    }
  }

  const Image& image() const { return image_; }
  Offset end() const { return end_; }
  HeartbeatTracker& heartbeats() { return heartbeats_; }
  ControllerSettings& settings() { return settings_; }
  platform::Random& random() { return random_; }

  /// Of the last request; of all.
  Records lastRecords;
  Records log;

 private:
  Image image_;
  HeartbeatTracker heartbeats_;
  ControllerSettings settings_;
  SeededRandom random_;
  platform::MonotonicTime now_{std::chrono::seconds(1000)};
  Offset end_{0};
};

}  // namespace tidemark::metadata::test
