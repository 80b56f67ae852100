#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cluster/cluster.h"
#include "cluster/file_listing.h"
#include "cluster/slot.h"
#include "log/file_names.h"
#include "log/header_scanner.h"

// What a fault does to the files of a broker, whether it runs or not.

namespace tidemark::cluster {
namespace {

/// What a loss of power took off the end of a file.
struct CutFile {
  std::string path;
  uint64_t left = 0;
  uint64_t lost = 0;
};

/// A segment that it was taken off, and where its whole batches end now.
struct CutSegment {
  TopicPartition partition;
  Offset base;
  Offset end;
  uint64_t left = 0;
  uint64_t lost = 0;
};

/// Nothing if the file is no segment of a partition.
std::optional<CutSegment> segmentOf(const platform::File& file, const CutFile& cut) {
  const std::string_view path = cut.path;
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view folder = path.substr(0, slash);
  const auto base = log::offsetOfFileName(path.substr(slash + 1), log::kLogSuffix);
  const auto partition = log::partitionOfFolder(folder.substr(folder.rfind('/') + 1));
  if (!base || !partition) return std::nullopt;
  CutSegment segment{.partition = *partition, .base = *base, .end = *base, .left = cut.left, .lost = cut.lost};
  // What cannot be read is not there.
  for (log::HeaderScanner scanner(file, 0, cut.left);
       scanner.next().value_or(records::Step::Corrupt) == records::Step::Next;)
    segment.end = scanner.header().nextOffset();
  return segment;
}

/// What was seen of a log as it lies on the disk after the cut: behind it nothing counts, even if it is still there.
void cutOff(observe::ReplicaSnapshot& seen, const CutSegment& cut) {
  seen.sizeInBytes -= static_cast<int64_t>(cut.lost);
  for (observe::SegmentSnapshot& segment : seen.segments)
    if (segment.baseOffset == cut.base) segment.sizeInBytes = static_cast<int64_t>(cut.left);
  if (cut.end >= seen.logEnd) return;
  if (seen.lostTo == kNoOffset) seen.lostTo = seen.logEnd;
  seen.logEnd = cut.end;
  std::erase_if(seen.batches, [&cut](const observe::BatchSnapshot& batch) { return batch.lastOffset >= cut.end; });
  std::erase_if(seen.indexEntries,
                [&cut](const observe::IndexEntrySnapshot& entry) { return entry.offset >= cut.end; });
}

}  // namespace

Result<void> Cluster::withFiles(const Slot& slot, const std::function<Result<void>(platform::FileSystem&)>& use) {
  // Below its faults: it is the lab's hand that is at its disk, which no fault slows down or stops.
  if (slot.process) return use(slot.process->filesBelow());
  // A name of an earlier process that died stands for the same machine.
  const auto machine = platform_->createProcess(machineOf(slot.place.id));
  Result<void> result = use(machine->files());
  machine->kill("its files were seen to");
  machine->awaitStopped();
  return result;
}

Result<std::vector<std::string>> Cluster::foldersOf(const Slot& slot, platform::FileSystem& files) const {
  std::vector<std::string> folders = nodeDirectories(*topology_, dataFolder_, slot.place.id);
  std::erase_if(folders, [&](const std::string& folder) { return !files.exists(folder); });
  if (folders.empty())
    return fail(ErrorCode::InvalidRequest,
                fmt::format("{} has no files any more, they were wiped: `restart {}` makes new ones", slot.name(),
                            slot.place.id));
  return folders;
}

Result<void> Cluster::loseUnsynced(Slot& slot, const std::vector<faults::UnsyncedFile>& lost,
                                   faults::Lasting& lasting) {
  std::vector<CutFile> cuts;
  Result<void> result = withFiles(slot, [&](platform::FileSystem& files) -> Result<void> {
    for (const faults::UnsyncedFile& each : lost) {
      if (!files.exists(each.path)) continue;
      TIDEMARK_ASSIGN(const auto file, files.open(each.path, platform::OpenMode::ReadWrite));
      TIDEMARK_ASSIGN(const uint64_t size, file->size());
      if (size > each.synced) {
        TIDEMARK_TRY(file->truncate(each.synced));
        cuts.push_back({.path = each.path, .left = each.synced, .lost = size - each.synced});
        if (const auto segment = segmentOf(*file, cuts.back())) {
          const auto seen = slot.lastSeen.find(segment->partition);
          if (seen == slot.lastSeen.end()) continue;
          slot.lastDiskBytes -= static_cast<int64_t>(segment->lost);
          cutOff(seen->second, *segment);
        }
      }
      TIDEMARK_TRY(file->sync());
    }
    return {};
  });
  // Only some are named: those that lost most.
  std::ranges::stable_sort(cuts, std::ranges::greater(), &CutFile::lost);
  for (CutFile& each : cuts) lasting.addCut(std::move(each.path), each.lost);
  return result;
}

Result<void> Cluster::wipe(const Slot& slot, const faults::Fault& fault, faults::Lasting& lasting) {
  return withFiles(slot, [&](platform::FileSystem& files) -> Result<void> {
    bool found = false;
    TIDEMARK_ASSIGN(const std::vector<std::string> folders, foldersOf(slot, files));
    for (const std::string& directory : folders) {
      if (fault.path.empty()) {
        TIDEMARK_TRY(files.removeTree(directory));
        lasting.add(directory);
        found = true;
        continue;
      }
      TIDEMARK_ASSIGN(const std::vector<platform::DirectoryEntry> entries, files.list(directory));
      for (const platform::DirectoryEntry& entry : entries) {
        if (!entry.isDirectory || !faults::matchesPath(fault.path, entry.name)) continue;
        std::string path = fmt::format("{}/{}", directory, entry.name);
        TIDEMARK_TRY(files.removeTree(path));
        lasting.add(std::move(path));
        found = true;
      }
    }
    if (!found) return fail(ErrorCode::InvalidRequest, fmt::format("{} has no folder {}", slot.name(), fault.path));
    return {};
  });
}

Result<void> Cluster::flipBit(const Slot& slot, const faults::Fault& fault, faults::Lasting& lasting) {
  return withFiles(slot, [&](platform::FileSystem& files) -> Result<void> {
    TIDEMARK_ASSIGN(const std::vector<std::string> folders, foldersOf(slot, files));
    TIDEMARK_ASSIGN(const FileListing all, listBelow(files, folders, SIZE_MAX));
    const auto found = std::ranges::find_if(all.entries, [&](const FileListing::Entry& entry) {
      return !entry.isDirectory && entry.sizeInBytes > 0 && faults::matchesPath(fault.path, entry.path);
    });
    if (found == all.entries.end())
      return fail(ErrorCode::InvalidRequest,
                  fmt::format("{} has no file {} with a byte in it", slot.name(), fault.path));
    TIDEMARK_ASSIGN(const auto file, files.open(found->path, platform::OpenMode::ReadWrite));
    TIDEMARK_ASSIGN(const uint64_t size, file->size());
    // In the middle: of a log that is inside a batch, of an index an entry.
    const uint64_t position = size / 2;
    std::array<uint8_t, 1> byte{};
    TIDEMARK_TRY(file->readAt(position, byte));
    byte[0] ^= 1U;
    TIDEMARK_TRY(file->writeAt(position, ByteView(byte)));
    lasting.flippedByte = position;
    lasting.add(found->path);
    return {};
  });
}

}  // namespace tidemark::cluster
