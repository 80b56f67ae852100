#include "faults/tellers.h"

#include <gmock/gmock.h>

namespace tidemark::faults {
namespace {

TEST(Tellers, WhoTellsAnEventIsWhoCanKnowOfIt) {
  EXPECT_EQ(tellersOf("IsrShrunk"), kBrokersTell);
  EXPECT_EQ(tellersOf("GroupStateChanged"), kBrokersTell);
  EXPECT_EQ(tellersOf("TransactionStateChanged"), kBrokersTell);
  EXPECT_EQ(tellersOf("LeaderElected"), kControllersTell);
  EXPECT_EQ(tellersOf("VoteGranted"), kControllersTell);
  EXPECT_EQ(tellersOf("BatchAppended"), kNodesTell) << "the metadata log is one too";
  EXPECT_EQ(tellersOf("BrokerDown"), kNodesTell);
  EXPECT_EQ(tellersOf("FaultInjected"), kLabTells);
  EXPECT_EQ(tellersOf("ConfigChanged"), kNobodyTells);
  EXPECT_EQ(tellersOf("Rain"), kNobodyTells);
}

TEST(Tellers, AnEventIsAboutAPartitionIfItNamesOne) {
  EXPECT_TRUE(isAboutPartition("BecameLeader"));
  EXPECT_TRUE(isAboutPartition("OffsetCommitted"));
  EXPECT_FALSE(isAboutPartition("TopicCreated")) << "of all its partitions";
  EXPECT_FALSE(isAboutPartition("BrokerDown"));
  EXPECT_FALSE(isAboutPartition("Rain"));
}

}  // namespace
}  // namespace tidemark::faults
