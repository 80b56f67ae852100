#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "records/batch.h"
#include "records/codec.h"

namespace tidemark::records {

/// A topic's `compression.type`: what the leader stores. Nothing: "producer", as it came.
struct TopicCompression {
  std::optional<Codec> codec;
  int level = kDefaultLevel;
};

/// Who appends: rules for what clients may send do not bind the broker's own coordinators.
enum class Origin : uint8_t { Client, Coordinator, RaftLeader, Replication };

/// The topic's settings that decide whether a batch is accepted, by their Kafka names.
struct ProduceOptions {
  Origin origin = Origin::Client;
  /// `max.message.bytes`: largest batch, header included.
  int32_t maxMessageBytes = 1048588;
  TopicCompression compression;
  /// `message.timestamp.type`.
  TimestampType timestampType = TimestampType::CreateTime;
  /// `message.timestamp.before.max.ms` and `.after.max.ms`: how far from now a CreateTime may lie.
  int64_t timestampBeforeMaxMs = INT64_MAX;
  int64_t timestampAfterMaxMs = 3600000;
  /// `cleanup.policy` contains compact: every record needs a key.
  bool compacted = false;
  /// The broker's wall clock.
  int64_t nowMs = 0;
  /// Version of the Produce request; decides about zstd (7 and later).
  int16_t apiVersion = INT16_MAX;
  size_t decompressedLimit = kDefaultDecompressedLimit;
};

/// One record that was refused: its index in the batch and why, as ProduceResponse (8 and later) tells it.
struct RecordError {
  int32_t batchIndex = 0;
  std::string message;
};

struct ProduceFailure {
  Error error;
  std::vector<RecordError> recordErrors;
};

/// What the log needs to know about an accepted batch.
struct ValidatedBatch {
  /// As it will be stored, but for base offset and leader epoch.
  BatchHeader header;
  /// The largest timestamp, −1 if no record has one. Its offset is taken to be the batch's last, as Kafka does.
  int64_t maxTimestampMs = kNoTimestamp;
  /// −1 under CreateTime; what ProduceResponse tells as log append time.
  int64_t logAppendTimeMs = kNoTimestamp;
  /// The batch anew, if the topic's compression differs from the batch's; otherwise the request's own bytes are stored.
  std::optional<ByteVector> rewritten;
};

/// Checks one partition's records of a Produce request, which must be exactly one batch of format 2, by the rules of
/// Kafka's ProduceRequest.validateRecords, UnifiedLog.analyzeAndValidateRecords and LogValidator. Writes into the
/// request's own bytes what the topic demands (LogAppendTime: attribute bit, max timestamp, CRC; otherwise a wrong max
/// timestamp is put right) but neither base offset nor leader epoch: those are stamped under the log's lock. On failure
/// the bytes are unchanged. Uncompressed batches are walked in place, compressed ones are decompressed into `buffer`
/// and walked there; nothing is allocated per record. Any thread.
std::expected<ValidatedBatch, ProduceFailure> validateForProduce(MutableBytes records, const ProduceOptions& options,
                                                                 ByteVector& buffer);

}  // namespace tidemark::records
