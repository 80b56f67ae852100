#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace tidemark::broker {

/// A member of a share group, which has one session at a broker.
struct ShareMember {
  std::string groupId;
  std::string memberId;
  friend auto operator<=>(const ShareMember&, const ShareMember&) = default;
};

/// The share sessions of a broker: which partitions each member fetches, so that requests name changes only; Kafka's
/// ShareSessionCache. Not thread-safe.
class ShareSessions {
 public:
  /// The epoch of a request that begins a session, and of one that ends it.
  static constexpr int32_t kFirstEpoch = 0;
  static constexpr int32_t kFinalEpoch = -1;

  /// `group.share.max.share.sessions`
  explicit ShareSessions(size_t limit) : limit_(limit) {}

  struct Request {
    ShareMember member;
    int32_t epoch = 0;
    std::vector<TopicIdPartition> wanted;
    std::vector<TopicIdPartition> forgotten;
    bool acknowledges = false;
    /// By which it came; a session ends with the connection that it began on.
    std::string connection;
  };
  /// What a session has to fetch, in turns: whoever came first comes last the next time.
  struct Turn {
    std::vector<TopicIdPartition> partitions;
    /// Of the session: each has another.
    uint64_t session = 0;
    bool isFinal = false;
    /// Nothing is known at the client yet.
    bool isFirst = false;
  };
  /// ShareSessionNotFound, InvalidShareSessionEpoch, ShareSessionLimitReached, InvalidRequest (nothing can be
  /// acknowledged in the first request). A session that ends stays until end() is called.
  Result<Turn> fetch(const Request& request);
  /// For an acknowledgement alone, which cannot begin a session.
  Result<Turn> acknowledge(const Request& request);
  /// The partitions that it had.
  std::vector<TopicIdPartition> end(const ShareMember& member);
  /// Whether the member's session is still that one.
  bool isCurrent(const ShareMember& member, uint64_t session) const;
  /// Whose sessions began on that connection.
  std::vector<ShareMember> membersOn(const std::string& connection) const;

  bool hasGroup(const std::string& groupId) const;
  size_t size() const noexcept { return sessions_.size(); }

 private:
  struct Session {
    int32_t epoch = 0;
    std::vector<TopicIdPartition> partitions;
    std::string connection;
    uint64_t number = 0;
  };
  Result<Session*> find(const Request& request);

  const size_t limit_;
  uint64_t lastNumber_ = 0;
  std::map<ShareMember, Session> sessions_;
  std::set<std::pair<std::string, ShareMember>> byConnection_;
};

}  // namespace tidemark::broker
