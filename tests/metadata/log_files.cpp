#include "metadata/log_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "records/batch.h"
#include "records/record.h"

namespace tidemark::metadata::test {
namespace {

ByteVector readAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  const std::string bytes = text.str();
  return ByteVector(bytes.begin(), bytes.end());
}

std::vector<ByteView> valuesOf(const records::BatchView& batch) {
  std::vector<ByteView> values;
  records::RecordCursor cursor(batch.header, batch.payload());
  while (cursor.next() == records::Step::Next) values.push_back(cursor.record().value.value_or(ByteView()));
  EXPECT_EQ(values.size(), static_cast<size_t>(batch.header.recordCount));
  return values;
}

/// Data batches of a snapshot file.
class FileSnapshot final : public raft::SnapshotReader {
 public:
  FileSnapshot(ByteVector bytes, OffsetAndEpoch id) : bytes_(std::move(bytes)), id_(id), cursor_(bytes_) {}
  OffsetAndEpoch id() const override { return id_; }
  int64_t lastContainedLogTimestampMs() const override { return 0; }
  Result<std::optional<std::vector<ByteView>>> next() override {
    while (cursor_.next() == records::Step::Next) {
      if (!cursor_.batch().header.isControl()) return std::optional(valuesOf(cursor_.batch()));
    }
    return std::optional<std::vector<ByteView>>();
  }

 private:
  ByteVector bytes_;
  OffsetAndEpoch id_;
  records::BatchCursor cursor_;
};

}  // namespace

MetadataDirectory::MetadataDirectory(const std::string& name)
    : path_(std::string(TIDEMARK_TEST_DATA) + "/metadata/" + name) {
  std::vector<std::string> logs;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    const std::string file = entry.path().filename();
    if (file.ends_with(".log")) logs.push_back(file);
    if (file.ends_with(".checkpoint")) {
      const OffsetAndEpoch id{Offset(std::stoll(file.substr(0, 20))), LeaderEpoch(std::stoi(file.substr(21, 10)))};
      snapshots_.push_back({file, id});
    }
  }
  std::ranges::sort(logs);
  std::ranges::sort(snapshots_, {}, &Snapshot::file);
  for (const std::string& file : logs) {
    const ByteVector bytes = readAll(path_ + "/" + file);
    log_.insert(log_.end(), bytes.begin(), bytes.end());
  }
}

std::string MetadataDirectory::expectedJson() const {
  const ByteVector bytes = readAll(path_ + "/expected.json");
  return std::string(bytes.begin(), bytes.end());
}

void MetadataDirectory::replayLog(Loader& loader, Offset end) const {
  records::BatchCursor cursor(log_, records::BatchCursor::Check::Checksum);
  while (cursor.next() == records::Step::Next) {
    const records::BatchHeader& header = cursor.batch().header;
    if (header.baseOffset >= end) return;
    raft::CommittedBatch batch{.baseOffset = header.baseOffset,
                               .lastOffset = header.lastOffset(),
                               .epoch = header.leaderEpoch,
                               .appendTimestampMs = header.maxTimestampMs,
                               .sizeInBytes = static_cast<int32_t>(header.sizeInBytes()),
                               .isControl = header.isControl()};
    if (!batch.isControl) batch.records = valuesOf(cursor.batch());
    loader.onCommit(std::span(&batch, 1));
  }
  EXPECT_EQ(cursor.position(), log_.size());
}

void MetadataDirectory::loadSnapshot(Loader& loader, const Snapshot& snapshot) const {
  FileSnapshot reader(readAll(path_ + "/" + snapshot.file), snapshot.id);
  loader.onLoadSnapshot(reader);
}

Offset MetadataDirectory::logEnd() const {
  records::BatchCursor cursor(log_);
  Offset end;
  while (cursor.next() == records::Step::Next) end = cursor.batch().header.nextOffset();
  return end;
}

std::unique_ptr<Loader> makeLoader() {
  return std::make_unique<Loader>([](const std::string& reason) { ADD_FAILURE() << reason; });
}

raft::CommittedBatch batchOf(Offset base, LeaderEpoch epoch, const std::vector<ByteVector>& records) {
  raft::CommittedBatch batch{.baseOffset = base,
                             .lastOffset = base + static_cast<int64_t>(records.size()) - 1,
                             .epoch = epoch,
                             .appendTimestampMs = 1000 + base.value()};
  for (const ByteVector& record : records) batch.records.emplace_back(record);
  return batch;
}

}  // namespace tidemark::metadata::test
