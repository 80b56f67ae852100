#include "log/file_names.h"
#include "log/segment.h"

// The part of a segment that lies in its .txnindex. The file is made with its first entry.

namespace tidemark::log {

using platform::OpenMode;

Result<std::vector<AbortedTxn>> Segment::abortedTxns() const {
  const size_t count = txnEntries_.load(std::memory_order_acquire);
  if (count == 0) return std::vector<AbortedTxn>();
  TIDEMARK_ASSIGN(const auto file, context_.files->open(path(kTxnIndexSuffix), OpenMode::Read));
  ByteVector bytes(count * kAbortedTxnSize);
  TIDEMARK_ASSIGN(const size_t got, file->readAt(0, bytes));
  auto entries = decodeAbortedTxns(ByteView(bytes).first(got), base_);
  if (!entries) return fail(entries.error().code, fmt::format("{}: {}", file->path(), entries.error().message));
  return entries;
}

Result<void> Segment::appendAborted(std::span<const AbortedTxn> entries) {
  if (entries.empty()) return {};
  const size_t count = txnEntries_.load(std::memory_order_relaxed);
  TIDEMARK_ASSIGN(const auto file,
                  context_.files->open(path(kTxnIndexSuffix), count == 0 ? OpenMode::Truncate : OpenMode::ReadWrite));
  txnDirty_.store(true, std::memory_order_relaxed);
  TIDEMARK_TRY(file->writeAt(count * kAbortedTxnSize, ByteView(encodeAbortedTxns(entries))));
  txnEntries_.store(count + entries.size(), std::memory_order_release);
  return {};
}

Result<void> Segment::replaceAborted(std::span<const AbortedTxn> entries) {
  txnEntries_.store(0, std::memory_order_release);
  if (!entries.empty()) return appendAborted(entries);
  const std::string name = path(kTxnIndexSuffix);
  if (context_.files->exists(name)) TIDEMARK_TRY(context_.files->remove(name));
  return {};
}

Result<void> Segment::truncateAborted(Offset offset) {
  if (txnEntries_.load(std::memory_order_relaxed) == 0) return {};
  TIDEMARK_ASSIGN(const auto entries, abortedTxns());
  size_t kept = entries.size();
  while (kept > 0 && entries[kept - 1].lastOffset >= offset) --kept;
  if (kept == entries.size()) return {};
  txnEntries_.store(kept, std::memory_order_release);
  TIDEMARK_ASSIGN(const auto file, context_.files->open(path(kTxnIndexSuffix), OpenMode::ReadWrite));
  txnDirty_.store(true, std::memory_order_relaxed);
  return file->truncate(kept * kAbortedTxnSize);
}

Result<void> Segment::syncAborted() const {
  if (!txnDirty_.exchange(false)) return {};
  const std::string name = path(kTxnIndexSuffix);
  if (!context_.files->exists(name)) return {};
  TIDEMARK_ASSIGN(const auto file, context_.files->open(name, OpenMode::ReadWrite));
  return file->sync();
}

Result<Offset> Segment::boundOfBytes(uint64_t end, Offset otherwise) const {
  TIDEMARK_ASSIGN(const auto open, files());
  TIDEMARK_ASSIGN(const auto view, open->offsetIndex().view());
  size_t low = 0;
  size_t high = view.count();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (static_cast<uint64_t>(view.entryAt(middle).position) < end)
      low = middle + 1;
    else
      high = middle;
  }
  return low == view.count() ? otherwise : view.entryAt(low).offset;
}

}  // namespace tidemark::log
