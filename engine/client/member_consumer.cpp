#include "client/member_consumer.h"

#include <fmt/format.h>

#include "client/member_consumer_core.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"

namespace tidemark::client {
namespace {

/// The last version that names topics rather than their ids.
constexpr int16_t kCommitVersion = 9;

ErrorCode firstErrorOf(const protocol::OffsetCommitResponse& response) {
  for (const auto& topic : response.topics) {
    for (const auto& partition : topic.partitions) {
      if (partition.errorCode != 0) return static_cast<ErrorCode>(partition.errorCode);
    }
  }
  return ErrorCode::None;
}

}  // namespace

MemberConsumer::Core::Core(Client& client, std::string groupId, std::string instanceId, const ConsumerOptions& reading,
                           Handlers handlers)
    : GroupMembership(client, std::move(groupId), std::move(handlers.onError)),
      instanceId_(std::move(instanceId)),
      onAssignment_(std::move(handlers.onAssignment)),
      consumer_(client, reading, std::move(handlers.onRecord),
                [this](const TopicPartition&, const Error& error) { tell(error); }) {}

void MemberConsumer::Core::commit(Done done) {
  protocol::OffsetCommitRequest request;
  request.groupId = groupId_;
  request.generationIdOrMemberEpoch = epoch_;
  request.memberId = memberId_;
  request.groupInstanceId = instanceId();
  for (const auto& where : owned_) {
    const auto position = consumer_.position(where);
    if (!position) continue;
    if (request.topics.empty() || request.topics.back().name != where.topic) {
      request.topics.push_back({.name = where.topic, .topicId = {}, .partitions = {}});
    }
    request.topics.back().partitions.push_back(
        {.partitionIndex = where.partition.value(), .committedOffset = position->value()});
  }
  if (request.topics.empty()) return client_.executor().post([done = std::move(done)]() mutable { done({}); });
  send(std::move(request), {.maxVersion = kCommitVersion},
       [this,
        done = std::move(done)](const Result<network::Received<protocol::OffsetCommitResponse>>& received) mutable {
         const ErrorCode code = received ? firstErrorOf(received->message) : received.error().code;
         if (code == ErrorCode::None) return done({});
         // Heartbeats find out what has become of the group; here it is only told.
         done(fail(code, fmt::format("group {}: {}", groupId_, errorName(code))));
       });
}

MemberConsumer::MemberConsumer(std::shared_ptr<Core> core) : core_(std::move(core)) {
  core_->begin();
}

MemberConsumer::~MemberConsumer() {
  core_->stop();
}

void MemberConsumer::commit(Done done) {
  core_->commit(std::move(done));
}

void MemberConsumer::leave(platform::Task done) {
  core_->leave(std::move(done));
}

std::string MemberConsumer::memberId() const {
  return core_->memberId();
}

std::vector<TopicPartition> MemberConsumer::assignment() const {
  return core_->assignment();
}

int32_t MemberConsumer::epoch() const noexcept {
  return core_->epoch();
}

}  // namespace tidemark::client
