#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "client/client.h"

namespace tidemark::client {

struct NewTopic {
  std::string name;
  /// −1 for both: the broker's defaults.
  int32_t partitions = -1;
  int16_t replicationFactor = -1;
  std::map<std::string, std::string> configs;
  /// Replicas by partition, instead of the two numbers above.
  std::vector<std::vector<NodeId>> assignments;
};

struct TopicDescription {
  std::string name;
  Uuid id;
  bool internal = false;
  std::map<int32_t, MetadataCache::Partition> partitions;
};

struct ClusterDescription {
  std::string clusterId;
  NodeId controller;
  std::map<NodeId, platform::Endpoint> brokers;
};

/// The numbers are Kafka's (ConfigResource.Type).
enum class ConfigResourceType : int8_t { Topic = 2, Broker = 4, Group = 32 };

struct ConfigEntry {
  std::string name;
  /// Nothing: sensitive.
  std::optional<std::string> value;
  bool readOnly = false;
  bool sensitive = false;
  /// Kafka's DescribeConfigsResponse.ConfigSource.
  int8_t source = 0;
};

struct ConfigChange {
  enum class Operation : int8_t { Set = 0, Delete = 1, Append = 2, Subtract = 3 };
  std::string name;
  Operation operation = Operation::Set;
  std::string value;
};

/// Timestamps that ListOffsets gives a meaning.
inline constexpr int64_t kLatestTimestamp = -1;
inline constexpr int64_t kEarliestTimestamp = -2;
inline constexpr int64_t kMaxTimestamp = -3;

struct ListedOffset {
  Offset offset;
  int64_t timestampMs = -1;
  LeaderEpoch leaderEpoch;
};

/// Administers a cluster. Each call asks once more, with back-off, when the error is one that passes; it fails with the
/// last error after `timeout`. Executor as the Client's.
class Admin {
 public:
  template <class T>
  using Handler = std::move_only_function<void(Result<T>)>;
  using Done = std::move_only_function<void(Result<void>)>;

  explicit Admin(Client& client, platform::Duration timeout = std::chrono::seconds(60));
  ~Admin();
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;

  /// Gives the new topic's id (zero if the broker does not tell).
  void createTopic(NewTopic topic, Handler<Uuid> handler);
  void deleteTopic(std::string name, Done done);
  /// `total` is the new number of partitions.
  void createPartitions(std::string topic, int32_t total, Done done);
  /// Names, internal topics included.
  void listTopics(Handler<std::vector<std::string>> handler);
  /// UnknownTopicOrPartition if there is none of that name.
  void describeTopic(std::string name, Handler<TopicDescription> handler);
  /// As describeTopic(), and asks again while there is none: brokers hear of a new topic a moment after the controller
  /// has answered.
  void awaitTopic(std::string name, Handler<TopicDescription> handler);
  void describeCluster(Handler<ClusterDescription> handler);
  void describeConfigs(ConfigResourceType type, std::string name, Handler<std::vector<ConfigEntry>> handler);
  void alterConfigs(ConfigResourceType type, std::string name, std::vector<ConfigChange> changes, Done done);
  void listOffset(TopicPartition where, int64_t timestampMs, Handler<ListedOffset> handler);
  /// Removes records below `before` (−1: the high watermark) and gives the new log start.
  void deleteRecords(TopicPartition where, Offset before, Handler<Offset> handler);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tidemark::client
