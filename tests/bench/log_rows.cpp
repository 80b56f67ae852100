#include "log_rows.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "counting_files.h"
#include "log/cleaner/cleaning_pass.h"
#include "log/file_names.h"
#include "log/index_file.h"
#include "log/segment.h"
#include "platform/network.h"

namespace tidemark::bench {
namespace {

constexpr size_t kMegabyte = 1u << 20;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  const int number_;
};

int openPlain(const fs::path& path, int flags) {
  return static_cast<int>(check(::open(path.c_str(), flags | O_CLOEXEC, 0600), path.string()));
}

/// Sets a result on one thread and waits for it on another.
class Done {
 public:
  void set(std::optional<Error> error = {}) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    done_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
    if (error_) throw std::runtime_error(error_->message);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::optional<Error> error_;
};

// --- reading ---
/// Another process that connects to a port and reads until the end.
class Reader {
 public:
  explicit Reader(uint16_t port) : child_(static_cast<pid_t>(check(::fork(), "fork"))) {
    if (child_ != 0) return;
    const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(client, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) ::_exit(1);
    // Thrown away in the kernel: the reader should cost as little as can be.
    while (::recv(client, nullptr, kMegabyte, MSG_TRUNC) > 0) {
    }
    ::_exit(0);
  }
  ~Reader() { ::waitpid(child_, nullptr, 0); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

 private:
  const pid_t child_;
};

/// Reads a log from the front and sends it, on the executor of the connection; each answer waits for the one before.
class Sender : public std::enable_shared_from_this<Sender> {
 public:
  Sender(std::shared_ptr<log::PartitionLog> log, std::unique_ptr<platform::Connection> connection, Done& done)
      : log_(std::move(log)), connection_(std::move(connection)), end_(log_->logEndOffset()), done_(done) {}

  void next() {
    if (at_ >= end_) return finish({});
    auto read = log_->read(at_, kMegabyte, log::FetchIsolation::LogEnd, true);
    if (!read) return finish(read.error());
    // A broker tells its client where the next batch begins; here all batches are alike.
    at_ = at_ + static_cast<int64_t>(read->slice.length / batchBytes_ * batchRecords_);
    read->slice.length = read->slice.length / batchBytes_ * batchBytes_;
    std::vector<platform::Piece> pieces;
    pieces.emplace_back(std::move(read->slice));
    connection_->write(std::move(pieces), [self = shared_from_this()](Result<void> written) {
      written ? self->next() : self->finish(written.error());
    });
  }
  void batches(size_t bytes, size_t records) {
    batchBytes_ = bytes;
    batchRecords_ = records;
  }

 private:
  void finish(std::optional<Error> error) {
    connection_.reset();
    done_.set(std::move(error));
  }

  const std::shared_ptr<log::PartitionLog> log_;
  std::unique_ptr<platform::Connection> connection_;
  const Offset end_;
  Offset at_{0};
  size_t batchBytes_ = 1;
  size_t batchRecords_ = 1;
  Done& done_;
};

/// Sends everything in the log as a broker does.
void sendLog(Lab& lab, const std::shared_ptr<platform::Executor>& executor,
             const std::shared_ptr<log::PartitionLog>& log, size_t batchBytes, size_t batchRecords, double& cost) {
  Done accepted;
  std::unique_ptr<platform::Acceptor> acceptor;
  std::unique_ptr<platform::Connection> connection;
  Done listening;
  executor->post([&] {
    auto made = lab.process().network().listen(*executor, {"127.0.0.1", 0});
    if (!made) return listening.set(made.error());
    acceptor = *std::move(made);
    acceptor->accept(*executor, [&](Result<std::unique_ptr<platform::Connection>> arrived) {
      if (!arrived) return accepted.set(arrived.error());
      connection = *std::move(arrived);
      accepted.set();
    });
    listening.set();
  });
  listening.wait();
  const Reader reader(acceptor->endpoint().port);
  accepted.wait();
  Done sent;
  cost = costOf([&] {
    executor->post([&] {
      const auto sender = std::make_shared<Sender>(log, std::move(connection), sent);
      sender->batches(batchBytes, batchRecords);
      sender->next();
    });
    sent.wait();
  });
  Done closed;
  executor->post([&] {
    acceptor.reset();
    closed.set();
  });
  closed.wait();
}

void sendPlainly(const fs::path& path, double& cost) {
  const Descriptor listener(static_cast<int>(check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket")));
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  check(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), "bind");
  check(::listen(listener.get(), 1), "listen");
  socklen_t length = sizeof own;
  check(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&own), &length), "getsockname");
  const Reader reader(ntohs(own.sin_port));
  {
    const Descriptor client(
        static_cast<int>(check(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept")));
    // As the seam does it on a connection within the machine: a system's own choice may pace, which costs more than to
    // send.
    constexpr std::string_view kNoPacing = "reno";
    check(::setsockopt(client.get(), IPPROTO_TCP, TCP_CONGESTION, kNoPacing.data(), kNoPacing.size()), "setsockopt");
    const Descriptor file(openPlain(path, O_RDONLY));
    const auto size = static_cast<off_t>(fs::file_size(path));
    cost = costOf([&] {
      for (off_t at = 0; at < size;)
        check(::sendfile(client.get(), file.get(), &at, std::min<size_t>(kMegabyte, static_cast<size_t>(size - at))),
              "sendfile");
    });
  }
}

// --- lookups ---
constexpr int32_t kLookupBatch = 4200;
constexpr uint64_t kSegmentBytes = 1u << 30;
constexpr int kFirstLookups = 200;
constexpr int kLaterLookups = 20'000;

/// A log of that many GiB whose indexes are whole, and of whose batches there are the headers of a few.
class SparseLog {
 public:
  SparseLog(Lab& lab, int segments) : lab_(lab), options_(lab.options(0)) {
    fs::create_directories(options_.directory);
    for (int i = 0; i < segments; ++i) addSegment();
    options_.config.segmentBytes = INT32_MAX;
    options_.config.retentionMs = -1;
    options_.cleanShutdown = true;
  }
  ~SparseLog() { lab_.drop(0); }
  SparseLog(const SparseLog&) = delete;
  SparseLog& operator=(const SparseLog&) = delete;

  std::shared_ptr<log::PartitionLog> open(platform::FileSystem& files) {
    return value(log::PartitionLog::open(lab_.contextOf(files), options_));
  }
  /// Somewhere in a batch that has a header.
  Offset anyOffset() {
    const auto& [first, last] = known_[random_() % known_.size()];
    return first + static_cast<int64_t>(random_() % static_cast<uint64_t>(last - first + 1));
  }

 private:
  void addSegment() {
    const Offset base = next_;
    const auto path = [&](std::string_view suffix) { return log::offsetFilePath(options_.directory, base, suffix); };
    const Descriptor batches(openPlain(path(log::kLogSuffix), O_WRONLY | O_CREAT));
    std::vector<uint8_t> offsets;
    std::vector<uint8_t> times;
    const auto count = static_cast<int>(kSegmentBytes / kLookupBatch);
    bool nextIsKnown = false;
    for (int i = 0; i < count; ++i) {
      records::BatchHeader header;
      header.baseOffset = next_;
      header.length = kLookupBatch - static_cast<int32_t>(records::kLogOverhead);
      header.leaderEpoch = LeaderEpoch(0);
      header.magic = records::kMagic;
      header.lastOffsetDelta = static_cast<int32_t>(random_() % 100);
      header.maxTimestampMs = header.baseTimestampMs = kTimestampMs + ++batches_;
      header.recordCount = header.lastOffsetDelta + 1;
      const auto position = static_cast<int64_t>(i) * kLookupBatch;
      // A lookup begins at the batch before, for entries name the last offset of theirs.
      const bool before = std::exchange(nextIsKnown, random_() % 256 == 0 || i + 2 >= count);
      if (before || nextIsKnown || i == 0) {
        uint8_t bytes[records::kBatchHeaderSize];
        header.write(bytes);
        check(::pwrite(batches.get(), bytes, sizeof bytes, position), "write");
      }
      if (before) known_.emplace_back(header.baseOffset, header.lastOffset());
      if (i > 0) {
        uint8_t entry[log::OffsetIndexFormat::kSize];
        log::OffsetIndexFormat::encode({header.lastOffset(), static_cast<int32_t>(position)}, base, entry);
        offsets.insert(offsets.end(), entry, entry + sizeof entry);
        uint8_t time[log::TimeIndexFormat::kSize];
        log::TimeIndexFormat::encode({header.maxTimestampMs, header.lastOffset()}, base, time);
        times.insert(times.end(), time, time + sizeof time);
      }
      next_ = header.nextOffset();
    }
    check(::ftruncate(batches.get(), static_cast<off_t>(count) * kLookupBatch), "truncate");
    for (const auto& [suffix, bytes] :
         {std::pair(log::kOffsetIndexSuffix, &offsets), std::pair(log::kTimeIndexSuffix, &times)})
      std::ofstream(path(suffix), std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes->data()), static_cast<std::streamsize>(bytes->size()));
  }

  Lab& lab_;
  log::PartitionLogOptions options_;
  std::mt19937_64 random_{1};
  Offset next_{0};
  int64_t batches_ = 0;
  std::vector<std::pair<Offset, Offset>> known_;
};

void lookUp(const log::PartitionLog& log, Offset offset, FileCalls& calls, LookupCost& most) {
  log::LookupTrace trace;
  calls.reset();
  const auto read = value(log.read(offset, kMegabyte, log::FetchIsolation::LogEnd, true, &trace));
  if (read.slice.length == 0) throw std::runtime_error("a lookup found nothing");
  std::set<size_t> pages;
  for (const log::LookupStep& step : trace.steps())
    if (step.kind == log::LookupStep::Kind::Probe && !step.remembered)
      pages.insert(step.entry * log::OffsetIndexFormat::kSize / 4096);
  most.pages = std::max(most.pages, static_cast<double>(pages.size()));
  most.reads = std::max(most.reads, static_cast<double>(calls.logReads - 1));
}

/// What a disk takes at least: where a sync costs nothing, nobody shares one.
constexpr auto kDiskSync = std::chrono::milliseconds(1);

// --- compaction ---
constexpr int kRecordsInBatch = 100;

int64_t memoryBytes(std::string_view what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(what)) return std::stoll(line.substr(what.size())) * 1024;
  throw std::runtime_error("no memory in /proc/self/status");
}

/// The least that a pass can do: reads every byte of the closed segments, and again as many of each as survive, which
/// it writes to a file of its own, synced as a segment's files and their names are.
void compactPlainly(const fs::path& folder, uint64_t surviving) {
  std::vector<std::pair<fs::path, uint64_t>> segments;
  uint64_t all = 0;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".log" && entry.file_size() > 0) {
      segments.emplace_back(entry.path(), entry.file_size());
      all += entry.file_size();
    }
  std::vector<uint8_t> buffer(kMegabyte);
  const auto read = [&](const Descriptor& file, uint64_t at, uint64_t end) {
    const auto got = static_cast<size_t>(
        check(::pread(file.get(), buffer.data(), std::min<uint64_t>(buffer.size(), end - at), static_cast<off_t>(at)),
              "read"));
    if (got == 0) throw std::runtime_error("nothing was read");
    return got;
  };
  const auto syncFolder = [&] { check(::fsync(Descriptor(openPlain(folder, O_RDONLY | O_DIRECTORY)).get()), "fsync"); };
  for (const auto& [path, size] : segments) {
    const Descriptor file(openPlain(path, O_RDONLY));
    for (uint64_t at = 0; at < size;) at += read(file, at, size);
  }
  for (const auto& [path, size] : segments) {
    const Descriptor file(openPlain(path, O_RDONLY));
    const auto write = [&](std::string_view suffix, uint64_t bytes) {
      const Descriptor into(openPlain(path.string() + std::string(suffix), O_WRONLY | O_CREAT | O_TRUNC));
      for (uint64_t at = 0; at < bytes;) {
        const size_t got = read(file, at, bytes);
        check(::write(into.get(), buffer.data(), got), "write");
        at += got;
      }
      check(::fdatasync(into.get()), "fdatasync");
    };
    const uint64_t bytes = surviving * size / all;
    write(".plain", bytes);
    write(".plain.index", bytes / 4096 * log::OffsetIndexFormat::kSize);
    write(".plain.timeindex", log::TimeIndexFormat::kSize);
    syncFolder();
    fs::rename(path.string() + ".plain", path.string() + ".copy");
    syncFolder();
  }
}

}  // namespace

Turns reading(Lab& lab, size_t bytes) {
  constexpr int kRecords = 63;
  ByteVector batch = makeBatch(kRecords, 1024);
  const auto options = lab.options(0);
  const std::shared_ptr<log::PartitionLog> log = lab.open(options);
  for (size_t done = 0; done < bytes; done += batch.size()) appendTo(*log, batch);
  const fs::path file = fs::path(options.directory) / "00000000000000000000.log";
  const double gigabytes = static_cast<double>(fs::file_size(file)) / kGB;
  const std::shared_ptr<platform::Executor> executor = lab.process().createExecutor({.name = "processor"});
  return {.ours =
              [=, &lab, size = batch.size()] {
                double cost = 0;
                sendLog(lab, executor, log, size, kRecords, cost);
                return cost / gigabytes;
              },
          .least =
              [=] {
                double cost = 0;
                sendPlainly(file, cost);
                return cost / gigabytes;
              }};
}

std::vector<LookupCost> lookingUp(Lab& lab, int segments) {
  SparseLog sparse(lab, segments);
  FileCalls calls;
  CountedFiles files(lab.process().files(), calls);
  std::vector<LookupCost> most(2);
  for (int i = 0; i < kFirstLookups; ++i) lookUp(*sparse.open(files), sparse.anyOffset(), calls, most[0]);
  const auto log = sparse.open(files);
  for (int i = 0; i < kLaterLookups; ++i) lookUp(*log, sparse.anyOffset(), calls, most[1]);
  return most;
}

double flushing(Lab& lab, int producers, size_t batches) {
  FileCalls calls;
  calls.syncTakes = kDiskSync;
  CountedFiles files(lab.process().files(), calls);
  auto options = lab.options(0);
  options.config.flushMessages = 1;
  const auto log = value(log::PartitionLog::open(lab.contextOf(files), options));
  calls.reset();
  std::vector<std::thread> threads;
  std::atomic<size_t> left{batches};
  for (int i = 0; i < producers; ++i)
    threads.emplace_back([&] {
      ByteVector mine = makeBatch(1, 1024);
      for (size_t now = left; now > 0; now = left)
        if (left.compare_exchange_weak(now, now - 1)) appendTo(*log, mine);
    });
  for (auto& thread : threads) thread.join();
  const double syncs = static_cast<double>(calls.logSyncs);
  if (log->recoveryPoint() != log->logEndOffset()) throw std::runtime_error("what was acknowledged is not on disk");
  log->abandon();
  lab.drop(0);
  return syncs / static_cast<double>(batches) * 1000;
}

Compaction compacting(Lab& lab, size_t bytes, size_t keys, size_t valueBytes) {
  auto options = lab.options(0);
  options.config.compact = true;
  options.config.remove = false;
  options.config.segmentBytes = static_cast<int32_t>(std::max<size_t>(kMegabyte, bytes / 16));
  const auto surviving = std::make_shared<uint64_t>(0);
  const auto memory = std::make_shared<std::vector<double>>();
  const double gigabytes = static_cast<double>(bytes) / kGB;
  const auto fill = [=, &lab] {
    lab.drop(0);
    const auto log = lab.open(options);
    std::mt19937_64 random(1);
    std::vector<uint8_t> noise(valueBytes);
    for (size_t done = 0; done < bytes;) {
      records::BatchBuilder builder;
      for (int i = 0; i < kRecordsInBatch; ++i) {
        const std::string key = fmt::format("key-{:012}", random() % keys);
        writeBigEndian<uint64_t>(noise.data(), random());
        builder.append(kTimestampMs, asBytes(key), ByteView(noise));
      }
      ByteVector batch = builder.build();
      done += batch.size();
      appendTo(*log, batch);
    }
    value(log->roll());
    log->updateHighWatermark(log->logEndOffset());
    // A broker flushes what it rolls long before it is cleaned.
    value(log->flush());
    return log;
  };
  const auto clean = [=, &lab](log::PartitionLog& log) {
    const log::CleanerConfig config;
    log::CleanerThrottle throttle(lab.process().clock());
    throttle.setLimit(config.maxBytesPerSecond);
    const log::LogContext context = lab.context();
    const log::PassResources resources{
        .context = context,
        .throttle = throttle,
        .executor = *lab.background(),
        .maxSlots = static_cast<size_t>(config.dedupeBufferBytes) / log::OffsetMap::kEntrySize,
        .loadFactor = config.loadFactor,
        .ioBufferBytes = static_cast<size_t>(config.ioBufferBytes),
        .hashKey = {.low = 1, .high = 2}};
    log::CleanView view = log.cleanView(true);
    const log::CleanPlan plan = value(log::planFor(view, lab.process().clock().wallMs()));
    std::ofstream("/proc/self/clear_refs") << "5";
    const int64_t before = memoryBytes("VmRSS:");
    const double cost = costOf([&] {
      if (!value(log::CleaningPass(log, resources, std::move(view), plan).run()))
        throw std::runtime_error("the pass was ended");
    });
    memory->push_back(static_cast<double>(memoryBytes("VmHWM:") - before) /
                      static_cast<double>(config.dedupeBufferBytes + config.ioBufferBytes));
    return cost;
  };
  return {.turns = {.ours =
                        [=, &lab] {
                          const auto log = fill();
                          const double cost = clean(*log);
                          *surviving = static_cast<uint64_t>(log->sizeInBytes());
                          log->abandon();
                          return cost / gigabytes;
                        },
                    .least =
                        [=, &lab] {
                          fill()->abandon();
                          return costOf([&] { compactPlainly(options.directory, *surviving); }) / gigabytes;
                        }},
          .memory = memory};
}

}  // namespace tidemark::bench
