#include "inspect/repair_plan.h"

#include <algorithm>

#include "base/bytes.h"
#include "inspect/file_kind.h"
#include "log/file_names.h"

namespace tidemark::inspect {

using platform::OpenMode;

namespace {

constexpr size_t kComparedAtOnce = 1u << 20;

bool isOfBatches(FindingKind kind) noexcept {
  switch (kind) {
    case FindingKind::LogTorn:
    case FindingKind::BatchLengthBad:
    case FindingKind::BatchMagicBad:
    case FindingKind::BatchChecksumBad:
    case FindingKind::BatchOffsetsBad:
    case FindingKind::BatchEpochFalls:
    case FindingKind::TrailingZeros:
      return true;
    default:
      return false;
  }
}

bool isOfIndex(FindingKind kind) noexcept {
  return kind == FindingKind::IndexMissing || kind == FindingKind::IndexSizeOdd ||
         kind == FindingKind::IndexEntryFalse || kind == FindingKind::IndexNotRising ||
         kind == FindingKind::IndexNotAsRebuilt;
}

/// What a file is made from is in the batches, or a broker makes it: true. Then it is done without.
bool planWithout(FolderPlan& todo, const FileKind& file) {
  if (!file.extra.empty()) return true;
  switch (file.type) {
    case FileType::OffsetIndex:
    case FileType::TimeIndex:
      todo.indexes.insert(file.offset);
      return true;
    case FileType::AbortedIndex:
      todo.aborted.insert(file.offset);
      return true;
    case FileType::EpochCheckpoint:
      todo.epochs = true;
      return true;
    case FileType::ProducerSnapshot:
    case FileType::PartitionMetadata:
      return true;
    default:
      return false;
  }
}

/// False as well if one of them cannot be read.
bool beginsWith(platform::FileSystem& files, const std::string& path, const std::string& front) {
  const auto whole = files.open(path, OpenMode::Read);
  const auto part = files.open(front, OpenMode::Read);
  if (!whole || !part) return false;
  const auto size = (*part)->size();
  const auto room = (*whole)->size();
  if (!size || !room || *size == 0 || *room < *size) return false;
  ByteVector ours(kComparedAtOnce);
  ByteVector theirs(kComparedAtOnce);
  for (uint64_t at = 0; at < *size;) {
    const size_t step = static_cast<size_t>(std::min<uint64_t>(kComparedAtOnce, *size - at));
    const auto left = (*part)->readAt(at, MutableBytes(ours).first(step));
    const auto right = (*whole)->readAt(at, MutableBytes(theirs).first(step));
    if (!left || !right || *left != step || *right != step) return false;
    if (!std::equal(ours.begin(), ours.begin() + static_cast<ptrdiff_t>(step), theirs.begin())) return false;
    at += step;
  }
  return true;
}

/// All of the segment's bytes are at the front of another segment, too.
bool isCopyOfAnother(platform::FileSystem& files, const std::string& folder, Offset base) {
  const auto entries = files.list(folder);
  if (!entries) return false;
  return std::ranges::any_of(*entries, [&](const platform::DirectoryEntry& entry) {
    const FileKind kind = kindOf(entry.name);
    if (entry.isDirectory || kind.type != FileType::Log || !kind.extra.empty() || kind.offset == base) return false;
    return beginsWith(files, folder + "/" + entry.name, log::offsetFilePath(folder, base, log::kLogSuffix));
  });
}

}  // namespace

void planFor(FolderPlan& todo, const Finding& finding) {
  const FileKind file = kindOf(nameIn(finding.file));
  if (isOfBatches(finding.kind) && file.type == FileType::Log && finding.position) {
    const auto [first, isNew] = todo.cuts.emplace(file.offset, *finding.position);
    if (!isNew) first->second = std::min(first->second, *finding.position);
    if (finding.kind == FindingKind::BatchOffsetsBad && *finding.position == 0)
      todo.misnamed.emplace(file.offset, finding);
  } else if (isOfIndex(finding.kind)) {
    todo.indexes.insert(file.offset);
  } else if (finding.kind == FindingKind::AbortedIndexBad) {
    todo.aborted.insert(file.offset);
  } else if (file.type == FileType::ProducerSnapshot &&
             (finding.kind == FindingKind::SnapshotDamaged || finding.kind == FindingKind::SnapshotFalse ||
              finding.kind == FindingKind::SnapshotBeyondEnd)) {
    todo.snapshots.insert(finding.file);
  } else if (finding.kind == FindingKind::EpochFileDamaged || finding.kind == FindingKind::EpochFileFalse) {
    todo.epochs = true;
  } else if (finding.kind == FindingKind::LeftOver ||
             (finding.kind == FindingKind::SegmentWithoutLog && finding.severity != Severity::Error)) {
    todo.change = true;
  } else if (finding.kind == FindingKind::PartitionFileDamaged && finding.severity == Severity::Warning) {
    todo.partitionFile = true;
  } else if ((finding.kind == FindingKind::Unreadable || finding.kind == FindingKind::WrongType) &&
             planWithout(todo, file)) {
    todo.aside.insert(finding.file);
  } else {
    if (finding.kind == FindingKind::SegmentOverlap) todo.overlaps.insert(file.offset);
    if (finding.kind == FindingKind::SegmentWithoutLog) todo.left = true;
    todo.impossible.push_back(finding);
  }
}

void settle(platform::FileSystem& files, const std::string& folder, FolderPlan& todo) {
  for (const auto& [base, finding] : todo.misnamed) {
    if (!todo.overlaps.contains(base) || !isCopyOfAnother(files, folder, base)) {
      todo.impossible.push_back(finding);
      todo.left = true;
      continue;
    }
    todo.strays.insert(base);
    todo.overlaps.erase(base);
    todo.cuts.erase(base);
    todo.indexes.erase(base);
    todo.aborted.erase(base);
    const std::string path = log::offsetFilePath(folder, base, log::kLogSuffix);
    std::erase_if(todo.impossible, [&path](const Finding& other) { return other.file == path; });
  }
  if (!todo.cuts.empty()) todo.cut = *todo.cuts.begin();
  // Which of two segments is the right one no program knows, but for what is cut anyway.
  for (const Offset base : todo.overlaps)
    if (!todo.cut || todo.cut->first >= base) todo.left = true;
  if (todo.left) {
    FolderPlan nothing;
    nothing.left = true;
    nothing.impossible = std::move(todo.impossible);
    todo = std::move(nothing);
    return;
  }
  for (const Offset base : todo.strays)
    for (const std::string_view suffix :
         {log::kLogSuffix, log::kOffsetIndexSuffix, log::kTimeIndexSuffix, log::kTxnIndexSuffix})
      if (std::string path = log::offsetFilePath(folder, base, suffix); files.exists(path))
        todo.aside.insert(std::move(path));
}

}  // namespace tidemark::inspect
