#include <gmock/gmock.h>

#include "coordinator/group_fixture.h"
#include "coordinator/modern/metadata_hash.h"

namespace tidemark::coordinator {
namespace {

TopicFacts topicOf(const std::string& name, const std::string& id, size_t partitions) {
  return {.name = name, .id = *Uuid::parse(id), .racks = std::vector<std::vector<std::string>>(partitions)};
}

TEST(MetadataHash, OfAGroupIsTheOneThatKafkaWrote) {
  KnownTopics topics;
  topics.topics["codec-snappy"] = topicOf("codec-snappy", "_jU6qTMeTj2f69XWHddIMw", 1);
  topics.topics["idem"] = topicOf("idem", "INIIuUyMSYqq4Lka_5hVAw", 2);
  topics.topics["txn"] = topicOf("txn", "xqz9DZbdRBioFsvuwZNweQ", 3);
  topics.topics["codec-none"] = topicOf("codec-none", "RrJDi3vqQB2K4cV9G_HQ3w", 1);
  TopicHashes hashes(topics);
  EXPECT_EQ(hashes.ofGroup({"codec-snappy", "idem", "txn"}), -7841428403559433787);
  EXPECT_EQ(hashes.ofGroup({"codec-none"}), 5350972624995358349);
  EXPECT_EQ(hashes.ofGroup({"codec-none", "there-is-none"}), 5350972624995358349) << "a missing topic adds nothing";
  EXPECT_EQ(hashes.ofGroup({"there-is-none"}), 0);
}

TEST(MetadataHash, ChangesWithPartitionsIdAndRacks) {
  const TopicFacts topic = topicOf("orders", "RrJDi3vqQB2K4cV9G_HQ3w", 2);
  const int64_t hash = topicHash(topic);
  TopicFacts grown = topic;
  grown.racks.emplace_back();
  TopicFacts recreated = topic;
  recreated.id = *Uuid::parse("xqz9DZbdRBioFsvuwZNweQ");
  TopicFacts racked = topic;
  racked.racks[1] = {"a"};
  TopicFacts moved = topic;
  moved.racks[0] = {"a"};
  EXPECT_EQ(
      (std::set<int64_t>{hash, topicHash(grown), topicHash(recreated), topicHash(racked), topicHash(moved)}).size(),
      5u);
}

}  // namespace
}  // namespace tidemark::coordinator
