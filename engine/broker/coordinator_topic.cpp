#include "broker/coordinator_topic.h"

#include <fmt/format.h>

namespace tidemark::broker {

void CoordinatorTopic::apply(const replication::MetadataChange& change, NodeId self) {
  const metadata::TopicImage* before = change.before->topics.find(topic_);
  const metadata::TopicImage* after = change.after->topics.find(topic_);
  if (after == nullptr) return;
  if (before == nullptr || before->partitions.size() != after->partitions.size())
    listener_.onPartitionCount(static_cast<int32_t>(after->partitions.size()));
  for (const TopicIdPartition& id : change.partitions) {
    if (id.topicId != after->id) continue;
    const metadata::PartitionRegistration* registration = after->partition(id.partition);
    const bool leads = registration != nullptr && registration->leader == self;
    const auto led = led_.find(id.partition);
    if (leads && (led == led_.end() || led->second != registration->leaderEpoch)) {
      led_[id.partition] = registration->leaderEpoch;
      replicas_.onHighWatermark(nameOf(id.partition), [this, partition = id.partition](Offset highWatermark) {
        listener_.onHighWatermark(partition, highWatermark);
      });
      listener_.onBecomeLeader(id.partition, registration->leaderEpoch);
    } else if (!leads && led != led_.end()) {
      led_.erase(led);
      replicas_.forgetHighWatermark(nameOf(id.partition));
      listener_.onResign(id.partition);
    }
  }
}

void CoordinatorTopic::prune(PartitionIndex partition, Offset offset) {
  // Nobody waits: followers that are away follow later.
  replicas_.deleteRecords({{nameOf(partition), offset}}, platform::Duration(0),
                          [](std::vector<replication::DeleteResult>) {});
}

size_t CoordinatorTopic::maxBatchSize(PartitionIndex partition) const {
  const auto found = find(partition);
  return found ? static_cast<size_t>(found->log()->config()->maxMessageBytes) : 0;
}

Result<Offset> CoordinatorTopic::append(PartitionIndex partition, LeaderEpoch epoch, ByteVector batch) {
  return write(partition, epoch, batch, {.origin = records::Origin::Coordinator});
}

Result<Offset> CoordinatorTopic::appendTransactional(PartitionIndex partition, LeaderEpoch epoch, ByteVector batch,
                                                     const TransactionTerms& terms) {
  return write(partition, epoch, batch,
               {.origin = records::Origin::Coordinator,
                .verification = terms.verification,
                .transactionVersion = terms.transactionVersion});
}

Result<Offset> CoordinatorTopic::write(PartitionIndex partition, LeaderEpoch epoch, MutableBytes batch,
                                       const log::AppendOptions& options) {
  const auto found = find(partition);
  if (!found || found->leaderEpoch() != epoch)
    return fail(ErrorCode::NotLeaderOrFollower,
                fmt::format("{} is not led here in epoch {}", nameOf(partition), epoch));
  // acks=all, so that too small an ISR refuses it; the coordinator itself waits for the high watermark.
  auto appended = found->appendAsLeader(batch, -1, options);
  if (!appended) return fail(std::move(appended.error().error));
  replicas_.appended(*found);
  return appended->requiredOffset;
}

Result<coordinator::LogRange> CoordinatorTopic::range(PartitionIndex partition) const {
  const auto found = find(partition);
  if (!found) return fail(ErrorCode::NotLeaderOrFollower, fmt::format("{} is not here", nameOf(partition)));
  const log::OffsetSnapshot ends = found->log()->offsetSnapshot();
  return coordinator::LogRange{
      .start = ends.logStartOffset, .end = ends.logEndOffset.offset, .highWatermark = ends.highWatermark.offset};
}

Result<SharedBytes> CoordinatorTopic::read(PartitionIndex partition, Offset from, size_t maxBytes) const {
  const auto found = find(partition);
  if (!found) return fail(ErrorCode::NotLeaderOrFollower, fmt::format("{} is not here", nameOf(partition)));
  TIDEMARK_ASSIGN(ByteVector bytes, found->log()->readBytes(from, maxBytes, log::FetchIsolation::LogEnd));
  return SharedBytes(std::move(bytes));
}

}  // namespace tidemark::broker
