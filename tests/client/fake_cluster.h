#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "client/fake_group.h"
#include "client/fake_transactions.h"
#include "network/request_codec.h"
#include "network/server.h"
#include "network/stage.h"
#include "records/batch.h"

namespace tidemark::test {

/// What a fake broker does with a request instead of its duty.
enum class Mishap : uint8_t {
  None,
  Close,            ///< closes the connection, nothing is done
  CloseAfterwards,  ///< does it, then closes the connection without an answer
  Silence,          ///< neither does nor answers
};

/// Brokers in the network's sense only: their state lies in memory, is shared by all, and does what Kafka does as far
/// as a client can tell. Everything public is read and changed inside Stage::change() and await().
class FakeCluster {
 public:
  struct Partition {
    NodeId leader;
    LeaderEpoch epoch{0};
    Offset start{0};
    std::vector<ByteVector> batches;
    Offset end{0};
    struct Producer {
      ProducerEpoch epoch;
      /// The last five batches: base sequence → base offset.
      std::deque<std::pair<int32_t, Offset>> recent;
      int32_t nextSequence = 0;
    };
    std::map<ProducerId, Producer> producers;
    /// Where earlier epochs end, for what a consumer's last epoch says.
    std::map<int32_t, Offset> epochEnds;
  };
  struct Topic {
    Uuid id;
    std::map<int32_t, Partition> partitions;
  };

  FakeCluster(Stage& stage, int brokers);
  ~FakeCluster();

  void start(const std::function<std::shared_ptr<platform::Process>(const std::string&)>& createProcess);
  /// After all processes are dead.
  void end();
  std::vector<platform::Endpoint> bootstrap() const;

  // Only inside change() and await().
  void createTopic(const std::string& name, int32_t partitions);
  Partition& at(const std::string& topic, int32_t partition) { return topics.at(topic).partitions.at(partition); }
  void elect(const std::string& topic, int32_t partition, int node);
  /// Values of all records in offset order, as text.
  std::vector<std::string> values(const std::string& topic, int32_t partition);

  std::map<std::string, Topic> topics;
  bool autoCreate = true;
  /// Asked before each request is served.
  std::function<Mishap(int node, protocol::ApiKey key)> mishap;
  /// Takes requests that a test answers itself, and leaves the others alone.
  std::function<void(network::RequestPtr&)> takes;
  /// Instead of appending or reading.
  std::function<ErrorCode(int node, const TopicPartition&)> produceError;
  std::function<ErrorCode(int node, const TopicPartition&)> fetchError;
  std::function<ErrorCode(protocol::ApiKey key)> adminError;
  std::map<protocol::ApiKey, int> requests;
  /// Partitions named in fetch requests.
  int partitionsNamed = 0;
  /// Its coordinator is broker 2.
  FakeGroup group;
  /// Their coordinator is the same.
  FakeTransactions transactions;
  /// What a broker says in ApiVersions; nothing: no level.
  std::function<network::FeatureInfo(int node)> features;
  /// Sessions are lost.
  void forgetSessions();

 private:
  class Broker;
  void wakeFetches();

  Stage& stage_;
  std::vector<std::unique_ptr<Broker>> brokers_;
  int64_t nextProducerId_ = 1000;
  uint8_t nextTopicId_ = 1;
  int32_t nextSession_ = 1;
  friend class Broker;
};

}  // namespace tidemark::test
