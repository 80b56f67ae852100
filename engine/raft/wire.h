#pragma once

#include "base/result.h"
#include "platform/clock.h"
#include "protocol/generated/forward.h"
#include "raft/messages.h"

// Between the quorum's requests and answers (messages.h) and the protocol's, which wrap them in topics and partitions.
// What comes off the wire is judged: InvalidRequest (requests) or UnknownTopicOrPartition unless it is about the one
// partition of `__cluster_metadata`, and only about that.

namespace tidemark::raft {

// Of a client: requests out, answers in.
protocol::VoteRequest toWire(const VoteRequest& request);
protocol::BeginQuorumEpochRequest toWire(const BeginQuorumEpochRequest& request);
protocol::EndQuorumEpochRequest toWire(const EndQuorumEpochRequest& request);
protocol::FetchRequest toWire(const FetchRequest& request);
protocol::FetchSnapshotRequest toWire(const FetchSnapshotRequest& request);
/// `listener`: which of the leader's endpoints an answer's node endpoints name. Bytes in answers are copied.
Result<VoteResponse> fromWire(const protocol::VoteResponse& response, const std::string& listener);
Result<BeginQuorumEpochResponse> fromWire(const protocol::BeginQuorumEpochResponse& response,
                                          const std::string& listener);
Result<EndQuorumEpochResponse> fromWire(const protocol::EndQuorumEpochResponse& response, const std::string& listener);
Result<FetchResponse> fromWire(const protocol::FetchResponse& response, const std::string& listener);
Result<FetchSnapshotResponse> fromWire(const protocol::FetchSnapshotResponse& response, const std::string& listener);

// Of a server: requests in, answers out.
Result<VoteRequest> fromWire(const protocol::VoteRequest& request);
Result<BeginQuorumEpochRequest> fromWire(const protocol::BeginQuorumEpochRequest& request);
Result<EndQuorumEpochRequest> fromWire(const protocol::EndQuorumEpochRequest& request);
/// Whether a fetch is for the metadata log: its one topic is `__cluster_metadata` by name or by id.
bool isMetadataFetch(const protocol::FetchRequest& request);
Result<FetchRequest> fromWire(const protocol::FetchRequest& request);
Result<FetchSnapshotRequest> fromWire(const protocol::FetchSnapshotRequest& request);
/// `listener`: the one the request came in on.
protocol::VoteResponse toWire(const VoteResponse& response, const std::string& listener, int16_t version);
protocol::BeginQuorumEpochResponse toWire(const BeginQuorumEpochResponse& response, const std::string& listener,
                                          int16_t version);
protocol::EndQuorumEpochResponse toWire(const EndQuorumEpochResponse& response, const std::string& listener,
                                        int16_t version);
protocol::FetchResponse toWire(const FetchResponse& response, const std::string& listener, int16_t version);
protocol::FetchSnapshotResponse toWire(const FetchSnapshotResponse& response, const std::string& listener,
                                       int16_t version);
/// DescribeQuorum: `description` of a node that does not lead answers NotLeaderOrFollower.
protocol::DescribeQuorumResponse describeQuorum(const protocol::DescribeQuorumRequest& request,
                                                const QuorumDescription& description, int16_t version);

}  // namespace tidemark::raft
