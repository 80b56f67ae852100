#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/mutex.h"
#include "base/result.h"
#include "log/log_types.h"
#include "log/lookup_trace.h"
#include "platform/file_system.h"

namespace tidemark::log {

/// `.index`: 8 bytes an entry: last offset of a batch − segment base i32, byte where the batch starts i32.
struct OffsetIndexFormat {
  using Entry = OffsetIndexEntry;
  static constexpr size_t kSize = 8;
  static constexpr auto kIndex = LookupStep::Index::Offset;
  static Entry decode(const uint8_t* from, Offset base) noexcept {
    return {base + static_cast<int64_t>(readBigEndian<uint32_t>(from)), readBigEndian<int32_t>(from + 4)};
  }
  static void encode(const Entry& entry, Offset base, uint8_t* to) noexcept {
    writeBigEndian(to, static_cast<int32_t>(entry.offset - base));
    writeBigEndian(to + 4, static_cast<int32_t>(entry.position));
  }
  static int64_t key(const Entry& entry) noexcept { return entry.offset.value(); }
};

/// `.timeindex`: 12 bytes an entry: timestamp i64, offset − segment base i32.
struct TimeIndexFormat {
  using Entry = TimeIndexEntry;
  static constexpr size_t kSize = 12;
  static constexpr auto kIndex = LookupStep::Index::Time;
  static Entry decode(const uint8_t* from, Offset base) noexcept {
    return {readBigEndian<int64_t>(from), base + static_cast<int64_t>(readBigEndian<uint32_t>(from + 8))};
  }
  static void encode(const Entry& entry, Offset base, uint8_t* to) noexcept {
    writeBigEndian(to, entry.timestampMs);
    writeBigEndian(to + 8, static_cast<int32_t>(entry.offset - base));
  }
  static int64_t key(const Entry& entry) noexcept { return entry.timestampMs; }
};

/// Entries of an index that are not in its file yet.
template <class Format>
struct PendingEntries {
  static constexpr size_t kMost = 64;
  std::array<uint8_t, kMost * Format::kSize> bytes;
};

/// Entries of an index that searches looked at and that bound a page of it, or all of it: by them a search finds the
/// page of an entry without touching others. 4096 bytes of entries are a page. Shared by an index and its views; any
/// thread.
template <class Format>
class RememberedEntries {
 public:
  static constexpr size_t kPerPage = 4096 / Format::kSize;
  struct Known {
    size_t number = 0;
    typename Format::Entry entry;
  };

  void note(size_t number, const typename Format::Entry& entry) {
    const Lock lock(mutex_);
    if (number % kPerPage != 0) {
      // The last one there was: others may have followed.
      if (!last_ || last_->number < number) last_ = {number, entry};
      return;
    }
    const auto at = std::ranges::lower_bound(firsts_, number, {}, &Known::number);
    if (at == firsts_.end() || at->number != number) firsts_.insert(at, {number, entry});
  }
  /// The closest that is known at or below `key`, and above it.
  std::pair<std::optional<Known>, std::optional<Known>> around(int64_t key) const {
    const Lock lock(mutex_);
    std::optional<Known> below;
    std::optional<Known> above;
    const auto after =
        std::ranges::upper_bound(firsts_, key, {}, [](const Known& known) { return Format::key(known.entry); });
    if (after != firsts_.begin()) below = *std::prev(after);
    if (after != firsts_.end()) above = *after;
    if (!last_) return {below, above};
    const bool isAbove = Format::key(last_->entry) > key;
    if (isAbove && (!above || last_->number < above->number)) above = last_;
    if (!isAbove && (!below || last_->number > below->number)) below = last_;
    return {below, above};
  }

 private:
  mutable Mutex mutex_;
  /// First entries of pages, in order.
  std::vector<Known> firsts_ GUARDED_BY(mutex_);
  std::optional<Known> last_ GUARDED_BY(mutex_);
};

/// The entries of an index as they were when the view was made. Holds its mapping: stays readable while the index
/// grows, is truncated (then its last entries are not to be trusted) or removed.
template <class Format>
class IndexView {
 public:
  IndexView() = default;
  using Entry = typename Format::Entry;

  /// The first `inFile` entries are in `mapping`, the others in `pending`. `remembered` may be null.
  IndexView(std::shared_ptr<const platform::Mapping> mapping, size_t inFile,
            std::shared_ptr<const PendingEntries<Format>> pending,
            std::shared_ptr<RememberedEntries<Format>> remembered, size_t count, Offset base) noexcept
      : mapping_(std::move(mapping)),
        pending_(std::move(pending)),
        remembered_(std::move(remembered)),
        inFile_(inFile),
        count_(count),
        base_(base) {}

  size_t count() const noexcept { return count_; }
  typename Format::Entry entryAt(size_t index) const noexcept {
    const uint8_t* const from = index < inFile_ ? mapping_->bytes().data() + index * Format::kSize
                                                : pending_->bytes.data() + (index - inFile_) * Format::kSize;
    return Format::decode(from, base_);
  }
  /// The last entry whose offset (of a time index: whose time) is `target` or lower; the entries rise. Nothing if there
  /// is none. Binary search inside a page of entries; which page it is is guessed from the entries around, for they
  /// rise evenly, and remembered. A lookup so touches three pages of any index at most, but where entries rise very
  /// unevenly and nobody has looked yet. `trace`: is told each look, may be null.
  std::optional<Entry> floor(int64_t target, LookupTrace* trace = nullptr) const {
    using Kind = LookupStep::Kind;
    Search search{.target = target, .high = count_, .trace = trace};
    if (remembered_) {
      const auto [below, above] = remembered_->around(target);
      if (below && below->number < count_) look(search, below->number, below->entry, true);
      if (above && above->number >= search.low && above->number < count_)
        look(search, above->number, above->entry, true);
    }
    while (search.low < search.high) {
      const size_t number = next(search);
      const Entry entry = entryAt(number);
      search.touched = number / kPerPage;
      look(search, number, entry, false);
      if (remembered_ && (number % kPerPage == 0 || number + 1 == count_)) remembered_->note(number, entry);
    }
    if (search.low == 0) {
      if (trace != nullptr) [[unlikely]]
        trace->add({.kind = Kind::NoFloorEntry, .index = Format::kIndex, .count = count_});
      return std::nullopt;
    }
    if (trace != nullptr) [[unlikely]]
      trace->addEntry({.kind = Kind::FloorEntry, .entry = search.low - 1, .count = count_}, *search.below);
    return search.below;
  }

 private:
  static constexpr size_t kPerPage = RememberedEntries<Format>::kPerPage;
  /// Then the middle it is, which ends also where guesses go astray.
  static constexpr int kGuesses = 3;

  /// What is sought is among the entries [low, high), or entry low − 1.
  struct Search {
    int64_t target = 0;
    size_t low = 0;
    size_t high = 0;
    LookupTrace* trace = nullptr;
    /// Entry low − 1 and entry high, once they were looked at.
    std::optional<Entry> below;
    std::optional<Entry> above;
    int guesses = 0;
    /// The page that was looked into last.
    std::optional<size_t> touched;
  };

  void look(Search& search, size_t number, const Entry& entry, bool remembered) const {
    const bool below = Format::key(entry) <= search.target;
    if (search.trace != nullptr) [[unlikely]]
      search.trace->addEntry({.kind = LookupStep::Kind::Probe,
                              .entry = number,
                              .count = count_,
                              .low = search.low,
                              .high = search.high,
                              .taken = below,
                              .remembered = remembered},
                             entry);
    if (below) {
      search.low = number + 1;
      search.below = entry;
    } else {
      search.high = number;
      search.above = entry;
    }
  }

  /// The entry to look at.
  size_t next(Search& search) const {
    const size_t page = search.low / kPerPage;
    const size_t last = (search.high - 1) / kPerPage;
    if (page == last || !remembered_) return search.low + (search.high - search.low) / 2;
    const size_t endOfPage = (page + 1) * kPerPage - 1;
    const bool inside = search.low % kPerPage != 0;
    if (inside && search.touched == page) return endOfPage;
    // The end of all: readers at the tail look at it anyway.
    if (!search.above) return count_ - 1;
    const size_t guessed = guess(search) / kPerPage;
    if (inside && guessed <= page) return endOfPage;
    return std::clamp(guessed, inside ? page + 1 : page, last) * kPerPage;
  }

  /// Where the target would lie if the entries rose evenly.
  size_t guess(Search& search) const {
    const size_t middle = search.low + (search.high - search.low) / 2;
    if (search.guesses++ >= kGuesses || (!search.below && Format::kIndex == LookupStep::Index::Time)) return middle;
    const int64_t from = search.below ? Format::key(*search.below) : base_.value();
    const int64_t to = Format::key(*search.above);
    if (to <= from) return middle;
    const double share = static_cast<double>(search.target - from) / static_cast<double>(to - from);
    return search.low + static_cast<size_t>(share * static_cast<double>(search.high - search.low));
  }

  std::shared_ptr<const platform::Mapping> mapping_;
  std::shared_ptr<const PendingEntries<Format>> pending_;
  std::shared_ptr<RememberedEntries<Format>> remembered_;
  size_t inFile_ = 0;
  size_t count_ = 0;
  Offset base_;
};

/// One index file. Appended to by one thread at a time (the log's lock), read by any through views; mappings are
/// replaced by larger ones, never moved. It only grows: shortening a file under a mapping would take pages away from
/// readers, so truncation makes a new file under the same name (Segment::truncateTo).
///
/// The last entries, up to PendingEntries::kMost, are in memory only until so many have come or writePending() is
/// called: one pwrite for all of them, for a write costs as much as all else that an entry takes. A kill loses them,
/// which costs nothing: they are of batches past the recovery point, and those are read and indexed again at the next
/// start.
template <class Format>
class IndexFile {
 public:
  using Entry = typename Format::Entry;

  /// `count`: entries that are in the file (see countEntries). A new file has none.
  IndexFile(std::shared_ptr<platform::File> file, Offset base, size_t count) noexcept
      : file_(std::move(file)), base_(base), count_(count) {}

  size_t count() const noexcept { return count_.load(std::memory_order_acquire); }

  /// Any thread.
  Result<IndexView<Format>> view() const {
    const Lock lock(mutex_);
    const size_t count = count_.load(std::memory_order_relaxed);
    const size_t inFile = count - pendingCount_;
    const size_t needed = inFile * Format::kSize;
    if (inFile > 0 && (!mapping_ || mapping_->bytes().size() < needed)) {
      size_t length = kSmallestMapping;
      while (length < needed) length *= 2;
      TIDEMARK_ASSIGN(mapping_, file_->map(length));
    }
    if (!remembered_ && count > RememberedEntries<Format>::kPerPage)
      remembered_ = std::make_shared<RememberedEntries<Format>>();
    return IndexView<Format>(mapping_, inFile, pending_, remembered_, count, base_);
  }

  /// Writer only.
  Result<void> append(const Entry& entry) {
    const Lock lock(mutex_);
    // A view may still read the entries that were written out.
    if (pendingCount_ == 0 && (!pending_ || pending_.use_count() > 1))
      pending_ = std::make_shared<PendingEntries<Format>>();
    Format::encode(entry, base_, pending_->bytes.data() + pendingCount_ * Format::kSize);
    ++pendingCount_;
    last_ = entry;
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    return pendingCount_ == PendingEntries<Format>::kMost ? writeOut() : Result<void>();
  }
  /// Brings every entry into the file; before it is synced, and before it is closed for good. Any thread.
  Result<void> writePending() {
    const Lock lock(mutex_);
    return writeOut();
  }
  /// Entries on disk once it returns: those there were when it was called.
  Result<void> sync() {
    TIDEMARK_TRY(writePending());
    return file_->sync();
  }
  /// Reads one entry without a mapping: for the few looks a writer takes when it opens the file.
  Result<Entry> readEntry(size_t index) const {
    uint8_t bytes[Format::kSize];
    {
      const Lock lock(mutex_);
      const size_t count = count_.load(std::memory_order_relaxed);
      if (index + 1 == count && last_) return *last_;
      const size_t inFile = count - pendingCount_;
      if (index >= inFile) return Format::decode(pending_->bytes.data() + (index - inFile) * Format::kSize, base_);
    }
    TIDEMARK_ASSIGN(const size_t got, file_->readAt(index * Format::kSize, bytes));
    if (got != sizeof bytes) return fail(ErrorCode::KafkaStorageError, file_->path() + " ended before its last entry");
    const Entry entry = Format::decode(bytes, base_);
    const Lock lock(mutex_);
    if (index + 1 == count_.load(std::memory_order_relaxed)) last_ = entry;
    return entry;
  }

 private:
  static constexpr size_t kSmallestMapping = 4096;

  Result<void> writeOut() REQUIRES(mutex_) {
    if (pendingCount_ == 0) return {};
    const size_t inFile = count_.load(std::memory_order_relaxed) - pendingCount_;
    TIDEMARK_TRY(
        file_->writeAt(inFile * Format::kSize, ByteView(pending_->bytes).first(pendingCount_ * Format::kSize)));
    pendingCount_ = 0;
    return {};
  }

  const std::shared_ptr<platform::File> file_;
  const Offset base_;
  /// Raised under the lock.
  std::atomic<size_t> count_;
  mutable Mutex mutex_;
  mutable std::shared_ptr<const platform::Mapping> mapping_ GUARDED_BY(mutex_);
  /// Of an index of more than a page.
  mutable std::shared_ptr<RememberedEntries<Format>> remembered_ GUARDED_BY(mutex_);
  /// Never null while pendingCount_ is not 0.
  std::shared_ptr<PendingEntries<Format>> pending_ GUARDED_BY(mutex_);
  size_t pendingCount_ GUARDED_BY(mutex_) = 0;
  /// The last entry, once it was appended or read.
  mutable std::optional<Entry> last_ GUARDED_BY(mutex_);
};

using OffsetIndex = IndexFile<OffsetIndexFormat>;
using TimeIndex = IndexFile<TimeIndexFormat>;

/// Entries in an index file of `fileSize` bytes that may have been preallocated (Kafka's active ones are zero to their
/// full size): what is before the zeros. Nothing if the size is not a whole number of entries.
Result<std::optional<size_t>> countEntries(const platform::File& file, uint64_t fileSize, size_t entrySize);

}  // namespace tidemark::log
