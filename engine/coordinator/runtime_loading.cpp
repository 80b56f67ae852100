#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/mutation.h"
#include "coordinator/runtime.h"
#include "records/control.h"

// How a partition's shard is made of what its log says.

namespace tidemark::coordinator {
namespace {

/// Read and replayed at once at most, whatever the buffer may hold: a member of another partition whose heartbeat comes
/// meanwhile waits for it.
constexpr size_t kLoadedAtOnce = size_t{128} << 10;

}  // namespace

void CoordinatorRuntime::load(PartitionIndex index, LeaderEpoch epoch) {
  if (const auto found = partitions_.find(index); found != partitions_.end()) {
    if (found->second->epoch >= epoch) return;
    if (found->second->epoch.next() == epoch) {
      // The very next epoch is ours as well: nobody else wrote, so what was loaded is still what the log says.
      found->second->epoch = epoch;
      return;
    }
    unload(index);
  }
  auto partition = std::make_unique<Partition>();
  partition->index = index;
  partition->epoch = epoch;
  partition->incarnation = ++lastNumber_;
  partition->shard = factory_(index);
  const uint64_t incarnation = partition->incarnation;
  partitions_.emplace(index, std::move(partition));
  dependencies_.log->info(options_.name, "loads partition {} in epoch {}", index, epoch);
  loadNext(index, incarnation);
}

void CoordinatorRuntime::loadNext(PartitionIndex index, uint64_t incarnation) {
  Partition* partition = find(index, incarnation);
  if (partition == nullptr) return;
  const Result<bool> done = loadSome(*partition);
  if (!done) {
    // That it is led by another by now is no news: onResign() is on its way.
    const bool moved = done.error().code == ErrorCode::NotLeaderOrFollower;
    dependencies_.log->write(moved ? platform::Logger::Level::Info : platform::Logger::Level::Error, options_.name,
                             fmt::format("cannot load partition {}: {}", index, done.error().message));
    unload(index);
    return;
  }
  if (*done) {
    finishLoading(*partition);
    return;
  }
  // Piece by piece, so that the other partitions are served in between.
  dependencies_.executor->post([weak = weak_from_this(), index, incarnation] {
    if (const auto self = weak.lock()) self->loadNext(index, incarnation);
  });
}

Result<bool> CoordinatorRuntime::loadSome(Partition& partition) {
  TIDEMARK_ASSIGN(const LogRange range, dependencies_.partitions->range(partition.index));
  partition.loadedTo = std::max(partition.loadedTo, range.start);
  if (partition.loadedTo >= range.end) {
    partition.end = range.end;
    partition.highWatermark = std::max(partition.highWatermark, range.highWatermark);
    return true;
  }
  TIDEMARK_ASSIGN(const SharedBytes bytes,
                  dependencies_.partitions->read(partition.index, partition.loadedTo,
                                                 std::min(options_.loadBufferSize, kLoadedAtOnce)));
  records::BatchCursor cursor(bytes.view());
  bool any = false;
  while (cursor.next() == records::Step::Next) {
    any = true;
    TIDEMARK_TRY(replayBatch(partition, cursor.batch(), buffer_));
    partition.loadedTo = std::max(partition.loadedTo, cursor.batch().header.nextOffset());
  }
  if (!any) partition.loadedTo = range.end;
  return false;
}

Result<void> CoordinatorRuntime::replayBatch(Partition& partition, const records::BatchView& batch,
                                             ByteVector& buffer) {
  if (isMutated(Mutation::CommitsForgotten)) return {};
  TIDEMARK_ASSIGN(const ByteView payload, records::openPayload(batch, buffer));
  records::RecordCursor cursor(batch.header, payload);
  while (true) {
    const records::Step step = cursor.next();
    if (step == records::Step::End) return {};
    if (step == records::Step::Corrupt) {
      return fail(ErrorCode::CorruptMessage, fmt::format("a record of the batch at offset {} cannot be read: {}",
                                                         batch.header.baseOffset, cursor.reason()));
    }
    const records::RecordView record = cursor.record();
    if (record.offset < partition.loadedTo) continue;
    if (batch.header.isControl()) {
      if (const auto marker = records::readEndTxnMarker(record)) {
        partition.shard->replayEndTxn(record.offset, batch.header.producerId, marker->commit);
      }
      continue;
    }
    if (!record.key) continue;
    const ProducerId producerId = batch.header.isTransactional() ? batch.header.producerId : kNoProducerId;
    if (const Result<void> replayed = partition.shard->replay(record.offset, producerId, *record.key, record.value);
        !replayed) {
      // As Kafka: a record that nobody can read must not keep the whole partition away.
      dependencies_.log->warning(options_.name, "partition {} offset {} is passed over: {}", partition.index,
                                 record.offset, replayed.error().message);
    }
  }
}

void CoordinatorRuntime::finishLoading(Partition& partition) {
  partition.loading = false;
  partition.shard->onHighWatermark(partition.highWatermark);
  dependencies_.log->info(options_.name, "serves partition {}, loaded up to offset {}", partition.index, partition.end);
  perform(partition, partition.shard->onLoaded());
}

}  // namespace tidemark::coordinator
