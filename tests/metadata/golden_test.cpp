#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "metadata/image_writer.h"
#include "metadata/log_files.h"

namespace tidemark::metadata {
namespace {

using test::makeLoader;
using test::MetadataDirectory;

/// Logs and snapshots of Apache Kafka 4.4; see tests/data/README.md.
class KafkasMetadata : public testing::TestWithParam<const char*> {
 protected:
  MetadataDirectory directory_{GetParam()};

  ImagePtr replayUpTo(Offset end) const {
    const auto loader = makeLoader();
    directory_.replayLog(*loader, end);
    return loader->image();
  }
};

TEST_P(KafkasMetadata, LogGivesWhatClientsSaw) {
  const ImagePtr image = replayUpTo(Offset(INT64_MAX));
  EXPECT_EQ(image->provenance.lastContainedOffset.next(), directory_.logEnd());
  const auto expected = nlohmann::json::parse(directory_.expectedJson());
  std::map<std::string, int16_t> features;
  for (const auto& [name, level] : expected["finalizedFeatures"].items()) {
    if (name != kKRaftVersionFeature) features[name] = level;
  }
  EXPECT_EQ(std::map(image->features.finalized.begin(), image->features.finalized.end()), features);

  size_t partitions = 0;
  for (const auto& [id, topic] : image->topics.byId) partitions += topic->partitions.size();
  EXPECT_EQ(partitions, expected["partitions"].size());
  for (const auto& one : expected["partitions"]) {
    const std::string name = one["topic"];
    const TopicImage* topic = image->topics.find(name);
    ASSERT_TRUE(topic) << name;
    EXPECT_EQ(topic->id.toString(), one["topicId"].get<std::string>());
    const PartitionRegistration* partition = topic->partition(PartitionIndex(one["partition"]));
    ASSERT_TRUE(partition) << name;
    std::string replicas;
    for (NodeId node : partition->replicas) replicas += (replicas.empty() ? "" : ",") + std::to_string(node.value());
    EXPECT_EQ(replicas, one["replicas"].get<std::string>());
    EXPECT_EQ(partition->directories.size(), partition->replicas.size());
    for (NodeId node : partition->isr) EXPECT_TRUE(partition->isReplica(node));
    EXPECT_TRUE(!partition->hasLeader() || partition->isInIsr(partition->leader));
  }
  const std::string acls = expected["acls"];
  size_t aclCount = 0;
  for (size_t at = acls.find("pattern=R"); at != std::string::npos; at = acls.find("pattern=R", at + 1)) ++aclCount;
  EXPECT_EQ(image->security.acls.size(), aclCount);
}

TEST_P(KafkasMetadata, EachSnapshotEqualsTheLogUpToIt) {
  int compared = 0;
  for (const MetadataDirectory::Snapshot& snapshot : directory_.snapshots()) {
    if (snapshot.id.offset.value() == 0) continue;  // written by formatting, before the log
    const auto loader = makeLoader();
    directory_.loadSnapshot(*loader, snapshot);
    const ImagePtr replayed = replayUpTo(snapshot.id.offset);
    EXPECT_TRUE(loader->image()->sameContents(*replayed)) << snapshot.file;
    EXPECT_EQ(loader->image()->provenance.lastContainedOffset, replayed->provenance.lastContainedOffset);
    ++compared;
  }
  EXPECT_TRUE(compared > 0 || std::string(GetParam()) == "upgraded-clean");
}

/// Writes every fifth image as records and compares what they give.
class IdentityCheck final : public Publisher {
 public:
  std::string name() const override { return "identity"; }
  void onUpdate(const Delta&, ImagePtr image) override {
    if (++seen_ % 5 != 0) return;
    ++compared;
    Delta delta(std::make_shared<const Image>());
    for (const Record& record : writeRecords(*image)) {
      const Result<ByteVector> encoded = encodeRecord(record);
      ASSERT_TRUE(encoded) << encoded.error().message;
      const Result<Record> decoded = decodeRecord(*encoded);
      ASSERT_TRUE(decoded) << decoded.error().message;
      const Result<void> replayed = delta.replay(*decoded);
      ASSERT_TRUE(replayed) << replayed.error().message;
    }
    EXPECT_TRUE(delta.next().sameContents(*image)) << "at offset " << image->provenance.lastContainedOffset.value();
  }
  int compared = 0;

 private:
  int seen_ = 0;
};

TEST_P(KafkasMetadata, ImageToRecordsToImageIsTheIdentity) {
  const auto loader = makeLoader();
  IdentityCheck check;
  loader->addPublisher(check);
  directory_.replayLog(*loader);
  EXPECT_GT(check.compared, 10);
}

TEST_P(KafkasMetadata, SnapshotThenRestOfTheLogEqualsTheWholeLog) {
  const ImagePtr whole = replayUpTo(Offset(INT64_MAX));
  EXPECT_FALSE(whole->sameContents(*replayUpTo(Offset(4))));
  const MetadataDirectory::Snapshot& last = directory_.snapshots().back();
  if (last.id.offset.value() == 0) return;
  const auto loader = makeLoader();
  directory_.replayLog(*loader, last.id.offset - 20);
  directory_.loadSnapshot(*loader, last);
  const Delta change = Delta::fromNothing(*loader->image());
  EXPECT_EQ(change.createdTopics().size(), loader->image()->topics.byId.size());
}

INSTANTIATE_TEST_SUITE_P(Golden, KafkasMetadata, testing::Values("cluster-clean", "single-clean", "upgraded-clean"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace tidemark::metadata
