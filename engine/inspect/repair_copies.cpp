#include "inspect/repair_copies.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "inspect/batch_anatomy.h"

namespace tidemark::inspect {

using platform::OpenMode;

namespace {

constexpr size_t kCopiedAtOnce = 1u << 20;
/// What is all zeros over such a stretch is not written.
constexpr size_t kHole = 4096;
/// The rest of the disk should not be filled by copies.
constexpr uint64_t kSpare = 64u << 20;

std::string suffixOf(int64_t nowMs) {
  std::string stamp = timeText(nowMs);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':' || c == '.'; });
  return ".before-repair-" + stamp;
}

/// The bytes of `from` on that are to be written, as far as they go together; empty at the end of `bytes`.
ByteView nextWritten(ByteView bytes, size_t& from) {
  const auto isHole = [&](size_t at) {
    const ByteView part = bytes.subspan(at, std::min(kHole, bytes.size() - at));
    return std::ranges::all_of(part, [](uint8_t byte) { return byte == 0; });
  };
  while (from < bytes.size() && isHole(from)) from += kHole;
  from = std::min(from, bytes.size());
  size_t end = from;
  while (end < bytes.size() && !isHole(end)) end += kHole;
  return bytes.subspan(from, std::min(end, bytes.size()) - from);
}

}  // namespace

RepairCopies::RepairCopies(platform::FileSystem& files, int64_t nowMs) : files_(files), suffix_(suffixOf(nowMs)) {}

Result<std::string> RepairCopies::placeFor(const std::string& path) {
  std::string to = directory_ + suffix_ + path.substr(directory_.size());
  TIDEMARK_TRY(files_.createDirectories(platform::parentDirectory(to)));
  if (folders_.empty() || folders_.back() != directory_ + suffix_) folders_.push_back(directory_ + suffix_);
  return to;
}

Result<void> RepairCopies::copy(const std::string& path) {
  TIDEMARK_ASSIGN(const std::string to, placeFor(path));
  const auto copied = copyData(path, to);
  if (!copied) {
    if (files_.exists(to)) TIDEMARK_TRY(files_.remove(to));
    return copied;
  }
  return files_.syncDirectory(platform::parentDirectory(to));
}

Result<void> RepairCopies::copyData(const std::string& path, const std::string& to) {
  TIDEMARK_ASSIGN(const auto from, files_.open(path, OpenMode::Read));
  TIDEMARK_ASSIGN(const uint64_t size, from->size());
  TIDEMARK_ASSIGN(const auto into, files_.open(to, OpenMode::Truncate));
  // As long as it is, whatever its end holds.
  if (size > 0) TIDEMARK_TRY(into->truncate(size));
  ByteVector buffer(kCopiedAtOnce);
  for (uint64_t at = 0; at < size;) {
    TIDEMARK_ASSIGN(at, from->nextData(at));
    if (at >= size) break;
    TIDEMARK_ASSIGN(const size_t got,
                    from->readAt(at, MutableBytes(buffer).first(std::min<uint64_t>(buffer.size(), size - at))));
    if (got == 0) break;
    TIDEMARK_ASSIGN(const auto space, files_.space(platform::parentDirectory(to)));
    if (space.available < got + kSpare)
      return fail(ErrorCode::KafkaStorageError,
                  fmt::format("no room for a copy of {} ({} bytes): make room, then repair again", path, size));
    const ByteView bytes = ByteView(buffer).first(got);
    size_t start = 0;
    for (ByteView part = nextWritten(bytes, start); !part.empty(); part = nextWritten(bytes, start)) {
      TIDEMARK_TRY(into->writeAt(at + start, part));
      start += part.size();
    }
    at += got;
  }
  return into->sync();
}

Result<void> RepairCopies::moveAside(const std::string& path) {
  TIDEMARK_ASSIGN(const std::string to, placeFor(path));
  const Result<void> moved = files_.rename(path, to);
  // A log directory may be a file system of its own. Of a folder nothing is taken apart.
  if (moved || files_.list(path)) return moved;
  TIDEMARK_TRY(copy(path));
  return files_.remove(path);
}

}  // namespace tidemark::inspect
