// Files as Apache Kafka 4.4 wrote them, and as we write them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "events/recorder.h"
#include "log/handle_cache.h"
#include "log/partition_log.h"
#include "platform/simulated/world.h"
#include "raft/control_records.h"
#include "raft/format.h"
#include "raft/partition_raft_log.h"
#include "raft/quorum_state_store.h"
#include "raft/snapshot.h"
#include "raft/snapshot_files.h"
#include "records/batch.h"

namespace tidemark::raft {
namespace {

ByteVector readGolden(const std::string& name) {
  std::ifstream file(std::string(TIDEMARK_TEST_DATA) + "/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

class RaftFiles : public ::testing::Test {
 protected:
  void put(const std::string& path, const ByteVector& bytes) {
    auto file = files().open(path, platform::OpenMode::Create);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE((*file)->writeAt(0, bytes));
  }
  ByteVector get(const std::string& path) {
    auto bytes = files().readFile(path, 1 << 26);
    EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message);
    return bytes.value_or(ByteVector());
  }
  platform::FileSystem& files() { return process_->files(); }
  Result<std::unique_ptr<PartitionRaftLog>> openLog(events::Recorder* recorder = nullptr) {
    log::LogContext context;
    context.recorder = recorder;
    context.files = &files();
    context.clock = &process_->clock();
    context.logger = &process_->log();
    context.handles = std::make_shared<log::HandleCache>(16);
    return PartitionRaftLog::open({.context = context, .logDirectory = "/data"});
  }
  /// The metadata log of a node of a cluster of three that Kafka ran, killed and stopped.
  void putKafkasLog() {
    ASSERT_TRUE(files().createDirectories(kFolder));
    for (const char* name : {"00000000000000000000-0000000000.checkpoint", "00000000000000000000.log",
                             "00000000000000000076-0000000002.checkpoint", "00000000000000000163-0000000002.checkpoint",
                             "00000000000000000204.log", "00000000000000000250-0000000002.checkpoint",
                             "00000000000000000343-0000000002.checkpoint", "00000000000000000447.log",
                             "00000000000000000556-0000000003.checkpoint"})
      put(std::string(kFolder) + "/" + name, readGolden(std::string("metadata/cluster-clean/") + name));
  }

  static constexpr const char* kFolder = "/data/__cluster_metadata-0";
  /// What was logged as a warning.
  std::vector<std::string> warnings_;
  platform::World world_{
      platform::WorldOptions{.level = platform::Logger::Level::Warning,
                             .log = [this](platform::MonotonicTime, platform::Logger::Level, std::string_view,
                                           std::string_view, std::string_view text) { warnings_.emplace_back(text); }}};
  std::shared_ptr<platform::SimulatedProcess> process_ = world_.createProcess("node");
};

TEST_F(RaftFiles, WhatIsCutOffADamagedMetadataLogIsToldByFileByteAndOffsets) {
  putKafkasLog();
  const std::string path = std::string(kFolder) + "/00000000000000000447.log";
  ByteVector segment = get(path);
  // A byte in the third batch.
  size_t third = 0;
  for (int i = 0; i < 2; ++i) third += records::BatchHeader::read(segment.data() + third).sizeInBytes();
  const auto header = records::BatchHeader::read(segment.data() + third);
  segment[third + records::kBatchHeaderSize] ^= 1;
  put(path, segment);

  events::Recorder recorder(process_->clock(), NodeId(1));
  recorder.want(events::Kinds::all());
  const auto log = openLog(&recorder);
  ASSERT_TRUE(log) << log.error().message;
  std::vector<events::Event> events;
  recorder.drain(events);
  std::vector<events::LogCut> cuts;
  for (const events::Event& event : events)
    if (const auto* cut = std::get_if<events::LogCut>(&event.payload)) cuts.push_back(*cut);
  ASSERT_EQ(cuts.size(), 1u);
  EXPECT_EQ(cuts[0].segmentBaseOffset, Offset(447));
  EXPECT_EQ(cuts[0].position, static_cast<int64_t>(third));
  EXPECT_EQ(cuts[0].bytes, static_cast<int64_t>(segment.size() - third));
  EXPECT_EQ(cuts[0].from, header.baseOffset);
  EXPECT_GE(cuts[0].lastOffset, header.lastOffset());
  EXPECT_THAT(warnings_, testing::Contains(testing::AllOf(
                             testing::HasSubstr(path), testing::HasSubstr(fmt::format("from byte {} on", third)),
                             testing::HasSubstr(fmt::format("{} bytes", segment.size() - third)),
                             testing::HasSubstr(fmt::format("offsets {} to {}", cuts[0].from, cuts[0].lastOffset)),
                             testing::HasSubstr("checksum"))));
}

std::vector<std::string> recordsOf(RecordsSnapshotReader& reader) {
  std::vector<std::string> records;
  while (true) {
    const auto batch = reader.next();
    EXPECT_TRUE(batch) << (batch ? "" : batch.error().message);
    if (!batch || !*batch) return records;
    for (const ByteView record : **batch) records.emplace_back(asText(record));
  }
}

/// Sets to zero what depends on the moment: timestamps, and the checksums over them.
ByteVector timeless(ByteVector bytes) {
  for (size_t at = 0; at + records::kBatchHeaderSize <= bytes.size();) {
    const auto header = records::BatchHeader::read(bytes.data() + at);
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(at + records::kCrcAt), 4, 0);
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(at + records::kBaseTimestampAt), 16, 0);
    at += header.sizeInBytes();
  }
  return bytes;
}

TEST_F(RaftFiles, FormattingWritesWhatKafkasStorageToolWrites) {
  const ByteVector golden = readGolden("raft/single-formatted.checkpoint");
  ASSERT_TRUE(files().createDirectories("/golden"));
  put("/golden/00000000000000000000-0000000000.checkpoint", golden);
  const auto snapshots = SnapshotFiles::open(files(), "/golden");
  ASSERT_TRUE(snapshots);
  EXPECT_EQ((*snapshots)->latest(), kBootstrapSnapshotId);
  auto reader = RecordsSnapshotReader::open(*(*snapshots)->read(kBootstrapSnapshotId));
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader)->lastContainedLogTimestampMs(), 1795962011511);
  EXPECT_EQ((*reader)->header().kraftVersion, 1);
  const VoterSet voters = (*reader)->header().voters.value_or(VoterSet());
  ASSERT_EQ(voters.size(), 1u);
  EXPECT_EQ(voters.all().front(),
            (Voter{{NodeId(1), *Uuid::parse("9jvazjsBREyoVeXILCFeHg")}, {{"CONTROLLER", "127.0.0.1", 18002}}, 0, 1}));
  const std::vector<std::string> records = recordsOf(**reader);
  ASSERT_EQ(records.size(), 7u);

  FormatOptions options{.logDirectory = "/data", .voters = voters, .nowMs = 1795962011511};
  for (const std::string& record : records) options.bootstrapRecords.emplace_back(record.begin(), record.end());
  ASSERT_TRUE(files().createDirectories("/data"));
  const auto formatted = formatMetadataLog(files(), options);
  ASSERT_TRUE(formatted) << formatted.error().message;
  const ByteVector ours = get(std::string(kFolder) + "/00000000000000000000-0000000000.checkpoint");
  EXPECT_EQ(timeless(ours), timeless(golden));
  EXPECT_EQ(files().list(kFolder)->size(), 1u);
  EXPECT_EQ(formatMetadataLog(files(), options).error().code, ErrorCode::DuplicateResource);
}

TEST_F(RaftFiles, WhetherAMetadataLogIsThereIsToldByItsFiles) {
  const auto held = [this] { return storedMetadata(files(), "/data"); };
  const auto file = [](const char* name) { return fmt::format("{}/{}", kFolder, name); };
  EXPECT_EQ(held(), StoredMetadata::None);
  ASSERT_TRUE(files().createDirectories(kFolder));
  put(file("00000000000000000000.log"), {});
  put(file("00000000000000000007.index"), ByteVector(12));
  put(file("00000000000000000000-0000000000.checkpoint.part"), ByteVector(12));
  EXPECT_EQ(held(), StoredMetadata::None) << "what was opened without anything to open";
  put(file("00000000000000000000-0000000000.checkpoint"), ByteVector(12));
  EXPECT_EQ(held(), StoredMetadata::Bootstrap);
  put(file("00000000000000000000.log"), ByteVector(12));
  EXPECT_EQ(held(), StoredMetadata::Records);
  ASSERT_TRUE(files().remove(file("00000000000000000000.log")));
  EXPECT_EQ(held(), StoredMetadata::Bootstrap);
  put(file("00000000000000000007-0000000001.checkpoint"), ByteVector(12));
  EXPECT_EQ(held(), StoredMetadata::Records);
}

TEST_F(RaftFiles, DamagedSnapshotIsAnErrorAtEveryByte) {
  const ByteVector golden = readGolden("raft/single-formatted.checkpoint");
  ASSERT_TRUE(files().createDirectories(kFolder));
  const std::string path = std::string(kFolder) + "/00000000000000000000-0000000000.checkpoint";
  for (size_t length = 0; length < golden.size(); length += 7) {
    (void)files().remove(path);
    put(path, ByteVector(golden.begin(), golden.begin() + static_cast<ptrdiff_t>(length)));
    const auto snapshots = SnapshotFiles::open(files(), kFolder);
    auto reader = RecordsSnapshotReader::open(*(*snapshots)->read(kBootstrapSnapshotId));
    bool failed = !reader;
    if (failed) {
      EXPECT_THAT(reader.error().message, testing::HasSubstr(path)) << "of which node it is";
    }
    while (!failed) {
      const auto batch = (*reader)->next();
      if (batch && !*batch) break;
      failed = !batch;
    }
    EXPECT_TRUE(failed) << "cut to " << length;
  }
  for (size_t at = 0; at < golden.size(); at += 5) {
    ByteVector damaged = golden;
    damaged[at] ^= 0x55;
    put(path, damaged);
    const auto snapshots = SnapshotFiles::open(files(), kFolder);
    auto reader = RecordsSnapshotReader::open(*(*snapshots)->read(kBootstrapSnapshotId));
    while (reader) {  // whatever it makes of it, it ends
      const auto batch = (*reader)->next();
      if (!batch || !*batch) break;
    }
  }
}

TEST_F(RaftFiles, LeftOversOfACrashAreRemovedAndSnapshotsKept) {
  ASSERT_TRUE(files().createDirectories(kFolder));
  const std::string folder = kFolder;
  put(folder + "/00000000000000000100-0000000001.checkpoint.part", {1});
  put(folder + "/00000000000000000050-0000000001.checkpoint.deleted", {1});
  put(folder + "/00000000000000000200-0000000002.checkpoint", {1});
  put(folder + "/00000000000000000000-0000000000.checkpoint", {1});
  const auto snapshots = SnapshotFiles::open(files(), kFolder);
  ASSERT_TRUE(snapshots);
  EXPECT_EQ((*snapshots)->earliest(), kBootstrapSnapshotId);
  EXPECT_EQ((*snapshots)->latest(), (OffsetAndEpoch{Offset(200), LeaderEpoch(2)}));
  EXPECT_EQ(files().list(kFolder)->size(), 2u);
  EXPECT_EQ((*snapshots)->read({Offset(1), LeaderEpoch(1)}).error().code, ErrorCode::SnapshotNotFound);
  ASSERT_TRUE((*snapshots)->removeBelow(Offset(200)));
  EXPECT_EQ(files().list(kFolder)->size(), 1u);
}

TEST_F(RaftFiles, KafkasMetadataLogOpensWithItsEpochsVotersAndSnapshots) {
  putKafkasLog();
  auto opened = openLog();
  ASSERT_TRUE(opened) << opened.error().message;
  PartitionRaftLog& log = **opened;
  EXPECT_EQ(log.startOffset(), Offset(0));
  EXPECT_EQ(log.endOffset(), Offset(620));
  EXPECT_EQ(log.lastEpoch(), LeaderEpoch(4));
  EXPECT_EQ(log.syncedEndOffset(), log.endOffset());
  EXPECT_EQ(log.earliestSnapshotId(), kBootstrapSnapshotId);
  EXPECT_EQ(log.latestSnapshotId(), (OffsetAndEpoch{Offset(556), LeaderEpoch(3)}));
  // leader-epoch-checkpoint says 2 0, 3 409, 4 619.
  EXPECT_EQ(log.endOffsetForEpoch(LeaderEpoch(2)), (OffsetAndEpoch{Offset(409), LeaderEpoch(2)}));
  EXPECT_EQ(log.endOffsetForEpoch(LeaderEpoch(3)), (OffsetAndEpoch{Offset(619), LeaderEpoch(3)}));
  EXPECT_EQ(log.endOffsetForEpoch(LeaderEpoch(4)), (OffsetAndEpoch{Offset(620), LeaderEpoch(4)}));
  EXPECT_EQ(log.endOffsetForEpoch(LeaderEpoch(1)), (OffsetAndEpoch{Offset(0), LeaderEpoch(1)}));
  EXPECT_EQ(log.endOffsetForEpoch(LeaderEpoch(9)), (OffsetAndEpoch{Offset(620), LeaderEpoch(4)}));

  VoterHistory history;
  for (Offset at(0); at < log.endOffset();) {
    const auto bytes = log.read(at, log.endOffset(), 4096);
    ASSERT_TRUE(bytes) << bytes.error().message;
    ASSERT_TRUE(history.add(bytes->view()));
    records::BatchCursor cursor(bytes->view(), records::BatchCursor::Check::Checksum);
    while (cursor.next() == records::Step::Next) at = cursor.batch().header.nextOffset();
  }
  EXPECT_EQ(history.kraftVersion(), 1);
  EXPECT_EQ(history.voters().size(), 3u);
  EXPECT_FALSE(history.fromBootstrapSnapshot());
  EXPECT_TRUE(history.votersAt(Offset(1)).empty());
  EXPECT_EQ(history.votersAt(Offset(3)).size(), 3u);
}

TEST_F(RaftFiles, FirstBatchOfALeaderIsKafkas) {
  const ByteVector log = readGolden("metadata/cluster-clean/00000000000000000000.log");
  const auto header = records::BatchHeader::read(log.data());
  const ByteVector golden(log.begin(), log.begin() + static_cast<ptrdiff_t>(header.sizeInBytes()));
  const auto contents = readControlBatch(golden);
  ASSERT_TRUE(contents) << contents.error().message;
  ASSERT_EQ(contents->voters.size(), 1u);
  const VoterSet& voters = contents->voters.front().voters;
  BeginLeaderEpoch begin{header.leaderEpoch, {}, {{NodeId(1), {}}, {NodeId(3), {}}}};
  for (const Voter& voter : voters.all()) begin.voters.push_back(voter.key);
  const auto ours = buildLeaderChangeBatch(NodeId(1), begin, &voters, header.baseTimestampMs);
  ASSERT_TRUE(ours);
  EXPECT_EQ(*ours, golden);
}

TEST_F(RaftFiles, QuorumStateIsReadAndWrittenAsKafkaDoes) {
  for (const char* name : {"raft/cluster-clean-n1.quorum-state", "raft/cluster-clean-n2.quorum-state"}) {
    const ByteVector golden = readGolden(name);
    const auto state = decodeQuorumState(asText(golden));
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_EQ(state->leader, NodeId(1));
    EXPECT_EQ(state->epoch, LeaderEpoch(4));
    EXPECT_EQ(encodeQuorumState(*state), asText(golden));
  }
  const auto old = decodeQuorumState(
      R"({"clusterId":"","leaderId":-1,"leaderEpoch":2,"votedId":3,"appliedOffset":0,"currentVoters":[{"voterId":1}],"data_version":0})");
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(*old, (ElectionState{LeaderEpoch(2), kNoNode, ReplicaKey{NodeId(3), {}}}));
  for (const char* bad : {"", "{", "[]", "{}", R"({"leaderId":1,"leaderEpoch":-4,"votedId":-1,"data_version":0})",
                          R"({"leaderId":1,"leaderEpoch":1,"votedId":-1,"data_version":2})",
                          R"({"leaderId":1,"leaderEpoch":99999999999,"votedId":-1,"data_version":0})",
                          R"({"leaderId":1,"leaderEpoch":1e999,"votedId":-1,"data_version":0})",
                          R"({"leaderId":18446744073709551615,"leaderEpoch":1,"votedId":-1,"data_version":0})",
                          R"({"leaderId":1,"leaderEpoch":1,"votedId":1,"votedDirectoryId":"x","data_version":1})"})
    EXPECT_FALSE(decodeQuorumState(bad)) << bad;
}

TEST_F(RaftFiles, QuorumStateSurvivesAPowerLossAndAnUnreadableOneIsRefused) {
  ASSERT_TRUE(files().createDirectories("/data"));
  ASSERT_TRUE(files().syncDirectory("/"));
  FileQuorumStateStore store(files(), "/data");
  EXPECT_FALSE(*store.read());
  const ElectionState state{LeaderEpoch(7), kNoNode, ReplicaKey{NodeId(2), kMetadataTopicId}};
  ASSERT_TRUE(store.write({LeaderEpoch(6), NodeId(1), std::nullopt}));
  ASSERT_TRUE(store.write(state));
  process_->losePower();
  process_ = world_.createProcess("node");
  FileQuorumStateStore again(files(), "/data");
  EXPECT_EQ(*again.read(), state);
  put("/data/quorum-state", {'x'});
  EXPECT_FALSE(again.read());
}

TEST_F(RaftFiles, LogThatEndsBelowItsLatestSnapshotStartsThere) {
  putKafkasLog();
  put(std::string(kFolder) + "/00000000000000000700-0000000005.checkpoint",
      readGolden("metadata/cluster-clean/00000000000000000556-0000000003.checkpoint"));
  auto log = openLog();
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ((*log)->startOffset(), Offset(700));
  EXPECT_EQ((*log)->endOffset(), Offset(700));
  EXPECT_EQ((*log)->lastEpoch(), LeaderEpoch(5));
  EXPECT_EQ((*log)->snapshotIds().size(), 1u);
}

TEST_F(RaftFiles, LogIsCutAtASnapshotAndStaysCut) {
  putKafkasLog();
  {
    auto log = openLog();
    ASSERT_TRUE(log) << log.error().message;
    (*log)->updateHighWatermark(Offset(620));
    ASSERT_TRUE((*log)->deleteBefore({Offset(343), LeaderEpoch(2)}));
    EXPECT_EQ((*log)->startOffset(), Offset(343));
    EXPECT_EQ((*log)->earliestSnapshotId(), (OffsetAndEpoch{Offset(343), LeaderEpoch(2)}));
    ASSERT_TRUE((*log)->close());
  }
  auto log = openLog();
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ((*log)->startOffset(), Offset(343));
  EXPECT_EQ((*log)->endOffset(), Offset(620));
}

}  // namespace
}  // namespace tidemark::raft
