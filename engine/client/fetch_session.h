#pragma once

#include <cstdint>
#include <map>

#include "base/ids.h"
#include "base/uuid.h"
#include "protocol/generated/fetch_request.h"

namespace tidemark::client {

/// What is asked of a leader for one partition.
struct Asked {
  Uuid topicId;
  Offset offset;
  LeaderEpoch leaderEpoch;
  LeaderEpoch lastEpoch;
  /// How often somebody has sought: what was asked for before is not wanted any more.
  uint64_t seeks = 0;
  friend bool operator==(const Asked&, const Asked&) = default;
};
using AskedAll = std::map<TopicPartition, Asked>;

/// A consumer's fetch session with one leader (KIP-227), without I/O: what the next request is to say. On the
/// consumer's executor.
class FetchSession {
 public:
  /// `incremental`: false: each request asks for everything, and the leader keeps nothing.
  explicit FetchSession(bool incremental) : incremental_(incremental) {}

  /// Names in the request what has changed since the last one of what is wanted.
  void ask(const AskedAll& wanted, int32_t partitionMaxBytes, protocol::FetchRequest& request);
  /// A request was answered without an error; 0: the leader keeps no session.
  void answered(int32_t id);
  /// To be asked for again where it is wanted, and to be forgotten elsewhere.
  void askAgain(const TopicPartition& where);
  /// The next request asks for everything.
  void forget();

 private:
  static constexpr int32_t kFirst = 0;
  static constexpr int32_t kNone = -1;

  const bool incremental_;
  int32_t id_ = 0;
  /// Of the next request.
  int32_t epoch_ = kFirst;
  /// What the leader believes is wanted.
  AskedAll asked_;
};

}  // namespace tidemark::client
