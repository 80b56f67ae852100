#include "coordinator/group/group_shard.h"

#include <utility>

#include <fmt/format.h>

#include "coordinator/consumer/consumer_records.h"
#include "protocol/framing.h"
#include "protocol/generated/group_metadata_key.h"
#include "protocol/generated/offset_commit_key.h"

namespace tidemark::coordinator {

namespace {

/// Offsets under the key's first version, before it had a topic of its own.
constexpr int16_t kLegacyOffsetType = 0;
/// Until what became due, and could not be written, is tried again.
constexpr platform::milliseconds kTimeoutBackoff{500};

}  // namespace

// ---- the log

Result<void> GroupShard::replay(Offset offset, ProducerId producerId, ByteView key, std::optional<ByteView> value) {
  TIDEMARK_ASSIGN(const protocol::FramedRecord framed, protocol::decodeCoordinatorKey(key));
  if (framed.type == protocol::GroupMetadataKey::kRecordType) {
    TIDEMARK_ASSIGN(const auto decoded, protocol::decode<protocol::GroupMetadataKey>(framed.body, framed.version));
    if (!value) {
      groups_.replay(decoded.group.str(), nullptr);
      return {};
    }
    TIDEMARK_ASSIGN(const auto metadata, protocol::decodeVersionedAs<protocol::GroupMetadataValue>(*value));
    groups_.replay(decoded.group.str(), &metadata);
    return {};
  }
  if (framed.type == protocol::OffsetCommitKey::kRecordType || framed.type == kLegacyOffsetType) {
    TIDEMARK_ASSIGN(const auto decoded, protocol::decode<protocol::OffsetCommitKey>(framed.body, framed.version));
    const std::string group = decoded.group.str();
    if (!value) {
      offsets_.replay(offset, producerId, group, decoded.topic.str(), decoded.partition, nullptr);
      return {};
    }
    TIDEMARK_ASSIGN(const auto committed, protocol::decodeVersionedAs<protocol::OffsetCommitValue>(*value));
    if (streams_.find(group) == nullptr && consumers_.find(group) == nullptr) groups_.ensureExists(group);
    offsets_.replay(offset, producerId, group, decoded.topic.str(), decoded.partition, &committed);
    return {};
  }
  return replayGroup(framed, value);
}

Result<void> GroupShard::replayGroup(const protocol::FramedRecord& framed, std::optional<ByteView> value) {
  TIDEMARK_ASSIGN(const std::optional<std::string> streamsGroup, streams_.replay(framed, value));
  if (streamsGroup) {
    // Offsets that come before it in the log made a simple consumer's group of it.
    const bool exists = streams_.find(*streamsGroup) != nullptr;
    if (exists && std::as_const(groups_).find(*streamsGroup) != nullptr) groups_.replay(*streamsGroup, nullptr);
    return {};
  }
  TIDEMARK_ASSIGN(const bool shares, shares_.replay(framed.type, framed.body, framed.version, value));
  if (shares) return {};
  TIDEMARK_ASSIGN(const std::optional<std::string> consumerGroup, consumers_.replay(framed, value));
  if (consumerGroup && consumers_.find(*consumerGroup) != nullptr &&
      std::as_const(groups_).find(*consumerGroup) != nullptr) {
    groups_.replay(*consumerGroup, nullptr);
  }
  return {};
}

Effects GroupShard::join(const RequestInfo& info, const protocol::JoinGroupRequest& request, JoinReply reply) {
  const StreamsGroup* streams = streams_.find(request.groupId);
  const ConsumerGroup* consumers = consumers_.find(request.groupId);
  if (consumers != nullptr && !consumers->isEmpty()) return consumers_.join(info, request, std::move(reply));
  if (streams == nullptr && consumers == nullptr && shares_.find(request.groupId) == nullptr) {
    return groups_.join(info, request, std::move(reply));
  }
  Effects out;
  const auto refused = [memberId = request.memberId](ErrorCode code) {
    protocol::JoinGroupResponse response;
    response.memberId = memberId;
    response.errorCode = static_cast<int16_t>(code);
    return response;
  };
  if (consumers == nullptr && (streams == nullptr || !streams->isEmpty())) {
    out.replies.emplace_back(
        [reply = std::move(reply), refused]() mutable { reply(refused(ErrorCode::InconsistentGroupProtocol)); });
    return out;
  }
  if (consumers != nullptr) {
    removeGroupRecords(*consumers, out.records);
  } else {
    streams_.removeEmpty(request.groupId, out);
  }
  out.whenCommitted = [this, info, request, refused, reply = std::move(reply)](ErrorCode code) mutable {
    if (code == ErrorCode::None) return groups_.join(info, request, std::move(reply));
    reply(refused(clientErrorOfWrite(code)));
    return Effects();
  };
  return out;
}

bool GroupShard::isOfAnotherKind(std::string_view groupId) const {
  return consumers_.find(groupId) != nullptr || groups_.find(groupId) != nullptr || streams_.find(groupId) != nullptr;
}

Effects GroupShard::sync(const protocol::SyncGroupRequest& request, SyncReply reply) {
  return consumers_.find(request.groupId) != nullptr ? consumers_.sync(request, std::move(reply))
                                                     : groups_.sync(request, std::move(reply));
}

Effects GroupShard::heartbeat(const protocol::HeartbeatRequest& request, Reply<protocol::HeartbeatResponse> reply) {
  return consumers_.find(request.groupId) != nullptr ? consumers_.classicHeartbeat(request, std::move(reply))
                                                     : groups_.heartbeat(request, std::move(reply));
}

Effects GroupShard::leave(const protocol::LeaveGroupRequest& request, Reply<protocol::LeaveGroupResponse> reply) {
  return consumers_.find(request.groupId) != nullptr ? consumers_.leave(request, std::move(reply))
                                                     : groups_.leave(request, std::move(reply));
}

Effects GroupShard::consumerHeartbeat(const RequestInfo& info, const protocol::ConsumerGroupHeartbeatRequest& request,
                                      ConsumerHeartbeatReply reply) {
  const StreamsGroup* streams = streams_.find(request.groupId);
  if (streams == nullptr && shares_.find(request.groupId) == nullptr) {
    return consumers_.heartbeat(info, request, std::move(reply));
  }
  Effects out;
  const auto refused = [](ErrorCode code, std::string_view message) {
    protocol::ConsumerGroupHeartbeatResponse response;
    response.errorCode = static_cast<int16_t>(code);
    if (!message.empty()) response.errorMessage = protocol::Text(message);
    return response;
  };
  if (streams == nullptr || !streams->isEmpty() || request.memberEpoch != kJoinEpoch) {
    out.replies.emplace_back([reply = std::move(reply), refused, id = request.groupId.str()]() mutable {
      reply(refused(ErrorCode::GroupIdNotFound, fmt::format("Group {} is not a consumer group.", id)));
    });
    return out;
  }
  streams_.removeEmpty(request.groupId, out);
  out.whenCommitted = [this, info, request, refused, reply = std::move(reply)](ErrorCode code) mutable {
    if (code == ErrorCode::None) return consumers_.heartbeat(info, request, std::move(reply));
    reply(refused(clientErrorOfWrite(code), {}));
    return Effects();
  };
  return out;
}

Effects GroupShard::streamsHeartbeat(const RequestInfo& info, const protocol::StreamsGroupHeartbeatRequest& request,
                                     Reply<StreamsHeartbeatAnswer> reply) {
  std::vector<CoordinatorRecord> before;
  if (streams_.find(request.groupId) == nullptr) {
    const ClassicGroup* classic = std::as_const(groups_).find(request.groupId);
    const ConsumerGroup* consumers = consumers_.find(request.groupId);
    if ((consumers != nullptr && !consumers->isEmpty()) || shares_.find(request.groupId) != nullptr ||
        (classic != nullptr && !classic->isIn(ClassicState::Empty))) {
      Effects out;
      StreamsHeartbeatAnswer refused;
      refused.response.errorCode = static_cast<int16_t>(ErrorCode::GroupIdNotFound);
      refused.response.errorMessage =
          protocol::Text(fmt::format("Group {} is not a streams group.", request.groupId.view()));
      out.replies.emplace_back(
          [reply = std::move(reply), refused = std::move(refused)]() mutable { reply(std::move(refused)); });
      return out;
    }
    if (classic != nullptr) before.push_back(groupTombstone(request.groupId));
    if (consumers != nullptr) removeGroupRecords(*consumers, before);
  }
  return streams_.heartbeat(info, request, std::move(before), std::move(reply));
}

Effects GroupShard::describeStreams(std::string_view groupId,
                                    Reply<protocol::StreamsGroupDescribeResponse::DescribedGroup> reply) const {
  return answerWhenCommitted(
      {}, [reply = std::move(reply), described = streams_.describe(groupId)](ErrorCode code) mutable {
        if (code != ErrorCode::None) {
          protocol::StreamsGroupDescribeResponse::DescribedGroup failed;
          failed.groupId = described.groupId;
          failed.errorCode = static_cast<int16_t>(clientErrorOfWrite(code));
          described = std::move(failed);
        }
        reply(std::move(described));
      });
}

void GroupShard::replayEndTxn(Offset offset, ProducerId producerId, bool commit) {
  offsets_.replayEndTxn(offset, producerId, commit);
}

Effects GroupShard::onLoaded() {
  Effects out;
  groups_.onLoaded(out);
  consumers_.onLoaded(out);
  shares_.onLoaded(out);
  streams_.onLoaded(out);
  out.arm({TimerKey::Kind::Expiry, "", ""}, config_.offsetsRetentionCheckInterval);
  return out;
}

Effects GroupShard::onUnloaded() {
  Effects out;
  groups_.onUnloaded(out);
  return out;
}

Effects GroupShard::untilWritten(const TimerKey& key, Effects out) {
  if (out.records.empty()) return out;
  out.whenCommitted = [key, then = std::move(out.whenCommitted)](ErrorCode code) mutable {
    Effects after = then ? then(code) : Effects();
    // A write that is not committed yet has been appended: it may still come to pass.
    if (code != ErrorCode::None && code != ErrorCode::RequestTimedOut) after.arm(key, kTimeoutBackoff);
    return after;
  };
  return out;
}

Effects GroupShard::onTimeout(const TimerKey& key) {
  if (key.kind == TimerKey::Kind::Expiry) return expire();
  switch (key.kind) {
    case TimerKey::Kind::MemberSession:
    case TimerKey::Kind::MemberRebalance:
    case TimerKey::Kind::MemberJoin:
    case TimerKey::Kind::MemberSync:
    case TimerKey::Kind::Assignment:
      return untilWritten(key, consumers_.onTimeout(key));
    default:
      break;
  }
  if (shares_.find(key.group) != nullptr) return untilWritten(key, shares_.onTimeout(key));
  return streams_.find(key.group) != nullptr ? streams_.onTimeout(key) : groups_.onTimeout(key);
}

}  // namespace tidemark::coordinator
