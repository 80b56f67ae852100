#include "inspect/dump.h"

#include <algorithm>

#include <fmt/format.h>

#include "inspect/batch_reader.h"
#include "inspect/check.h"
#include "inspect/dump_printer.h"
#include "inspect/file_kind.h"
#include "log/checkpoints.h"
#include "log/epoch_cache.h"
#include "log/index_file.h"
#include "log/producer_state.h"
#include "log/txn_index.h"
#include "records/record.h"

namespace tidemark::inspect {

using platform::OpenMode;

namespace {

constexpr size_t kEntriesAtOnce = 4096;

class Dumper {
 public:
  Dumper(platform::FileSystem& files, const DumpOptions& options, const LineSink& sink)
      : files_(files), options_(options), printer_(options.json ? makeJsonPrinter(sink) : makeTextPrinter(sink)) {}

  Result<DumpSummary> run(const std::string& path) {
    const auto entries = files_.list(path);
    if (!entries) {
      TIDEMARK_TRY(one(path));
      return summary_;
    }
    for (const auto& entry : *entries) {
      if (entry.isDirectory || kindOf(entry.name).type == FileType::Unknown) continue;
      TIDEMARK_TRY(one(path + "/" + entry.name));
    }
    if (summary_.files == 0) return fail(ErrorCode::InvalidRequest, path + ": no file of a log in this folder");
    return summary_;
  }

 private:
  Result<void> one(const std::string& path) {
    const FileKind kind = kindOf(nameIn(path));
    if (!files_.exists(path)) return fail(ErrorCode::InvalidRequest, path + ": no such file");
    ++summary_.files;
    folder_ = platform::parentDirectory(path);
    path_ = path;
    schema_ = options_.schema.value_or(schemaOf(nameIn(folder_)));
    if (kind.type != FileType::Unknown) printer_->file(path, typeName(kind.type));
    switch (kind.type) {
      case FileType::Log:
        return log(kind);
      case FileType::MetadataSnapshot:
        if (!options_.onlyCheck) printer_->snapshotBegins(kind.offset, kind.epoch);
        return batches();
      case FileType::OffsetIndex:
        return index<log::OffsetIndexFormat>(kind);
      case FileType::TimeIndex:
        return index<log::TimeIndexFormat>(kind);
      case FileType::AbortedIndex:
        return aborted(kind);
      case FileType::ProducerSnapshot:
        return producers();
      case FileType::EpochCheckpoint:
        return epochs();
      case FileType::OffsetCheckpoint:
        return checkpoint();
      case FileType::MetaProperties:
      case FileType::PartitionMetadata:
      case FileType::QuorumState:
      case FileType::CleanMarker:
        return properties(kind.type);
      case FileType::Lock:
        return {};
      case FileType::Unknown:
        break;
    }
    return fail(
        ErrorCode::InvalidRequest,
        fmt::format("{}: its name is none of a log's files (DIGITS.log, .index, .timeindex, .txnindex, .snapshot, "
                    ".checkpoint, a checkpoint or properties file)",
                    path));
  }

  void tell(const Finding& finding) {
    ++summary_.findings;
    if (finding.severity == Severity::Error) ++summary_.errors;
    printer_->finding(finding);
  }
  void damaged(FindingKind kind, std::string why) {
    tell({kind, Severity::Error, path_, {}, 0, {}, {}, std::move(why), {}});
  }

  // --- batches ---
  Result<void> log(const FileKind& kind) {
    if (!options_.onlyCheck) {
      printer_->logBegins(kind.offset);
      TIDEMARK_TRY(batches());
    }
    return check(kind, false);
  }

  Result<void> batches() {
    TIDEMARK_ASSIGN(const auto file, files_.open(path_, OpenMode::Read));
    TIDEMARK_ASSIGN(const uint64_t size, file->size());
    BatchReader reader(*file, 0, size);
    uint64_t reported = 0;
    while (true) {
      TIDEMARK_ASSIGN(const auto item, reader.next());
      if (options_.progress && reader.position() - reported >= kProgressStep) {
        if (!options_.progress(reader.position() - reported)) return fail(ErrorCode::RequestTimedOut, "interrupted");
        reported = reader.position();
      }
      if (item == BatchReader::Item::End || reader.position() >= options_.maxBytes) return {};
      if (item == BatchReader::Item::Damaged) {
        if (!options_.check || kindOf(nameIn(path_)).type == FileType::MetadataSnapshot)
          damaged(FindingKind::LogTorn,
                  fmt::format("{} at byte {}: {} bytes are left", records::describe(reader.reason()), reader.position(),
                              size - reader.position()));
        return {};
      }
      ++summary_.batches;
      if (item == BatchReader::Item::Old)
        oldBatch(reader);
      else
        batch(reader);
    }
  }

  void batch(const BatchReader& reader) {
    const records::BatchView& batch = reader.batch();
    if (!options_.skipBatches) printer_->batch(batch, reader.position(), reader.crcValid());
    if (!options_.records && !options_.deep) return;
    const auto payload = records::openPayload(batch, buffer_);
    if (!payload) return;
    records::RecordCursor cursor(batch.header, *payload);
    while (cursor.next() == records::Step::Next) {
      ++summary_.records;
      printer_->record(batch.header, cursor.record(), schema_, options_.records);
    }
  }

  void oldBatch(const BatchReader& reader) {
    const auto batch = records::readOldBatch(reader.oldBytes());
    if (!batch) {
      damaged(FindingKind::BatchChecksumBad, fmt::format("at byte {}: {}", reader.position(), batch.error().message));
      return;
    }
    if (!options_.skipBatches) printer_->oldBatch(*batch, reader.position());
    if (!options_.records && !options_.deep) return;
    for (const records::OldMessage& message : batch->messages) {
      ++summary_.records;
      printer_->oldRecord(message, options_.records);
    }
  }

  // --- indexes ---
  template <class Format>
  Result<void> index(const FileKind& kind) {
    TIDEMARK_ASSIGN(const auto file, files_.open(path_, OpenMode::Read));
    TIDEMARK_ASSIGN(const uint64_t size, file->size());
    const uint64_t whole = size / Format::kSize * Format::kSize;
    TIDEMARK_ASSIGN(const auto counted, log::countEntries(*file, whole, Format::kSize));
    const size_t count = counted.value_or(0);
    ByteVector bytes(std::min(count, kEntriesAtOnce) * Format::kSize);
    for (size_t from = 0; from < count && !options_.onlyCheck; from += kEntriesAtOnce) {
      const MutableBytes part = MutableBytes(bytes).first(std::min(count - from, kEntriesAtOnce) * Format::kSize);
      TIDEMARK_ASSIGN(const size_t got, file->readAt(from * Format::kSize, part));
      for (size_t at = 0; at + Format::kSize <= got; at += Format::kSize) {
        const auto entry = Format::decode(part.data() + at, kind.offset);
        if constexpr (Format::kIndex == log::LookupStep::Index::Offset)
          printer_->offsetEntry(from + at / Format::kSize, entry);
        else
          printer_->timeEntry(from + at / Format::kSize, entry);
      }
    }
    return check(kind, count == 0);
  }

  Result<void> aborted(const FileKind& kind) {
    TIDEMARK_ASSIGN(const ByteVector bytes, files_.readFile(path_, kLargestWholeFile));
    const auto entries = log::decodeAbortedTxns(bytes, kind.offset);
    if (!entries) {
      damaged(FindingKind::AbortedIndexBad, entries.error().message);
      return {};
    }
    if (options_.onlyCheck) return {};
    for (const log::AbortedTxn& entry : *entries) printer_->abortedEntry(entry);
    return {};
  }

  /// What checkSegment() finds about this very file.
  Result<void> check(const FileKind& kind, bool empty) {
    if ((!options_.check && !options_.onlyCheck) || !kind.extra.empty()) return {};
    int64_t findings = 0;
    if (!files_.exists(log::offsetFilePath(folder_, kind.offset, log::kLogSuffix))) {
      printer_->checked(path_, typeName(kind.type), 0, empty);
      return {};
    }
    CheckOptions options;
    // What comes behind it tells whether it is closed.
    TIDEMARK_ASSIGN(const auto entries, files_.list(folder_));
    options.active = std::ranges::none_of(entries, [&](const auto& entry) {
      const auto other = log::offsetOfFileName(entry.name, log::kLogSuffix);
      return other && *other > kind.offset;
    });
    options.open = options.active;
    options.progress = options_.progress;
    TIDEMARK_TRY(checkSegment(files_, folder_, kind.offset, options, [&](const Finding& finding) {
      if (finding.file != path_) return;
      ++findings;
      tell(finding);
    }));
    printer_->checked(path_, typeName(kind.type), findings, empty);
    return {};
  }

  // --- other files ---
  Result<void> producers() {
    TIDEMARK_ASSIGN(const ByteVector bytes, files_.readFile(path_, kLargestWholeFile));
    const auto entries = log::decodeProducerSnapshot(bytes);
    if (!entries) {
      damaged(FindingKind::SnapshotDamaged, entries.error().message);
      return {};
    }
    if (options_.onlyCheck) return {};
    for (const log::ProducerEntry& entry : *entries) printer_->producer(entry);
    return {};
  }

  Result<void> epochs() {
    TIDEMARK_ASSIGN(const ByteVector bytes, files_.readFile(path_, kLargestWholeFile));
    if (bytes.empty()) return {};
    const auto cache = log::EpochCache::decode(asText(bytes));
    if (!cache) {
      damaged(FindingKind::EpochFileDamaged, cache.error().message);
      return {};
    }
    for (const log::EpochEntry& entry : cache->entries()) printer_->epoch(entry);
    return {};
  }

  Result<void> checkpoint() {
    TIDEMARK_ASSIGN(const ByteVector bytes, files_.readFile(path_, kLargestWholeFile));
    if (bytes.empty()) return {};
    const auto offsets = log::decodeOffsetCheckpoint(asText(bytes));
    if (!offsets) {
      damaged(FindingKind::CheckpointDamaged, offsets.error().message);
      return {};
    }
    for (const auto& [partition, offset] : *offsets) printer_->checkpointed(partition, offset);
    return {};
  }

  Result<void> properties(FileType type) {
    TIDEMARK_ASSIGN(const ByteVector bytes, files_.readFile(path_, kLargestWholeFile));
    const std::string_view text = asText(bytes);
    const auto bad = [this](FindingKind kind, const Error& error) {
      damaged(kind, error.message);
      return Result<void>();
    };
    if (type == FileType::MetaProperties) {
      const auto meta = log::decodeMetaProperties(text);
      if (!meta) return bad(FindingKind::MetaPropertiesBad, meta.error());
      printer_->property("cluster.id", meta->clusterId);
      printer_->property("node.id", fmt::format("{}", meta->nodeId));
      printer_->property("directory.id", meta->directoryId.toString());
    } else if (type == FileType::PartitionMetadata) {
      const auto id = log::decodePartitionMetadata(text);
      if (!id) return bad(FindingKind::PartitionFileDamaged, id.error());
      printer_->property("topic_id", id->toString());
    } else if (type == FileType::CleanMarker) {
      const auto epoch = log::decodeCleanShutdown(text);
      if (!epoch) return bad(FindingKind::CleanMarkerBad, epoch.error());
      printer_->property("brokerEpoch", fmt::format("{}", *epoch));
    } else {
      printer_->property("quorum-state", text);
    }
    return {};
  }

  platform::FileSystem& files_;
  const DumpOptions& options_;
  const std::unique_ptr<DumpPrinter> printer_;
  DumpSummary summary_;
  std::string path_;
  std::string folder_;
  RecordSchema schema_ = RecordSchema::None;
  ByteVector buffer_;
};

}  // namespace

Result<DumpSummary> dump(platform::FileSystem& files, const std::string& path, const DumpOptions& options,
                         const LineSink& sink) {
  return Dumper(files, options, sink).run(path);
}

}  // namespace tidemark::inspect
