#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "client/client.h"
#include "client/log_position.h"
#include "records/record.h"

namespace tidemark::client {

enum class IsolationLevel : int8_t { ReadUncommitted = 0, ReadCommitted = 1 };

enum class OffsetReset : uint8_t { Earliest, Latest, Fail };

struct ConsumerOptions {
  IsolationLevel isolation = IsolationLevel::ReadUncommitted;
  /// Where to go on when the position is not (or no longer) in the log. Fail: tells the error handler and stops there.
  OffsetReset reset = OffsetReset::Earliest;
  /// Incremental fetches: only what changed is named in each request.
  bool sessions = true;
  platform::Duration maxWait = std::chrono::milliseconds(500);
  int32_t minBytes = 1;
  int32_t maxBytes = 50 << 20;
  int32_t partitionMaxBytes = 1 << 20;
};

/// A record as a consumer sees it; views are valid inside the handler.
struct ConsumedRecord {
  const TopicPartition& where;
  LeaderEpoch leaderEpoch;
  const records::RecordView& record;
};

/// Reads partitions that it is told to read: one fetch at a time at each leader, goes with the leader, checks every
/// batch. Executor as the Client's.
class Consumer {
 public:
  /// Records of one batch after another, in order within a partition.
  using RecordHandler = std::function<void(const ConsumedRecord&)>;
  /// Something that will not get better by itself: reading of that partition has stopped.
  using ErrorHandler = std::function<void(const TopicPartition&, const Error&)>;

  struct Position {
    TopicPartition where;
    /// Nothing: by ConsumerOptions::reset.
    std::optional<LogPosition> at = {};
  };

  Consumer(Client& client, ConsumerOptions options, RecordHandler onRecord, ErrorHandler onError = {});
  ~Consumer();
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  /// Reads exactly these from now on; partitions that it reads already keep their position unless one is given.
  void assign(std::vector<Position> positions);
  void seek(const TopicPartition& where, LogPosition to);
  void seekToBeginning(const TopicPartition& where);
  void seekToEnd(const TopicPartition& where);
  /// Stops and goes on with one partition without losing its position.
  void pause(const TopicPartition& where);
  void resume(const TopicPartition& where);

  /// Of the next record to be given; nothing while it is not known.
  std::optional<LogPosition> position(const TopicPartition& where) const;
  /// As of the last answer.
  Offset highWatermark(const TopicPartition& where) const;
  Offset lastStableOffset(const TopicPartition& where) const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tidemark::client
