#include "log/overflow_split.h"

#include <algorithm>
#include <array>

#include "log/file_names.h"
#include "log/header_scanner.h"
#include "log/segment_scan.h"

namespace tidemark::log {
namespace {

constexpr size_t kCopyBytes = 1u << 20;

/// Bytes [from, to) of `source` as a new file, synced.
Result<void> copyPart(platform::FileSystem& files, const platform::File& source, uint64_t from, uint64_t to,
                      const std::string& path) {
  TIDEMARK_ASSIGN(const auto file, files.open(path, platform::OpenMode::Truncate));
  ByteVector buffer(std::min<uint64_t>(kCopyBytes, to - from));
  for (uint64_t at = from; at < to;) {
    const MutableBytes part = MutableBytes(buffer).first(std::min<uint64_t>(buffer.size(), to - at));
    TIDEMARK_ASSIGN(const size_t got, source.readAt(at, part));
    if (got == 0) return fail(ErrorCode::KafkaStorageError, source.path() + " is shorter than it was");
    TIDEMARK_TRY(file->writeAt(at - from, ByteView(part).first(got)));
    at += got;
  }
  return file->sync();
}

}  // namespace

Result<std::optional<OverflowSplit>> findOverflow(const platform::File& log, uint64_t size, Offset base, Offset end) {
  if (end - base <= kMaxRelativeOffset + 1) return std::nullopt;
  HeaderScanner scanner(log, 0, size);
  while (true) {
    TIDEMARK_ASSIGN(const records::Step step, scanner.next());
    if (step != records::Step::Next) return std::nullopt;
    const records::BatchHeader& header = scanner.header();
    if (header.lastOffset() - base <= kMaxRelativeOffset) continue;
    if (scanner.position() == 0 || header.lastOffset() >= end) return std::nullopt;
    return OverflowSplit{scanner.position(), header.baseOffset};
  }
}

Result<std::vector<std::string>> writeSplit(platform::FileSystem& files, const std::string& directory, Offset base,
                                            uint64_t size, const OverflowSplit& split) {
  TIDEMARK_ASSIGN(const auto source, files.open(offsetFilePath(directory, base, kLogSuffix), platform::OpenMode::Read));
  // The upper part comes first: a lower `.swap` beside a higher `.cleaned` would be taken for a finished one.
  const std::array parts = {offsetFileName(split.baseOffset, kLogSuffix), offsetFileName(base, kLogSuffix)};
  const auto path = [&](const std::string& name, std::string_view extra) {
    return fmt::format("{}/{}{}", directory, name, extra);
  };
  TIDEMARK_TRY(copyPart(files, *source, split.position, size, path(parts[0], kCleanedSuffix)));
  TIDEMARK_TRY(copyPart(files, *source, 0, split.position, path(parts[1], kCleanedSuffix)));
  std::vector<std::string> names;
  for (const std::string& name : parts) {
    TIDEMARK_TRY(files.rename(path(name, kCleanedSuffix), path(name, kSwapSuffix)));
    TIDEMARK_TRY(files.syncDirectory(directory));
    names.push_back(name + std::string(kSwapSuffix));
  }
  return names;
}

}  // namespace tidemark::log
