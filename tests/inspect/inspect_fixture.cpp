#include "inspect_fixture.h"

#include "log/file_names.h"
#include "records/control.h"

namespace tidemark::inspect {

InspectFixture::InspectFixture() {
  options_.partition = {"orders", PartitionIndex(0)};
  options_.directory = "/data/orders-0";
  options_.topicId = Uuid::parse("AAAAAAAAQACAAAAAAAAAAQ").value();
  options_.config.indexIntervalBytes = 512;
  options_.config.timestampAfterMaxMs = INT64_MAX;
  options_.config.producerIdExpirationMs = INT64_MAX;
}

void InspectFixture::openLog(bool clean) {
  log::LogContext context{.files = &process_->files(),
                          .clock = &process_->clock(),
                          .logger = &process_->log(),
                          .background = nullptr,
                          .handles = handles_};
  options_.cleanShutdown = clean;
  auto opened = log::PartitionLog::open(context, options_);
  ASSERT_TRUE(opened) << opened.error().message;
  log_ = *opened;
  log_->assignEpochStartOffset(epoch_, log_->logEndOffset());
}

void InspectFixture::append(const Spec& spec) {
  records::BatchOptions options;
  options.codec = spec.codec;
  options.producerId = spec.producer;
  options.producerEpoch = spec.producerEpoch;
  options.baseSequence = spec.baseSequence;
  options.transactional = spec.transactional;
  records::BatchBuilder builder(options);
  for (int i = 0; i < spec.count; ++i) {
    const std::string key = "key-" + std::to_string(i);
    const std::string value(spec.valueSize, static_cast<char>('a' + i % 26));
    const records::RecordHeader header{asBytes("trace"), asBytes("on")};
    builder.append(spec.firstTimestampMs + i, asBytes(key), asBytes(value), std::span(&header, 1));
  }
  ByteVector batch = builder.build();
  const auto appended = log_->appendAsLeader(batch, epoch_);
  ASSERT_TRUE(appended) << appended.error().error.message;
}

void InspectFixture::appendMany(int count) {
  for (int i = 0; i < count; ++i) {
    append({.firstTimestampMs = nextTimestampMs_});
    nextTimestampMs_ += 1000;
  }
}

void InspectFixture::endTransaction(ProducerId producer, ProducerEpoch epoch, bool commit) {
  ByteVector marker =
      records::buildEndTxnMarker(producer, epoch, {.commit = commit, .coordinatorEpoch = 1}, nextTimestampMs_);
  const auto appended = log_->appendAsLeader(marker, epoch_, {.origin = records::Origin::Coordinator});
  ASSERT_TRUE(appended) << appended.error().error.message;
}

void InspectFixture::closeLog() {
  const auto closed = log_->close();
  ASSERT_TRUE(closed) << closed.error().message;
  log_.reset();
}

std::shared_ptr<const PartitionView> InspectFixture::view(const std::string& path) {
  auto opened = PartitionView::open(*process_, path);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return opened ? *opened : nullptr;
}

ByteVector InspectFixture::bytes(const std::string& path) {
  auto read = process_->files().readFile(path, 64 << 20);
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return read ? *read : ByteVector();
}

void InspectFixture::write(const std::string& path, ByteView bytes) {
  auto opened = process_->files().open(path, platform::OpenMode::Truncate);
  ASSERT_TRUE(opened) << opened.error().message;
  if (!bytes.empty()) {
    ASSERT_TRUE((*opened)->writeAt(0, bytes));
  }
}

void InspectFixture::flip(const std::string& path, uint64_t position, uint8_t mask) {
  ByteVector all = bytes(path);
  ASSERT_LT(position, all.size());
  all[position] ^= mask;
  write(path, all);
}

std::string InspectFixture::file(int64_t base, std::string_view suffix) {
  return log::offsetFilePath("/data/orders-0", Offset(base), suffix);
}

}  // namespace tidemark::inspect
