#include "inspect/repair.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <map>

#include "disk_contents.h"
#include "golden_case.h"
#include "inspect/dump_printer.h"
#include "inspect/repair_copies.h"
#include "inspect_fixture.h"
#include "log/checkpoints.h"
#include "log/file_names.h"

namespace tidemark::inspect {
namespace {

using testing::HasSubstr;

/// A directory with what a broker leaves after a clean stop.
class RepairTest : public InspectFixture {
 protected:
  void SetUp() override {
    options_.config.indexIntervalBytes = 4096;
    openLog();
    for (int segment = 0; segment < 3; ++segment) {
      appendMany(60);
      if (segment == 2) break;
      ASSERT_TRUE(log_->roll());
    }
    append({.firstTimestampMs = nextTimestampMs_,
            .producer = ProducerId(7),
            .producerEpoch = ProducerEpoch(0),
            .baseSequence = 0,
            .transactional = true});
    endTransaction(ProducerId(7), ProducerEpoch(0), false);
    end_ = log_->logEndOffset();
    closeLog();
    write("/data/meta.properties",
          asBytes("version=1\ncluster.id=AAAAAAAAQACAAAAAAAAAAQ\nnode.id=1\ndirectory.id=AAAAAAAAQACAAAAAAAAAEQ\n"));
    write("/data/.kafka_cleanshutdown", asBytes(R"({"version":0,"brokerEpoch":18})"));
    for (const char* name : {"recovery-point", "replication"})
      write(fmt::format("/data/{}-offset-checkpoint", name), asBytes(fmt::format("0\n1\norders 0 {}\n", end_)));
  }

  std::map<std::string, ByteVector> everything() { return contentsOf(process_->files(), "/data"); }
  RepairSummary repaired(bool apply) {
    steps_.clear();
    const auto summary =
        repair(*process_, {"/data"}, {.apply = apply}, [this](const RepairStep& step) { steps_.push_back(step); });
    EXPECT_TRUE(summary) << (summary ? "" : summary.error().message);
    return summary ? *summary : RepairSummary();
  }
  /// Nothing is touched without being asked; then it is, and all is good.
  void expectRepairable(RepairStep::Kind kind) {
    const auto before = everything();
    const RepairSummary planned = repaired(false);
    EXPECT_GT(planned.steps, 0);
    EXPECT_EQ(planned.impossible, 0);
    EXPECT_TRUE(std::ranges::any_of(steps_, [kind](const RepairStep& step) { return step.kind == kind; }))
        << repairStepName(kind);
    EXPECT_EQ(everything(), before);

    const RepairSummary done = repaired(true);
    EXPECT_EQ(done.steps, planned.steps);
    ASSERT_TRUE(done.after);
    std::string left;
    EXPECT_TRUE(verify(*process_, {"/data"}, {}, [&left](const Finding& finding) {
      if (finding.severity != Severity::Note) left += findingText(finding) + "\n";
    }));
    EXPECT_EQ(left, "");
    // Whatever changed or went has a copy as it was.
    ASSERT_EQ(done.copies.size(), 1u);
    const auto after = everything();
    for (const auto& [path, contents] : before) {
      const auto now = after.find(path);
      if (now != after.end() && now->second == contents) continue;
      const std::string copy = done.copies[0] + path.substr(std::string("/data").size());
      EXPECT_EQ(bytes(copy), contents) << copy;
    }
    EXPECT_EQ(repaired(false).steps, 0);
  }

  Offset end_;
  std::vector<RepairStep> steps_;
};

TEST_F(RepairTest, whatIsGoodIsLeftAlone) {
  const auto before = everything();
  EXPECT_EQ(repaired(true).steps, 0);
  EXPECT_EQ(everything(), before);
}

TEST_F(RepairTest, aDamagedBatchIsCutOffWithAllThatFollows) {
  const uint64_t at = view()->batches(Offset(120), 0, 100)->batches[30].position;
  flip(file(120, ".log"), at + 80);
  expectRepairable(RepairStep::Kind::CutLog);
  EXPECT_EQ(view()->bounds().logEndOffset.offset, Offset(180));
  EXPECT_EQ(view()->segments().size(), 2u);
  EXPECT_THAT(std::string(asText(bytes("/data/replication-offset-checkpoint"))), HasSubstr("orders 0 180"));
}

TEST_F(RepairTest, whatACutCostsIsToldInRecordsBeforeItIsDone) {
  const uint64_t at = view()->batches(Offset(120), 0, 100)->batches[30].position;
  flip(file(120, ".log"), at + 80);
  repaired(false);
  const auto cut = std::ranges::find(steps_, RepairStep::Kind::CutLog, &RepairStep::kind);
  ASSERT_NE(cut, steps_.end());
  EXPECT_EQ(cut->path, file(120, ".log"));
  const uint64_t behind = bytes(file(240, ".log")).size();
  // The marker of the transaction has an offset, and is no record of anybody's.
  EXPECT_EQ(cut->what,
            fmt::format("at byte {}: {} bytes go with the {} records of them that can be told, offsets 180 to {}, "
                        "1 later segment among them",
                        at, bytes(file(120, ".log")).size() - at + behind, end_ - Offset(180) - 1, end_ - 1));
}

/// Its records are lost; that the log goes on behind a gap is told for good, and everything else is put right once.
TEST_F(RepairTest, aSegmentInTheMiddleThatWasEmptiedSettles) {
  openLog();
  append({.firstTimestampMs = nextTimestampMs_,
          .producer = ProducerId(8),
          .producerEpoch = ProducerEpoch(0),
          .baseSequence = 0,
          .transactional = true});
  endTransaction(ProducerId(8), ProducerEpoch(0), false);
  ASSERT_TRUE(log_->roll());
  appendMany(3);
  end_ = log_->logEndOffset();
  closeLog();
  for (const char* name : {"recovery-point", "replication"})
    write(fmt::format("/data/{}-offset-checkpoint", name), asBytes(fmt::format("0\n1\norders 0 {}\n", end_)));
  ASSERT_EQ(repaired(false).steps, 0) << repairStepName(steps_[0].kind) << steps_[0].path << steps_[0].what;
  ASSERT_GT(bytes(file(240, ".txnindex")).size(), 0u);

  for (const int64_t base : {120, 240}) {
    write(file(base, ".log"), {});
    const RepairSummary first = repaired(true);
    std::string told;
    for (const RepairStep& step : steps_)
      told += fmt::format("{} {}: {}\n", repairStepName(step.kind), step.path, step.what);
    ASSERT_TRUE(first.after) << told;
    EXPECT_EQ(first.after->errors, 0) << told;
    EXPECT_EQ(first.impossible, base == 120 ? 1 : 2) << told;
    const auto before = everything();
    const RepairSummary second = repaired(true);
    told.clear();
    for (const RepairStep& step : steps_)
      told += fmt::format("{} {}: {}\n", repairStepName(step.kind), step.path, step.what);
    EXPECT_EQ(second.steps, second.impossible) << told;
    EXPECT_EQ(everything(), before);
    EXPECT_EQ(view()->bounds().logEndOffset.offset, end_);
  }
}

TEST_F(RepairTest, aTornTailIsCutOff) {
  ByteVector log = bytes(file(240, ".log"));
  log.resize(log.size() - 3);
  write(file(240, ".log"), log);
  expectRepairable(RepairStep::Kind::CutLog);
}

TEST_F(RepairTest, anIndexThatLiesIsBuiltAnew) {
  const ByteVector sound = bytes(file(120, ".index"));
  poke<int32_t>(file(120, ".index"), 4, 4711);
  expectRepairable(RepairStep::Kind::RebuildIndexes);
  EXPECT_EQ(bytes(file(120, ".index")), sound);
}

TEST_F(RepairTest, aTimeIndexThatIsMissingIsBuiltAnew) {
  const ByteVector sound = bytes(file(0, ".timeindex"));
  ASSERT_TRUE(process_->files().remove(file(0, ".timeindex")));
  expectRepairable(RepairStep::Kind::RebuildIndexes);
  EXPECT_EQ(bytes(file(0, ".timeindex")), sound);
}

TEST_F(RepairTest, aTransactionIndexThatIsMissingIsBuiltAnew) {
  const ByteVector sound = bytes(file(240, ".txnindex"));
  ASSERT_TRUE(process_->files().remove(file(240, ".txnindex")));
  expectRepairable(RepairStep::Kind::RebuildAborted);
  EXPECT_EQ(bytes(file(240, ".txnindex")), sound);
}

TEST_F(RepairTest, aProducerSnapshotThatIsDamagedGoes) {
  flip(file(end_.value(), ".snapshot"), 12);
  expectRepairable(RepairStep::Kind::RemoveSnapshot);
}

TEST_F(RepairTest, leaderEpochsAreBuiltAnew) {
  write("/data/orders-0/leader-epoch-checkpoint", asBytes("0\n1\n5 3\n"));
  expectRepairable(RepairStep::Kind::RebuildEpochs);
  EXPECT_EQ(asText(bytes("/data/orders-0/leader-epoch-checkpoint")), "0\n1\n0 0\n");
}

TEST_F(RepairTest, anInterruptedCompactionIsFinished) {
  ASSERT_TRUE(process_->files().rename(file(120, ".log"), file(120, ".log.swap")));
  for (const char* suffix : {".index", ".timeindex"})
    ASSERT_TRUE(process_->files().rename(file(120, suffix), file(120, suffix) + ".swap"));
  expectRepairable(RepairStep::Kind::FinishChange);
  EXPECT_EQ(view()->bounds().logEndOffset.offset, end_);
}

TEST_F(RepairTest, aCheckpointBehindTheLogsEndIsCorrected) {
  write("/data/replication-offset-checkpoint", asBytes("0\n1\norders 0 100000\n"));
  expectRepairable(RepairStep::Kind::CorrectCheckpoint);
  EXPECT_EQ(asText(bytes("/data/replication-offset-checkpoint")), fmt::format("0\n1\norders 0 {}\n", end_));
}

TEST_F(RepairTest, aMarkerThatLiesIsSetAside) {
  write("/data/recovery-point-offset-checkpoint", asBytes("0\n1\norders 0 3\n"));
  expectRepairable(RepairStep::Kind::SetAside);
  EXPECT_FALSE(process_->files().exists("/data/.kafka_cleanshutdown"));
}

/// The copies lie beside the log directory, which may be a file system of its own: nothing can be renamed out of it.
TEST_F(RepairTest, aFileIsSetAsideIntoAnotherFileSystem) {
  write("/data/recovery-point-offset-checkpoint", asBytes("0\n1\norders 0 3\n"));
  int refused = 0;
  process_->disk().failWhen([&refused](platform::FileCall call, const std::string& path) {
    const bool across = call == platform::FileCall::Rename && path == "/data/.kafka_cleanshutdown";
    refused += across ? 1 : 0;
    return across;
  });
  expectRepairable(RepairStep::Kind::SetAside);
  EXPECT_EQ(refused, 1);
  EXPECT_FALSE(process_->files().exists("/data/.kafka_cleanshutdown"));
}

TEST_F(RepairTest, aFolderStaysWhereItIsIfTheCopiesAreOnAnotherFileSystemAndTheRestIsRepaired) {
  ASSERT_TRUE(process_->files().remove("/data/.kafka_cleanshutdown"));
  ASSERT_TRUE(process_->files().createDirectories("/data/.kafka_cleanshutdown"));
  write("/data/.kafka_cleanshutdown/note", asBytes("mine"));
  write("/data/replication-offset-checkpoint", asBytes("0\n1\norders 0 100000\n"));
  process_->disk().failWhen([](platform::FileCall call, const std::string& path) {
    return call == platform::FileCall::Rename && path == "/data/.kafka_cleanshutdown";
  });
  const RepairSummary done = repaired(true);
  EXPECT_EQ(done.impossible, 1);
  EXPECT_TRUE(std::ranges::any_of(steps_, [](const RepairStep& step) {
    return step.kind == RepairStep::Kind::Impossible && step.path == "/data/.kafka_cleanshutdown";
  }));
  EXPECT_EQ(asText(bytes("/data/.kafka_cleanshutdown/note")), "mine");
  EXPECT_EQ(asText(bytes("/data/replication-offset-checkpoint")), fmt::format("0\n1\norders 0 {}\n", end_));
}

TEST_F(RepairTest, whatIsNotOursIsToldAndLeft) {
  ASSERT_TRUE(process_->files().createDirectories("/data/backup"));
  write("/data/backup/key", asBytes("mine"));
  const auto before = everything();
  const RepairSummary summary = repaired(true);
  EXPECT_EQ(summary.impossible, 1);
  EXPECT_EQ(everything(), before);
}

TEST_F(RepairTest, aFolderThatIsNoLogDirectoryIsNotTouched) {
  ASSERT_TRUE(process_->files().createDirectories("/data/backup"));
  write("/data/backup/key", asBytes("mine"));
  for (const bool gone : {false, true}) {
    if (gone) {
      ASSERT_TRUE(process_->files().remove("/data/meta.properties"));
    } else {
      write("/data/meta.properties", asBytes("version=9\n"));
    }
    const auto before = everything();
    const auto refused = repair(*process_, {"/data"}, {.apply = true, .indexIntervalBytes = {}, .progress = {}},
                                [](const RepairStep&) {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidRequest);
    EXPECT_THAT(refused.error().message, HasSubstr("meta.properties"));
    EXPECT_EQ(everything(), before);
  }
}

TEST_F(RepairTest, aDirectoryThatABrokerHasIsRefused) {
  const auto lock = process_->files().lock("/data/.lock");
  flip(file(120, ".log"), 100);
  for (const bool apply : {false, true}) {
    const auto summary = repair(*process_, {"/data"}, {.apply = apply}, [](const RepairStep&) {});
    ASSERT_FALSE(summary);
    EXPECT_THAT(summary.error().message, testing::AnyOf(HasSubstr("a broker runs"), HasSubstr("locked")));
  }
}

TEST_F(RepairTest, aFolderInPlaceOfAnIndexIsSetAsideAndTheRestIsRepaired) {
  for (const char* suffix : {".index", ".txnindex"}) {
    ASSERT_TRUE(process_->files().remove(file(240, suffix)));
    ASSERT_TRUE(process_->files().createDirectories(file(240, suffix)));
  }
  ASSERT_TRUE(process_->files().remove("/data/orders-0/leader-epoch-checkpoint"));
  ASSERT_TRUE(process_->files().createDirectories("/data/orders-0/leader-epoch-checkpoint"));
  poke<int32_t>(file(0, ".index"), 4, 4711);
  expectRepairable(RepairStep::Kind::SetAside);
  EXPECT_EQ(asText(bytes("/data/orders-0/leader-epoch-checkpoint")), "0\n1\n0 0\n");
}

TEST_F(RepairTest, oneFolderThatCannotBeRepairedDoesNotKeepOthersFromIt) {
  flip(file(120, ".log"), 100);
  ASSERT_TRUE(process_->files().createDirectories("/data/elsewhere-0"));
  write("/data/elsewhere-0/00000000000000000000.log", bytes(file(0, ".log")));
  process_->disk().failWhen([](platform::FileCall call, const std::string& path) {
    return call == platform::FileCall::Write && path.find("elsewhere-0") != std::string::npos;
  });
  const RepairSummary done = repaired(true);
  EXPECT_EQ(done.impossible, 1);
  EXPECT_TRUE(std::ranges::any_of(steps_, [](const RepairStep& step) {
    return step.kind == RepairStep::Kind::Impossible && step.path == "/data/elsewhere-0";
  }));
  EXPECT_EQ(view()->bounds().logEndOffset.offset, Offset(120));
}

TEST_F(RepairTest, whereTheLogStartIsNotKnownNothingIsMadeFromIt) {
  // Deleted up to 30, as the files of a broker tell it.
  write("/data/orders-0/leader-epoch-checkpoint", asBytes("0\n1\n0 30\n"));
  write("/data/log-start-offset-checkpoint", asBytes("0\n1\norders 0 30\n"));
  EXPECT_EQ(repaired(true).steps, 0);
  write("/data/log-start-offset-checkpoint", asBytes("0\n1\norders 0 x\n"));
  auto before = everything();
  EXPECT_EQ(repaired(true).impossible, 1);
  EXPECT_EQ(steps_.size(), 1u) << "only that the checkpoint cannot be read";
  EXPECT_EQ(everything(), before);
  // Recovery would begin at the first batch.
  poke<int32_t>(file(0, ".index"), 4, 4711);
  before = everything();
  EXPECT_EQ(repaired(true).impossible, 2);
  EXPECT_THAT(steps_.back().what + steps_.front().what, HasSubstr("where its log starts is not known"));
  EXPECT_EQ(everything(), before);
}

TEST_F(RepairTest, whatTheCleanersCheckpointMightHaveSaidIsNotHeldAgainstALog) {
  // Compaction took a middle segment whole.
  for (const char* suffix : {".log", ".index", ".timeindex"}) ASSERT_TRUE(process_->files().remove(file(120, suffix)));
  write("/data/cleaner-offset-checkpoint", asBytes("0\n1\norders 0 240\n"));
  EXPECT_EQ(repaired(false).steps, 0);
  write("/data/cleaner-offset-checkpoint", asBytes("0\n7\norders 0 240\n"));
  repaired(false);
  ASSERT_EQ(steps_.size(), 1u);
  EXPECT_EQ(steps_[0].path, "/data/cleaner-offset-checkpoint");
  EXPECT_EQ(steps_[0].kind, RepairStep::Kind::SetAside);
  // Once it is gone the gap is told, and nothing made from it.
  repaired(true);
  const auto before = everything();
  EXPECT_EQ(repaired(true).impossible, 1);
  ASSERT_EQ(steps_.size(), 1u);
  EXPECT_EQ(steps_[0].path, file(240, ".log"));
  EXPECT_EQ(everything(), before);
}

/// Compaction keeps the last batch of a producer without its records, and takes others whole.
TEST_F(RepairTest, batchesThatAreMissingInsideASegmentAreTakenForCompactedEvenWithoutTheCleanersCheckpoint) {
  openLog();
  for (int i = 0; i < 3; ++i)
    append({.firstTimestampMs = nextTimestampMs_,
            .producer = ProducerId(9),
            .producerEpoch = ProducerEpoch(0),
            .baseSequence = i * 2});
  ASSERT_TRUE(log_->roll());
  appendMany(3);
  end_ = log_->logEndOffset();
  closeLog();
  for (const char* name : {"recovery-point", "replication"})
    write(fmt::format("/data/{}-offset-checkpoint", name), asBytes(fmt::format("0\n1\norders 0 {}\n", end_)));
  EXPECT_EQ(repaired(false).steps, 0);
  // The batches of that producer, which are the last of the third segment.
  const auto page = view()->batches(Offset(240), 0, 1000);
  ASSERT_GT(page->batches.size(), 3u);
  ByteVector log = bytes(file(240, ".log"));
  log.resize(page->batches[page->batches.size() - 3].position);
  // And one in the middle, with all that the indexes say.
  log.erase(log.begin() + static_cast<ptrdiff_t>(page->batches[5].position),
            log.begin() + static_cast<ptrdiff_t>(page->batches[6].position));
  write(file(240, ".log"), log);
  std::string found;
  EXPECT_TRUE(verify(*process_, {"/data"}, {}, [&found](const Finding& finding) {
    if (finding.kind == FindingKind::SnapshotFalse || finding.kind == FindingKind::SegmentGap)
      found += findingText(finding) + "\n";
  }));
  EXPECT_EQ(found, "");
}

TEST_F(RepairTest, aSnapshotOfTheMetadataThatWasNotFinishedGoes) {
  ASSERT_TRUE(process_->files().createDirectories("/data/__cluster_metadata-0"));
  for (const char* name : {"00000000000000000000.log", "00000000000000000000.index", "00000000000000000000.timeindex"})
    write(std::string("/data/__cluster_metadata-0/") + name, {});
  write("/data/__cluster_metadata-0/00000000000000000007-0000000001.checkpoint.part", asBytes("half"));
  expectRepairable(RepairStep::Kind::FinishChange);
}

/// On a real disk, which knows of holes.
TEST(RepairCopiesTest, holesOfAFileAreHolesInItsCopy) {
  GoldenCase golden("single-formatted");
  const std::filesystem::path data = golden.folder() / "data" / golden.directories()[0];
  const std::string path = data / "sparse";
  constexpr uint64_t kSize = 64 << 20;
  platform::FileSystem& files = golden.process().files();
  ByteVector block(10'000, 7);
  {
    const auto file = files.open(path, platform::OpenMode::Create);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->writeAt(3, ByteView(block)));
    ASSERT_TRUE((*file)->writeAt(kSize / 2, ByteView(block)));
    ASSERT_TRUE((*file)->truncate(kSize));
  }
  RepairCopies copies(files, 0);
  copies.enter(data);
  ASSERT_TRUE(copies.copy(path));
  ASSERT_EQ(copies.folders().size(), 1u);
  const std::string copy = copies.folders()[0] + "/sparse";
  EXPECT_EQ(files.readFile(copy, kSize).value(), files.readFile(path, kSize).value());
  struct stat status = {};
  ASSERT_EQ(::stat(copy.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, static_cast<off_t>(kSize));
  EXPECT_LT(status.st_blocks * 512, 200'000);
}

}  // namespace
}  // namespace tidemark::inspect
