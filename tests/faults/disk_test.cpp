// What faults of disks do to files, on real ones and on simulated ones.
#include <gmock/gmock.h>

#include "faults/fault_json.h"
#include "faults/faulty_process.h"
#include "platform/harness.h"

namespace tidemark::faults {
namespace {

using platform::OpenMode;
using testing::HasSubstr;

class DiskTest : public testing::TestWithParam<platform::Kind> {
 protected:
  ~DiskTest() override {
    process_->kill("the test ends");
    process_->awaitStopped();
  }
  int set(std::string_view json) {
    Fault fault = parseFault(json).value();
    const int id = book_->add(std::move(fault), MonotonicTime{});
    book_->begin(id, {.node = NodeId(1), .client = {}, .links = {}}, MonotonicTime{});
    return id;
  }
  void heal(int id) { EXPECT_TRUE(book_->end(id, Ending::Healed)); }
  std::string path(const std::string& name) { return folder_ + "/" + name; }
  std::shared_ptr<platform::File> open(const std::string& name, OpenMode mode = OpenMode::Create) {
    auto file = process_->files().open(path(name), mode);
    EXPECT_TRUE(file) << file.error().message;
    return *std::move(file);
  }
  static std::string read(const platform::File& file) {
    ByteVector bytes(10'000);
    const auto count = file.readAt(0, bytes);
    EXPECT_TRUE(count) << count.error().message;
    return std::string(asText(ByteView(bytes).first(count.value_or(0))));
  }
  template <class T>
  static std::string wrongWith(const Result<T>& result) {
    return result ? "" : result.error().message;
  }
  uint64_t syncedOf(const std::string& name) {
    for (const UnsyncedFile& each : process_->unsyncedFiles())
      if (each.path == path(name)) return each.synced;
    return UINT64_MAX;
  }

  const std::unique_ptr<platform::Harness> harness_ = platform::makeHarness(GetParam());
  const std::shared_ptr<FaultBook> book_ = std::make_shared<FaultBook>([](const events::Payload&) {});
  const std::shared_ptr<FaultyProcess> process_ =
      std::make_shared<FaultyProcess>(harness_->createProcess("broker-1"), book_, NodeId(1));
  const std::shared_ptr<platform::Executor> executor_ = process_->createExecutor({.name = "background"});
  const std::string folder_ = harness_->folder();
};

TEST_P(DiskTest, AnErrorNamesTheCallAndThePathAndHasNoEffect) {
  const auto file = open("00.log");
  ASSERT_TRUE(file->writeAt(0, asBytes("before")));
  const int write = set(R"({"kind":"disk-error","target":"broker 1","calls":"write","path":"*.log"})");
  EXPECT_EQ(wrongWith(file->writeAt(6, asBytes("after"))),
            "write 5 bytes at 6 of " + path("00.log") + ": Input/output error");
  EXPECT_EQ(file->writeAt(6, asBytes("after")).error().code, ErrorCode::KafkaStorageError);
  EXPECT_THAT(wrongWith(file->truncate(0)), HasSubstr("truncate to 0"));
  EXPECT_EQ(read(*file), "before") << "it can be read";
  EXPECT_TRUE(open("00.index")->writeAt(0, asBytes("x"))) << "other files are well";
  heal(write);
  EXPECT_TRUE(file->writeAt(6, asBytes(" after")));
  EXPECT_EQ(read(*file), "before after");
  const int sync = set(R"({"kind":"disk-error","target":"broker 1","calls":"sync"})");
  EXPECT_THAT(wrongWith(file->sync()), HasSubstr("sync"));
  EXPECT_THAT(wrongWith(process_->files().syncDirectory(folder_)), HasSubstr("sync"));
  heal(sync);
  set(R"({"kind":"disk-error","target":"broker 1","calls":"read","trigger":{"nth":2}})");
  EXPECT_EQ(read(*file), "before after");
  ByteVector byte(1);
  EXPECT_THAT(wrongWith(file->readAt(0, byte)), HasSubstr("Input/output error"));
  EXPECT_TRUE(file->readAt(0, byte));
}

TEST_P(DiskTest, AFullDiskTakesNothingNew) {
  const auto file = open("00.log");
  ASSERT_TRUE(file->writeAt(0, asBytes("before")));
  const int full = set(R"({"kind":"full-disk","target":"broker 1"})");
  EXPECT_THAT(wrongWith(file->writeAt(6, asBytes("x"))), HasSubstr("No space left on device"));
  EXPECT_TRUE(file->writeAt(0, asBytes("BEFORE"))) << "what is there may be written over";
  EXPECT_THAT(wrongWith(process_->files().open(path("new"), OpenMode::CreateNew)),
              HasSubstr("No space left on device"));
  EXPECT_THAT(wrongWith(process_->files().createDirectories(path("directory"))), HasSubstr("No space left on device"));
  EXPECT_TRUE(file->sync());
  heal(full);
  EXPECT_TRUE(file->writeAt(6, asBytes("!")));
  EXPECT_EQ(read(*file), "BEFORE!");
}

TEST_P(DiskTest, ASlowDiskTakesItsTime) {
  const auto file = open("00.log");
  const int slow = set(R"({"kind":"slow-disk","target":"broker 1","delayMs":100,"calls":"sync"})");
  const auto timeOf = [&](const std::function<void()>& call) {
    // A task's time moves forward while it runs: it is over when what it posts arrives.
    const MonotonicTime begun = process_->clock().monotonic();
    MonotonicTime ended = begun;
    bool done = false;
    executor_->post([&] {
      call();
      executor_->post([&] {
        harness_->update([&] {
          ended = process_->clock().monotonic();
          done = true;
        });
      });
    });
    EXPECT_TRUE(harness_->await([&] { return done; }));
    return ended - begun;
  };
  EXPECT_GE(timeOf([&] { EXPECT_TRUE(file->sync()); }), milliseconds(100));
  heal(slow);
  const Duration healed = timeOf([&] { EXPECT_TRUE(file->sync()); });
  // A real disk may take as long of its own.
  if (GetParam() == platform::Kind::Simulated) {
    EXPECT_LT(healed, milliseconds(100));
  }
}

TEST_P(DiskTest, ATornWriteLeavesSectorsAndKillsTheBroker) {
  const auto file = open("00.log");
  ASSERT_TRUE(file->writeAt(0, asBytes("head")));
  set(R"({"kind":"torn-write","target":"broker 1","path":"*.log"})");
  EXPECT_TRUE(open("00.index")->writeAt(0, asBytes("x")));
  const std::string bytes(4000, 'x');
  EXPECT_THAT(wrongWith(file->writeAt(4, asBytes(bytes))), HasSubstr("process is dead"));
  EXPECT_EQ(process_->state(), platform::Process::State::Dead);
  const auto after = harness_->createProcess("look");
  const auto found = after->files().open(path("00.log"), OpenMode::Read);
  ASSERT_TRUE(found);
  // (4 + 2000) rounded down to 512.
  EXPECT_EQ((*found)->size(), 1536U);
  after->kill("done");
  after->awaitStopped();
}

TEST_P(DiskTest, ATornWriteWaitsUntilBytesAreWritten) {
  const int id = set(R"({"kind":"torn-write","target":"broker 1"})");
  const auto file = open("00.log", OpenMode::CreateNew);
  EXPECT_EQ(wrongWith(file->truncate(0)), "");
  EXPECT_EQ(wrongWith(file->writeAt(0, asBytes(""))), "");
  EXPECT_EQ(wrongWith(process_->files().rename(path("00.log"), path("01.log"))), "");
  EXPECT_EQ(wrongWith(process_->files().createDirectories(path("orders-0"))), "");
  EXPECT_EQ(wrongWith(process_->files().remove(path("01.log"))), "");
  const auto lists = book_->lists(MonotonicTime{});
  ASSERT_EQ(lists.set.size(), 1U);
  EXPECT_EQ(lists.set[0].fired, 0U);
  EXPECT_EQ(process_->state(), platform::Process::State::Running);
  EXPECT_THAT(wrongWith(file->writeAt(0, asBytes(std::string(2000, 'x')))), HasSubstr("process is dead"));
  EXPECT_FALSE(book_->end(id, Ending::Healed)) << "it is over";
}

TEST_P(DiskTest, TellsHowFarEachFileWasSynced) {
  const auto file = open("00.log");
  EXPECT_EQ(syncedOf("00.log"), 0U) << "a new file is nowhere yet";
  ASSERT_TRUE(file->writeAt(0, asBytes("four")));
  EXPECT_EQ(syncedOf("00.log"), 0U);
  ASSERT_TRUE(file->sync());
  ASSERT_TRUE(file->writeAt(4, asBytes("more")));
  EXPECT_EQ(syncedOf("00.log"), 4U);
  ASSERT_TRUE(file->truncate(2));
  EXPECT_EQ(syncedOf("00.log"), 2U) << "what was cut off is not there to come back";
  ASSERT_TRUE(process_->files().rename(path("00.log"), path("00.log.deleted")));
  EXPECT_EQ(syncedOf("00.log"), UINT64_MAX);
  EXPECT_EQ(syncedOf("00.log.deleted"), 2U);
  ASSERT_TRUE(process_->files().remove(path("00.log.deleted")));
  EXPECT_EQ(syncedOf("00.log.deleted"), UINT64_MAX);
  // What an earlier life left counts as synced, once the file is written.
  const auto before = harness_->createProcess("earlier");
  ASSERT_TRUE((*before->files().open(path("old"), OpenMode::Create))->writeAt(0, asBytes("12345")));
  before->kill("done");
  before->awaitStopped();
  const auto old = open("old", OpenMode::ReadWrite);
  EXPECT_EQ(syncedOf("old"), UINT64_MAX);
  ASSERT_TRUE(old->writeAt(5, asBytes("6")));
  EXPECT_EQ(syncedOf("old"), 5U);
  // A folder takes its files along.
  ASSERT_TRUE(process_->files().createDirectories(path("a-0")));
  ASSERT_TRUE(open("a-0/00.log")->writeAt(0, asBytes("x")));
  ASSERT_TRUE(process_->files().rename(path("a-0"), path("a-0.gone-delete")));
  EXPECT_EQ(syncedOf("a-0.gone-delete/00.log"), 0U);
  ASSERT_TRUE(process_->files().removeTree(path("a-0.gone-delete")));
  EXPECT_EQ(syncedOf("a-0.gone-delete/00.log"), UINT64_MAX);
}

INSTANTIATE_TEST_SUITE_P(Platforms, DiskTest, testing::Values(platform::Kind::Native, platform::Kind::Simulated),
                         [](const auto& which) {
                           return which.param == platform::Kind::Native ? "Native" : "Simulated";
                         });

}  // namespace
}  // namespace tidemark::faults
