#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/bytes.h"
#include "base/mutex.h"
#include "base/result.h"
#include "log/log_types.h"
#include "platform/file_system.h"

namespace tidemark::log {

/// `.index`: 8 bytes an entry: last offset of a batch − segment base i32, byte where the batch starts i32.
struct OffsetIndexFormat {
  using Entry = OffsetIndexEntry;
  static constexpr size_t kSize = 8;
  static Entry decode(const uint8_t* from, Offset base) noexcept {
    return {base + static_cast<int64_t>(readBigEndian<uint32_t>(from)), readBigEndian<int32_t>(from + 4)};
  }
  static void encode(const Entry& entry, Offset base, uint8_t* to) noexcept {
    writeBigEndian(to, static_cast<int32_t>(entry.offset - base));
    writeBigEndian(to + 4, static_cast<int32_t>(entry.position));
  }
};

/// `.timeindex`: 12 bytes an entry: timestamp i64, offset − segment base i32.
struct TimeIndexFormat {
  using Entry = TimeIndexEntry;
  static constexpr size_t kSize = 12;
  static Entry decode(const uint8_t* from, Offset base) noexcept {
    return {readBigEndian<int64_t>(from), base + static_cast<int64_t>(readBigEndian<uint32_t>(from + 8))};
  }
  static void encode(const Entry& entry, Offset base, uint8_t* to) noexcept {
    writeBigEndian(to, entry.timestampMs);
    writeBigEndian(to + 8, static_cast<int32_t>(entry.offset - base));
  }
};

/// The entries of an index as they were when the view was made. Holds its mapping: stays readable while the index
/// grows, is truncated (then its last entries are not to be trusted) or removed.
template <class Format>
class IndexView {
 public:
  IndexView() = default;
  IndexView(std::shared_ptr<const platform::Mapping> mapping, size_t count, Offset base) noexcept
      : mapping_(std::move(mapping)), count_(count), base_(base) {}

  size_t count() const noexcept { return count_; }
  typename Format::Entry entryAt(size_t index) const noexcept {
    return Format::decode(mapping_->bytes().data() + index * Format::kSize, base_);
  }
  /// The last entry for which `isAtOrBelow` holds; the entries rise. Nothing if it holds for none.
  template <class Predicate>
  std::optional<typename Format::Entry> floor(const Predicate& isAtOrBelow) const {
    size_t low = 0;
    size_t high = count_;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (isAtOrBelow(entryAt(middle)))
        low = middle + 1;
      else
        high = middle;
    }
    if (low == 0) return std::nullopt;
    return entryAt(low - 1);
  }

 private:
  std::shared_ptr<const platform::Mapping> mapping_;
  size_t count_ = 0;
  Offset base_;
};

/// One index file. Written with pwrite by one thread at a time (the log's lock), read by any through views: the count
/// is raised after the entry is in the file, and mappings are replaced by larger ones, never moved. It only grows:
/// shortening a file under a mapping would take pages away from readers, so truncation makes a new file under the same
/// name (Segment::truncateTo).
template <class Format>
class IndexFile {
 public:
  using Entry = typename Format::Entry;

  /// `count`: entries that are in the file (see countEntries). A new file has none.
  IndexFile(std::shared_ptr<platform::File> file, Offset base, size_t count) noexcept
      : file_(std::move(file)), base_(base), count_(count) {}

  size_t count() const noexcept { return count_.load(std::memory_order_acquire); }
  platform::File& file() const noexcept { return *file_; }

  /// Any thread.
  Result<IndexView<Format>> view() const {
    const size_t count = this->count();
    if (count == 0) return IndexView<Format>(nullptr, 0, base_);
    const size_t needed = count * Format::kSize;
    const Lock lock(mappingMutex_);
    if (!mapping_ || mapping_->bytes().size() < needed) {
      size_t length = kSmallestMapping;
      while (length < needed) length *= 2;
      TIDEMARK_ASSIGN(mapping_, file_->map(length));
    }
    return IndexView<Format>(mapping_, count, base_);
  }

  /// Writer only.
  Result<void> append(const Entry& entry) {
    uint8_t bytes[Format::kSize];
    Format::encode(entry, base_, bytes);
    const size_t count = count_.load(std::memory_order_relaxed);
    TIDEMARK_TRY(file_->writeAt(count * Format::kSize, ByteView(bytes, sizeof bytes)));
    count_.store(count + 1, std::memory_order_release);
    return {};
  }
  /// Reads one entry without a mapping: for the few looks a writer takes when it opens the file.
  Result<Entry> readEntry(size_t index) const {
    uint8_t bytes[Format::kSize];
    TIDEMARK_ASSIGN(const size_t got, file_->readAt(index * Format::kSize, bytes));
    if (got != sizeof bytes) return fail(ErrorCode::KafkaStorageError, file_->path() + " ended before its last entry");
    return Format::decode(bytes, base_);
  }

 private:
  static constexpr size_t kSmallestMapping = 4096;

  const std::shared_ptr<platform::File> file_;
  const Offset base_;
  std::atomic<size_t> count_;
  mutable Mutex mappingMutex_;
  mutable std::shared_ptr<const platform::Mapping> mapping_ GUARDED_BY(mappingMutex_);
};

using OffsetIndex = IndexFile<OffsetIndexFormat>;
using TimeIndex = IndexFile<TimeIndexFormat>;

/// Entries in an index file of `fileSize` bytes that may have been preallocated (Kafka's active ones are zero to their
/// full size): what is before the zeros. Nothing if the size is not a whole number of entries.
Result<std::optional<size_t>> countEntries(const platform::File& file, uint64_t fileSize, size_t entrySize);

}  // namespace tidemark::log
