#include "metadata/loader.h"

#include <utility>

#include <fmt/format.h>

namespace tidemark::metadata {

Loader::Loader(std::function<void(const std::string&)> onFault)
    : onFault_(std::move(onFault)), pending_(std::make_shared<const Image>()), image_(pending_.basePtr()) {
  committed_.image = pending_.basePtr();
}

void Loader::addPublisher(Publisher& publisher) {
  publishers_.push_back(&publisher);
  if (leader_) publisher.onLeaderChange(*leader_, committed_);
  if (!published_) return;
  const ImagePtr now = image();
  publisher.onUpdate(Delta::fromNothing(*now), now);
}

void Loader::removePublisher(Publisher& publisher) {
  std::erase(publishers_, &publisher);
}

void Loader::onCommit(std::span<const raft::CommittedBatch> batches) {
  if (faulty_) return;
  for (const raft::CommittedBatch& batch : batches) {
    if (Result<void> replayed = replay(batch); !replayed) {
      return fault(fmt::format("The metadata log cannot be replayed at offsets {} to {}: {}", batch.baseOffset,
                               batch.lastOffset, replayed.error().message));
    }
  }
  step();
}

void Loader::onLoadSnapshot(raft::SnapshotReader& reader) {
  if (faulty_) return;
  if (reader.id().offset == Offset(0)) {
    if (Result<void> loaded = loadBootstrap(reader); !loaded) {
      fault(fmt::format("The bootstrap snapshot cannot be loaded: {}", loaded.error().message));
    }
    return;
  }
  if (Result<void> loaded = loadSnapshot(reader); !loaded) {
    return fault(fmt::format("The metadata snapshot {}-{} cannot be loaded: {}", reader.id().offset, reader.id().epoch,
                             loaded.error().message));
  }
  step();
}

void Loader::onLeaderChange(raft::LeaderAndEpoch leader) {
  leader_ = leader;
  for (Publisher* publisher : publishers_) publisher->onLeaderChange(leader, committed_);
}

ImagePtr Loader::image() const {
  Lock lock(mutex_);
  return image_;
}

Result<void> Loader::replay(const raft::CommittedBatch& batch) {
  if (!batch.isControl) TIDEMARK_TRY(replayRecords(batch.records, batch.baseOffset));
  committed_.end = {batch.lastOffset, batch.epoch};
  committed_.bytesRead += static_cast<uint64_t>(batch.sizeInBytes);
  if (!committed_.inTransaction) provenance_ = {batch.lastOffset, batch.epoch, batch.appendTimestampMs};
  return {};
}

Result<void> Loader::replayRecords(std::span<const ByteView> records, Offset base) {
  for (size_t i = 0; i < records.size(); ++i) {
    if (Result<void> replayed = replayRecord(records[i]); !replayed) {
      return fail(replayed.error().code,
                  fmt::format("record {}: {}", base + static_cast<int64_t>(i), replayed.error().message));
    }
  }
  return {};
}

Result<void> Loader::replayRecord(ByteView framed) {
  TIDEMARK_ASSIGN(const Record record, decodeRecord(framed));
  if (record.as<protocol::BeginTransactionRecord>()) {
    if (committed_.inTransaction) return fail(ErrorCode::CorruptMessage, "a transaction begins inside another");
    committed_.inTransaction = true;
    return {};
  }
  const bool aborts = record.as<protocol::AbortTransactionRecord>() != nullptr;
  if (aborts || record.as<protocol::EndTransactionRecord>()) {
    if (!committed_.inTransaction) return fail(ErrorCode::CorruptMessage, "a transaction ends but none is open");
    committed_.inTransaction = false;
    const std::vector<Record> records = std::exchange(transaction_, {});
    if (aborts) return {};
    for (const Record& one : records) TIDEMARK_TRY(pending_.replay(one));
    return {};
  }
  if (!committed_.inTransaction) return pending_.replay(record);
  transaction_.push_back(record);
  return {};
}

Result<void> Loader::loadBootstrap(raft::SnapshotReader& reader) {
  auto records = std::make_shared<Records>();
  while (true) {
    TIDEMARK_ASSIGN(const std::optional<std::vector<ByteView>> batch, reader.next());
    if (!batch) break;
    for (ByteView framed : *batch) {
      TIDEMARK_ASSIGN(const Record record, decodeRecord(framed));
      records->push_back(record);
    }
  }
  committed_.bootstrap = std::move(records);
  return {};
}

Result<void> Loader::loadSnapshot(raft::SnapshotReader& reader) {
  pending_ = Delta::forSnapshot(pending_.basePtr());
  transaction_.clear();
  committed_.inTransaction = false;
  Offset next(0);
  while (true) {
    TIDEMARK_ASSIGN(const std::optional<std::vector<ByteView>> batch, reader.next());
    if (!batch) break;
    TIDEMARK_TRY(replayRecords(*batch, next));
    next = next + static_cast<int64_t>(batch->size());
  }
  pending_.finishSnapshot();
  committed_.end = {reader.id().offset - 1, reader.id().epoch};
  provenance_ = {committed_.end.offset, committed_.end.epoch, reader.lastContainedLogTimestampMs()};
  return {};
}

void Loader::step() {
  committed_.image = pending_.apply(provenance_);
  for (Publisher* publisher : publishers_) publisher->onCommitted(committed_);
  {
    Lock lock(mutex_);
    image_ = committed_.image;
  }
  published_ = true;
  for (Publisher* publisher : publishers_) publisher->onUpdate(pending_, committed_.image);
  pending_ = Delta(committed_.image);
}

void Loader::fault(const std::string& reason) {
  faulty_ = true;
  onFault_(reason);
}

}  // namespace tidemark::metadata
