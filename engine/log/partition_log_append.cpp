#include <algorithm>

#include "base/crc32c.h"
#include "base/mutation.h"
#include "events/log_events.h"
#include "events/recorder.h"
#include "log/batch_walk.h"
#include "log/partition_log.h"
#include "log/producer_state.h"
#include "log/segment.h"

namespace tidemark::log {

using records::BatchCursor;
using records::BatchHeader;
using records::BatchView;
using records::Origin;
using records::ProduceFailure;
using records::Step;

namespace {

std::unexpected<ProduceFailure> refuse(Error error) {
  return std::unexpected(ProduceFailure{std::move(error), {}});
}

/// How much earlier a segment rolls: each of each partition at another time, the same after a restart; Kafka draws it.
int64_t rollJitterMs(const TopicPartition& partition, Offset base, const LogConfig& config) {
  const int64_t bound = std::min(config.segmentJitterMs, config.rollAfterMs());
  if (bound <= 0) return 0;
  // The steps of splitmix64, so that neighbours are far apart.
  uint64_t mixed =
      (uint64_t{crc32c(asBytes(partition.topic))} << 32 | static_cast<uint32_t>(partition.partition.value())) +
      static_cast<uint64_t>(base.value()) * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return static_cast<int64_t>((mixed ^ mixed >> 31) % static_cast<uint64_t>(bound));
}

int64_t largestTimestamp(std::span<const BatchHeader> headers) {
  int64_t largest = records::kNoTimestamp;
  for (const BatchHeader& header : headers) largest = std::max(largest, header.maxTimestampMs);
  return largest;
}

}  // namespace

std::expected<AppendInfo, ProduceFailure> PartitionLog::appendAsLeader(MutableBytes batch, LeaderEpoch epoch,
                                                                       const AppendOptions& options) {
  const auto config = this->config();
  records::ProduceOptions rules = config->produceOptions();
  rules.origin = options.origin;
  rules.apiVersion = options.apiVersion;
  rules.nowMs = context_.clock->wallMs();
  ByteVector ownScratch;
  auto validated =
      records::validateForProduce(batch, rules, options.scratch != nullptr ? *options.scratch : ownScratch);
  if (!validated) return std::unexpected(std::move(validated).error());
  const MutableBytes bytes = validated->rewritten ? MutableBytes(*validated->rewritten) : batch;
  if (bytes.size() > static_cast<size_t>(config->segmentBytes))
    return refuse({ErrorCode::RecordListTooLarge, fmt::format("a batch of {} bytes is larger than a segment may be, {}",
                                                              bytes.size(), config->segmentBytes)});
  BatchHeader header = validated->header;
  header.leaderEpoch = epoch;
  const auto marker = markerOf({header, bytes});

  AppendInfo info{.lastLeaderEpoch = epoch,
                  .maxTimestampMs = validated->maxTimestampMs,
                  .logAppendTimeMs = validated->logAppendTimeMs,
                  .recordCount = header.recordCount,
                  .sizeInBytes = static_cast<int64_t>(bytes.size())};
  std::optional<Offset> flushTo;
  const auto result = [&]() -> Result<void> {
    const Changing lock(*this);
    TIDEMARK_TRY(checkUsable());
    info.logStartOffset = logStart_;
    header.baseOffset = logEnd_.offset;
    if (header.hasProducerId()) {
      TIDEMARK_ASSIGN(const ProducerBatch* const duplicate,
                      options.origin == Origin::Client ? findDuplicate(header) : nullptr);
      if (duplicate != nullptr) {
        info.duplicate = true;
        info.firstOffset = duplicate->firstOffset();
        info.lastOffset = duplicate->lastOffset;
        info.logAppendTimeMs = duplicate->timestampMs;
        if (context_.recorder != nullptr)
          context_.recorder->emit(events::DuplicateAnswered{.partition = tag_,
                                                            .producer = header.producerId,
                                                            .baseSequence = header.baseSequence,
                                                            .baseOffset = info.firstOffset});
        return {};
      }
      if (const auto checked = producers_->check(header, marker, options); !checked) {
        if (context_.recorder != nullptr && checked.error().code == ErrorCode::InvalidProducerEpoch)
          context_.recorder->emit(
              events::ProducerFenced{.partition = tag_, .producer = header.producerId, .epoch = header.producerEpoch});
        return fail(checked.error());
      }
    }
    records::stamp(bytes, header.baseOffset, epoch);
    assignEpoch(epoch, header.baseOffset);
    const bool endsEarlier = header.isControl() && options.transactionVersion >= 2;
    const auto next = endsEarlier ? producers_->nextVerification(header) : std::nullopt;
    TIDEMARK_TRY(write({bytes, std::span(&header, 1)}, true));
    if (next) producers_->keepVerification(header.producerId, *next);
    info.firstOffset = header.baseOffset;
    info.lastOffset = header.lastOffset();
    flushTo = dueFlush();
    return {};
  }();
  afterChange();
  if (!result) return refuse(result.error());
  if (flushTo)
    if (const auto flushed = flushReaching(*flushTo); !flushed) return refuse(flushed.error());
  return info;
}

Result<AppendInfo> PartitionLog::appendAsFollower(ByteView batches, LeaderEpoch maxEpoch, bool checkCrc) {
  // Outside the lock: find the batches and check them.
  std::vector<BatchHeader> headers;
  BatchCursor cursor(batches, checkCrc ? BatchCursor::Check::Checksum : BatchCursor::Check::Structure);
  AppendInfo info;
  size_t validBytes = 0;
  Step step = cursor.next();
  for (; step == Step::Next; step = cursor.next()) {
    const BatchHeader& header = cursor.batch().header;
    if (header.leaderEpoch > maxEpoch) break;
    if (header.lastOffsetDelta < 0 || header.baseOffset.value() < 0 ||
        (!headers.empty() && header.baseOffset <= headers.back().lastOffset()))
      return fail(ErrorCode::CorruptMessage, fmt::format("{}: a batch at offset {} does not follow the one before it",
                                                         directory_, header.baseOffset));
    headers.push_back(header);
    info.recordCount += header.recordCount;
    validBytes = cursor.position();
  }
  if (step == Step::Corrupt && cursor.reason() != records::CorruptReason::Incomplete)
    return fail(ErrorCode::CorruptMessage, fmt::format("{}: what was fetched is damaged at byte {}: {}", directory_,
                                                       cursor.position(), records::describe(cursor.reason())));
  info.maxTimestampMs = largestTimestamp(headers);
  info.sizeInBytes = static_cast<int64_t>(validBytes);
  if (headers.empty()) {
    info.logStartOffset = logStartOffset();
    return info;
  }
  info.firstOffset = headers.front().baseOffset;
  info.lastOffset = headers.back().lastOffset();
  info.lastLeaderEpoch = headers.back().leaderEpoch;

  std::optional<Offset> flushTo;
  const auto result = [&]() -> Result<void> {
    const Changing lock(*this);
    TIDEMARK_TRY(checkUsable());
    info.logStartOffset = logStart_;
    if (info.firstOffset < logEnd_.offset)
      return fail(ErrorCode::OffsetOutOfRange, fmt::format("{}: batches from offset {} on, but the log ends at {}",
                                                           directory_, info.firstOffset, logEnd_.offset));
    for (const BatchHeader& header : headers)
      if (!isMutated(Mutation::EpochsOfLeaderOnly)) assignEpoch(header.leaderEpoch, header.baseOffset);
    // One write; only what is larger than a whole segment is written in parts.
    const auto limit = static_cast<size_t>(config_->segmentBytes);
    size_t first = 0;
    size_t start = 0;
    size_t size = 0;
    for (size_t i = 0; i < headers.size(); ++i) {
      const size_t batch = headers[i].sizeInBytes();
      if (size > 0 && validBytes > limit && size + batch > limit) {
        TIDEMARK_TRY(write({batches.subspan(start, size), std::span(headers).subspan(first, i - first)}, false));
        first = i;
        start += size;
        size = 0;
      }
      size += batch;
    }
    TIDEMARK_TRY(write({batches.subspan(start, size), std::span(headers).subspan(first)}, false));
    flushTo = dueFlush();
    return {};
  }();
  afterChange();
  if (!result) return fail(result.error());
  if (flushTo) TIDEMARK_TRY(flushReaching(*flushTo));
  return info;
}

Result<void> PartitionLog::write(const Group& group, bool asLeader) {
  const Offset first = group.headers.front().baseOffset;
  const Offset last = group.headers.back().lastOffset();
  TIDEMARK_TRY(maybeRoll(group.bytes.size(), largestTimestamp(group.headers), first, last));
  Segment& active = *segments_->active();
  const auto position = static_cast<int64_t>(active.size());
  const auto written = active.append(group.bytes, group.headers, *config_);
  // Bytes may be there that nobody counts: nothing is appended behind them any more.
  if (!written) return fail(goOffline(written.error()));
  const auto noted = noteAppended(group, position, active, asLeader);
  if (!noted) return fail(goOffline(noted.error()));
  setLogEnd(last.next());
  return {};
}

Result<void> PartitionLog::noteAppended(const Group& group, int64_t position, Segment& segment, bool asLeader) {
  size_t at = 0;
  for (const BatchHeader& header : group.headers) {
    const int64_t batchPosition = position + static_cast<int64_t>(at);
    if (header.hasProducerId() && (asLeader || !isMutated(Mutation::SequencesOfLeaderOnly))) {
      const BatchView batch{header, group.bytes.subspan(at, header.sizeInBytes())};
      const auto ended =
          producers_->apply(header, markerOf(batch), {header.baseOffset, segment.baseOffset(), batchPosition});
      if (ended && ended->aborted) {
        if (!segment.hasAborted()) namesDirty_ = true;
        const AbortedTxn entry{ended->producerId, ended->firstOffset, ended->lastOffset, ended->lastStableOffset};
        TIDEMARK_TRY(segment.appendAborted(std::span(&entry, 1)));
      }
      if (asLeader && header.isTransactional()) tellTransaction(header, ended);
    }
    if (context_.recorder != nullptr)
      context_.recorder->emit(events::BatchAppended{.partition = tag_,
                                                    .baseOffset = header.baseOffset,
                                                    .lastOffset = header.lastOffset(),
                                                    .epoch = header.leaderEpoch,
                                                    .recordCount = header.recordCount,
                                                    .sizeInBytes = static_cast<int32_t>(header.sizeInBytes()),
                                                    .position = batchPosition,
                                                    .producer = header.producerId,
                                                    .transactional = header.isTransactional(),
                                                    .control = header.isControl(),
                                                    .asLeader = asLeader});
    recordsSinceFlush_ += header.recordCount;
    at += header.sizeInBytes();
  }
  producers_->advanceTo(group.headers.back().nextOffset());
  if (flushTimer_ == 0) armFlushTimer();
  return {};
}

void PartitionLog::tellTransaction(const BatchHeader& header, const std::optional<EndedTransaction>& ended) const {
  if (context_.recorder == nullptr || !context_.recorder->wants<events::MarkerWritten, events::TransactionOpened>())
    return;
  if (ended) {
    context_.recorder->emit(events::MarkerWritten{.partition = tag_,
                                                  .producer = header.producerId,
                                                  .epoch = header.producerEpoch,
                                                  .committed = !ended->aborted,
                                                  .first = ended->firstOffset,
                                                  .marker = ended->lastOffset,
                                                  .lastStable = ended->lastStableOffset});
  } else if (!header.isControl() && producers_->transactionStart(header.producerId) == header.baseOffset) {
    context_.recorder->emit(events::TransactionOpened{
        .partition = tag_, .producer = header.producerId, .epoch = header.producerEpoch, .first = header.baseOffset});
  }
}

std::optional<Offset> PartitionLog::dueFlush() const {
  return recordsSinceFlush_ >= config_->flushMessages ? std::optional(logEnd_.offset) : std::nullopt;
}

void PartitionLog::setLogEnd(Offset offset) {
  const Segment& active = *segments_->active();
  logEnd_ = {offset, active.baseOffset(), static_cast<int64_t>(active.size())};
  // After a truncation it may be beyond the end; after a roll the end is on another segment.
  if (highWatermark_.offset >= offset) setHighWatermark(logEnd_, kNoNode);
  if (recoveryPoint_ > offset) {
    recoveryPoint_ = offset;
    due_.recoveryPointLowered = due_.any = true;
  }
}

Result<void> PartitionLog::maybeRoll(size_t bytes, int64_t maxTimestampMs, Offset firstOffset, Offset lastOffset) {
  const Segment& active = *segments_->active();
  const int64_t jitter = rollJitterMs(partition_, active.baseOffset(), *config_);
  auto due = active.shouldRoll(bytes, maxTimestampMs, lastOffset, *config_, jitter);
  if (!due) return fail(goOffline(due.error()));
  if (!*due) return {};
  const auto rolled = rollTo(std::max(firstOffset, logEnd_.offset));
  if (!rolled) return fail(goOffline(rolled.error()));
  return {};
}

Result<void> PartitionLog::roll() {
  const auto result = [&]() -> Result<void> {
    const Changing lock(*this);
    TIDEMARK_TRY(checkUsable());
    const auto rolled = rollTo(logEnd_.offset);
    if (!rolled) return fail(goOffline(rolled.error()));
    return {};
  }();
  afterChange();
  return result;
}

Result<void> PartitionLog::rollTo(Offset baseOffset) {
  const std::shared_ptr<Segment> closed = segments_->active();
  if (closed->baseOffset() == baseOffset) {
    // Empty, yet asked to roll (an index without room for an entry): the new one takes its place.
    TIDEMARK_INVARIANT(closed->size() == 0, directory_ + ": a segment is rolled to its own base offset");
    segments_->removeLast();
    TIDEMARK_TRY(retire(*closed));
  } else {
    // Recovery finds a lost end by the gap it leaves, unless gaps are usual. Rare enough to be done here.
    if (config_->compact) TIDEMARK_TRY(closed->sync(false));
    TIDEMARK_TRY(closed->becomeInactive());
    // All of it was flushed: no start will read it again, so that its last time index entry must be on disk as well.
    if (recoveryPoint_ >= logEnd_.offset) TIDEMARK_TRY(closed->sync(true));
    producers_->advanceTo(baseOffset);
    TIDEMARK_TRY(producers_->takeSnapshot());
    due_.flushBelow = baseOffset;
    due_.any = true;
  }
  TIDEMARK_ASSIGN(auto segment, Segment::create(context_, tag_, directory_, baseOffset, *config_));
  segments_->add(std::move(segment));
  namesDirty_ = true;
  if (context_.recorder != nullptr)
    context_.recorder->emit(events::SegmentRolled{.partition = tag_,
                                                  .baseOffset = baseOffset,
                                                  .closedBaseOffset = closed->baseOffset(),
                                                  .closedSizeInBytes = static_cast<int64_t>(closed->size())});
  setLogEnd(logEnd_.offset);
  if (baseOffset <= lastStableMetadata().offset)
    noteCleanable();
  else
    stableWanted_ = std::min(stableWanted_, baseOffset);
  return {};
}

}  // namespace tidemark::log
