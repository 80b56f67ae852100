#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/error_code.h"
#include "replication/fetch_session.h"

namespace tidemark::replication {

/// The fetching side of an incremental session: remembers what the leader was told and names only the differences.
/// Belongs to one fetcher; topic ids only (Fetch 13 and later).
class FetchSessionClient {
 public:
  struct Plan {
    int32_t sessionId = 0;
    int32_t sessionEpoch = 0;
    std::vector<FetchItem> items;
    std::vector<FetchKey> forgotten;
  };

  /// What the next request says if `wanted` is what is to be fetched.
  Plan next(const std::vector<FetchItem>& wanted);

  /// The answer to that request. An error, or a session id other than ours, starts anew.
  void answered(ErrorCode error, int32_t sessionId);
  /// No answer came: whether the leader took the request is unknown, so the next one closes the session and asks for
  /// all.
  void failed();

 private:
  using Key = std::pair<Uuid, PartitionIndex>;

  int32_t id_ = 0;
  int32_t epoch_ = 0;
  std::map<Key, FetchItem> told_;
};

}  // namespace tidemark::replication
