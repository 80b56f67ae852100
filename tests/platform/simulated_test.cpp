#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/mutex.h"
#include "platform/simulated/world.h"

namespace tidemark::platform {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

// A small life: servers that echo and write, clients that connect, send and give up, kills and restarts.

class Peer {
 public:
  Peer(World& world, std::string name) : world_(world), name_(std::move(name)) { start(); }
  ~Peer() { stop(); }

  void start() {
    process_ = world_.createProcess({.name = name_});
    executor_ = process_->createExecutor({.name = "main"});
    pool_ = process_->createExecutor({.name = "pool", .threads = 3});
    executor_->post([this] {
      (void)process_->files().createDirectories("/data");
      file_ = process_->files().open("/data/log", OpenMode::Create).value_or(nullptr);
      if (auto acceptor = process_->network().listen(*executor_, {"127.0.0.1", port()})) {
        acceptor_ = std::move(*acceptor);
        accept();
      }
      tick();
    });
  }
  void stop() {
    process_->kill("as planned");
    process_->awaitStopped();
    connections_.clear();
    acceptor_.reset();
    file_.reset();
    timer_ = Timer();
    executor_.reset();
    pool_.reset();
  }
  void restart() {
    stop();
    start();
  }
  int echoes() const { return echoes_; }
  SimulatedProcess& process() { return *process_; }

 private:
  struct Link : std::enable_shared_from_this<Link> {
    explicit Link(std::unique_ptr<Connection> made) : connection(std::move(made)) {}
    std::unique_ptr<Connection> connection;
    ByteVector buffer = ByteVector(700);
  };
  uint16_t port() const { return static_cast<uint16_t>(9000 + name_.back()); }

  void accept() {
    acceptor_->accept(*executor_, [this](Result<std::unique_ptr<Connection>> got) {
      if (!got) return;
      echo(*connections_.emplace_back(std::make_shared<Link>(std::move(*got))));
      accept();
    });
  }
  void echo(Link& link) {
    link.connection->read(link.buffer, [this, &link](Result<size_t> count) {
      if (!count || *count == 0) return;
      ++echoes_;
      ByteVector bytes(link.buffer.begin(), link.buffer.begin() + static_cast<long>(*count));
      if (file_) {
        (void)file_->writeAt(file_->size().value_or(0), bytes);
        if (process_->random().below(4) == 0) (void)file_->sync();
      }
      pool_->post([this, bytes = std::move(bytes), weak = link.weak_from_this()]() mutable {
        executor_->post([this, bytes = std::move(bytes), weak]() mutable {
          const auto alive = weak.lock();
          if (!alive) return;
          alive->connection->write({SharedBytes(std::move(bytes))}, [this, &to = *alive](Result<void> done) {
            if (done) echo(to);
          });
        });
      });
    });
  }
  void tick() {
    const auto to = static_cast<uint16_t>(9000 + 'a' + process_->random().below(3));
    process_->network().connect(*executor_, {"127.0.0.1", to}, milliseconds(40), [this](auto got) {
      process_->log().info("peer", "connected: {}", got.has_value());
      if (!got) return;
      auto& link = *connections_.emplace_back(std::make_shared<Link>(std::move(*got)));
      link.connection->write({SharedBytes(ByteVector(process_->random().below(2000) + 1, 7))},
                             [this, &link](Result<void> done) {
                               if (done) echo(link);
                             });
    });
    timer_ = executor_->schedule(milliseconds(5 + process_->random().below(10)), [this] {
      if (connections_.size() > 20) connections_.erase(connections_.begin(), connections_.begin() + 10);
      tick();
    });
  }

  World& world_;
  const std::string name_;
  std::shared_ptr<SimulatedProcess> process_;
  std::shared_ptr<Executor> executor_;
  std::shared_ptr<Executor> pool_;
  std::shared_ptr<File> file_;
  std::unique_ptr<Acceptor> acceptor_;
  std::vector<std::shared_ptr<Link>> connections_;
  Timer timer_;
  int echoes_ = 0;
};

struct Life {
  uint64_t hash = 0;
  uint64_t steps = 0;
  int echoes = 0;
};

Life live(uint64_t seed, Duration length, std::string* trace = nullptr) {
  WorldOptions options{.seed = seed};
  if (trace) options.trace = [trace](std::string_view line) { trace->append(line).push_back('\n'); };
  World world(std::move(options));
  Peer a(world, "a");
  Peer b(world, "b");
  Peer c(world, "c");
  const std::array<Peer*, 3> peers{&a, &b, &c};
  const auto end = world.now() + length;
  while (world.now() < end) {
    world.runFor(milliseconds(20 + world.random().below(30)));
    auto& peer = *peers[world.random().below(3)];
    switch (world.random().below(6)) {
      case 0:
        peer.restart();
        break;
      case 1:
        world.network().cut("a", "b");
        break;
      case 2:
        world.network().heal();
        break;
      case 3:
        peer.process().losePower();
        peer.restart();
        break;
      case 4:
        peer.process().crashAtFileCall(world.random().below(20) + 1, SimulatedProcess::Crash::PowerLoss);
        break;
      default:
        break;
    }
    if (peer.process().state() == Process::State::Dead) peer.restart();
  }
  return {world.traceHash(), world.stepsRun(), a.echoes() + b.echoes() + c.echoes()};
}

TEST(SimulatedTest, oneSeedGivesOneTraceAndAnotherSeedAnother) {
  std::string first;
  std::string second;
  const Life one = live(7, seconds(2), &first);
  EXPECT_EQ(live(7, seconds(2), &second).hash, one.hash);
  EXPECT_EQ(first, second);
  EXPECT_GT(first.size(), 100'000u);
  EXPECT_EQ(live(7, seconds(2)).hash, one.hash);
  EXPECT_NE(live(8, seconds(2)).hash, one.hash);
  EXPECT_GT(one.echoes, 100);
}

TEST(SimulatedTest, oneSeedGivesOneTraceInTwoProcesses) {
  // The test is its own child: with this variable it only tells its hash.
  constexpr const char* kChild = "TIDEMARK_TELL_TRACE_HASH";
  if (std::getenv(kChild) != nullptr) {
    std::printf("hash=%lx\n", live(9, seconds(1)).hash);
    return;
  }
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::set<std::string> seen;
  for (int i = 0; i < 2; ++i) {
    const std::string command =
        std::string(kChild) + "=1 " + self + " --gtest_filter=SimulatedTest.oneSeedGivesOneTraceInTwoProcesses";
    FILE* const child = popen(command.c_str(), "r");
    ASSERT_NE(child, nullptr);
    std::array<char, 256> line{};
    std::string hash;
    while (std::fgets(line.data(), line.size(), child)) {
      if (std::string_view(line.data()).starts_with("hash=")) hash = line.data();
    }
    EXPECT_EQ(pclose(child), 0);
    EXPECT_GT(hash.size(), 6u);
    seen.insert(hash);
  }
  EXPECT_EQ(seen.size(), 1u);
}

TEST(SimulatedTest, noSeedBreaksAnything) {
  for (uint64_t seed = 100; seed < 130; ++seed) live(seed, milliseconds(500));
}

// Time and scheduling

TEST(SimulatedTest, timePassesOnlyAsEventsNeedIt) {
  World world;
  auto process = world.createProcess("one");
  auto executor = process->createExecutor({.name = "main"});
  const auto start = world.now();
  std::vector<Duration> seen;
  Timer far =
      executor->schedule(std::chrono::hours(1000), [&] { seen.push_back(process->clock().monotonic() - start); });
  EXPECT_FALSE(world.runUntil([&] { return !seen.empty(); }, seconds(10)));
  EXPECT_EQ(world.now() - start, seconds(10));
  EXPECT_TRUE(world.runUntil([&] { return !seen.empty(); }, std::chrono::hours(2000)));
  EXPECT_EQ(seen.front(), std::chrono::hours(1000));
  world.runFor(milliseconds(1));
  EXPECT_FALSE(world.step());
}

TEST(SimulatedTest, fileCallsTakeTheTaskItsTimeAndOthersGoOnMeanwhile) {
  World world;
  auto process = world.createProcess("one");
  auto executor = process->createExecutor({.name = "main"});
  auto other = process->createExecutor({.name = "other"});
  const auto start = world.now();
  Duration synced{};
  Duration posted{};
  Duration next{};
  Duration elsewhere{};
  executor->post([&] {
    auto file = *process->files().open("/a", OpenMode::Create);
    ASSERT_TRUE(file->sync());
    synced = process->clock().monotonic() - start;
    other->post([&] { posted = process->clock().monotonic() - start; });
  });
  executor->post([&] { next = process->clock().monotonic() - start; });
  other->post([&] { elsewhere = process->clock().monotonic() - start; });
  world.runFor(seconds(1));
  EXPECT_GE(synced, milliseconds(1));
  EXPECT_GE(posted, synced);
  EXPECT_GE(next, synced);
  EXPECT_LT(elsewhere, milliseconds(1));
}

TEST(SimulatedTest, theSeedDecidesWhichExecutorGoesFirst) {
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    World world({.seed = seed});
    auto process = world.createProcess("one");
    std::string order;
    std::vector<std::shared_ptr<Executor>> executors;
    for (const char name : {'a', 'b', 'c'}) {
      executors.push_back(process->createExecutor({.name = std::string(1, name)}));
      executors.back()->post([&order, name] { order += name; });
    }
    world.runFor(seconds(1));
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 6u);
}

void lockTwice(Mutex& mutex) NO_THREAD_SAFETY_ANALYSIS {
  const Lock outer(mutex);
  const Lock inner(mutex);
}

TEST(SimulatedTest, aMutexLockedTwiceKillsTheProcessInsteadOfHangingTheWorld) {
  World world;
  auto process = world.createProcess("one");
  auto executor = process->createExecutor({.name = "main"});
  std::string reason;
  process->onDeath([&](const std::string& why) { reason = why; });
  Mutex mutex;
  executor->post([&] { lockTwice(mutex); });
  world.runFor(seconds(1));
  EXPECT_THAT(reason, HasSubstr("locked twice"));
}

TEST(SimulatedTest, hooksAndActionsRunOnTheWorldsAccount) {
  World world;
  auto process = world.createProcess("one");
  auto executor = process->createExecutor({.name = "main"});
  int steps = 0;
  bool killed = false;
  world.onStep([&] { ++steps; });
  world.after(milliseconds(5), [&] {
    process->kill("by plan");
    killed = true;
  });
  executor->post([] {});
  world.runFor(milliseconds(4));
  EXPECT_EQ(steps, 1);
  EXPECT_FALSE(killed);
  world.runFor(milliseconds(2));
  EXPECT_EQ(steps, 2);
  EXPECT_TRUE(killed);
}

TEST(SimulatedTest, wallTimeCanBeShiftedMonotonicTimeCannot) {
  World world;
  auto process = world.createProcess("one");
  const auto wall = process->clock().wallMs();
  const auto monotonic = process->clock().monotonic();
  world.runFor(seconds(3));
  EXPECT_EQ(process->clock().wallMs() - wall, 3000);
  process->shiftWall(milliseconds(-10'000));
  EXPECT_EQ(process->clock().wallMs() - wall, -7000);
  EXPECT_EQ(process->clock().monotonic() - monotonic, seconds(3));
}

TEST(SimulatedTest, minutesOfAClusterTakeLittleOfOurTime) {
  // Each of ten processes wakes a hundred times a second: a busy cluster's timers. CTest's limit is the assertion.
  World world;
  std::vector<std::shared_ptr<SimulatedProcess>> processes;
  std::vector<std::shared_ptr<Executor>> executors;
  std::vector<Timer> timers(10);
  uint64_t ticks = 0;
  std::function<void(size_t)> tick = [&](size_t i) {
    ++ticks;
    timers[i] = executors[i]->schedule(milliseconds(10), [&, i] { tick(i); });
  };
  for (size_t i = 0; i < 10; ++i) {
    processes.push_back(world.createProcess({.name = "p" + std::to_string(i)}));
    executors.push_back(processes.back()->createExecutor({.name = "main"}));
    tick(i);
  }
  world.runFor(std::chrono::minutes(5));
  EXPECT_GT(ticks, 299'000u);
}

}  // namespace
}  // namespace tidemark::platform
