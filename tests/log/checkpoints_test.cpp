#include "log/checkpoints.h"

#include <gmock/gmock.h>

#include "log/file_names.h"

namespace tidemark::log {
namespace {

TEST(CheckpointsTest, offsetsReadBackWhateverTheTopicIsCalled) {
  const OffsetCheckpoint offsets = {{{"a.b-c", PartitionIndex(0)}, Offset(7)}, {{"x", PartitionIndex(12)}, Offset(0)}};
  EXPECT_EQ(encodeOffsetCheckpoint(offsets), "0\n2\na.b-c 0 7\nx 12 0\n");
  EXPECT_EQ(decodeOffsetCheckpoint(encodeOffsetCheckpoint(offsets)), offsets);
  for (const char* text : {"", "0\n", "1\n0\n", "0\n1\n", "0\n1\nx 0\n", "0\n1\nx 0 y\n", "0\n1\nx y 0\n", "0\nx\n"})
    EXPECT_FALSE(decodeOffsetCheckpoint(text)) << text;
}

TEST(CheckpointsTest, metaPropertiesOfBothVersions) {
  const auto current = decodeMetaProperties(
      "#\n#Sun Nov 29 14:20:00 UTC 2026\ncluster.id=AAAAAAAAQACAAAAAAAAAAQ\ndirectory.id=tJMO2nMoSU2UnLx3qwW8VA\n"
      "node.id=3\nversion=1\n");
  ASSERT_TRUE(current) << current.error().message;
  EXPECT_EQ(current->clusterId, "AAAAAAAAQACAAAAAAAAAAQ");
  EXPECT_EQ(current->nodeId, NodeId(3));
  EXPECT_EQ(current->directoryId.toString(), "tJMO2nMoSU2UnLx3qwW8VA");
  const auto again = decodeMetaProperties(encodeMetaProperties(*current));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->directoryId, current->directoryId);
  const auto old = decodeMetaProperties("version=0\nbroker.id = 5\n");
  ASSERT_TRUE(old);
  EXPECT_EQ(old->nodeId, NodeId(5));
  EXPECT_EQ(decodeMetaProperties("version=1\nnode.id=1\ncluster.id=a\\:b\n")->clusterId, "a:b");
  for (const char* text :
       {"", "version=2\nnode.id=1\ncluster.id=x\n", "version=1\nnode.id=x\ncluster.id=x\n", "version=1\nnode.id=1\n",
        "version=1\ncluster.id=x\n", "version=1\nnode.id=1\ncluster.id=x\ndirectory.id=short\n"})
    EXPECT_FALSE(decodeMetaProperties(text)) << text;
}

TEST(CheckpointsTest, theSmallFiles) {
  const Uuid id = *Uuid::parse("tJMO2nMoSU2UnLx3qwW8VA");
  EXPECT_EQ(encodePartitionMetadata(id).size(), 43u);
  EXPECT_EQ(decodePartitionMetadata(encodePartitionMetadata(id)), id);
  EXPECT_EQ(decodePartitionMetadata(encodePartitionMetadata(id) + "\n"), id);
  for (const char* text :
       {"", "version: 0\n", "version: 1\ntopic_id: tJMO2nMoSU2UnLx3qwW8VA", "version: 0\ntopic_id: x"})
    EXPECT_FALSE(decodePartitionMetadata(text)) << text;
  EXPECT_EQ(encodeCleanShutdown(BrokerEpoch(18)), R"({"version":0,"brokerEpoch":18})");
  EXPECT_EQ(decodeCleanShutdown(R"({ "brokerEpoch" : -1, "version": 0 })"), BrokerEpoch(-1));
  for (const char* text : {"", "{}", R"({"brokerEpoch":"x"})", R"({"brokerEpoch"})"})
    EXPECT_FALSE(decodeCleanShutdown(text)) << text;
}

TEST(FileNamesTest, areKafkas) {
  EXPECT_EQ(offsetFileName(Offset(76), kLogSuffix), "00000000000000000076.log");
  EXPECT_EQ(offsetOfFileName("00000000000000000076.log", kLogSuffix), Offset(76));
  EXPECT_EQ(offsetOfFileName("00000000000000000076.log.swap", kLogSuffix), std::nullopt);
  EXPECT_EQ(offsetOfFileName("0000000000000000007x.log", kLogSuffix), std::nullopt);
  EXPECT_EQ(offsetOfFileName("99999999999999999999.log", kLogSuffix), std::nullopt);
  EXPECT_EQ(partitionOfFolder("my-topic-12"), (TopicPartition{"my-topic", PartitionIndex(12)}));
  EXPECT_EQ(partitionOfFolder("topic"), std::nullopt);
  EXPECT_EQ(partitionOfFolder("-1"), std::nullopt);
  EXPECT_EQ(partitionOfFolder("topic-x"), std::nullopt);
  EXPECT_EQ(partitionOfFolder("topic-1.14715d1b36564bd28795cc06d6a31751-delete"), std::nullopt);
  const Uuid id = *Uuid::parse("FHFdGzZWS9KHlcwG1qMXUQ");
  EXPECT_EQ(retiredFolderName({"my-topic", PartitionIndex(12)}, id, kDeleteFolderSuffix),
            "my-topic-12.14715d1b36564bd28795cc06d6a31751-delete");
  EXPECT_EQ(retiredFolderName({std::string(249, 'x'), PartitionIndex(12)}, id, kDeleteFolderSuffix).size(), 255u);
}

}  // namespace
}  // namespace tidemark::log
