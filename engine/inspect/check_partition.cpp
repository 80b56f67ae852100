#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "inspect/batch_reader.h"
#include "inspect/check.h"
#include "inspect/file_kind.h"
#include "inspect/named_record.h"
#include "log/batch_walk.h"
#include "log/checkpoints.h"
#include "log/epoch_cache.h"
#include "log/producer_state.h"
#include "log/txn_index.h"
#include "raft/quorum_state_store.h"
#include "records/control.h"
#include "records/record.h"

namespace tidemark::inspect {

using log::AbortedTxn;
using log::EpochEntry;
using platform::OpenMode;
using records::BatchHeader;

namespace {

constexpr std::string_view kMetadataFolder = "__cluster_metadata-0";

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

  Result<PartitionFacts> run() {
    TIDEMARK_TRY(list());
    TIDEMARK_TRY(walkSegments());
    checkGone();
    checkAborted();
    finishSnapshots();
    checkEpochs();
    checkPartitionFile();
    if (metadata_) TIDEMARK_TRY(checkMetadataFiles());
    return facts_;
  }

 private:
  std::string pathOf(std::string_view name) const { return folder_ + "/" + std::string(name); }
  std::string pathOf(Offset offset, std::string_view suffix) const {
    return log::offsetFilePath(folder_, offset, suffix);
  }
  void tell(FindingKind kind, Severity severity, std::string file, std::string expected, std::string found,
            std::string advice, std::optional<uint64_t> position = {}, ByteVector bytes = {}) {
    const uint64_t length = bytes.size();
    sink_({kind, severity, std::move(file), position, length, std::move(bytes), std::move(expected), std::move(found),
           std::move(advice)});
  }
  /// All of a small file; tells if it cannot be read.
  std::optional<ByteVector> read(const std::string& path) {
    auto bytes = files_.readFile(path, kLargestWholeFile);
    if (bytes) return *std::move(bytes);
    tell(FindingKind::Unreadable, Severity::Error, path, "a file of a few bytes", bytes.error().message,
         "look at the disk and the file's permissions");
    return std::nullopt;
  }

  // --- names ---
  Result<void> list() {
    TIDEMARK_ASSIGN(const auto entries, files_.list(folder_));
    std::map<Offset, bool> indexes;
    for (const std::string& name : files_.brokenLinks(folder_))
      if (kindOf(name).type != FileType::Unknown)
        tell(FindingKind::Unreadable, Severity::Error, pathOf(name), "a file", "a link that leads nowhere",
             "remove it: a broker does not start with it");
    for (const auto& entry : entries) {
      const FileKind kind = kindOf(entry.name);
      if (kind.type == FileType::Unknown) {
        tell(FindingKind::NameUnknown, Severity::Note, pathOf(entry.name), "files of a log",
             entry.isDirectory ? "a folder" : "another name", "nothing: brokers do not touch it");
        continue;
      }
      if (entry.isDirectory) {
        tell(FindingKind::WrongType, Severity::Error, pathOf(entry.name), "a file", "a folder of that name",
             "move it away: a broker does not start with it");
        continue;
      }
      if (!kind.extra.empty()) {
        if (kind.type == FileType::Log) changing_.push_back(kind);
        tellLeftOver(entry.name, kind.extra);
        continue;
      }
      if (kind.type == FileType::Log) logs_.emplace_back(kind.offset, entry.size);
      if (kind.type == FileType::ProducerSnapshot) snapshots_.push_back(kind.offset);
      if (kind.type == FileType::MetadataSnapshot) metadataSnapshots_.push_back(entry.name);
      if (kind.type == FileType::OffsetIndex || kind.type == FileType::TimeIndex || kind.type == FileType::AbortedIndex)
        indexes[kind.offset] |= entry.size > 0;
      if (kind.type == FileType::AbortedIndex) abortedFiles_.insert(kind.offset);
      if (kind.type == FileType::EpochCheckpoint) hasEpochs_ = true;
      if (kind.type == FileType::PartitionMetadata) hasPartitionFile_ = true;
    }
    std::ranges::sort(logs_);
    std::ranges::sort(snapshots_);
    for (const auto& [base, filled] : indexes)
      if (std::ranges::find(logs_, base, &std::pair<Offset, uint64_t>::first) == logs_.end()) orphans_[base] = filled;
    if (!logs_.empty()) facts_.firstOffset = facts_.logEnd = logs_.front().first;
    return {};
  }

  void tellLeftOver(const std::string& name, std::string_view extra) {
    const bool harmless = extra == log::kDeletedSuffix || extra == ".tmp";
    tell(FindingKind::LeftOver, harmless ? Severity::Note : Severity::Warning, pathOf(name),
         "no files of a change that was interrupted", name,
         extra == ".tmp"              ? "nothing: it is overwritten when the file is written again"
         : extra == log::kSwapSuffix ? "a broker puts it into its place at its next start"
                                     : "a broker removes it at its next start");
  }

  /// Indexes without a log, and folders without one: of an interrupted change, or the last that is left of records.
  void checkGone() {
    const Offset known = std::max(options_.recoveryPoint.value_or(Offset(0)), options_.highWatermark.value_or(Offset(0)));
    const bool swapped = std::ranges::any_of(changing_, [](const FileKind& kind) { return kind.extra == log::kSwapSuffix; });
    const char* lost =
        "records are gone: if the partition has other replicas, remove its folder and the marker of a clean stop while "
        "they run, and the broker fetches them; else look for the file: nothing can be made of the rest";
    for (const auto& [base, filled] : orphans_) {
      const bool held = swapped || std::ranges::find(changing_, base, &FileKind::offset) != changing_.end();
      const bool gone = !held && !options_.open &&
                        (logs_.empty() || (options_.cleanStop && filled) ||
                         (known > facts_.logEnd && base >= facts_.logEnd));
      if (gone)
        tell(FindingKind::SegmentWithoutLog, Severity::Error, pathOf(base, log::kOffsetIndexSuffix),
             pathOf(base, log::kLogSuffix), "no such file", lost);
      else
        tell(FindingKind::SegmentWithoutLog, Severity::Warning, pathOf(base, log::kOffsetIndexSuffix),
             pathOf(base, log::kLogSuffix), "no such file", "a broker removes the index at its next start");
    }
    if (!logs_.empty() || !orphans_.empty() || !changing_.empty() || options_.open || metadata_) return;
    const Offset snapshot = snapshots_.empty() ? Offset(0) : snapshots_.back();
    if (std::max(known, snapshot) > Offset(0))
      tell(FindingKind::SegmentWithoutLog, Severity::Error, pathOf(Offset(0), log::kLogSuffix),
           fmt::format("a log up to offset {}", std::max(known, snapshot)), "no .log at all", lost);
  }

  // --- segments ---
  Result<void> walkSegments() {
    for (size_t i = 0; i < logs_.size(); ++i) {
      const Offset base = logs_[i].first;
      const bool last = i + 1 == logs_.size();
      if (i > 0) checkOrder(base);
      nextOffset_ = base;
      nextPosition_ = 0;
      CheckOptions options;
      options.active = last;
      options.open = options_.open;
      options.trusted =
          options_.cleanStop || (!last && options_.recoveryPoint && logs_[i + 1].first <= *options_.recoveryPoint);
      if (metadata_) options.trusted = false;  // recovered at every start
      options.indexIntervalBytes = options_.indexIntervalBytes;
      options.progress = options_.progress;
      options.visit = [this](const records::BatchView& batch, uint64_t position) { visit(batch, position); };
      segment_ = base;
      TIDEMARK_ASSIGN(const SegmentFacts segment, checkSegment(files_, folder_, base, options, sink_));
      ++facts_.segments;
      facts_.batches += segment.batches;
      facts_.records += segment.records;
      facts_.bytes += segment.fileBytes;
      facts_.logEnd = std::max(facts_.logEnd, segment.nextOffset);
      if (segment.validBytes < segment.fileBytes) {
        damaged_ = true;
        if (last) facts_.tornEnd = true;
      }
    }
    if (!options_.compacted && !holes_)
      for (Finding& gap : gapFindings_) sink_(std::move(gap));
    return {};
  }

  void checkOrder(Offset base) {
    if (base == facts_.logEnd) return;
    if (base < facts_.logEnd)
      tell(FindingKind::SegmentOverlap, Severity::Error, pathOf(base, log::kLogSuffix),
           fmt::format("offset {} or higher in its name", facts_.logEnd), fmt::format("{}", base),
           "take the partition from another replica");
    else
      gaps_ = true;
    if (base > facts_.logEnd && !damaged_)
      gapFindings_.push_back(
          {FindingKind::SegmentGap, Severity::Warning, pathOf(base, log::kLogSuffix), std::nullopt, 0, {},
           fmt::format("a segment that begins at {}, where the one before ends", facts_.logEnd),
           fmt::format("it begins at {}", base),
           "nothing if the topic was ever compacted; else records are missing: take the partition from another replica"});
  }

  /// Offsets are given out without gaps: where one batch follows another and some are missing, compaction took them.
  void noteHoles(const BatchHeader& header, uint64_t position) {
    const bool follows = position == nextPosition_;
    if (follows && header.baseOffset > nextOffset_) holes_ = true;
    if (!header.isControl() && header.recordCount <= header.lastOffsetDelta) holes_ = true;
    nextOffset_ = header.nextOffset();
    nextPosition_ = position + header.sizeInBytes();
  }
  /// What is missing may have been compacted away, or be lost: nothing is concluded from what is left.
  bool mayMiss() const { return options_.compacted || holes_ || gaps_; }

  void visit(const records::BatchView& batch, uint64_t position) {
    const BatchHeader& header = batch.header;
    // Of a file under a name that is not its own.
    if (header.baseOffset < segment_) return;
    noteHoles(header, position);
    while (nextSnapshot_ < snapshots_.size() && snapshots_[nextSnapshot_] <= header.baseOffset)
      checkSnapshot(snapshots_[nextSnapshot_++]);
    if (header.leaderEpoch.value() >= 0) {
      if (ranges_.empty() || ranges_.back().epoch < header.leaderEpoch)
        ranges_.push_back({header.leaderEpoch, header.baseOffset, header.nextOffset()});
      else
        ranges_.back().end = std::max(ranges_.back().end, header.nextOffset());
    }
    if (metadata_) checkMetadataRecords(batch, pathOf(segment_, log::kLogSuffix), position);
    const auto marker = log::markerOf(batch);
    if (marker) markers_[header.baseOffset] = {header.producerId, segment_, marker->commit};
    const auto ended = producers_.apply(header, marker, {header.baseOffset, segment_, static_cast<int64_t>(position)});
    producers_.advanceTo(header.nextOffset());
    if (ended && ended->aborted)
      expected_[segment_].push_back(
          {ended->producerId, ended->firstOffset, ended->lastOffset, ended->lastStableOffset});
  }

  // --- aborted transactions ---
  void checkAborted() {
    for (const Offset base : abortedFiles_) {
      const std::string path = pathOf(base, log::kTxnIndexSuffix);
      const auto bytes = read(path);
      if (!bytes) continue;
      const auto entries = log::decodeAbortedTxns(*bytes, base);
      if (!entries) {
        tell(FindingKind::AbortedIndexBad, Severity::Error, path, "entries of 34 bytes that rise",
             entries.error().message,
             "remove it and its .index: a broker of ours builds both anew (`tidemark repair` does so, too)");
        expected_.erase(base);
        continue;
      }
      compareAborted(base, path, *entries, *bytes);
      expected_.erase(base);
    }
    for (const auto& [base, entries] : expected_) {
      if (entries.empty()) continue;
      tell(FindingKind::AbortedIndexBad, Severity::Error, pathOf(base, log::kTxnIndexSuffix),
           fmt::format("{} aborted transactions, the first of producer {} at {} to {}", entries.size(),
                       entries[0].producerId, entries[0].firstOffset, entries[0].lastOffset),
           "no such file", "read_committed readers see aborted records: `tidemark repair` writes it");
    }
  }

  void compareAborted(Offset base, const std::string& path, const std::vector<AbortedTxn>& entries,
                      const ByteVector& bytes) {
    const auto text = [](const AbortedTxn& entry) {
      return fmt::format("producer {}, offsets {} to {}, last stable offset {}", entry.producerId, entry.firstOffset,
                         entry.lastOffset, entry.lastStableOffset);
    };
    std::map<Offset, const AbortedTxn*> byMarker;
    for (const AbortedTxn& entry : expected_[base]) byMarker[entry.lastOffset] = &entry;
    for (size_t i = 0; i < entries.size(); ++i) {
      const AbortedTxn& entry = entries[i];
      const auto at = bytes.begin() + static_cast<ptrdiff_t>(i * log::kAbortedTxnSize);
      const auto bad = [&](std::string expected) {
        tell(FindingKind::AbortedIndexBad, Severity::Error, path, std::move(expected), text(entry),
             "`tidemark repair` writes the index anew from the log", i * log::kAbortedTxnSize,
             ByteVector(at, at + static_cast<ptrdiff_t>(log::kAbortedTxnSize)));
      };
      const auto found = byMarker.find(entry.lastOffset);
      if (found != byMarker.end()) {
        // Compaction may have taken the first batch, deletion the transaction that was open longer.
        const AbortedTxn& true_ = *found->second;
        const bool same = entry.producerId == true_.producerId &&
                          (entry == true_ || mayMiss() || entry.firstOffset < facts_.firstOffset ||
                           (entry.firstOffset == true_.firstOffset && entry.lastStableOffset < facts_.firstOffset));
        if (!same) bad(text(true_));
        byMarker.erase(found);
        continue;
      }
      // The transaction's records are gone; the marker at least must be an abort of that producer, if it is there.
      const auto marker = markers_.find(entry.lastOffset);
      if (marker == markers_.end()) {
        if (!mayMiss() && !damaged_) bad(fmt::format("an abort marker at offset {}", entry.lastOffset));
      } else if (marker->second.commit || marker->second.producer != entry.producerId) {
        bad(fmt::format("an abort marker of producer {} at offset {}", entry.producerId, entry.lastOffset));
      } else if (!mayMiss() && entry.firstOffset >= facts_.firstOffset) {
        bad(fmt::format("records of producer {} from offset {} on", entry.producerId, entry.firstOffset));
      }
    }
    for (const auto& [offset, missing] : byMarker)
      tell(FindingKind::AbortedIndexBad, Severity::Error, path, text(*missing), "no such entry",
           "read_committed readers see aborted records: `tidemark repair` writes the index anew");
  }

  // --- producer snapshots ---
  void finishSnapshots() {
    while (nextSnapshot_ < snapshots_.size()) {
      const Offset offset = snapshots_[nextSnapshot_++];
      if (offset > facts_.logEnd && !options_.open)
        tell(FindingKind::SnapshotBeyondEnd, Severity::Warning, pathOf(offset, log::kSnapshotSuffix),
             fmt::format("an offset up to {}, the log's end", facts_.logEnd), fmt::format("{}", offset),
             "a broker removes it at its next start");
      checkSnapshot(offset);
    }
  }

  /// `producers_` holds what the batches below the snapshot's offset say.
  void checkSnapshot(Offset offset) {
    const std::string path = pathOf(offset, log::kSnapshotSuffix);
    const auto bytes = read(path);
    if (!bytes) return;
    const auto entries = log::decodeProducerSnapshot(*bytes);
    if (!entries) {
      tell(FindingKind::SnapshotDamaged, Severity::Warning, path, "version, count and CRC of a producer snapshot",
           entries.error().message,
           "a broker removes it at its next start and builds the state from an older one and the log", 0,
           {bytes->begin(), bytes->begin() + static_cast<ptrdiff_t>(std::min<size_t>(bytes->size(), 32))});
      return;
    }
    std::map<ProducerId, log::ProducerInfo> known;
    for (const log::ProducerInfo& info : producers_.producers()) known[info.producerId] = info;
    for (size_t i = 0; i < entries->size(); ++i) checkProducer((*entries)[i], i, offset, path, *bytes, known);
    if (damaged_ || mayMiss()) return;
    for (const auto& [id, info] : known)
      if (info.currentTransactionStartOffset != kNoOffset)
        tell(FindingKind::SnapshotFalse, Severity::Error, path,
             fmt::format("producer {} with the transaction that is open since offset {}", id,
                         info.currentTransactionStartOffset),
             "no such producer", kSnapshotAdvice);
  }

  void checkProducer(const log::ProducerEntry& entry, size_t number, Offset offset, const std::string& path,
                     const ByteVector& bytes, std::map<ProducerId, log::ProducerInfo>& known) {
    constexpr size_t kHeader = 10;
    constexpr size_t kEntry = 46;
    const Offset last = entry.hasBatches() ? entry.lastBatch().lastOffset : kNoOffset;
    const auto text = [](ProducerEpoch epoch, int32_t sequence, Offset transaction) {
      return fmt::format("epoch {}, last sequence {}, transaction open since {}", epoch, sequence, transaction);
    };
    const auto bad = [&](std::string expected, std::string found) {
      const auto at = bytes.begin() + static_cast<ptrdiff_t>(kHeader + number * kEntry);
      tell(FindingKind::SnapshotFalse, Severity::Error, path, std::move(expected), std::move(found), kSnapshotAdvice,
           kHeader + number * kEntry, ByteVector(at, at + static_cast<ptrdiff_t>(kEntry)));
    };
    const auto found = known.find(entry.id());
    std::optional<log::ProducerInfo> info;
    if (found != known.end()) {
      info = found->second;
      known.erase(found);
    }
    if (last >= offset || entry.transactionStart() >= offset) {
      bad(fmt::format("producer {} with offsets below {}", entry.id(), offset),
          fmt::format("last offset {}, transaction open since {}", last, entry.transactionStart()));
      return;
    }
    // What it speaks of may be deleted; a log that ends early says nothing.
    if (damaged_ || last < facts_.firstOffset || mayMiss()) return;
    if (!info) {
      bad(fmt::format("a producer that has batches below offset {}", offset),
          fmt::format("producer {}, last offset {}", entry.id(), last));
      return;
    }
    if (info->producerEpoch != entry.epoch() || info->lastSequence != entry.lastSequence() ||
        (info->currentTransactionStartOffset != entry.transactionStart() &&
         entry.transactionStart() >= facts_.firstOffset))
      bad(fmt::format("producer {}: {}", entry.id(),
                      text(info->producerEpoch, info->lastSequence, info->currentTransactionStartOffset)),
          text(entry.epoch(), entry.lastSequence(), entry.transactionStart()));
  }
  static constexpr const char* kSnapshotAdvice =
      "remove it: a broker builds the state from an older one and the log (`tidemark repair` does so, too)";

  // --- leader epochs ---
  void checkEpochs() {
    const std::string path = pathOf(log::kEpochFile);
    const char* advice = "remove it: a broker builds it anew from the batches (`tidemark repair` does so, too)";
    if (!hasEpochs_) {
      if (!ranges_.empty())
        tell(FindingKind::EpochFileDamaged, Severity::Warning, path, "the leader epochs of the log", "no such file",
             "a broker builds it anew from the batches");
      return;
    }
    const auto bytes = read(path);
    if (!bytes) return;
    // Kafka makes the file before it has anything to write.
    const auto cache = bytes->empty() ? log::EpochCache() : log::EpochCache::decode(asText(*bytes));
    if (!cache) {
      tell(FindingKind::EpochFileDamaged, Severity::Warning, path,
           "0, a count, and lines of epoch and offset that rise", cache.error().message,
           "a broker builds it anew from the batches", 0,
           {bytes->begin(), bytes->begin() + static_cast<ptrdiff_t>(std::min<size_t>(bytes->size(), 48))});
      return;
    }
    if (damaged_) return;
    const std::vector<EpochEntry>& entries = cache->entries();
    Offset logStart = std::max(facts_.firstOffset, options_.logStart.value_or(facts_.firstOffset));
    // It may be where the file says: nothing speaks against it.
    if (!options_.logStartKnown) logStart = entries.empty() ? facts_.logEnd : std::min(facts_.logEnd, entries.front().startOffset);
    // Between which offsets an epoch may begin: behind the batches of lower ones, at or before its own first.
    for (size_t i = 0; i < entries.size(); ++i) {
      Offset lowest(0);
      Offset highest = facts_.logEnd;
      for (const Range& range : ranges_) {
        if (range.epoch < entries[i].epoch) lowest = std::max(lowest, range.end);
        if (range.epoch >= entries[i].epoch) highest = std::min(highest, range.begin);
      }
      if (i == 0) {
        // Cut at the log start.
        lowest = Offset(0);
        highest = std::max(highest, logStart);
      }
      if (entries[i].startOffset >= lowest && (entries[i].startOffset <= highest || options_.open)) continue;
      tell(FindingKind::EpochFileFalse, epochSeverity(), path,
           lowest == highest
               ? fmt::format("epoch {} from offset {} on", entries[i].epoch, lowest)
               : fmt::format("epoch {} from an offset between {} and {} on", entries[i].epoch, lowest, highest),
           fmt::format("offset {}", entries[i].startOffset), advice);
    }
    for (const Range& range : ranges_) {
      const bool there = std::ranges::find(entries, range.epoch, &EpochEntry::epoch) != entries.end();
      if (there || range.end <= logStart) continue;
      tell(FindingKind::EpochFileFalse, epochSeverity(), path,
           fmt::format("epoch {}, which has batches from offset {} on", range.epoch, range.begin), "no such line",
           advice);
    }
  }
  Severity epochSeverity() const { return options_.cleanStop ? Severity::Error : Severity::Warning; }

  void checkPartitionFile() {
    const std::string path = pathOf(log::kPartitionMetadataFile);
    if (!hasPartitionFile_) {
      tell(FindingKind::PartitionFileDamaged, Severity::Note, path, "the topic's id", "no such file",
           "a broker writes it at its next start");
      return;
    }
    const auto bytes = read(path);
    if (!bytes) return;
    const auto id = log::decodePartitionMetadata(asText(*bytes));
    if (id) {
      facts_.topicId = *id;
      return;
    }
    tell(FindingKind::PartitionFileDamaged, Severity::Warning, path, "version: 0 and topic_id: 22 characters",
         id.error().message, "a broker of ours writes it anew at its next start; remove it for Apache Kafka", 0,
         {bytes->begin(), bytes->begin() + static_cast<ptrdiff_t>(std::min<size_t>(bytes->size(), 48))});
  }

  // --- the metadata log ---
  /// What a node cannot read of it ends the node.
  void checkMetadataRecords(const records::BatchView& batch, const std::string& path, uint64_t position) {
    if (batch.header.isControl()) return;
    // Framing is told by the segment's check.
    static_cast<void>(records::forEachRecord(batch, [&](const records::RecordView& record) {
      const NamedRecord named = nameRecord(RecordSchema::Metadata, record);
      if (named.problem.empty()) return;
      tell(FindingKind::BatchRecordsBad, Severity::Error, path,
           fmt::format("a metadata record that Kafka 4.4 knows at offset {}", record.offset), named.problem,
           "no node starts with it: take the node's metadata from the rest of the quorum", position);
    }));
  }

  Result<void> checkMetadataFiles() {
    for (const std::string& name : metadataSnapshots_) TIDEMARK_TRY(checkMetadataSnapshot(pathOf(name)));
    const std::string path = pathOf("quorum-state");
    if (!files_.exists(path)) return {};
    const auto bytes = read(path);
    if (!bytes) return {};
    if (const auto state = raft::decodeQuorumState(asText(*bytes)); !state)
      tell(FindingKind::CheckpointDamaged, Severity::Error, path,
           "a JSON object with leaderId, leaderEpoch, votedId and votedDirectoryId", state.error().message,
           "remove it only if this node votes in no other way: it is how it remembers its vote", 0,
           {bytes->begin(), bytes->begin() + static_cast<ptrdiff_t>(std::min(bytes->size(), Finding::kMaxBytes))});
    return {};
  }

  Result<void> checkMetadataSnapshot(const std::string& path) {
    TIDEMARK_ASSIGN(const auto file, files_.open(path, OpenMode::Read));
    TIDEMARK_ASSIGN(const uint64_t size, file->size());
    const char* advice = "remove it if there is a newer one; else take the node's metadata from the rest of the quorum";
    BatchReader reader(*file, 0, size);
    bool first = true;
    records::ControlType last = records::ControlType::Unknown;
    const auto control = [](const records::BatchView& batch, bool front) {
      auto type = records::ControlType::Unknown;
      if (!batch.header.isControl()) return type;
      records::RecordCursor cursor(batch.header, batch.payload());
      while (cursor.next() == records::Step::Next) {
        type = records::controlType(cursor.record());
        if (front) break;
      }
      return type;
    };
    while (true) {
      TIDEMARK_ASSIGN(const auto item, reader.next());
      if (item == BatchReader::Item::End) break;
      if (item != BatchReader::Item::Batch || !reader.crcValid()) {
        tell(item == BatchReader::Item::Batch ? FindingKind::BatchChecksumBad : FindingKind::LogTorn, Severity::Error,
             path, "batches to the end of the file",
             item == BatchReader::Item::Batch
                 ? fmt::format("CRC 0x{:08x}, not 0x{:08x}", reader.batch().header.crc, reader.batch().computeCrc())
                 : std::string(records::describe(reader.reason())),
             advice, reader.position());
        return {};
      }
      if (first && control(reader.batch(), true) != records::ControlType::SnapshotHeader)
        tell(FindingKind::BatchRecordsBad, Severity::Error, path, "a SnapshotHeader in front", "another record", advice,
             0);
      first = false;
      last = control(reader.batch(), false);
      checkMetadataRecords(reader.batch(), path, reader.position());
    }
    if (last != records::ControlType::SnapshotFooter && !path.ends_with("bootstrap.checkpoint"))
      tell(FindingKind::LogTorn, Severity::Error, path, "a SnapshotFooter at the end", "the end of the file", advice,
           size);
    return {};
  }

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
  std::map<Offset, std::vector<AbortedTxn>> expected_;
};

}  // namespace

Result<PartitionFacts> checkPartition(platform::Process& process, const std::string& folder,
                                      const PartitionCheckOptions& options, const FindingSink& sink) {
  return PartitionCheck(process, folder, options, sink).run();
}

}  // namespace tidemark::inspect
