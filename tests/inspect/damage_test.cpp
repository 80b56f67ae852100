#include <gmock/gmock.h>

#include "inspect/check.h"
#include "inspect/dump_printer.h"
#include "inspect_fixture.h"
#include "log/checkpoints.h"
#include "log/file_names.h"

// Each kind of damage is found, and told with its file, its byte and what is there.

namespace tidemark::inspect {
namespace {

using testing::HasSubstr;

class DamageTest : public InspectFixture {
 protected:
  static constexpr int64_t kSecond = 80;

  /// Three segments of 40 batches with two records each, one of them with transactions, stopped cleanly.
  void SetUp() override {
    openLog();
    appendMany(40);
    ASSERT_TRUE(log_->roll());
    appendMany(30);
    const ProducerId producer(7);
    const ProducerEpoch epoch(0);
    for (int i = 0; i < 5; ++i) {
      append({.firstTimestampMs = nextTimestampMs_,
              .producer = producer,
              .producerEpoch = epoch,
              .baseSequence = i * 2,
              .transactional = true});
      nextTimestampMs_ += 1000;
      log_->updateHighWatermark(log_->logEndOffset());
      if (i % 2 == 0) {
        endTransaction(producer, epoch, i == 2);
        log_->updateHighWatermark(log_->logEndOffset());
      }
    }
    ASSERT_TRUE(log_->roll());
    epoch_ = LeaderEpoch(3);
    log_->assignEpochStartOffset(epoch_, log_->logEndOffset());
    third_ = log_->logEndOffset().value();
    appendMany(40);
    end_ = log_->logEndOffset();
    closeLog();
    writeText("/data/meta.properties",
              "version=1\ncluster.id=AAAAAAAAQACAAAAAAAAAAQ\nnode.id=1\ndirectory.id=AAAAAAAAQACAAAAAAAAAEQ\n");
    writeText("/data/.kafka_cleanshutdown", R"({"version":0,"brokerEpoch":18})");
    writeText("/data/recovery-point-offset-checkpoint", fmt::format("0\n1\norders 0 {}\n", end_));
    writeText("/data/replication-offset-checkpoint", fmt::format("0\n1\norders 0 {}\n", end_));
  }

  void writeText(const std::string& path, std::string_view text) { write(path, asBytes(text)); }

  std::vector<Finding> verified() {
    std::vector<Finding> found;
    const auto summary =
        verify(*process_, {"/data"}, {}, [&found](Finding finding) { found.push_back(std::move(finding)); });
    EXPECT_TRUE(summary) << (summary ? "" : summary.error().message);
    return found;
  }
  static std::string textOf(const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& finding : findings) text += findingText(finding) + "\n";
    return text;
  }
  /// Exactly one finding beyond notes is of this kind, in this file, at this byte.
  Finding expectFound(FindingKind kind, const std::string& path, std::optional<uint64_t> position,
                      Severity severity = Severity::Error) {
    const auto findings = verified();
    for (const Finding& finding : findings) {
      if (finding.kind != kind || finding.file != path || finding.position != position) continue;
      EXPECT_EQ(finding.severity, severity) << findingText(finding);
      EXPECT_FALSE(finding.expected.empty() && finding.found.empty());
      EXPECT_FALSE(finding.advice.empty());
      return finding;
    }
    ADD_FAILURE() << findingName(kind) << " was not found in " << path << " at byte "
                  << (position ? static_cast<int64_t>(*position) : -1) << " but:\n"
                  << textOf(findings);
    return {};
  }
  uint64_t positionOf(int64_t base, size_t batch) {
    const auto page = view()->batches(Offset(base), 0, 1000);
    EXPECT_GT(page->batches.size(), batch);
    return page->batches[batch].position;
  }

  int64_t third_ = 0;
  Offset end_;
};

TEST_F(DamageTest, whatIsSoundHasNothingToTell) {
  EXPECT_EQ(textOf(verified()), "");
}

// --- .log ---
TEST_F(DamageTest, aBitInARecordIsFoundByItsChecksum) {
  const uint64_t at = positionOf(kSecond, 7);
  flip(file(kSecond, ".log"), at + 100, 0x10);
  const Finding finding = expectFound(FindingKind::BatchChecksumBad, file(kSecond, ".log"), at);
  EXPECT_EQ(finding.bytes.size(), Finding::kMaxBytes);
  EXPECT_THAT(finding.expected, HasSubstr("CRC-32C 0x"));
}

/// Every byte of a batch's header, a bit of it turned: something is told at that batch, or the leader epoch rose, which
/// is neither in the checksum nor impossible.
TEST_F(DamageTest, aBitAnywhereInAHeaderIsFound) {
  const uint64_t at = positionOf(kSecond, 7);
  for (uint64_t byte = 0; byte < records::kBatchHeaderSize; ++byte) {
    flip(file(kSecond, ".log"), at + byte, 0x02);
    const auto findings = verified();
    const bool found =
        std::ranges::any_of(findings, [](const Finding& finding) { return finding.severity == Severity::Error; });
    EXPECT_TRUE(found) << "byte " << byte << " of the header";
    flip(file(kSecond, ".log"), at + byte, 0x02);
  }
}

TEST_F(DamageTest, aLogThatEndsInsideABatchIsTorn) {
  ByteVector log = bytes(file(third_, ".log"));
  log.resize(log.size() - 9);
  write(file(third_, ".log"), log);
  const Finding finding = expectFound(FindingKind::LogTorn, file(third_, ".log"),
                                      positionOf(third_, 38) + (positionOf(third_, 38) - positionOf(third_, 37)));
  EXPECT_THAT(finding.found, HasSubstr("to the end of the file"));
  expectFound(FindingKind::CleanMarkerFalse, "/data/.kafka_cleanshutdown", std::nullopt);
}

TEST_F(DamageTest, afterAnUncleanStopATornTailIsNoLoss) {
  ASSERT_TRUE(process_->files().remove("/data/.kafka_cleanshutdown"));
  const ByteVector log = bytes(file(third_, ".log"));
  ByteVector torn = log;
  torn.insert(torn.end(), log.begin(), log.begin() + 70);
  write(file(third_, ".log"), torn);
  expectFound(FindingKind::LogTorn, file(third_, ".log"), log.size(), Severity::Warning);
}

TEST_F(DamageTest, zerosBehindTheLastBatchAreToldAsSuch) {
  ByteVector log = bytes(file(third_, ".log"));
  const uint64_t size = log.size();
  log.resize(size + 4096);
  write(file(third_, ".log"), log);
  expectFound(FindingKind::TrailingZeros, file(third_, ".log"), size);
}

TEST_F(DamageTest, aBatchThatIsThereTwiceIsFound) {
  ByteVector log = bytes(file(third_, ".log"));
  const uint64_t size = log.size();
  const uint64_t last = positionOf(third_, 39);
  log.insert(log.end(), log.begin() + static_cast<ptrdiff_t>(last), log.end());
  write(file(third_, ".log"), log);
  EXPECT_THAT(expectFound(FindingKind::BatchOffsetsBad, file(third_, ".log"), size).found, HasSubstr("there already"));
}

// --- .index ---
TEST_F(DamageTest, anIndexEntryWithAnotherByteIsFalse) {
  const auto entry = view()->offsetIndex(Offset(kSecond), 2, 1)->entries[0];
  poke<int32_t>(file(kSecond, ".index"), 2 * 8 + 4, static_cast<int32_t>(entry.position + 1));
  const Finding finding = expectFound(FindingKind::IndexEntryFalse, file(kSecond, ".index"), 2 * 8);
  EXPECT_EQ(finding.length, 8u);
  EXPECT_EQ(finding.bytes.size(), 8u);
}

TEST_F(DamageTest, anIndexEntryWithAnotherOffsetIsFalse) {
  const auto entry = view()->offsetIndex(Offset(kSecond), 3, 1)->entries[0];
  poke<int32_t>(file(kSecond, ".index"), 3 * 8, static_cast<int32_t>(entry.offset - Offset(kSecond)) + 1);
  EXPECT_THAT(expectFound(FindingKind::IndexEntryFalse, file(kSecond, ".index"), 3 * 8).expected,
              HasSubstr(fmt::format("offset {}", entry.offset)));
}

TEST_F(DamageTest, entriesThatDoNotRiseAreFound) {
  const ByteVector index = bytes(file(kSecond, ".index"));
  ByteVector swapped = index;
  std::swap_ranges(swapped.begin() + 8, swapped.begin() + 16, swapped.begin() + 16);
  write(file(kSecond, ".index"), swapped);
  expectFound(FindingKind::IndexNotRising, file(kSecond, ".index"), 2 * 8);
}

TEST_F(DamageTest, anIndexOfAnOddSizeIsFound) {
  ByteVector index = bytes(file(kSecond, ".index"));
  index.resize(index.size() - 3);
  write(file(kSecond, ".index"), index);
  expectFound(FindingKind::IndexSizeOdd, file(kSecond, ".index"), index.size() / 8 * 8, Severity::Warning);
}

TEST_F(DamageTest, anIndexThatIsMissingIsFound) {
  ASSERT_TRUE(process_->files().remove(file(kSecond, ".index")));
  expectFound(FindingKind::IndexMissing, file(kSecond, ".index"), std::nullopt, Severity::Warning);
}

TEST_F(DamageTest, anIndexThatEndsEarlyIsFound) {
  ByteVector index = bytes(file(kSecond, ".index"));
  index.resize(16);
  write(file(kSecond, ".index"), index);
  expectFound(FindingKind::IndexNotAsRebuilt, file(kSecond, ".index"), std::nullopt, Severity::Warning);
}

TEST_F(DamageTest, theIndexOfAnotherSegmentIsFalse) {
  const ByteVector first = bytes(file(0, ".index"));
  ByteVector other = bytes(file(kSecond, ".index"));
  write(file(0, ".index"), other);
  write(file(kSecond, ".index"), first);
  const auto findings = verified();
  EXPECT_TRUE(std::ranges::any_of(findings, [](const Finding& finding) {
    return finding.kind == FindingKind::IndexEntryFalse || finding.kind == FindingKind::IndexNotAsRebuilt;
  })) << textOf(findings);
}

TEST_F(DamageTest, aStartBehindALargeBatchIsNoDamageOfTheIndex) {
  epoch_ = LeaderEpoch(3);
  openLog();
  append({.valueSize = 20'000, .firstTimestampMs = nextTimestampMs_});
  closeLog();
  // Whoever starts counts the bytes since the last entry from there on.
  openLog();
  appendMany(10);
  closeLog();
  for (const Finding& finding : verified()) {
    if (finding.kind == FindingKind::IndexNotAsRebuilt) {
      EXPECT_EQ(finding.severity, Severity::Note) << findingText(finding);
    }
  }
}

// --- .timeindex ---
TEST_F(DamageTest, aTimeIndexEntryWithAnotherTimeIsFalse) {
  const auto entry = view()->timeIndex(Offset(kSecond), 4, 1)->entries[0];
  poke<int64_t>(file(kSecond, ".timeindex"), 4 * 12, entry.timestampMs - 1);
  expectFound(FindingKind::IndexEntryFalse, file(kSecond, ".timeindex"), 4 * 12);
}

TEST_F(DamageTest, aClosedTimeIndexWithoutItsLastEntryIsFalse) {
  ByteVector index = bytes(file(kSecond, ".timeindex"));
  index.resize(index.size() - 12);
  write(file(kSecond, ".timeindex"), index);
  EXPECT_THAT(expectFound(FindingKind::IndexEntryFalse, file(kSecond, ".timeindex"), index.size()).expected,
              HasSubstr("the segment's largest"));
}

// --- transactions and producers ---
TEST_F(DamageTest, anAbortedTransactionThatTheIndexLacksIsFound) {
  ByteVector index = bytes(file(kSecond, ".txnindex"));
  ASSERT_EQ(index.size(), 2u * 34);
  index.resize(34);
  write(file(kSecond, ".txnindex"), index);
  EXPECT_THAT(expectFound(FindingKind::AbortedIndexBad, file(kSecond, ".txnindex"), std::nullopt).found,
              HasSubstr("no such entry"));
  ASSERT_TRUE(process_->files().remove(file(kSecond, ".txnindex")));
  expectFound(FindingKind::AbortedIndexBad, file(kSecond, ".txnindex"), std::nullopt);
}

TEST_F(DamageTest, abortedTransactionsComeByThePage) {
  const auto page = view()->abortedIndex(Offset(kSecond), 1, 10);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->total, 2u);
  ASSERT_EQ(page->entries.size(), 1u);
  EXPECT_EQ(page->entries[0].producerId, ProducerId(7));
  EXPECT_GT(page->entries[0].lastOffset, page->entries[0].firstOffset);
}

TEST_F(DamageTest, anAbortedTransactionThatWasNoneIsFound) {
  poke<int64_t>(file(kSecond, ".txnindex"), 34 + 2, 8);
  expectFound(FindingKind::AbortedIndexBad, file(kSecond, ".txnindex"), 34);
}

TEST_F(DamageTest, aProducerSnapshotIsDamagedOrFalse) {
  const std::string path = file(third_, ".snapshot");
  const ByteVector sound = bytes(path);
  ASSERT_GE(sound.size(), 56u);
  flip(path, 20);
  expectFound(FindingKind::SnapshotDamaged, path, 0, Severity::Warning);
  // Another last sequence, with a checksum that fits.
  ByteVector wrong = sound;
  writeBigEndian<int32_t>(wrong.data() + 10 + 10, 55);
  writeBigEndian<uint32_t>(wrong.data() + 2, crc32c(ByteView(wrong).subspan(6)));
  write(path, wrong);
  expectFound(FindingKind::SnapshotFalse, path, 10);
  write(path, sound);
  write(file(end_.value() + 50, ".snapshot"), sound);
  expectFound(FindingKind::SnapshotBeyondEnd, file(end_.value() + 50, ".snapshot"), std::nullopt, Severity::Warning);
}

// --- segments ---
TEST_F(DamageTest, aSegmentThatIsMissingLeavesAGap) {
  for (const char* suffix : {".log", ".index", ".timeindex", ".txnindex"})
    ASSERT_TRUE(process_->files().remove(file(kSecond, suffix)));
  expectFound(FindingKind::SegmentGap, file(third_, ".log"), std::nullopt, Severity::Warning);
}

TEST_F(DamageTest, aLogUnderAnotherNameIsFound) {
  const ByteVector first = bytes(file(0, ".log"));
  const ByteVector second = bytes(file(kSecond, ".log"));
  write(file(0, ".log"), second);
  write(file(kSecond, ".log"), first);
  expectFound(FindingKind::BatchOffsetsBad, file(kSecond, ".log"), 0);
}

TEST_F(DamageTest, anIndexWithoutItsLogIsFound) {
  write(file(500, ".index"), {});
  expectFound(FindingKind::SegmentWithoutLog, file(500, ".index"), std::nullopt, Severity::Warning);
}

TEST_F(DamageTest, whatAnInterruptedChangeLeftIsFound) {
  write(file(kSecond, ".log.swap"), bytes(file(kSecond, ".log")));
  EXPECT_THAT(expectFound(FindingKind::LeftOver, file(kSecond, ".log.swap"), std::nullopt, Severity::Warning).advice,
              HasSubstr("puts it into its place"));
}

TEST_F(DamageTest, whatTheCleanerHadNotFinishedIsNoDamage) {
  write(file(kSecond, ".log.cleaned"), bytes(file(kSecond, ".log")));
  EXPECT_THAT(expectFound(FindingKind::LeftOver, file(kSecond, ".log.cleaned"), std::nullopt, Severity::Note).advice,
              HasSubstr("removes it"));
}

// --- leader epochs ---
TEST_F(DamageTest, aLeaderEpochFileThatLiesIsFound) {
  const std::string path = "/data/orders-0/leader-epoch-checkpoint";
  writeText(path, fmt::format("0\n2\n0 0\n3 {}\n", third_ - 2));
  EXPECT_THAT(expectFound(FindingKind::EpochFileFalse, path, std::nullopt).expected,
              HasSubstr(fmt::format("epoch 3 from offset {} on", third_)));
  writeText(path, "0\n1\n0 0\n");
  EXPECT_THAT(expectFound(FindingKind::EpochFileFalse, path, std::nullopt).expected, HasSubstr("epoch 3"));
  writeText(path, "0\n2\n0 0\n");
  expectFound(FindingKind::EpochFileDamaged, path, 0, Severity::Warning);
  ASSERT_TRUE(process_->files().remove(path));
  expectFound(FindingKind::EpochFileDamaged, path, std::nullopt, Severity::Warning);
}

TEST_F(DamageTest, leaderEpochsThatWereCutBeforeABrokerWasKilledAreNoLie) {
  const std::string path = "/data/orders-0/leader-epoch-checkpoint";
  const auto lies = [&] {
    return std::ranges::any_of(verified(),
                               [](const Finding& each) { return each.kind == FindingKind::EpochFileFalse; });
  };
  // The log was to begin inside the second segment, or at the third: the old segments and the log start are as before.
  const std::vector<std::string> cut{fmt::format("0\n2\n0 {}\n3 {}\n", kSecond + 2, third_),
                                     fmt::format("0\n1\n3 {}\n", third_ + 4)};
  for (const std::string& text : cut) {
    writeText(path, text);
    EXPECT_TRUE(lies()) << "a clean stop writes the log start: " << text;
  }
  ASSERT_TRUE(process_->files().remove("/data/.kafka_cleanshutdown"));
  for (const std::string& text : cut) {
    writeText(path, text);
    EXPECT_FALSE(lies()) << text;
  }
  for (const std::string& text : {fmt::format("0\n2\n0 0\n3 {}\n", third_ - 2), std::string("0\n1\n0 0\n"),
                                  fmt::format("0\n1\n2 {}\n", third_)}) {
    writeText(path, text);
    EXPECT_TRUE(lies()) << text;
  }
}

// --- the directory's files ---
TEST_F(DamageTest, checkpointsThatLieAreFound) {
  const std::string recovery = "/data/recovery-point-offset-checkpoint";
  writeText(recovery, fmt::format("0\n1\norders 0 {}\n", end_ + 1));
  expectFound(FindingKind::CheckpointFalse, recovery, std::nullopt);
  writeText(recovery, fmt::format("0\n1\norders 0 {}\n", end_ - 1));
  expectFound(FindingKind::CleanMarkerFalse, "/data/.kafka_cleanshutdown", std::nullopt);
  writeText(recovery, "0\n2\norders 0 5\n");
  expectFound(FindingKind::CheckpointDamaged, recovery, 0, Severity::Warning);
  writeText(recovery, fmt::format("0\n2\norders 0 {}\nothers 3 7\n", end_));
  expectFound(FindingKind::CheckpointStale, recovery, std::nullopt, Severity::Note);
}

TEST_F(DamageTest, metaPropertiesAndMarkerAreRead) {
  writeText("/data/meta.properties", "version=7\n");
  expectFound(FindingKind::MetaPropertiesBad, "/data/meta.properties", 0);
  ASSERT_TRUE(process_->files().remove("/data/meta.properties"));
  expectFound(FindingKind::MetaPropertiesMissing, "/data/meta.properties", std::nullopt);
  writeText("/data/.kafka_cleanshutdown", "nothing");
  expectFound(FindingKind::CleanMarkerBad, "/data/.kafka_cleanshutdown", 0, Severity::Warning);
}

TEST_F(DamageTest, aTopicIdThatItsOtherPartitionsDoNotHaveIsFound) {
  ASSERT_TRUE(process_->files().createDirectories("/data/orders-1"));
  writeText("/data/orders-1/partition.metadata", "version: 0\ntopic_id: AAAAAAAAQACAAAAAAAAAAg");
  expectFound(FindingKind::PartitionFileDamaged, "/data/orders-1/partition.metadata", std::nullopt);
  writeText("/data/orders-1/partition.metadata", "version: 1\n");
  expectFound(FindingKind::PartitionFileDamaged, "/data/orders-1/partition.metadata", 0, Severity::Warning);
}

TEST_F(DamageTest, aFolderOfAFilesNameIsFound) {
  for (const std::string& path :
       {std::string("/data/orders-0/partition.metadata"), file(third_, ".index"),
        std::string("/data/orders-0/leader-epoch-checkpoint"), std::string("/data/log-start-offset-checkpoint"),
        std::string("/data/recovery-point-offset-checkpoint.tmp"), std::string("/data/.kafka_cleanshutdown")}) {
    SCOPED_TRACE(path);
    if (process_->files().exists(path)) {
      ASSERT_TRUE(process_->files().remove(path));
    }
    ASSERT_TRUE(process_->files().createDirectories(path));
    expectFound(FindingKind::WrongType, path, std::nullopt);
  }
}

TEST_F(DamageTest, aFileOfAPartitionsNameIsFound) {
  writeText("/data/__cluster_metadata-0", "");
  expectFound(FindingKind::WrongType, "/data/__cluster_metadata-0", std::nullopt);
}

TEST_F(DamageTest, aVoteThatNoNodeWouldReadIsFound) {
  ASSERT_TRUE(process_->files().createDirectories("/data/__cluster_metadata-0"));
  const std::string path = "/data/__cluster_metadata-0/quorum-state";
  writeText(
      path,
      R"({"leaderId":1,"leaderEpoch":3,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1})");
  EXPECT_THAT(textOf(verified()), testing::Not(HasSubstr("quorum-state")));
  writeText(path, R"({"leaderId":1,"leaderEpoch":3,"votedId":-1,"data_version":7})");
  expectFound(FindingKind::CheckpointDamaged, path, 0);
}

TEST_F(DamageTest, aMetadataRecordThatNoNodeKnowsIsFound) {
  ASSERT_TRUE(process_->files().createDirectories("/data/__cluster_metadata-0"));
  records::BatchBuilder builder({.leaderEpoch = LeaderEpoch(1)});
  const ByteVector record = {1, 0xf4, 0x03, 0};  // frame 1, type 500, version 0
  builder.append(nextTimestampMs_, std::nullopt, ByteView(record));
  const std::string path = "/data/__cluster_metadata-0/00000000000000000000.log";
  write(path, builder.build());
  EXPECT_THAT(expectFound(FindingKind::BatchRecordsBad, path, 0).found, HasSubstr("500"));
}

TEST_F(DamageTest, namesThatAreNobodysAreFound) {
  ASSERT_TRUE(process_->files().createDirectories("/data/backup"));
  expectFound(FindingKind::NameUnknown, "/data/backup", std::nullopt, Severity::Warning);
}

TEST_F(DamageTest, aDirectoryThatABrokerHasIsToldToBe) {
  const auto other = world_.createProcess("broker");
  write("/data/.lock", {});
  const auto lock = process_->files().lock("/data/.lock");
  ASSERT_TRUE(lock);
  expectFound(FindingKind::InUse, "/data/.lock", std::nullopt, Severity::Note);

  // What it is about to make is not missed, what it should have is.
  ASSERT_TRUE(process_->files().remove(file(third_, ".index")));
  expectFound(FindingKind::IndexMissing, file(third_, ".index"), std::nullopt, Severity::Note);
  ASSERT_TRUE(process_->files().remove(file(kSecond, ".index")));
  expectFound(FindingKind::IndexMissing, file(kSecond, ".index"), std::nullopt, Severity::Warning);
}

}  // namespace
}  // namespace tidemark::inspect
