#include "log/log_folder.h"

#include <algorithm>
#include <optional>

#include "log/directories.h"
#include "log/file_names.h"
#include "log/header_scanner.h"

namespace tidemark::log {

using records::Step;

namespace {

constexpr std::string_view kSegmentSuffixes[] = {kLogSuffix, kOffsetIndexSuffix, kTimeIndexSuffix, kTxnIndexSuffix};

/// The offset in the name of a file of a segment, `extra` behind its suffix.
std::optional<Offset> segmentOffset(std::string_view name, std::string_view extra = {}) {
  if (!name.ends_with(extra)) return std::nullopt;
  name.remove_suffix(extra.size());
  for (const std::string_view suffix : kSegmentSuffixes)
    if (const auto offset = offsetOfFileName(name, suffix)) return offset;
  return std::nullopt;
}

}  // namespace

std::span<const std::string_view> segmentSuffixes() noexcept {
  return kSegmentSuffixes;
}

Result<void> LogFolder::list() {
  TIDEMARK_ASSIGN(entries_, files_.list(path_));
  existed_ = true;
  return {};
}

Result<void> LogFolder::listOrMake() {
  auto listed = files_.list(path_);
  existed_ = listed || files_.exists(path_);
  if (!existed_) return makeDirectories(files_, path_);
  if (!listed) return fail(std::move(listed).error());
  entries_ = *std::move(listed);
  return {};
}

bool LogFolder::has(std::string_view name) const {
  return std::ranges::binary_search(entries_, name, {}, [](const auto& entry) { return std::string_view(entry.name); });
}

Result<void> LogFolder::tidyUp() {
  bool changed = false;
  std::vector<std::string> swaps;
  std::vector<std::string> cleaned;
  Offset lowestCleaned(INT64_MAX);
  for (const auto& entry : entries_) {
    if (entry.name.ends_with(kDeletedSuffix)) {
      changed = true;
      TIDEMARK_TRY(files_.remove(pathOf(entry.name)));
    } else if (const auto offset = segmentOffset(entry.name, kCleanedSuffix)) {
      lowestCleaned = std::min(lowestCleaned, *offset);
      cleaned.push_back(entry.name);
    } else if (segmentOffset(entry.name, kSwapSuffix)) {
      swaps.push_back(entry.name);
    }
  }
  // A swap at or above a half-cleaned segment belongs to the same unfinished split.
  std::vector<std::string> valid;
  for (const std::string& name : swaps) {
    if (*segmentOffset(name, kSwapSuffix) >= lowestCleaned)
      TIDEMARK_TRY(files_.remove(pathOf(name)));
    else
      valid.push_back(name);
  }
  for (const std::string& name : cleaned) TIDEMARK_TRY(files_.remove(pathOf(name)));
  if (!valid.empty()) TIDEMARK_TRY(completeSwaps(valid));
  if (changed || !swaps.empty() || !cleaned.empty()) {
    TIDEMARK_ASSIGN(entries_, files_.list(path_));
  }
  return {};
}

Result<void> LogFolder::completeSwaps(const std::vector<std::string>& names) {
  // What the swapped segments replace goes first: everything that begins inside them.
  Offset from(INT64_MAX);
  Offset to(INT64_MIN);
  for (const std::string& name : names) {
    const Offset base = *segmentOffset(name, kSwapSuffix);
    if (name != offsetFileName(base, kLogSuffix) + std::string(kSwapSuffix)) continue;
    TIDEMARK_ASSIGN(const auto file, files_.open(pathOf(name), platform::OpenMode::Read));
    TIDEMARK_ASSIGN(const uint64_t size, file->size());
    from = std::min(from, base);
    to = std::max(to, base);
    HeaderScanner scanner(*file, 0, size);
    while (true) {
      TIDEMARK_ASSIGN(const Step step, scanner.next());
      if (step != Step::Next) break;
      to = std::max(to, scanner.header().nextOffset());
    }
  }
  for (const auto& entry : entries_) {
    const auto offset = segmentOffset(entry.name);
    if (offset && *offset >= from && *offset < to) TIDEMARK_TRY(files_.remove(pathOf(entry.name)));
  }
  for (const std::string& name : names) {
    const std::string path = pathOf(name);
    TIDEMARK_TRY(files_.rename(path, path.substr(0, path.size() - kSwapSuffix.size())));
  }
  return files_.syncDirectory(path_);
}

}  // namespace tidemark::log
