#include <algorithm>
#include <deque>
#include <utility>

#include "log/producer_state.h"
#include "log_model.h"
#include "records/control.h"

// What must hold of a modelled log after each step: S2, S3, R11, T4 and T8.

namespace tidemark::log {

void LogModel::addRecords(ByteView bytes, std::vector<ModelRecord>& found) {
  records::BatchCursor cursor(bytes, records::BatchCursor::Check::Checksum);
  while (cursor.next() == records::Step::Next) {
    const records::BatchHeader& header = cursor.batch().header;
    EXPECT_TRUE(records::forEachRecord(cursor.batch(), [&](const records::RecordView& record) {
      ModelRecord& each = found.emplace_back();
      each.offset = record.offset;
      each.timestampMs = record.timestampMs;
      each.epoch = header.leaderEpoch;
      each.producer = header.producerId;
      each.transactional = header.isTransactional() && !header.isControl();
      each.control = header.isControl();
      if (header.isControl())
        each.key = records::controlType(record) == records::ControlType::Commit ? "commit" : "abort";
      else
        each.key = asText(*record.key);
      if (record.value && !header.isControl()) each.value = asText(*record.value);
    }));
  }
  EXPECT_EQ(cursor.position(), bytes.size());
}

std::vector<ModelRecord> LogModel::readAll(const PartitionLog& log, Offset from) {
  std::vector<ModelRecord> found;
  while (true) {
    const auto bytes = log.readBytes(from, 1 << 20, FetchIsolation::LogEnd);
    EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message);
    if (!bytes || bytes->empty()) return found;
    addRecords(*bytes, found);
    records::BatchCursor cursor(*bytes);
    while (cursor.next() == records::Step::Next) from = cursor.batch().header.nextOffset();
  }
}

void LogModel::compare(const std::vector<ModelRecord>& found, Offset start, Offset end) {
  auto at = found.begin();
  for (const ModelRecord& expected : model_.records()) {
    if (expected.offset >= end) break;
    // The first batch read may begin below the log start.
    if (at != found.end() && at->offset < expected.offset) FAIL() << "nobody appended " << described(*at);
    const bool there = at != found.end() && at->offset == expected.offset;
    if (there) {
      ASSERT_EQ(*at, expected) << described(*at) << " should be " << described(expected);
    }
    if (there) ++at;
    if (there || expected.offset < start) continue;
    ASSERT_TRUE(config_.compact && model_.mayBeGone(expected)) << described(expected) << " is missing";
    ++counts_.compactedAway;
  }
  ASSERT_TRUE(at == found.end()) << described(*at) << " is too much";
}

void LogModel::check() {
  ASSERT_EQ(log_->logEndOffset(), model_.end());
  ASSERT_EQ(log_->logStartOffset(), model_.start());
  ASSERT_EQ(log_->highWatermark(), std::max(model_.start(), model_.highWatermark()));
  const std::vector<ModelRecord> found = readAll(*log_, model_.start());
  compare(found, model_.start(), model_.end());
  if (HasFatalFailure()) return;
  checkEpochs(found);
  if (HasFatalFailure()) return;
  checkStable(found);
  if (HasFatalFailure()) return;
  checkLookups(found);
  // What compaction took is still remembered, and may stand in for an older batch that is there.
  if (HasFatalFailure() || config_.compact || counts_.steps % 4 != 0) return;
  checkRetries();
}

void LogModel::checkEpochs(const std::vector<ModelRecord>& found) {
  std::vector<EpochEntry> entries = log_->epochEntries();
  for (size_t i = 1; i < entries.size(); ++i)
    ASSERT_TRUE(entries[i - 1].epoch < entries[i].epoch && entries[i - 1].startOffset < entries[i].startOffset);
  size_t at = 0;
  for (const ModelRecord& record : found) {
    if (record.offset < model_.start()) continue;
    while (at + 1 < entries.size() && entries[at + 1].startOffset <= record.offset) ++at;
    ASSERT_TRUE(at < entries.size() && entries[at].startOffset <= record.offset) << described(record);
    ASSERT_EQ(entries[at].epoch, record.epoch) << described(record);
  }
  if (config_.compact) return;
  EpochCache rebuilt;
  for (const ModelRecord& record : model_.records())
    if (rebuilt.latestEpoch().value_or(kNoLeaderEpoch) < record.epoch) rebuilt.assign(record.epoch, record.offset);
  rebuilt.truncateFromStart(model_.start());
  std::vector<EpochEntry> expected = rebuilt.entries();
  for (auto* list : {&entries, &expected})
    if (!list->empty() && list->back().startOffset == model_.end()) list->pop_back();
  ASSERT_EQ(entries, expected);
}

void LogModel::checkStable(const std::vector<ModelRecord>& found) {
  Offset stable = log_->highWatermark();
  // What began below the log start and has nothing above it may be forgotten.
  for (const auto& [producer, first] : model_.open(model_.start())) stable = std::min(stable, first);
  // A transaction whose marker is not below the high watermark counts as open.
  ASSERT_LE(log_->lastStableOffset(), stable);
  const auto told = log_->abortedTransactions(model_.start(), model_.end());
  ASSERT_TRUE(told) << told.error().message;
  const std::set<Offset> aborted = model_.aborted();
  for (const ModelRecord& record : found) {
    if (record.control || !record.transactional) continue;
    const bool told1 = std::ranges::any_of(*told, [&](const AbortedTxn& entry) {
      return entry.producerId == record.producer && entry.firstOffset <= record.offset &&
             record.offset < entry.lastOffset;
    });
    ASSERT_EQ(told1, aborted.contains(record.offset)) << described(record);
    counts_.abortedSeen += told1;
  }
}

void LogModel::checkRetries() {
  std::map<ProducerId, std::deque<std::pair<Offset, ByteVector>>> last;
  for (Offset from = model_.start(); from < model_.end();) {
    const auto read = log_->readBytes(from, 1 << 20, FetchIsolation::LogEnd);
    ASSERT_TRUE(read) << read.error().message;
    records::BatchCursor cursor(*read, records::BatchCursor::Check::Structure);
    while (cursor.next() == records::Step::Next) {
      const records::BatchView& batch = cursor.batch();
      from = batch.header.nextOffset();
      if (!batch.header.hasProducerId() || batch.header.isControl() || batch.header.baseOffset < model_.start())
        continue;
      auto& batches = last[batch.header.producerId];
      // Whom the log had forgotten began anew, and is asked for what it sent since.
      if (!batches.empty()) {
        const auto before = records::BatchHeader::read(batches.back().second.data());
        if (before.lastSequence() + 1 != batch.header.baseSequence) batches.clear();
      }
      batches.emplace_back(batch.header.baseOffset, ByteVector(batch.bytes.begin(), batch.bytes.end()));
      if (batches.size() > ProducerEntry::kWindow) batches.pop_front();
    }
  }
  for (auto& [producer, batches] : last)
    for (auto& [offset, batch] : batches) {
      records::stamp(batch, Offset(0), LeaderEpoch(0));  // as clients do
      const auto retry = log_->appendAsLeader(batch, LeaderEpoch(epoch_));
      ASSERT_TRUE(retry) << retry.error().error.message;
      ASSERT_TRUE(retry->duplicate) << "the batch at " << offset.value();
      ASSERT_EQ(retry->firstOffset, offset);
      ++counts_.retries;
    }
}

std::string LogModel::lookupStory(const std::vector<ModelRecord>& found) {
  std::string story;
  for (const ModelRecord& record : found) story += fmt::format(" {}@{}", record.offset, record.timestampMs);
  for (const SegmentInfo& segment : log_->segments()) {
    story += fmt::format("; segment {} max {}", segment.baseOffset, segment.maxTimestampMs);
    const auto entries = log_->timeIndexEntries(segment.baseOffset, 0, SIZE_MAX);
    for (const TimeIndexEntry& entry : entries.value()) story += fmt::format(" {}@{}", entry.offset, entry.timestampMs);
  }
  return story;
}

void LogModel::checkLookups(const std::vector<ModelRecord>& found) {
  if (found.empty()) return;
  const auto& any = found[below(found.size())];
  const auto bytes = log_->readBytes(std::max(any.offset, model_.start()), 1, FetchIsolation::LogEnd, true);
  ASSERT_TRUE(bytes && !bytes->empty());
  const auto header = records::BatchHeader::read(bytes->data());
  ASSERT_TRUE(header.baseOffset <= any.offset && any.offset <= header.lastOffset());
  did("lookup by offset");
  const int64_t timestamp = any.timestampMs + static_cast<int64_t>(below(3)) - 1;
  const auto answer = log_->offsetForTimestamp(timestamp);
  ASSERT_TRUE(answer) << answer.error().message;
  const auto scan = std::ranges::find_if(found, [&](const ModelRecord& record) {
    return record.timestampMs >= timestamp && record.offset >= model_.start();
  });
  did("lookup by time");
  ASSERT_EQ(answer->has_value(), scan != found.end()) << timestamp << " of " << lookupStory(found);
  if (*answer) {
    ASSERT_EQ((*answer)->offset, scan->offset) << timestamp;
  }
}

}  // namespace tidemark::log
