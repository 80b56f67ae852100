#include "raft/raft_node.h"

#include <algorithm>

#include "raft/driver.h"

namespace tidemark::raft {

RaftNode::RaftNode(Setup setup) : driver_(std::make_shared<Driver>(std::move(setup))) {}

RaftNode::~RaftNode() {
  driver_->post([](Driver& driver) { driver.stop(); });
}

Result<void> RaftNode::open() {
  return driver_->open();
}

void RaftNode::start() {
  driver_->post([](Driver& driver) { driver.start(); });
}

void RaftNode::shutdown(Duration timeout, platform::Task done) {
  driver_->post(
      [timeout, done = std::move(done)](Driver& driver) mutable { driver.shutdown(timeout, std::move(done)); });
}

void RaftNode::registerListener(std::shared_ptr<Listener> listener) {
  driver_->post([listener = std::move(listener)](Driver& driver) { driver.addListener(listener); });
}

Result<Offset> RaftNode::append(LeaderEpoch epoch, std::vector<ByteVector> records) {
  return driver_->append(epoch, std::move(records));
}

Result<Offset> RaftNode::nextAppendOffset(LeaderEpoch epoch) const {
  return driver_->nextAppendOffset(epoch);
}

void RaftNode::resign(LeaderEpoch epoch) {
  driver_->post([epoch](Driver& driver) { driver.resign(epoch); });
}

LeaderAndEpoch RaftNode::leaderAndEpoch() const {
  return driver_->published().leader;
}

bool RaftNode::isLeader(LeaderEpoch epoch) const {
  return driver_->accumulatorEpoch() == epoch;
}

std::optional<Offset> RaftNode::highWatermark() const {
  return driver_->published().highWatermark;
}

Offset RaftNode::logEndOffset() const {
  return driver_->published().logEndOffset;
}

VoterSet RaftNode::voters() const {
  return driver_->published().description.voterSet;
}

std::optional<OffsetAndEpoch> RaftNode::latestSnapshotId() const {
  return driver_->published().latestSnapshot;
}

std::optional<std::pair<NodeId, platform::Endpoint>> RaftNode::leaderEndpoint() const {
  const auto now = driver_->published();
  if (!now.leader.hasLeader() || now.leaderEndpoints.empty()) return std::nullopt;
  auto at = std::ranges::find(now.leaderEndpoints, driver_->identity().controllerListener, &VoterEndpoint::listener);
  if (at == now.leaderEndpoints.end()) at = now.leaderEndpoints.begin();
  return std::pair(now.leader.leader, platform::Endpoint{at->host, at->port});
}

QuorumDescription RaftNode::describe() const {
  return driver_->published().description;
}

void RaftNode::handle(VoteRequest request, Handler<VoteResponse> handler) {
  driver_->post([request = std::move(request), handler = std::move(handler)](Driver& driver) mutable {
    driver.onVote(std::move(request), std::move(handler));
  });
}

void RaftNode::handle(BeginQuorumEpochRequest request, Handler<BeginQuorumEpochResponse> handler) {
  driver_->post([request = std::move(request), handler = std::move(handler)](Driver& driver) mutable {
    driver.onBeginQuorumEpoch(request, std::move(handler));
  });
}

void RaftNode::handle(EndQuorumEpochRequest request, Handler<EndQuorumEpochResponse> handler) {
  driver_->post([request = std::move(request), handler = std::move(handler)](Driver& driver) mutable {
    driver.onEndQuorumEpoch(request, std::move(handler));
  });
}

void RaftNode::handle(FetchRequest request, Handler<FetchResponse> handler) {
  driver_->post([request = std::move(request), handler = std::move(handler)](Driver& driver) mutable {
    driver.onFetch(std::move(request), std::move(handler));
  });
}

void RaftNode::handle(FetchSnapshotRequest request, Handler<FetchSnapshotResponse> handler) {
  driver_->post([request = std::move(request), handler = std::move(handler)](Driver& driver) mutable {
    driver.onFetchSnapshot(request, std::move(handler));
  });
}

Result<std::unique_ptr<SnapshotWriter>> RaftNode::createSnapshot(OffsetAndEpoch id,
                                                                 int64_t lastContainedLogTimestampMs) {
  return driver_->createSnapshot(id, lastContainedLogTimestampMs);
}

}  // namespace tidemark::raft
