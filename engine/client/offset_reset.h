#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/admin.h"
#include "client/group_admin.h"

namespace tidemark::client {

/// Where the committed offsets of a group shall go: the scenarios of Kafka's own tool.
struct ResetTo {
  enum class Kind : uint8_t {
    Earliest,
    Latest,
    /// What is committed, the latest where nothing is.
    Current,
    /// `value`: the offset.
    Offset,
    /// `value`: so many records on (negative: back).
    ShiftBy,
    /// `value`: milliseconds since 1970; the first record that is not older, the latest if there is none.
    Datetime,
  };
  Kind kind = Kind::Latest;
  int64_t value = 0;
};

/// Of one partition, what decides.
struct ResetNumbers {
  std::optional<Offset> committed;
  Offset logStart;
  /// The high watermark: what a consumer may read up to.
  Offset end;
  /// Of the first record that is not older than the time that was asked for; none: all are older.
  std::optional<Offset> atTime;
};

struct OffsetChange {
  TopicPartition partition;
  /// Nothing is committed now.
  std::optional<Offset> from;
  Offset to;
  Offset logStart;
  Offset end;
  /// The offset that was asked for does not exist: this is the nearest that does.
  bool clipped = false;
};

/// The offset that one partition gets. An error where the scenario needs a commit and there is none.
Result<OffsetChange> resetOf(const TopicPartition& partition, const ResetTo& to, const ResetNumbers& numbers);

/// Which partitions are meant: those named; else whole topics; else every partition the group has committed for.
struct ResetScope {
  std::vector<std::string> topics;
  std::vector<TopicPartition> partitions;
};

/// Finds out what a reset would change; nothing is written. Executor and life as GroupAdmin.
class ResetPlanner {
 public:
  using Changes = std::vector<OffsetChange>;
  ResetPlanner(Client& client, platform::Duration timeout);
  ~ResetPlanner();

  /// By partition. Several plans may be under way.
  void plan(std::string group, GroupType type, ResetScope scope, ResetTo to, GroupAdmin::Handler<Changes> handler);

 private:
  struct Plan;
  void resolve(const std::shared_ptr<Plan>& plan);
  void measure(const std::shared_ptr<Plan>& plan);

  Admin admin_;
  GroupAdmin groups_;
};

}  // namespace tidemark::client
