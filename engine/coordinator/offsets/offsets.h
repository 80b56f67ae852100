#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/classic/classic_group.h"
#include "coordinator/coordinator_log.h"
#include "coordinator/group/group_config.h"
#include "coordinator/offsets/offset_records.h"
#include "coordinator/request_info.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"
#include "protocol/generated/offset_commit_value.h"
#include "protocol/generated/offset_delete_request.h"
#include "protocol/generated/offset_delete_response.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/offset_fetch_response.h"

namespace tidemark::coordinator {

/// Committed offsets by group, topic, partition. A plain map of maps; values are shared and never change.
class OffsetTable {
 public:
  using Value = std::shared_ptr<const CommittedOffset>;
  using Partitions = std::map<int32_t, Value>;
  using Topics = std::map<std::string, Partitions, std::less<>>;

  Value get(std::string_view group, std::string_view topic, int32_t partition) const;
  const Topics* topicsOf(std::string_view group) const;
  const std::map<std::string, Topics, std::less<>>& groups() const noexcept { return groups_; }
  void put(const std::string& group, const std::string& topic, int32_t partition, Value value);
  void remove(std::string_view group, std::string_view topic, int32_t partition);

 private:
  std::map<std::string, Topics, std::less<>> groups_;
};

/// What a group of any kind says about its offsets.
struct OffsetOwner {
  std::string groupId;
  /// Its members read the topic: offsets in it are neither deleted nor do they expire.
  std::function<bool(std::string_view topic)> isSubscribedTo;
  /// From when on the retention counts; nothing: from each commit (KIP-211).
  std::optional<int64_t> emptySinceMs;
  /// Nothing of it expires now.
  bool keepsAll = false;
};

/// The committed offsets of one shard (Kafka's OffsetMetadataManager). Handlers are const and give records; only replay
/// changes the state. It is kept twice: as of the log's end, which is what is decided by, and as of the high watermark,
/// which is what is shown to those who do not wait for it.
class Offsets {
 public:
  explicit Offsets(const GroupConfig& config) : config_(config) {}

  /// Records and the response for a commit that was accepted.
  struct Commit {
    std::vector<CoordinatorRecord> records;
    protocol::OffsetCommitResponse response;
  };
  /// Topics carry name and, where it is known, id.
  Commit commit(const protocol::OffsetCommitRequest& request, int64_t nowMs) const;

  /// `stable`: what was written last, and UNSTABLE_OFFSET_COMMIT where a transaction is open (the answer then waits
  /// until all is committed); otherwise what is committed now. Topics carry name and, in version 10, id.
  protocol::OffsetFetchResponse::OffsetFetchResponseGroup fetch(
      const protocol::OffsetFetchRequest::OffsetFetchRequestGroup& request, bool stable) const;

  protocol::OffsetDeleteResponse remove(const protocol::OffsetDeleteRequest& request, const OffsetOwner& group,
                                        std::vector<CoordinatorRecord>& records) const;
  /// Tombstones for all of a group's offsets.
  void removeAll(std::string_view groupId, std::vector<CoordinatorRecord>& records) const;
  /// Tombstones for all offsets in a topic that is gone; those of another by that name stay.
  void removeTopic(const DeletedTopic& topic, std::vector<CoordinatorRecord>& records) const;
  /// Tombstones for what has expired. True if nothing of the group is left then.
  bool expire(const OffsetOwner& group, int64_t nowMs, std::vector<CoordinatorRecord>& records) const;

  /// An OffsetCommit record; nothing for a tombstone.
  void replay(Offset recordOffset, ProducerId producerId, const std::string& group, const std::string& topic,
              int32_t partition, const protocol::OffsetCommitValue* value);
  void replayEndTxn(Offset markerOffset, ProducerId producerId, bool commit);
  void onHighWatermark(Offset highWatermark);

  /// As of the log's end.
  const OffsetTable& latest() const noexcept { return latest_; }

 private:
  struct Change {
    Offset recordOffset;
    std::string group;
    std::string topic;
    int32_t partition = 0;
    OffsetTable::Value value;
  };

  void apply(Offset at, const std::string& group, const std::string& topic, int32_t partition,
             OffsetTable::Value value);
  bool hasPendingTransaction(std::string_view group, std::string_view topic, int32_t partition) const;

  const GroupConfig& config_;
  OffsetTable latest_;
  OffsetTable committed_;
  /// Changes of latest_ that are not in committed_ yet, in order.
  std::deque<Change> uncommitted_;
  /// Offsets of transactions that are open, by producer; and the producers that have some of a group.
  std::map<ProducerId, OffsetTable> pending_;
  std::map<std::string, std::set<ProducerId>, std::less<>> pendingByGroup_;
};

}  // namespace tidemark::coordinator
