#pragma once

#include <string>
#include <vector>

#include "metadata/loader.h"

namespace tidemark::metadata::test {

/// A metadata directory that Apache Kafka wrote, under tests/data/metadata.
class MetadataDirectory {
 public:
  explicit MetadataDirectory(const std::string& name);

  struct Snapshot {
    std::string file;
    OffsetAndEpoch id;
  };
  /// In the order of offsets.
  const std::vector<Snapshot>& snapshots() const { return snapshots_; }
  std::string expectedJson() const;

  /// Gives the loader the committed log below `end`, batch by batch.
  void replayLog(Loader& loader, Offset end = Offset(INT64_MAX)) const;
  void loadSnapshot(Loader& loader, const Snapshot& snapshot) const;
  Offset logEnd() const;

 private:
  std::string path_;
  std::vector<Snapshot> snapshots_;
  ByteVector log_;
};

/// A loader that fails the test if it cannot read.
std::unique_ptr<Loader> makeLoader();

/// The records of a batch as a listener gets them.
raft::CommittedBatch batchOf(Offset base, LeaderEpoch epoch, const std::vector<ByteVector>& records);

}  // namespace tidemark::metadata::test
