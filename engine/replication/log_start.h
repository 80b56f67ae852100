#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "log/partition_log.h"
#include "records/batch.h"

// A log that starts inside a batch (DeleteRecords) is copied from that batch on, since a batch goes whole. The copy,
// which is empty and was to begin at the log start, begins at the batch instead.

namespace tidemark::replication {

/// Whether `log` is empty and ends inside the first of `batches`.
inline bool beginsInside(const log::PartitionLog& log, ByteView batches) {
  records::BatchCursor cursor(batches);
  if (batches.empty() || cursor.next() != records::Step::Next) return false;
  const records::BatchHeader& first = cursor.batch().header;
  const Offset end = log.logEndOffset();
  return first.baseOffset < end && end <= first.lastOffset() && log.logStartOffset() == end;
}

/// Has the log begin at the first of `batches`; its log start stays. KafkaStorageError.
inline Result<void> beginAtBatch(log::PartitionLog& log, ByteView batches) {
  records::BatchCursor cursor(batches);
  if (cursor.next() != records::Step::Next) return {};
  return log.truncateFullyAndStartAt(cursor.batch().header.baseOffset, log.logStartOffset());
}

}  // namespace tidemark::replication
