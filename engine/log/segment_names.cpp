#include <array>

#include "log/file_names.h"
#include "log/segment.h"

// A segment's files under their other names: on their way out of a log, or not yet in it.

namespace tidemark::log {
namespace {

constexpr std::array kSuffixes = {kLogSuffix, kOffsetIndexSuffix, kTimeIndexSuffix, kTxnIndexSuffix};

}  // namespace

Result<std::vector<std::string>> Segment::retire() {
  const Lock opening(openMutex_);
  retired_ = true;
  std::vector<std::string> names;
  // The .log goes first: without it the others are left-overs that the next start removes.
  for (const std::string_view suffix : kSuffixes) {
    const std::string name = path(suffix);
    if (!context_.files->exists(name)) continue;
    std::string retired = name + std::string(kDeletedSuffix);
    TIDEMARK_TRY(context_.files->rename(name, retired));
    names.push_back(std::move(retired));
  }
  context_.handles->erase(id_);
  return names;
}

Result<void> Segment::renameTo(std::string_view extra) {
  // The .log is the first to lose `.swap`: while it has it, a start removes what lies at its place under final names,
  // which must not be the new indexes.
  for (const std::string_view suffix : kSuffixes) {
    const std::string from = path(suffix);
    if (!context_.files->exists(from)) continue;
    TIDEMARK_TRY(context_.files->rename(from, offsetFilePath(directory_, base_, suffix).append(extra)));
  }
  extra_ = extra;
  context_.handles->erase(id_);
  const Lock lock(mutex_);
  pinned_ = nullptr;
  return {};
}

void Segment::discard() {
  for (const std::string_view suffix : kSuffixes)
    for (const std::string_view extra : {kCleanedSuffix, kSwapSuffix}) {
      const std::string name = offsetFilePath(directory_, base_, suffix).append(extra);
      if (context_.files->exists(name)) (void)context_.files->remove(name);
    }
}

}  // namespace tidemark::log
