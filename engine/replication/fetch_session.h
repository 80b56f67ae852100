#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error_code.h"
#include "base/ids.h"
#include "base/mutex.h"
#include "base/result.h"
#include "platform/clock.h"
#include "platform/random.h"

// Incremental fetch sessions (KIP-227): after a first full fetch a client names only what changed, and is answered only
// what changed. Sessions belong to one broker, are found by id, and each request carries the next session epoch.

namespace tidemark::replication {

/// A partition as a Fetch request names it. Before version 13 `topicId` is zero, from then on `topic` comes from the
/// image.
struct FetchKey {
  Uuid topicId;
  std::string topic;
  PartitionIndex partition;
  friend bool operator==(const FetchKey&, const FetchKey&) = default;
};

/// What is asked of one partition.
struct FetchAsk {
  Offset fetchOffset;
  /// Of the follower that asks; -1 from a consumer.
  Offset logStartOffset;
  int32_t maxBytes = 0;
  /// The epoch the client believes in; none: not checked.
  std::optional<LeaderEpoch> currentLeaderEpoch;
  /// Of the last record the follower has; none from consumers and before version 12.
  std::optional<LeaderEpoch> lastFetchedEpoch;
  friend bool operator==(const FetchAsk&, const FetchAsk&) = default;
};

struct FetchItem {
  FetchKey key;
  FetchAsk ask;
};

/// The part of a partition's answer that decides whether an incremental answer must carry it.
struct FetchFacts {
  ErrorCode error = ErrorCode::None;
  Offset highWatermark;
  Offset logStartOffset;
  bool hasRecords = false;
  bool hasDivergingEpoch = false;
  bool hasPreferredReplica = false;
};

class FetchSessionCache;

/// One request's relation to its session: which partitions it is about, and which of them the answer carries.
class FetchContext {
 public:
  /// What the answer's SessionId field holds; 0: there is no session.
  int32_t sessionId() const noexcept { return sessionId_; }
  /// In the order to be answered. Names may be empty where only an id is known.
  const std::vector<FetchItem>& items() const noexcept { return items_; }
  bool isIncremental() const noexcept { return incremental_; }
  /// Whether the request named or forgot nothing and its session has partitions: such a fetch waits its whole time.
  bool namesNothing() const noexcept { return namesNothing_; }

  /// `facts[i]` belongs to `items()[i]`. Tells for each whether the answer carries it, and remembers what was told.
  std::vector<bool> select(const std::vector<FetchFacts>& facts);

 private:
  friend class FetchSessionCache;
  FetchSessionCache* cache_ = nullptr;
  int32_t sessionId_ = 0;
  bool incremental_ = false;
  bool namesNothing_ = false;
  std::vector<FetchItem> items_;
};

/// All sessions of a broker, at most `slots` (max.incremental.fetch.session.cache.slots). When full, a new session
/// takes the place of one idle for two minutes, or of a consumer's if a follower asks; otherwise it stays without a
/// session. Any thread.
class FetchSessionCache {
 public:
  FetchSessionCache(size_t slots, platform::Random& random) : slots_(slots), random_(random) {}

  struct Request {
    int32_t sessionId = 0;
    int32_t sessionEpoch = -1;
    bool fromFollower = false;
    bool usesTopicIds = false;
    std::vector<FetchItem> items;
    std::vector<FetchKey> forgotten;
  };

  /// FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH and FETCH_SESSION_TOPIC_ID_ERROR make the client start
  /// anew.
  Result<FetchContext> begin(Request request, platform::MonotonicTime now);

  size_t size() const;

 private:
  friend class FetchContext;

  struct Cached {
    FetchItem item;
    Offset toldHighWatermark;
    Offset toldLogStartOffset;
  };
  /// By id if there is one, else by name: a session keeps to one of the two.
  struct KeyHash {
    size_t operator()(const FetchKey& key) const noexcept;
  };
  struct KeyEqual {
    bool operator()(const FetchKey& a, const FetchKey& b) const noexcept;
  };
  struct Session {
    int32_t id = 0;
    int32_t nextEpoch = 1;
    bool privileged = false;
    bool usesTopicIds = false;
    platform::MonotonicTime lastUsed{};
    std::list<Cached> partitions;
    /// Where each of them is; what is moved within the list stays where it is.
    std::unordered_map<FetchKey, std::list<Cached>::iterator, KeyHash, KeyEqual> places;
  };

  int32_t create(const Request& request, platform::MonotonicTime now) REQUIRES(mutex_);
  bool makeRoom(bool privileged, platform::MonotonicTime now) REQUIRES(mutex_);
  static void update(Session& session, const Request& request);

  const size_t slots_;
  platform::Random& random_;
  mutable Mutex mutex_;
  std::map<int32_t, std::unique_ptr<Session>> sessions_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::replication
