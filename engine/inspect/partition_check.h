#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "inspect/check.h"
#include "inspect/file_kind.h"
#include "log/file_names.h"
#include "log/producer_state.h"
#include "log/txn_index.h"

namespace tidemark::inspect {

/// The folder of the metadata log.
inline constexpr std::string_view kMetadataFolder = "__cluster_metadata-0";

/// One check of one partition's folder, for checkPartition(): its names and segments (check_partition.cpp), what is
/// made from the batches (check_partition_state.cpp), and what only the metadata log has (check_metadata_log.cpp).
class PartitionCheck {
 public:
  PartitionCheck(platform::Process& process, const std::string& folder, const PartitionCheckOptions& options,
                 const FindingSink& sink)
      : process_(process),
        files_(process.files()),
        folder_(folder),
        options_(options),
        sink_(sink),
        metadata_(nameIn(folder) == kMetadataFolder),
        producers_(files_, process.log(), folder) {}

  Result<PartitionFacts> run();

 private:
  std::string pathOf(std::string_view name) const { return folder_ + "/" + std::string(name); }
  std::string pathOf(Offset offset, std::string_view suffix) const {
    return log::offsetFilePath(folder_, offset, suffix);
  }
  void tell(FindingKind kind, Severity severity, std::string file, std::string expected, std::string found,
            std::string advice, std::optional<uint64_t> position = {}, ByteVector bytes = {});
  /// All of a small file; tells if it cannot be read.
  std::optional<ByteVector> read(const std::string& path);

  // --- names ---
  Result<void> list();
  void tellLeftOver(const std::string& name, std::string_view extra);
  /// Indexes without a log, and folders without one: of an interrupted change, or the last that is left of records.
  void checkGone();

  // --- segments ---
  Result<void> walkSegments();
  void checkOrder(Offset base);
  /// Offsets are given out without gaps: where one batch follows another and some are missing, compaction took them.
  void noteHoles(const records::BatchHeader& header, uint64_t position);
  /// What is missing may have been compacted away, or be lost: nothing is concluded from what is left.
  bool mayMiss() const { return options_.compacted || holes_ || gaps_; }

  void visit(const records::BatchView& batch, uint64_t position);

  // --- aborted transactions ---
  void checkAborted();
  void compareAborted(Offset base, const std::string& path, const std::vector<log::AbortedTxn>& entries,
                      const ByteVector& bytes);

  // --- producer snapshots ---
  void finishSnapshots();
  /// `producers_` holds what the batches below the snapshot's offset say.
  void checkSnapshot(Offset offset);
  void checkProducer(const log::ProducerEntry& entry, size_t number, Offset offset, const std::string& path,
                     const ByteVector& bytes, std::map<ProducerId, log::ProducerInfo>& known);
  static constexpr const char* kSnapshotAdvice =
      "remove it: a broker builds the state from an older one and the log (`tidemark repair` does so, too)";

  // --- leader epochs ---
  void checkEpochs();
  Severity epochSeverity() const { return options_.cleanStop ? Severity::Error : Severity::Warning; }

  void checkPartitionFile();

  // --- the metadata log ---
  /// What a node cannot read of it ends the node.
  void checkMetadataRecords(const records::BatchView& batch, const std::string& path, uint64_t position);
  Result<void> checkMetadataFiles();
  Result<void> checkMetadataSnapshot(const std::string& path);

  struct Range {
    LeaderEpoch epoch;
    Offset begin;
    Offset end;
  };
  struct Marker {
    ProducerId producer;
    Offset segment;
    bool commit = false;
  };

  platform::Process& process_;
  platform::FileSystem& files_;
  const std::string& folder_;
  const PartitionCheckOptions& options_;
  const FindingSink& sink_;
  const bool metadata_;
  PartitionFacts facts_;
  std::vector<std::pair<Offset, uint64_t>> logs_;
  std::vector<Offset> snapshots_;
  size_t nextSnapshot_ = 0;
  std::vector<std::string> metadataSnapshots_;
  std::set<Offset> abortedFiles_;
  bool hasEpochs_ = false;
  bool hasPartitionFile_ = false;
  /// Something in the batches could not be read: what follows from all of them is not known.
  bool damaged_ = false;
  Offset segment_ = kNoOffset;
  /// Where the next batch is expected, in the log and in the file.
  Offset nextOffset_ = kNoOffset;
  uint64_t nextPosition_ = 0;
  /// Offsets are missing inside of segments; between segments.
  bool holes_ = false;
  bool gaps_ = false;
  std::vector<Finding> gapFindings_;
  /// Bases of indexes without a .log, and whether there is anything in them.
  std::map<Offset, bool> orphans_;
  /// Logs with a suffix: an interrupted change has them.
  std::vector<FileKind> changing_;
  log::ProducerStateManager producers_;
  std::vector<Range> ranges_;
  std::map<Offset, Marker> markers_;
  /// By segment, what its .txnindex should hold.
  std::map<Offset, std::vector<log::AbortedTxn>> expected_;
};

}  // namespace tidemark::inspect
