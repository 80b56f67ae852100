#include "client/fake_cluster.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"
#include "protocol/generated/delete_topics_request.h"
#include "protocol/generated/delete_topics_response.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/find_coordinator_request.h"
#include "protocol/generated/find_coordinator_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/generated/list_offsets_request.h"
#include "protocol/generated/list_offsets_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "records/record.h"

namespace tidemark::test {

using network::RequestPtr;
using protocol::ApiKey;

class FakeCluster::Broker final : public network::RequestHandler {
 public:
  Broker(FakeCluster& cluster, int node) : cluster_(cluster), node_(node) {}

  void start(std::shared_ptr<platform::Process> process) {
    process_ = std::move(process);
    timers_ = process_->createExecutor({.name = "timers", .threads = 1});
    network::ServerOptions options;
    options.listeners = {
        {.name = "PLAINTEXT",
         .endpoint = {cluster_.stage_.isSimulated() ? fmt::format("broker-{}", node_) : std::string("127.0.0.1"), 0}}};
    options.apis = network::ApiTable{{ApiKey::Produce, 3, 13},
                                     {ApiKey::Fetch, 4, 18},
                                     {ApiKey::ListOffsets, 1, 10},
                                     {ApiKey::Metadata, 0, 13},
                                     {ApiKey::ApiVersions, 0, 4},
                                     {ApiKey::CreateTopics, 2, 7},
                                     {ApiKey::DeleteTopics, 1, 6},
                                     {ApiKey::InitProducerId, 0, 5},
                                     {ApiKey::FindCoordinator, 0, 6},
                                     {ApiKey::JoinGroup, 0, 9},
                                     {ApiKey::SyncGroup, 0, 5},
                                     {ApiKey::Heartbeat, 0, 4},
                                     {ApiKey::LeaveGroup, 0, 5},
                                     {ApiKey::OffsetCommit, 2, 10},
                                     {ApiKey::OffsetFetch, 1, 10},
                                     {ApiKey::ConsumerGroupHeartbeat, 0, 1},
                                     {ApiKey::AddOffsetsToTxn, 0, 4},
                                     {ApiKey::AddPartitionsToTxn, 0, 5},
                                     {ApiKey::EndTxn, 0, 5},
                                     {ApiKey::TxnOffsetCommit, 0, 5},
                                     {ApiKey::ShareGroupHeartbeat, 1, 1},
                                     {ApiKey::ShareFetch, 1, 2},
                                     {ApiKey::ShareAcknowledge, 1, 2},
                                     {ApiKey::StreamsGroupHeartbeat, 0, 1}};
    options.features = [this] {
      network::FeatureInfo info;
      cluster_.stage_.change([&] {
        if (cluster_.features) info = cluster_.features(node_);
      });
      return info;
    };
    options.numProcessors = 1;
    options.numHandlers = 2;
    server_ = std::make_unique<network::Server>(*process_, std::move(options), *this);
    const auto started = server_->start();
    ASSERT_TRUE(started.has_value()) << started.error().message;
  }
  void end() {
    parked_.clear();
    server_.reset();
  }
  platform::Endpoint endpoint() const { return server_->endpoint("PLAINTEXT"); }

  void handle(RequestPtr request) override {
    // One request after another, whatever the platform.
    cluster_.stage_.change([&] { serve(request); });
  }

  void serve(RequestPtr& request);
  void retryParked(bool timeUp);

  std::map<int32_t, int32_t> sessions;  ///< id → next epoch
  std::map<int32_t, std::map<std::pair<Uuid, int32_t>, protocol::FetchRequest::FetchPartition>> sessionPartitions;

 private:
  struct Parked {
    RequestPtr request;
    platform::MonotonicTime deadline;
    std::unique_ptr<platform::Timer> timer;
  };

  void metadata(network::Request& request);
  void produce(network::Request& request, bool answer);
  int64_t append(FakeCluster::Partition& partition, MutableBytes bytes, ErrorCode& error);
  enum class Attempt : uint8_t { First, Woken, TimeUp };
  bool fetch(network::Request& request, Attempt attempt);
  void parkFetch(RequestPtr request, platform::Duration wait);
  void listOffsets(network::Request& request);
  void initProducerId(network::Request& request);
  void findCoordinator(network::Request& request);
  void createTopics(network::Request& request);
  void deleteTopics(network::Request& request);
  FakeCluster::Topic* topicBy(const std::string& name, const Uuid& id, std::string* itsName = nullptr);

  FakeCluster& cluster_;
  const int node_;
  std::shared_ptr<platform::Process> process_;
  std::shared_ptr<platform::Executor> timers_;
  std::unique_ptr<network::Server> server_;
  std::vector<Parked> parked_;
};

void FakeCluster::Broker::serve(RequestPtr& request) {
  ++cluster_.requests[request->apiKey()];
  const Mishap happens = cluster_.mishap ? cluster_.mishap(node_, request->apiKey()) : Mishap::None;
  if (happens == Mishap::Close) return request->close();
  if (cluster_.takes) cluster_.takes(request);
  if (request == nullptr) return;
  if (happens == Mishap::Silence) {
    parked_.push_back({std::move(request), platform::MonotonicTime::max(), nullptr});
    return;
  }
  switch (request->apiKey()) {
    case ApiKey::Metadata:
      return metadata(*request);
    case ApiKey::Produce:
      return produce(*request, happens != Mishap::CloseAfterwards);
    case ApiKey::Fetch:
      if (!fetch(*request, Attempt::First)) {
        const auto decoded = request->decode<protocol::FetchRequest>();
        parkFetch(std::move(request), std::chrono::milliseconds(decoded->maxWaitMs));
      }
      return;
    case ApiKey::ListOffsets:
      return listOffsets(*request);
    case ApiKey::InitProducerId:
      if (request->decode<protocol::InitProducerIdRequest>()->transactionalId)
        return cluster_.transactions.serve(*request);
      return initProducerId(*request);
    case ApiKey::AddPartitionsToTxn:
    case ApiKey::AddOffsetsToTxn:
    case ApiKey::TxnOffsetCommit:
    case ApiKey::EndTxn:
      return cluster_.transactions.serve(*request);
    case ApiKey::FindCoordinator:
      return findCoordinator(*request);
    case ApiKey::JoinGroup:
    case ApiKey::SyncGroup:
    case ApiKey::Heartbeat:
    case ApiKey::LeaveGroup:
    case ApiKey::OffsetCommit:
    case ApiKey::OffsetFetch:
      return cluster_.group.serve(std::move(request));
    case ApiKey::CreateTopics:
      return createTopics(*request);
    case ApiKey::DeleteTopics:
      return deleteTopics(*request);
    default:
      return request->close();
  }
}

FakeCluster::Topic* FakeCluster::Broker::topicBy(const std::string& name, const Uuid& id, std::string* itsName) {
  for (auto& [each, topic] : cluster_.topics) {
    if (id.isZero() ? each != name : topic.id != id) continue;
    if (itsName != nullptr) *itsName = each;
    return &topic;
  }
  return nullptr;
}

void FakeCluster::Broker::metadata(network::Request& request) {
  const auto asked = request.decode<protocol::MetadataRequest>();
  if (!asked) return request.close();
  protocol::MetadataResponse response;
  response.clusterId = "fake";
  response.controllerId = 1;
  for (const auto& broker : cluster_.brokers_) {
    const auto endpoint = broker->endpoint();
    response.brokers.push_back({.nodeId = broker->node_, .host = endpoint.host, .port = endpoint.port});
  }
  std::vector<std::string> names;
  if (asked->topics) {
    for (const auto& topic : *asked->topics) names.push_back(topic.name->str());
  } else {
    for (const auto& [name, topic] : cluster_.topics) names.push_back(name);
  }
  for (const auto& name : names) {
    if (!cluster_.topics.contains(name) && cluster_.autoCreate && asked->allowAutoTopicCreation) {
      cluster_.createTopic(name, 3);
    }
    protocol::MetadataResponse::MetadataResponseTopic topic;
    topic.name = name;
    const auto known = cluster_.topics.find(name);
    if (known == cluster_.topics.end()) {
      topic.errorCode = static_cast<int16_t>(ErrorCode::UnknownTopicOrPartition);
    } else {
      topic.topicId = known->second.id;
      for (const auto& [index, partition] : known->second.partitions) {
        topic.partitions.push_back({.partitionIndex = index,
                                    .leaderId = partition.leader.value(),
                                    .leaderEpoch = partition.epoch.value(),
                                    .replicaNodes = {1, 2},
                                    .isrNodes = {1, 2}});
      }
    }
    response.topics.push_back(std::move(topic));
  }
  request.respond(response);
}

void FakeCluster::Broker::produce(network::Request& request, bool answer) {
  auto asked = request.decode<protocol::ProduceRequest>();
  if (!asked) return request.close();
  protocol::ProduceResponse response;
  for (auto& topicData : asked->topicData) {
    std::string name;
    Topic* topic = topicBy(topicData.name.str(), topicData.topicId, &name);
    protocol::ProduceResponse::TopicProduceResponse result{.name = topicData.name.str(), .topicId = topicData.topicId};
    for (auto& data : topicData.partitionData) {
      ErrorCode error = ErrorCode::None;
      int64_t base = -1;
      if (topic == nullptr || !topic->partitions.contains(data.index)) {
        error = ErrorCode::UnknownTopicOrPartition;
      } else {
        Partition& partition = topic->partitions.at(data.index);
        const TopicPartition where{name, PartitionIndex(data.index)};
        if (partition.leader.value() != node_)
          error = ErrorCode::NotLeaderOrFollower;
        else if (cluster_.produceError)
          error = cluster_.produceError(node_, where);
        if (error == ErrorCode::None && asked->transactionalId)
          error = cluster_.transactions.produced(where, request.apiVersion());
        if (error == ErrorCode::None) {
          const ByteView view = data.records.view();
          base = append(
              partition,
              request.mutableBody().subspan(static_cast<size_t>(view.data() - request.body().data()), view.size()),
              error);
        }
      }
      result.partitionResponses.push_back(
          {.index = data.index, .errorCode = static_cast<int16_t>(error), .baseOffset = base});
    }
    response.responses.push_back(std::move(result));
  }
  const bool silent = asked->acks == 0;
  cluster_.wakeFetches();
  if (!answer) return request.close();
  if (silent) return request.noResponse();
  request.respond(response);
}

int64_t FakeCluster::Broker::append(Partition& partition, MutableBytes bytes, ErrorCode& error) {
  records::BatchCursor cursor(bytes, records::BatchCursor::Check::Checksum);
  if (cursor.next() != records::Step::Next || cursor.position() != bytes.size()) {
    error = ErrorCode::CorruptMessage;
    return -1;
  }
  const records::BatchHeader header = cursor.batch().header;
  if (header.hasProducerId()) {
    auto& producer = partition.producers[header.producerId];
    if (producer.epoch != header.producerEpoch) producer = {.epoch = header.producerEpoch, .recent = {}};
    for (const auto& [sequence, offset] : producer.recent) {
      if (sequence == header.baseSequence) return offset.value();
    }
    if (header.baseSequence != producer.nextSequence) {
      error = ErrorCode::OutOfOrderSequenceNumber;
      return -1;
    }
    producer.nextSequence = records::nextSequence(producer.nextSequence, header.recordCount);
    producer.recent.emplace_back(header.baseSequence, partition.end);
    if (producer.recent.size() > 5) producer.recent.pop_front();
  }
  const Offset base = partition.end;
  records::stamp(bytes, base, partition.epoch);
  partition.batches.emplace_back(bytes.begin(), bytes.end());
  partition.end = base + header.lastOffsetDelta + 1;
  return base.value();
}

/// False: there is nothing to tell yet.
bool FakeCluster::Broker::fetch(network::Request& request, Attempt attempt) {
  const auto asked = request.decode<protocol::FetchRequest>();
  if (!asked) {
    request.close();
    return true;
  }
  protocol::FetchResponse response;
  auto refuse = [&](ErrorCode code) {
    response.errorCode = static_cast<int16_t>(code);
    request.respond(response);
    return true;
  };
  std::map<std::pair<Uuid, int32_t>, protocol::FetchRequest::FetchPartition> fresh;
  auto* wanted = &fresh;
  if (asked->sessionId != 0) {
    if (!sessions.contains(asked->sessionId)) return refuse(ErrorCode::FetchSessionIdNotFound);
    if (sessions[asked->sessionId] != asked->sessionEpoch) return refuse(ErrorCode::InvalidFetchSessionEpoch);
    wanted = &sessionPartitions[asked->sessionId];
  }
  for (const auto& topic : asked->topics) {
    Topic* known = topicBy(topic.topic.str(), topic.topicId);
    for (const auto& partition : topic.partitions) {
      if (attempt == Attempt::First) ++cluster_.partitionsNamed;
      (*wanted)[{known != nullptr ? known->id : topic.topicId, partition.partition}] = partition;
    }
  }
  for (const auto& topic : asked->forgottenTopicsData) {
    Topic* known = topicBy(topic.topic.str(), topic.topicId);
    for (const int32_t index : topic.partitions) wanted->erase({known != nullptr ? known->id : topic.topicId, index});
  }
  bool something = false;
  for (const auto& [key, partition] : *wanted) {
    const auto& [id, index] = key;
    std::string name;
    Topic* topic = topicBy({}, id, &name);
    protocol::FetchResponse::PartitionData data{.partitionIndex = index, .highWatermark = -1};
    ErrorCode error = ErrorCode::None;
    if (topic == nullptr) {
      error = ErrorCode::UnknownTopicId;
    } else {
      Partition& held = topic->partitions.at(index);
      data.highWatermark = data.lastStableOffset = held.end.value();
      data.logStartOffset = held.start.value();
      const Offset from(partition.fetchOffset);
      if (held.leader.value() != node_)
        error = ErrorCode::NotLeaderOrFollower;
      else if (cluster_.fetchError)
        error = cluster_.fetchError(node_, {name, PartitionIndex(index)});
      const auto epochEnd = held.epochEnds.find(partition.lastFetchedEpoch);
      if (error == ErrorCode::None && epochEnd != held.epochEnds.end() && epochEnd->second < from) {
        data.divergingEpoch = {.epoch = epochEnd->first, .endOffset = epochEnd->second.value()};
        something = true;
      } else if (error == ErrorCode::None && (from < held.start || from > held.end)) {
        error = ErrorCode::OffsetOutOfRange;
      } else if (error == ErrorCode::None) {
        ByteVector records;
        for (const ByteVector& batch : held.batches) {
          if (records::BatchHeader::read(batch.data()).lastOffset() < from) continue;
          records.insert(records.end(), batch.begin(), batch.end());
          if (records.size() > static_cast<size_t>(partition.partitionMaxBytes)) break;
        }
        something = something || !records.empty();
        data.records = protocol::Records(std::move(records));
      }
    }
    data.errorCode = static_cast<int16_t>(error);
    something = something || error != ErrorCode::None;
    // Kafka leaves unchanged partitions out of a session's answers.
    if (asked->sessionId != 0 && error == ErrorCode::None && data.records.empty() && data.divergingEpoch.endOffset < 0)
      continue;
    if (response.responses.empty() || response.responses.back().topicId != id) {
      response.responses.push_back({.topic = name, .topicId = id});
    }
    response.responses.back().partitions.push_back(std::move(data));
  }
  if (!something && attempt != Attempt::TimeUp) return false;
  if (asked->sessionId != 0) {
    response.sessionId = asked->sessionId;
    sessions[asked->sessionId] = asked->sessionEpoch + 1;
  } else if (asked->sessionEpoch == 0) {
    response.sessionId = cluster_.nextSession_++;
    sessions[response.sessionId] = 1;
    sessionPartitions[response.sessionId] = std::move(fresh);
  }
  request.respond(response);
  return true;
}

void FakeCluster::Broker::parkFetch(RequestPtr request, platform::Duration wait) {
  parked_.push_back({std::move(request), process_->clock().monotonic() + wait, nullptr});
  parked_.back().timer = std::make_unique<platform::Timer>(
      timers_->schedule(wait, [this] { cluster_.stage_.change([&] { retryParked(true); }); }));
}

void FakeCluster::Broker::retryParked(bool timeUp) {
  if (parked_.empty()) return;
  std::vector<Parked> parked;
  parked.swap(parked_);
  const auto now = process_->clock().monotonic();
  for (auto& each : parked) {
    if (each.request->apiKey() != ApiKey::Fetch ||
        !fetch(*each.request, timeUp && each.deadline <= now ? Attempt::TimeUp : Attempt::Woken)) {
      parked_.push_back(std::move(each));
    }
  }
}

void FakeCluster::Broker::listOffsets(network::Request& request) {
  const auto asked = request.decode<protocol::ListOffsetsRequest>();
  if (!asked) return request.close();
  protocol::ListOffsetsResponse response;
  for (const auto& topic : asked->topics) {
    protocol::ListOffsetsResponse::ListOffsetsTopicResponse result{.name = topic.name.str()};
    for (const auto& partition : topic.partitions) {
      Topic* known = topicBy(topic.name.str(), {});
      protocol::ListOffsetsResponse::ListOffsetsPartitionResponse each{.partitionIndex = partition.partitionIndex};
      if (known == nullptr || !known->partitions.contains(partition.partitionIndex)) {
        each.errorCode = static_cast<int16_t>(ErrorCode::UnknownTopicOrPartition);
      } else if (known->partitions.at(partition.partitionIndex).leader.value() != node_) {
        each.errorCode = static_cast<int16_t>(ErrorCode::NotLeaderOrFollower);
      } else {
        const Partition& held = known->partitions.at(partition.partitionIndex);
        each.offset = partition.timestamp == -1 ? held.end.value() : held.start.value();
        each.leaderEpoch = held.epoch.value();
      }
      result.partitions.push_back(each);
    }
    response.topics.push_back(std::move(result));
  }
  request.respond(response);
}

void FakeCluster::Broker::initProducerId(network::Request& request) {
  protocol::InitProducerIdResponse response;
  const ErrorCode error = cluster_.adminError ? cluster_.adminError(ApiKey::InitProducerId) : ErrorCode::None;
  response.errorCode = static_cast<int16_t>(error);
  response.producerId = error == ErrorCode::None ? cluster_.nextProducerId_++ : -1;
  request.respond(response);
}

void FakeCluster::Broker::findCoordinator(network::Request& request) {
  const auto asked = request.decode<protocol::FindCoordinatorRequest>();
  if (!asked) return request.close();
  protocol::FindCoordinatorResponse response;
  const auto endpoint = cluster_.brokers_[1]->endpoint();
  response.coordinators.push_back(
      {.key = asked->coordinatorKeys.at(0).str(), .nodeId = 2, .host = endpoint.host, .port = endpoint.port});
  request.respond(response);
}

void FakeCluster::Broker::createTopics(network::Request& request) {
  const auto asked = request.decode<protocol::CreateTopicsRequest>();
  if (!asked) return request.close();
  protocol::CreateTopicsResponse response;
  for (const auto& topic : asked->topics) {
    ErrorCode error = cluster_.adminError ? cluster_.adminError(ApiKey::CreateTopics) : ErrorCode::None;
    if (error == ErrorCode::None && cluster_.topics.contains(topic.name.str())) error = ErrorCode::TopicAlreadyExists;
    if (error == ErrorCode::None) cluster_.createTopic(topic.name.str(), topic.numPartitions);
    response.topics.push_back({.name = topic.name.str(),
                               .topicId = error == ErrorCode::None ? cluster_.topics.at(topic.name.str()).id : Uuid(),
                               .errorCode = static_cast<int16_t>(error),
                               .errorMessage = std::nullopt});
  }
  request.respond(response);
}

void FakeCluster::Broker::deleteTopics(network::Request& request) {
  const auto asked = request.decode<protocol::DeleteTopicsRequest>();
  if (!asked) return request.close();
  protocol::DeleteTopicsResponse response;
  for (const auto& name : asked->topicNames) {
    const bool gone = cluster_.topics.erase(name.str()) == 1;
    response.responses.push_back(
        {.name = name.str(),
         .errorCode = static_cast<int16_t>(gone ? ErrorCode::None : ErrorCode::UnknownTopicOrPartition)});
  }
  request.respond(response);
}

FakeCluster::FakeCluster(Stage& stage, int brokers) : stage_(stage) {
  for (int node = 1; node <= brokers; ++node) brokers_.push_back(std::make_unique<Broker>(*this, node));
}

FakeCluster::~FakeCluster() = default;

void FakeCluster::start(const std::function<std::shared_ptr<platform::Process>(const std::string&)>& createProcess) {
  int node = 0;
  for (auto& broker : brokers_) broker->start(createProcess(fmt::format("broker-{}", ++node)));
}

void FakeCluster::end() {
  group.end();
  for (auto& broker : brokers_) broker->end();
}

std::vector<platform::Endpoint> FakeCluster::bootstrap() const {
  std::vector<platform::Endpoint> endpoints;
  for (const auto& broker : brokers_) endpoints.push_back(broker->endpoint());
  return endpoints;
}

void FakeCluster::createTopic(const std::string& name, int32_t partitions) {
  std::array<uint8_t, 16> id{};
  id[15] = 9;
  id[0] = nextTopicId_++;
  Topic topic{.id = Uuid(id)};
  for (int32_t i = 0; i < partitions; ++i) {
    topic.partitions[i].leader = NodeId(1 + i % static_cast<int32_t>(brokers_.size()));
  }
  topics[name] = std::move(topic);
}

void FakeCluster::elect(const std::string& topic, int32_t partition, int node) {
  Partition& held = at(topic, partition);
  held.leader = NodeId(node);
  held.epoch = held.epoch.next();
  wakeFetches();
}

std::vector<std::string> FakeCluster::values(const std::string& topic, int32_t partition) {
  std::vector<std::string> values;
  for (const ByteVector& batch : at(topic, partition).batches) {
    records::BatchCursor cursor(batch);
    EXPECT_EQ(cursor.next(), records::Step::Next);
    EXPECT_TRUE(records::forEachRecord(cursor.batch(), [&](const records::RecordView& record) {
                  values.emplace_back(record.value ? asText(*record.value) : "null");
                }).has_value());
  }
  return values;
}

void FakeCluster::forgetSessions() {
  for (auto& broker : brokers_) {
    broker->sessions.clear();
    broker->sessionPartitions.clear();
  }
}

void FakeCluster::wakeFetches() {
  for (auto& broker : brokers_) broker->retryParked(false);
}

}  // namespace tidemark::test
