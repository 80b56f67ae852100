// Feeding those who follow the log.

#include "base/invariant.h"
#include "events/recorder.h"
#include "raft/driver.h"
#include "records/record.h"

namespace tidemark::raft {
namespace {

/// Bytes of the log that one listener is given before messages have their turn again.
constexpr size_t kFeedBytes = 1024 * 1024;

}  // namespace

void RaftNode::Driver::addListener(std::shared_ptr<Listener> listener) {
  if (finished_) return;
  followers_.push_back(std::make_unique<Follower>(std::move(listener), std::nullopt, std::nullopt));
  feedListeners();
}

void RaftNode::Driver::feedListeners() {
  bool more = false;
  // By index: a listener may register another from a call.
  for (size_t i = 0; i < followers_.size() && !finished_; ++i) more = feed(*followers_[i]) || more;
  if (!more || std::exchange(feedPosted_, true)) return;
  post([](Driver& self) {
    self.feedPosted_ = false;
    self.feedListeners();
  });
}

bool RaftNode::Driver::feed(Follower& follower) {
  const auto latest = log_->latestSnapshotId();
  if (!follower.next || *follower.next < log_->startOffset()) {
    if (latest)
      loadSnapshot(follower, *latest);
    else
      follower.next = log_->startOffset();
  }
  if (finished_) return false;
  const auto highWatermark = machine_.highWatermark();
  if (highWatermark && *follower.next < *highWatermark) {
    const auto bytes = log_->read(*follower.next, *highWatermark, kFeedBytes);
    if (!bytes) {
      die(bytes.error());
      return false;
    }
    std::vector<CommittedBatch> batches;
    std::deque<ByteVector> buffers;
    for (records::BatchCursor cursor(bytes->view()); cursor.next() == records::Step::Next;) {
      const records::BatchView& view = cursor.batch();
      const auto& header = view.header;
      CommittedBatch batch{header.baseOffset,
                           header.lastOffset(),
                           header.leaderEpoch,
                           header.maxTimestampMs,
                           static_cast<int32_t>(header.sizeInBytes()),
                           header.isControl(),
                           {}};
      if (!batch.isControl) {
        const auto payload = records::openPayload(view, buffers.emplace_back());
        records::RecordCursor records(header, payload ? *payload : ByteView());
        records::Step step = records::Step::Next;
        while ((step = records.next()) == records::Step::Next)
          batch.records.push_back(records.record().value.value_or(ByteView()));
        TIDEMARK_INVARIANT(payload && step == records::Step::End,
                           fmt::format("the committed batch at {} cannot be read", header.baseOffset));
      }
      follower.next = header.nextOffset();
      batches.push_back(std::move(batch));
    }
    TIDEMARK_INVARIANT(!batches.empty(),
                       fmt::format("nothing can be read below the high watermark {}", *highWatermark));
    follower.listener->onCommit(batches);
  }
  tellLeader(follower);
  return highWatermark && *follower.next < *highWatermark;
}

void RaftNode::Driver::loadSnapshot(Follower& follower, OffsetAndEpoch id) {
  TIDEMARK_INVARIANT(!machine_.isLeader() || !follower.told || follower.told->leader != identity_.id ||
                         follower.told->epoch != machine_.epoch(),
                     fmt::format("K7: a leader would load snapshot {}", snapshotFileName(id)));
  const auto load = [&]() -> Result<void> {
    TIDEMARK_ASSIGN(auto raw, log_->openSnapshot(id));
    TIDEMARK_ASSIGN(const auto reader, RecordsSnapshotReader::open(std::move(raw)));
    follower.listener->onLoadSnapshot(*reader);
    return {};
  };
  follower.next = id.offset;
  check(load());
}

void RaftNode::Driver::tellLeader(Follower& follower) {
  const LeaderAndEpoch now = machine_.leaderAndEpoch();
  if (follower.told == now) return;
  if (const auto* leader = std::get_if<Leader>(&machine_.role());
      leader != nullptr && *follower.next <= leader->epochStart)
    return;
  follower.told = now;
  follower.listener->onLeaderChange(now);
}

}  // namespace tidemark::raft
