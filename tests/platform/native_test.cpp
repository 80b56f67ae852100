#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>

#include "harness.h"
#include "platform/native/native.h"

namespace tidemark::platform {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

size_t openDescriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

class NativeTest : public testing::Test {
 protected:
  std::unique_ptr<Harness> harness_ = makeHarness(Kind::Native);
};

TEST_F(NativeTest, theFileLimitIsRaisedToTheHardOne) {
  const uint64_t limit = raiseFileLimit();
  rlimit now{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
  EXPECT_EQ(limit, now.rlim_max);
  EXPECT_EQ(now.rlim_cur, now.rlim_max);
}

TEST_F(NativeTest, freePortsAreDistinctBelowTheEphemeralOnesAndCanBeListenedOn) {
  const auto ports = pickFreePorts("127.0.0.1", 6);
  ASSERT_TRUE(ports) << ports.error().message;
  EXPECT_EQ(std::set<uint16_t>(ports->begin(), ports->end()).size(), 6u);
  auto process = harness_->createProcess("one");
  auto executor = process->createExecutor({.name = "acceptor"});
  for (const uint16_t port : *ports) {
    EXPECT_LT(port, 32768);
    EXPECT_TRUE(process->network().listen(*executor, {"127.0.0.1", port}));
  }
  EXPECT_FALSE(pickFreePorts("not an address", 1));
  process->kill("done");
  process->awaitStopped();
}

TEST_F(NativeTest, reservedSpaceIsNotPartOfTheFileAndIsGivenBack) {
  const std::string path = harness_->folder() + "/reserved";
  auto process = harness_->createProcess("one");
  auto file = process->files().open(path, OpenMode::Truncate).value();
  ASSERT_TRUE(file->writeAt(0, asBytes("abc")));
  const auto blocks = [&] {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_blocks;
  };
  file->reserve(1 << 20);
  EXPECT_EQ(file->size().value(), 3u);
  const auto reserved = blocks();
  ASSERT_TRUE(file->writeAt(3, asBytes("def")));
  file->releaseReserved();
  EXPECT_EQ(file->size().value(), 6u);
  // Not every file system can reserve; one that can gives it back.
  EXPECT_LE(blocks(), reserved);
  EXPECT_LE(blocks(), 16);
  uint8_t read[6];
  EXPECT_EQ(file->readAt(0, read).value(), 6u);
  EXPECT_EQ(std::string(read, read + 6), "abcdef");
}

TEST_F(NativeTest, holesArePassedOver) {
  auto process = harness_->createProcess("one");
  auto file = process->files().open(harness_->folder() + "/sparse", OpenMode::Truncate).value();
  constexpr uint64_t kFar = uint64_t{10} << 30;
  ASSERT_TRUE(file->writeAt(0, asBytes("abc")));
  ASSERT_TRUE(file->writeAt(kFar, asBytes("def")));
  ASSERT_TRUE(file->truncate(2 * kFar));
  EXPECT_EQ(file->nextData(1).value(), 1u);
  EXPECT_EQ(file->nextData(kFar / 2).value(), kFar);
  EXPECT_EQ(file->nextData(kFar + kFar / 2).value(), 2 * kFar);
}

TEST_F(NativeTest, linksThatLeadNowhereAreToldApart) {
  auto process = harness_->createProcess("one");
  const std::string folder = harness_->folder();
  ASSERT_TRUE(process->files().open(folder + "/file", OpenMode::Truncate));
  ASSERT_EQ(::symlink("file", (folder + "/good").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", (folder + "/dangling").c_str()), 0);
  ASSERT_EQ(::symlink("itself", (folder + "/itself").c_str()), 0);
  EXPECT_EQ(process->files().brokenLinks(folder), (std::vector<std::string>{"dangling", "itself"}));
}

TEST_F(NativeTest, aPipeInPlaceOfAFileIsAClearError) {
  const std::string path = harness_->folder() + "/pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  auto process = harness_->createProcess("one");
  for (const OpenMode mode : {OpenMode::Read, OpenMode::ReadWrite}) {
    const auto file = process->files().open(path, mode);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::KafkaStorageError);
    EXPECT_THAT(file.error().message, HasSubstr(path));
  }
}

TEST_F(NativeTest, aFullDiskIsAClearError) {
  auto process = harness_->createProcess("one");
  auto file = process->files().open("/dev/full", OpenMode::ReadWrite);
  ASSERT_TRUE(file) << file.error().message;
  const auto result = (*file)->writeAt(0, asBytes("x"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::KafkaStorageError);
  EXPECT_THAT(result.error().message, HasSubstr("No space left"));
  EXPECT_THAT(result.error().message, HasSubstr("/dev/full"));
}

TEST_F(NativeTest, sigpipeIsIgnoredAndLogLinesReachTheSink) {
  std::vector<std::string> lines;
  {
    auto process =
        makeNativeProcess({.name = "one",
                           .level = Logger::Level::Warning,
                           .sink = [&](auto, std::string_view from, std::string_view component, std::string_view text) {
                             lines.push_back(fmt::format("{}/{}/{}", from, component, text));
                           }});
    EXPECT_EQ(std::signal(SIGPIPE, SIG_IGN), SIG_IGN);
    process->log().info("test", "not {}", "this");
    process->log().warning("test", "but {}", "this");
    EXPECT_FALSE(process->log().enabled(Logger::Level::Debug));
  }
  EXPECT_EQ(lines, std::vector<std::string>{"one/test/but this"});
}

TEST_F(NativeTest, anIdleProcessUsesNoProcessorTime) {
  auto process = harness_->createProcess("one");
  auto serial = process->createExecutor({.name = "serial"});
  auto pool = process->createExecutor({.name = "pool", .threads = 4});
  std::unique_ptr<Acceptor> acceptor;
  Timer timer;
  harness_->run(*serial, [&] {
    acceptor = std::move(*process->network().listen(*serial, {"127.0.0.1", 0}));
    acceptor->accept(*serial, [](auto) {});
    timer = serial->schedule(std::chrono::hours(1), [] {});
  });
  harness_->run(*pool, [] {});
  harness_->pass(milliseconds(50));
  timespec before{};
  timespec after{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  harness_->pass(milliseconds(300));
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  const auto used = seconds(after.tv_sec - before.tv_sec) + std::chrono::nanoseconds(after.tv_nsec - before.tv_nsec);
  EXPECT_LT(used, milliseconds(30));
  process->kill("done");
  process->awaitStopped();
}

/// Two processes that talk to each other on several threads as fast as they can.
class Traffic {
 public:
  Traffic(Harness& harness, const std::string& folder) : harness_(harness) {
    server_ = harness.createProcess("server");
    client_ = harness.createProcess("client");
    file_ = *server_->files().open(folder + "/file", OpenMode::Create);
    EXPECT_TRUE(file_->writeAt(0, ByteVector(100'000, 1)));
    acceptorThread_ = server_->createExecutor({.name = "acceptor"});
    pool_ = server_->createExecutor({.name = "pool", .threads = 2});
    for (int i = 0; i < 2; ++i) {
      serverThreads_.push_back(server_->createExecutor({.name = "network-" + std::to_string(i)}));
      clientThreads_.push_back(client_->createExecutor({.name = "client-" + std::to_string(i)}));
    }
    harness.run(*acceptorThread_, [&] {
      acceptor_ = std::move(*server_->network().listen(*acceptorThread_, {"127.0.0.1", 0}));
      accept();
    });
    for (size_t i = 0; i < 6; ++i) connect(i);
  }
  ~Traffic() {
    stop(*server_);
    stop(*client_);
  }
  void killServer() { server_->kill("by the test"); }
  void killClient() { client_->kill("by the test"); }
  void pauseServer(bool paused) { paused ? server_->pause() : server_->resume(); }
  int answers() const { return answers_; }

 private:
  struct Peer : std::enable_shared_from_this<Peer> {
    explicit Peer(std::unique_ptr<Connection> made, Executor& on) : connection(std::move(made)), executor(on) {}
    std::unique_ptr<Connection> connection;
    Executor& executor;
    ByteVector buffer = ByteVector(4096);
    Timer timer;
  };

  static void stop(Process& process) {
    process.kill("the end");
    process.awaitStopped();
  }
  void accept() {
    auto& owner = *serverThreads_[next_++ % 2];
    acceptor_->accept(owner, [this, &owner](Result<std::unique_ptr<Connection>> got) {
      if (got) serve(std::make_shared<Peer>(std::move(*got), owner));
      acceptorThread_->post([this] { accept(); });
    });
  }
  /// Reads something, answers from a pool with memory and a part of a file.
  void serve(const std::shared_ptr<Peer>& peer) {
    peer->connection->read(peer->buffer, [this, peer](Result<size_t> count) {
      if (!count || *count == 0) return;
      peer->timer = peer->executor.schedule(milliseconds(1), [] {});
      pool_->post([this, peer] {
        peer->executor.post([this, peer] {
          peer->connection->write({SharedBytes(ByteVector(100)), FileSlice{file_, 10, 5000}},
                                  [this, peer](Result<void> done) {
                                    if (done) serve(peer);
                                  });
        });
      });
    });
  }
  void connect(size_t i) {
    auto& owner = *clientThreads_[i % 2];
    client_->network().connect(owner, {"127.0.0.1", acceptor_->endpoint().port}, seconds(5),
                               [this, &owner](Result<std::unique_ptr<Connection>> got) {
                                 if (got) ask(std::make_shared<Peer>(std::move(*got), owner));
                               });
  }
  void ask(const std::shared_ptr<Peer>& peer) {
    peer->connection->write({SharedBytes(ByteVector(10))}, [](Result<void>) {});
    receive(peer, 5100);
  }
  void receive(const std::shared_ptr<Peer>& peer, size_t left) {
    peer->connection->read(peer->buffer, [this, peer, left](Result<size_t> count) {
      if (!count || *count == 0) return;
      if (*count < left) return receive(peer, left - *count);
      harness_.update([&] { ++answers_; });
      // The write's handler comes first or second: ask again from a task of its own.
      peer->executor.post([this, peer] { ask(peer); });
    });
  }

  Harness& harness_;
  std::shared_ptr<Process> server_;
  std::shared_ptr<Process> client_;
  std::shared_ptr<File> file_;
  std::shared_ptr<Executor> acceptorThread_;
  std::shared_ptr<Executor> pool_;
  std::vector<std::shared_ptr<Executor>> serverThreads_;
  std::vector<std::shared_ptr<Executor>> clientThreads_;
  std::unique_ptr<Acceptor> acceptor_;
  size_t next_ = 0;
  std::atomic<int> answers_ = 0;
};

TEST_F(NativeTest, processesMayBeKilledAnyTimeUnderFullTrafficAndLeaveNothingOpen) {
  const std::string folder = harness_->folder();
  {
    const Traffic warmUp(*harness_, folder);
  }
  const size_t before = openDescriptors();
  for (int round = 0; round < 12; ++round) {
    Traffic traffic(*harness_, folder);
    ASSERT_TRUE(harness_->await([&] { return traffic.answers() >= round * 7; }));
    if (round % 3 == 0) traffic.pauseServer(true);
    if (round % 3 == 1) traffic.killClient();
    if (round % 2 == 0) traffic.killServer();
    if (round % 3 == 0) traffic.pauseServer(false);
  }
  EXPECT_EQ(openDescriptors(), before);
}

// A sanitizer keeps memory of its own for each thread, and ends the program when it gets none.
#ifndef TIDEMARK_SANITIZED
TEST_F(NativeTest, aThreadThatCannotBeMadeEndsTheProcessAndNotTheProgram) {
  std::promise<std::string> death;
  auto process = harness_->createProcess("one");
  process->onDeath([&](const std::string& reason) { death.set_value(reason); });
  // Room for a few stacks, not for a thousand.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit tight = before;
  tight.rlim_cur = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + (256u << 20);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  const auto executor = process->createExecutor({.name = "crowd", .threads = 1000});
  const std::string reason = death.get_future().get();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_THAT(reason, HasSubstr("of the 1000 of crowd cannot be made: "));
  EXPECT_EQ(process->state(), Process::State::Dead);
}
#endif

TEST_F(NativeTest, aProcessWhoseHandleIsDroppedEndsWithoutTellingItsHandler) {
  bool told = false;
  auto held = std::make_shared<int>(1);
  std::shared_ptr<Executor> executor;
  {
    auto process = harness_->createProcess("one");
    process->onDeath([&](const std::string&) { told = true; });
    executor = process->createExecutor({.name = "serial", .threads = 2});
    harness_->run(*executor, [] {});
    for (int i = 0; i < 100; ++i) executor->post([held, &executor] { executor->stall(milliseconds(50)); });
  }
  EXPECT_FALSE(told);
  EXPECT_EQ(held.use_count(), 1);
  executor->post([held] {});
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace tidemark::platform
