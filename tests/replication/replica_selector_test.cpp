#include "replication/replica_selector.h"

#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark::replication {
namespace {

using std::chrono::seconds;

/// Broker 1 leads in rack a; 2 and 3 stand in b, 4 in c, 5 nowhere.
std::optional<std::string> rackOf(NodeId node) {
  static const std::map<NodeId, std::string> kRacks{
      {NodeId(1), "a"}, {NodeId(2), "b"}, {NodeId(3), "b"}, {NodeId(4), "c"}};
  const auto found = kRacks.find(node);
  return found == kRacks.end() ? std::nullopt : std::optional(found->second);
}

std::optional<NodeId> closest(const std::string& rack, const std::vector<ReadableReplica>& followers) {
  return closestReplica(rack, NodeId(1), followers, rackOf);
}

TEST(ClosestReplica, IsTheLeaderWhereItStandsAndWhereNobodyDoes) {
  const std::vector<ReadableReplica> followers{{NodeId(2), Offset(10), seconds(0)},
                                               {NodeId(5), Offset(10), seconds(0)}};
  EXPECT_FALSE(closest("a", followers));
  EXPECT_FALSE(closest("d", followers));
  EXPECT_FALSE(closest("", followers));
  EXPECT_FALSE(closest("b", {}));
}

TEST(ClosestReplica, IsTheOneInTheRackThatIsFurthest) {
  EXPECT_EQ(closest("b", {{NodeId(2), Offset(10), seconds(0)}, {NodeId(3), Offset(11), seconds(5)}}), NodeId(3));
  EXPECT_EQ(closest("b", {{NodeId(2), Offset(10), seconds(1)}, {NodeId(3), Offset(10), seconds(5)}}), NodeId(2));
  EXPECT_EQ(closest("c", {{NodeId(2), Offset(10), seconds(0)}, {NodeId(4), Offset(3), seconds(5)}}), NodeId(4));
}

}  // namespace
}  // namespace tidemark::replication
