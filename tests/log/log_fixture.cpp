#include "log_fixture.h"

#include "log/file_names.h"
#include "log/segment_scan.h"

namespace tidemark::log {

ByteVector makeBatch(const BatchSpec& spec) {
  records::BatchOptions options;
  options.baseOffset = spec.baseOffset;
  options.leaderEpoch = spec.epoch;
  options.codec = spec.codec;
  options.producerId = spec.producer;
  options.producerEpoch = spec.producerEpoch;
  options.baseSequence = spec.baseSequence;
  options.transactional = spec.transactional;
  records::BatchBuilder builder(options);
  for (int i = 0; i < spec.count; ++i) {
    const std::string key = fmt::format("key-{}", i);
    std::string value = fmt::format("value-{}", i);
    value.resize(std::max(value.size(), spec.valueSize), '.');
    builder.append(spec.firstTimestampMs + i, asBytes(key), asBytes(value));
  }
  return builder.build();
}

std::vector<records::BatchHeader> readHeaders(const PartitionLog& log, Offset from, FetchIsolation isolation) {
  std::vector<records::BatchHeader> headers;
  while (true) {
    const auto bytes = log.readBytes(from, 1 << 16, isolation);
    EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message);
    if (!bytes || bytes->empty()) return headers;
    records::BatchCursor cursor(*bytes, records::BatchCursor::Check::Checksum);
    while (cursor.next() == records::Step::Next) headers.push_back(cursor.batch().header);
    EXPECT_EQ(cursor.position(), bytes->size());
    from = headers.back().nextOffset();
  }
}

void LogFixture::startWorld(uint64_t seed) {
  log_.reset();
  handles_.reset();
  process_.reset();
  world_ = std::make_unique<platform::World>(platform::WorldOptions{.seed = seed});
  options_ = {};
  options_.partition = {"orders", PartitionIndex(0)};
  options_.directory = "/data/orders-0";
  options_.config.indexIntervalBytes = 256;
  options_.config.timestampAfterMaxMs = INT64_MAX;
  options_.config.producerIdExpirationMs = INT64_MAX;
  restart();
}

void LogFixture::restart() {
  log_.reset();
  handles_ = std::make_shared<HandleCache>(4);
  process_.reset();
  process_ = world_->createProcess("broker-1");
}

void LogFixture::crash(Crash how) {
  if (how == Crash::PowerLoss)
    process_->losePower();
  else
    process_->kill("the test kills it");
  process_->awaitStopped();
}

LogContext LogFixture::context() {
  LogContext context;
  context.files = &process_->files();
  context.clock = &process_->clock();
  context.logger = &process_->log();
  context.background = background_;
  context.handles = handles_;
  return context;
}

Result<std::shared_ptr<PartitionLog>> LogFixture::tryOpen(bool clean) {
  options_.cleanShutdown = clean;
  return PartitionLog::open(context(), options_);
}

void LogFixture::open(bool clean) {
  auto opened = tryOpen(clean);
  ASSERT_TRUE(opened) << opened.error().message;
  log_ = *opened;
}

AppendInfo LogFixture::append(const BatchSpec& spec) {
  ByteVector batch = makeBatch(spec);
  const auto info = log_->appendAsLeader(batch, spec.epoch);
  EXPECT_TRUE(info) << (info ? "" : info.error().error.message);
  return info.value_or(AppendInfo{});
}

ErrorCode LogFixture::appendError(const BatchSpec& spec) {
  ByteVector batch = makeBatch(spec);
  const auto info = log_->appendAsLeader(batch, spec.epoch);
  return info ? ErrorCode::None : info.error().error.code;
}

AppendInfo LogFixture::appendAsFollower(const BatchSpec& spec) {
  const auto info = log_->appendAsFollower(makeBatch(spec));
  EXPECT_TRUE(info) << (info ? "" : info.error().message);
  return info.value_or(AppendInfo{});
}

void LogFixture::expectIndexesTrue(bool rebuilt) {
  for (const SegmentInfo& segment : log_->segments()) {
    const auto offsets = log_->offsetIndexEntries(segment.baseOffset, 0, SIZE_MAX);
    const auto times = log_->timeIndexEntries(segment.baseOffset, 0, SIZE_MAX);
    ASSERT_TRUE(offsets && times);
    const auto file =
        files().open(offsetFilePath(options_.directory, segment.baseOffset, kLogSuffix), platform::OpenMode::Read);
    ASSERT_TRUE(file) << file.error().message;
    std::vector<std::pair<records::BatchHeader, uint64_t>> batches;
    auto scan =
        scanSegment(**file, static_cast<uint64_t>(segment.sizeInBytes), segment.baseOffset,
                    options_.config.indexIntervalBytes, [&](const records::BatchView& batch, uint64_t position) {
                      batches.emplace_back(batch.header, position);
                      return Result<void>();
                    });
    ASSERT_TRUE(scan) << scan.error().message;
    EXPECT_EQ(scan->validBytes, static_cast<uint64_t>(segment.sizeInBytes));
    for (const OffsetIndexEntry& entry : *offsets) {
      const auto at = std::ranges::find_if(
          batches, [&](const auto& batch) { return batch.second == static_cast<uint64_t>(entry.position); });
      ASSERT_NE(at, batches.end()) << "an entry names byte " << entry.position;
      EXPECT_EQ(at->first.lastOffset(), entry.offset);
    }
    for (const TimeIndexEntry& entry : *times) {
      int64_t largest = -1;
      for (const auto& [header, position] : batches)
        if (header.lastOffset() <= entry.offset) largest = std::max(largest, header.maxTimestampMs);
      EXPECT_EQ(largest, entry.timestampMs) << "at offset " << entry.offset.value();
    }
    if (!rebuilt) continue;
    EXPECT_EQ(*offsets, scan->offsetEntries);
    std::vector<TimeIndexEntry> expected = scan->timeEntries;
    if (!segment.active && scan->rule.takeTimeEntry()) expected.push_back(scan->rule.timeEntry());
    EXPECT_EQ(*times, expected);
  }
}

std::vector<std::string> LogFixture::names(const std::string& directory) {
  std::vector<std::string> names;
  const auto entries = files().list(directory);
  EXPECT_TRUE(entries);
  for (const auto& entry : *entries) names.push_back(entry.name);
  return names;
}

std::string LogFixture::text(const std::string& path) {
  const ByteVector content = bytes(path);
  return std::string(asText(content));
}

ByteVector LogFixture::bytes(const std::string& path) {
  auto content = files().readFile(path, 1 << 26);
  EXPECT_TRUE(content) << (content ? "" : content.error().message);
  return content.value_or(ByteVector());
}

}  // namespace tidemark::log
