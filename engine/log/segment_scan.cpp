#include "log/segment_scan.h"

#include <algorithm>

#include "log/header_scanner.h"

namespace tidemark::log {

using records::BatchCursor;
using records::BatchView;
using records::CorruptReason;
using records::Step;

namespace {

constexpr size_t kChunk = 1u << 20;

/// Bytes of the batch that `bytes` begins with, 0 if too few are there to tell or the length is impossible.
uint64_t claimedSize(ByteView bytes) {
  if (bytes.size() < records::kSizeAndMagic) return 0;
  const auto length = readBigEndian<int32_t>(bytes.data() + records::kLengthAt);
  return length < 0 ? 0 : records::kLogOverhead + static_cast<uint64_t>(length);
}

/// Whether the header at byte `at` goes on with what stands before `batch`, as if that one had lower offsets or a lower
/// epoch than it says: then it is the batch whose header is false.
Result<bool> isRefuted(const records::BatchHeader& batch, Offset expected, LeaderEpoch epoch,
                       const platform::File& file, uint64_t at, uint64_t size) {
  if (size - at < records::kBatchHeaderSize) return false;
  uint8_t bytes[records::kBatchHeaderSize];
  TIDEMARK_ASSIGN(const size_t got, file.readAt(at, bytes));
  if (got < records::kBatchHeaderSize) return false;
  const auto behind = records::BatchHeader::read(bytes);
  if (behind.magic != records::kMagic) return false;
  return (behind.baseOffset >= expected && behind.baseOffset < batch.nextOffset()) ||
         (epoch != kNoLeaderEpoch && behind.leaderEpoch >= epoch && behind.leaderEpoch < batch.leaderEpoch);
}

}  // namespace

Result<SegmentScan> scanSegment(const platform::File& file, uint64_t size, Offset base, int32_t indexIntervalBytes,
                                const std::function<Result<void>(const BatchView&, uint64_t)>& visit, bool contiguous) {
  SegmentScan scan;
  scan.nextOffset = base;
  scan.rule = IndexRule(base);
  LeaderEpoch epoch = kNoLeaderEpoch;
  ByteVector buffer;
  size_t wanted = kChunk;
  while (scan.validBytes < size) {
    const uint64_t left = size - scan.validBytes;
    const size_t chunk = std::min<uint64_t>(wanted, left);
    buffer.resize(chunk);
    TIDEMARK_ASSIGN(const size_t got, file.readAt(scan.validBytes, buffer));
    const ByteView bytes = ByteView(buffer).first(got);
    BatchCursor cursor(bytes, BatchCursor::Check::Checksum);
    const uint64_t start = scan.validBytes;
    Step step = cursor.next();
    for (; step == Step::Next; step = cursor.next()) {
      const BatchView& batch = cursor.batch();
      const int64_t relative = batch.header.lastOffset() - base;
      // Base offset and epoch lie outside the checksum: a torn write or a flipped bit may have left a sound batch with
      // others.
      const bool leavesGap = batch.header.baseOffset > scan.nextOffset;
      bool outOfOrder = batch.header.baseOffset < scan.nextOffset || batch.header.leaderEpoch < epoch || relative < 0 ||
                        relative > kMaxRelativeOffset || (contiguous && leavesGap);
      if (!outOfOrder && (leavesGap || batch.header.leaderEpoch > epoch)) {
        TIDEMARK_ASSIGN(outOfOrder,
                        isRefuted(batch.header, scan.nextOffset, epoch, file, start + cursor.position(), size));
      }
      if (outOfOrder) {
        scan.reason = CorruptReason::OutOfOrder;
        return scan;
      }
      epoch = batch.header.leaderEpoch;
      const auto entries = scan.rule.next(batch.header, scan.validBytes, indexIntervalBytes);
      if (entries.offset) scan.offsetEntries.push_back(scan.rule.offsetEntry());
      if (entries.time) scan.timeEntries.push_back(scan.rule.timeEntry());
      if (visit) TIDEMARK_TRY(visit(batch, scan.validBytes));
      scan.validBytes = start + cursor.position();
      scan.nextOffset = batch.header.nextOffset();
      ++scan.batches;
    }
    if (step == Step::End) {
      wanted = kChunk;
      continue;
    }
    // Cut off by the chunk rather than by the file: read on from its start, all of it.
    const uint64_t claimed = claimedSize(bytes.subspan(cursor.position()));
    const bool cutByChunk = cursor.reason() == CorruptReason::Incomplete && start + got < size;
    if (cutByChunk && claimed <= size - scan.validBytes && (scan.validBytes > start || claimed > chunk)) {
      wanted = std::max<uint64_t>(kChunk, claimed);
      continue;
    }
    scan.reason = cursor.reason();
    return scan;
  }
  return scan;
}

Result<uint64_t> endOfData(const platform::File& file, uint64_t from, uint64_t end) {
  ByteVector buffer;
  while (end > from) {
    const uint64_t start = end - std::min<uint64_t>(kChunk, end - from);
    TIDEMARK_ASSIGN(const uint64_t data, file.nextData(start));
    if (data < end) {
      buffer.resize(end - start);
      TIDEMARK_ASSIGN(const size_t got, file.readAt(start, buffer));
      for (size_t i = got; i-- > 0;)
        if (buffer[i] != 0) return start + i + 1;
    }
    end = start;
  }
  return from;
}

Result<HeadersFound> headersFrom(const platform::File& log, uint64_t from, uint64_t end, Offset next, Offset base) {
  HeadersFound found{.end = from};
  HeaderScanner scanner(log, from, end);
  while (true) {
    TIDEMARK_ASSIGN(const records::Step step, scanner.next());
    if (step != records::Step::Next) return found;
    const records::BatchHeader& header = scanner.header();
    if (header.baseOffset < next || header.lastOffset() - base > INT32_MAX) return found;
    found = {.lastOffset = header.lastOffset(), .end = scanner.position() + header.sizeInBytes()};
    next = header.nextOffset();
  }
}

}  // namespace tidemark::log
