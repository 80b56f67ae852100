#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/error_code.h"
#include "coordinator/request_info.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/offset_fetch_response.h"

namespace tidemark::coordinator {

/// Fills in names and ids of the request's topics, takes out those that do not exist, and returns the answer for these:
/// UNKNOWN_TOPIC_ID in versions that name topics by id, UNKNOWN_TOPIC_OR_PARTITION in those before.
protocol::OffsetCommitResponse takeUnknownTopics(protocol::OffsetCommitRequest& request, int16_t apiVersion,
                                                 const TopicLookup& topics);

/// One OffsetFetch on its way through the shards of its groups: brings all versions into the form of several groups
/// with topics by name, and the answers back into the version's own. Replies when the last group is answered.
class OffsetFetchGather {
 public:
  using Group = protocol::OffsetFetchRequest::OffsetFetchRequestGroup;
  using Answer = protocol::OffsetFetchResponse::OffsetFetchResponseGroup;

  OffsetFetchGather(int16_t apiVersion, protocol::OffsetFetchRequest request, const TopicLookup& topics,
                    Reply<protocol::OffsetFetchResponse> reply);

  size_t groupCount() const noexcept { return groups_.size(); }
  const Group& group(size_t index) const { return groups_[index]; }
  bool requiresStable() const noexcept { return requireStable_; }
  void answer(size_t index, Answer answer);
  void refuse(size_t index, ErrorCode code);
  /// All groups were asked; without any the answer goes out now.
  void started();

 private:
  void finish();
  void nameTopics(Answer& answer) const;
  protocol::OffsetFetchResponse singleResponse();

  const int16_t apiVersion_;
  const TopicLookup& topics_;
  Reply<protocol::OffsetFetchResponse> reply_;
  bool requireStable_;
  std::vector<Group> groups_;
  std::vector<Answer> answers_;
  /// Per group, the answer for topic ids that nobody has.
  std::vector<std::vector<protocol::OffsetFetchResponse::OffsetFetchResponseTopics>> unknown_;
  /// Groups without an answer, and one for started().
  size_t left_;
};

}  // namespace tidemark::coordinator
