#include "coordinator/offsets/offset_records.h"

#include "coordinator/record_encoding.h"
#include "protocol/generated/offset_commit_key.h"
#include "protocol/generated/offset_commit_value.h"

namespace tidemark::coordinator {
namespace {

constexpr int16_t kOffsetCommitVersion = 4;
/// The only version that has the field expireTimestamp.
constexpr int16_t kOffsetCommitVersionWithExpiry = 1;

ByteVector offsetKey(std::string_view groupId, std::string_view topic, int32_t partition) {
  protocol::OffsetCommitKey key;
  key.group = protocol::Text::borrowed(groupId);
  key.topic = protocol::Text::borrowed(topic);
  key.partition = partition;
  return encodedKey(key);
}

}  // namespace

CoordinatorRecord offsetCommitRecord(std::string_view groupId, std::string_view topic, int32_t partition,
                                     const CommittedOffset& committed) {
  protocol::OffsetCommitValue value;
  value.offset = committed.offset.value();
  value.leaderEpoch = committed.leaderEpoch.value();
  value.metadata = protocol::Text::borrowed(committed.metadata);
  value.commitTimestamp = committed.commitTimestampMs;
  value.expireTimestamp = committed.expireTimestampMs.value_or(-1);
  value.topicId = committed.topicId;
  const int16_t version = committed.expireTimestampMs ? kOffsetCommitVersionWithExpiry : kOffsetCommitVersion;
  return {offsetKey(groupId, topic, partition), encodedValue(value, version)};
}

CoordinatorRecord offsetTombstone(std::string_view groupId, std::string_view topic, int32_t partition) {
  return {offsetKey(groupId, topic, partition), std::nullopt};
}

}  // namespace tidemark::coordinator
