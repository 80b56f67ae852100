#include "client/group_membership.h"

#include "client/coordinator_lookup.h"
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

GroupMembership::GroupMembership(Client& client, std::string groupId, ErrorHandler onError)
    : Running(client), groupId_(std::move(groupId)), onError_(std::move(onError)) {}

void GroupMembership::findCoordinator() {
  client::findCoordinator(client_, CoordinatorKind::Group, groupId_, {},
                          whileRunning([this](Result<CoordinatorPlace> found) {
                            if (left_) return;
                            if (!found) return lose(found.error());
                            client_.retire(std::move(coordinator_));
                            coordinator_ = client_.newChannel(std::move(found->endpoint));
                            proceed();
                          }));
}

void GroupMembership::lose(const Error& error) {
  if (!isRetriable(error.code) && error.code != ErrorCode::BrokerNotAvailable) return tell(error);
  client_.retire(std::move(coordinator_));
  later(backoff(), &GroupMembership::findCoordinator);
}

void GroupMembership::commitOffsets(const std::map<TopicPartition, LogPosition>& positions,
                                    std::optional<protocol::Text> instanceId, Client::Done done) {
  protocol::OffsetCommitRequest request;
  request.groupId = groupId_;
  request.generationIdOrMemberEpoch = epoch_;
  request.memberId = memberId_;
  request.groupInstanceId = std::move(instanceId);
  for (const auto& [where, position] : positions) {
    if (request.topics.empty() || request.topics.back().name != where.topic) {
      request.topics.push_back({.name = where.topic, .topicId = {}, .partitions = {}});
    }
    request.topics.back().partitions.push_back({.partitionIndex = where.partition.value(),
                                                .committedOffset = position.offset.value(),
                                                .committedLeaderEpoch = position.leaderEpoch.value()});
  }
  if (request.topics.empty()) return client_.executor().post([done = std::move(done)]() mutable { done({}); });
  send(std::move(request), {.maxVersion = kCommitVersion},
       [this,
        done = std::move(done)](const Result<network::Received<protocol::OffsetCommitResponse>>& received) mutable {
         const ErrorCode code = received ? firstErrorOf(received->message) : received.error().code;
         if (code == ErrorCode::None) return done({});
         done(fail(code, fmt::format("group {}: {}", groupId_, errorName(code))));
       });
}

std::optional<GroupMembership::Partitions> GroupMembership::named(const Target& target) const {
  Partitions partitions;
  for (const auto& [id, indexes] : target) {
    const std::string name(client_.metadata().nameOf(id));
    if (name.empty()) return std::nullopt;
    for (const int32_t index : indexes) partitions.insert({name, PartitionIndex(index)});
  }
  return partitions;
}

void GroupMembership::sendRaw(network::RawRequest request, network::SendOptions how, network::RawHandler then) {
  auto handler = whileRunning(std::move(then));
  if (coordinator_) return coordinator_->sendRaw(std::move(request), how, std::move(handler));
  client_.executor().post([handler = std::move(handler)]() mutable {
    handler(
        Result<network::RawResponse>(fail(ErrorCode::CoordinatorNotAvailable, "the coordinator is being looked for")));
  });
}

void GroupMembership::askRaw(network::RawRequest request, network::SendOptions how, network::RawHandler then) {
  sendRaw(std::move(request), how, [this, then = std::move(then)](Result<network::RawResponse> answer) mutable {
    if (!left_) then(std::move(answer));
  });
}

}  // namespace tidemark::client
