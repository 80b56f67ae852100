#include <algorithm>

#include <fmt/format.h>

#include "inspect/partition_check.h"
#include "log/checkpoints.h"
#include "log/epoch_cache.h"

// What a partition's folder holds beside the batches and is made from them: aborted transactions, producers, leader
// epochs.

namespace tidemark::inspect {

using log::AbortedTxn;
using log::EpochEntry;

// --- aborted transactions ---
void PartitionCheck::checkAborted() {
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

void PartitionCheck::compareAborted(Offset base, const std::string& path, const std::vector<AbortedTxn>& entries,
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
void PartitionCheck::finishSnapshots() {
  while (nextSnapshot_ < snapshots_.size()) {
    const Offset offset = snapshots_[nextSnapshot_++];
    if (offset > facts_.logEnd && !options_.open)
      tell(FindingKind::SnapshotBeyondEnd, Severity::Warning, pathOf(offset, log::kSnapshotSuffix),
           fmt::format("an offset up to {}, the log's end", facts_.logEnd), fmt::format("{}", offset),
           "a broker removes it at its next start");
    checkSnapshot(offset);
  }
}

void PartitionCheck::checkSnapshot(Offset offset) {
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

void PartitionCheck::checkProducer(const log::ProducerEntry& entry, size_t number, Offset offset,
                                   const std::string& path, const ByteVector& bytes,
                                   std::map<ProducerId, log::ProducerInfo>& known) {
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

// --- leader epochs ---
void PartitionCheck::checkEpochs() {
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
    tell(FindingKind::EpochFileDamaged, Severity::Warning, path, "0, a count, and lines of epoch and offset that rise",
         cache.error().message, "a broker builds it anew from the batches", 0,
         {bytes->begin(), bytes->begin() + static_cast<ptrdiff_t>(std::min<size_t>(bytes->size(), 48))});
    return;
  }
  if (damaged_) return;
  const std::vector<EpochEntry>& entries = cache->entries();
  Offset logStart = std::max(facts_.firstOffset, options_.logStart.value_or(facts_.firstOffset));
  // It may be where the file says: nothing speaks against it.
  if (!options_.logStartKnown)
    logStart = entries.empty() ? facts_.logEnd : std::min(facts_.logEnd, entries.front().startOffset);
  // A broker that is killed between writing the epochs and the log start has cut them where the log was to begin,
  // inside the batches of the first that is left.
  if (!options_.cleanStop && !options_.open && !entries.empty()) {
    const EpochEntry& first = entries.front();
    const bool isCut = std::ranges::any_of(ranges_, [&](const Range& range) {
      return range.epoch == first.epoch && range.begin <= first.startOffset && first.startOffset < range.end;
    });
    if (isCut) logStart = std::max(logStart, first.startOffset);
  }
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

void PartitionCheck::checkPartitionFile() {
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

}  // namespace tidemark::inspect
