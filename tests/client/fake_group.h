#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "network/request.h"

namespace tidemark::test {

/// One classic group, as simple as a coordinator can be: everybody who is known must join before anybody goes on.
class FakeGroup {
 public:
  /// Serves JoinGroup, SyncGroup, Heartbeat, LeaveGroup, OffsetCommit and OffsetFetch.
  void serve(network::RequestPtr request);
  /// A member that was lost: the others are told to join again.
  void expel(const std::string& memberId);
  void end();

  int32_t generation = 0;
  std::map<TopicPartition, int64_t> committed;
  /// Of the records before them.
  std::map<TopicPartition, int32_t> committedEpochs;
  ErrorCode nextError = ErrorCode::None;  ///< Of the next heartbeat.

  struct Member {
    ByteVector metadata;
    ByteVector assignment;
    network::RequestPtr joining;
    network::RequestPtr syncing;
  };
  std::map<std::string, Member> members;

 private:
  void join(network::RequestPtr request);
  void completeJoin();
  void sync(network::RequestPtr request);
  void heartbeat(network::Request& request);
  void leave(network::Request& request);
  void commit(network::Request& request);
  void fetch(network::Request& request);

  bool rebalancing_ = false;
  std::string leader_;
  /// The generation whose leader has said who gets what.
  int32_t assigned_ = 0;
  int nextMember_ = 1;
};

}  // namespace tidemark::test
