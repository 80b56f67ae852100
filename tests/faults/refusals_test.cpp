// Requests that are answered with an error in their own words.
#include "faults/refusals.h"

#include <gmock/gmock.h>

#include "protocol/generated/add_offsets_to_txn_request.h"
#include "protocol/generated/add_partitions_to_txn_request.h"
#include "protocol/generated/consumer_group_heartbeat_request.h"
#include "protocol/generated/end_txn_request.h"
#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/list_offsets_request.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/share_acknowledge_request.h"
#include "protocol/generated/share_fetch_request.h"
#include "protocol/generated/share_group_heartbeat_request.h"
#include "protocol/generated/streams_group_heartbeat_request.h"
#include "protocol/generated/txn_offset_commit_request.h"
#include "protocol/message.h"
#include "protocol/reflect.h"

namespace tidemark::faults {
namespace {

using protocol::ApiKey;
using protocol::Text;

struct Sink final : network::AnswerSink {
  void answer(network::Answer got) override { answer_ = std::move(got); }
  network::Answer answer_;
};

class Body final : public network::Frame {
 public:
  explicit Body(ByteVector bytes) : Frame(MutableBytes()), kept_(std::move(bytes)) { bytes_ = kept_; }

 private:
  ByteVector kept_;
};

/// Error codes of a response, wherever.
class Codes final : public protocol::Visitor {
 public:
  void value(const protocol::FieldValue& value) override {
    if (value.field != nullptr && (value.field->name == "errorCode" || value.field->name == "partitionErrorCode"))
      all.push_back(static_cast<ErrorCode>(value.number));
  }
  std::vector<ErrorCode> all;
};

/// The error codes of the answer; nothing if the connection was closed instead.
std::optional<std::vector<ErrorCode>> refused(ApiKey api, int16_t version, ByteVector body) {
  const auto sink = std::make_shared<Sink>();
  network::RequestContext context;
  context.apiKey = api;
  context.apiVersion = version;
  refuse(std::make_unique<network::Request>(sink, std::move(context), std::make_shared<Body>(std::move(body)), 0),
         ErrorCode::NotCoordinator);
  if (sink->answer_.kind != network::Answer::Kind::Response) return std::nullopt;
  ByteVector frame;
  for (const platform::Piece& piece : sink->answer_.pieces) {
    const ByteView view = std::get<SharedBytes>(piece).view();
    frame.insert(frame.end(), view.begin(), view.end());
  }
  // Length, correlation id, and a byte of tags if the header is flexible.
  const size_t header = protocol::responseHeaderVersion(api, version) == 1 ? 9 : 8;
  Codes codes;
  EXPECT_TRUE(protocol::walk(ByteView(frame).subspan(header), *protocol::responseSchema(api), version, codes));
  return codes.all;
}

template <class Request>
void expectRefusedInEachVersion(ApiKey api, const std::function<Request(int16_t)>& request) {
  const protocol::ApiInfo& info = protocol::apiInfo(api);
  EXPECT_TRUE(canRefuse(info.name));
  for (int16_t version = info.versions.first; version <= info.versions.last; ++version) {
    const auto body = protocol::encode(request(version), version);
    ASSERT_TRUE(body) << info.name << " " << version << ": " << body.error().message;
    const auto codes = refused(api, version, *body);
    ASSERT_TRUE(codes) << info.name << " " << version;
    EXPECT_THAT(*codes, testing::Contains(ErrorCode::NotCoordinator)) << info.name << " " << version;
  }
}

template <class Request>
void expectRefusedInEachVersion(ApiKey api) {
  expectRefusedInEachVersion<Request>(api, [](int16_t) { return Request(); });
}

TEST(Refusals, AnAnswerOfEachVersionHoldsTheError) {
  expectRefusedInEachVersion<protocol::HeartbeatRequest>(ApiKey::Heartbeat);
  expectRefusedInEachVersion<protocol::AddOffsetsToTxnRequest>(ApiKey::AddOffsetsToTxn);
  expectRefusedInEachVersion<protocol::EndTxnRequest>(ApiKey::EndTxn);
  expectRefusedInEachVersion<protocol::ConsumerGroupHeartbeatRequest>(ApiKey::ConsumerGroupHeartbeat);
  expectRefusedInEachVersion<protocol::ShareGroupHeartbeatRequest>(ApiKey::ShareGroupHeartbeat);
  expectRefusedInEachVersion<protocol::StreamsGroupHeartbeatRequest>(ApiKey::StreamsGroupHeartbeat);
  expectRefusedInEachVersion<protocol::ShareFetchRequest>(ApiKey::ShareFetch);
  expectRefusedInEachVersion<protocol::ShareAcknowledgeRequest>(ApiKey::ShareAcknowledge);
}

TEST(Refusals, EachPartitionThatWasAskedForHasTheErrorInEachVersion) {
  expectRefusedInEachVersion<protocol::ListOffsetsRequest>(ApiKey::ListOffsets, [](int16_t) {
    protocol::ListOffsetsRequest request;
    request.topics.emplace_back().name = Text("orders");
    request.topics[0].partitions.emplace_back();
    return request;
  });
  expectRefusedInEachVersion<protocol::TxnOffsetCommitRequest>(ApiKey::TxnOffsetCommit, [](int16_t version) {
    protocol::TxnOffsetCommitRequest request;
    auto& topic = request.topics.emplace_back();
    if (version < 6) topic.name = Text("orders");
    topic.partitions.emplace_back();
    return request;
  });
  expectRefusedInEachVersion<protocol::AddPartitionsToTxnRequest>(ApiKey::AddPartitionsToTxn, [](int16_t version) {
    protocol::AddPartitionsToTxnRequest request;
    if (version < 4) request.v3AndBelowTopics.push_back({.name = Text("orders"), .partitions = {0}});
    return request;
  });
  expectRefusedInEachVersion<protocol::OffsetFetchRequest>(ApiKey::OffsetFetch, [](int16_t version) {
    protocol::OffsetFetchRequest request;
    if (version < 8)
      request.topics->push_back({.name = Text("orders"), .partitionIndexes = {0}});
    else
      request.groups.emplace_back().groupId = Text("billing");
    return request;
  });
}

}  // namespace
}  // namespace tidemark::faults
