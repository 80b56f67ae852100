#include "broker/share/share_reads.h"

#include <algorithm>
#include <set>

#include "log/header_scanner.h"
#include "records/control.h"
#include "records/record.h"

namespace tidemark::broker {

std::vector<LogBatchRange> ShareRead::ranges() const {
  std::vector<LogBatchRange> ranges;
  ranges.reserve(batches.size());
  for (const Batch& batch : batches) ranges.push_back(batch.range);
  return ranges;
}

platform::FileSlice ShareRead::sliceOf(const std::vector<AcquiredRange>& acquired) const {
  platform::FileSlice part{slice.file, slice.position, 0};
  if (acquired.empty()) return part;
  const Offset first = acquired.front().first, last = acquired.back().last;
  bool any = false;
  for (const Batch& batch : batches) {
    if (batch.range.last < first || batch.range.first > last) continue;
    if (!any) part.position = batch.position;
    any = true;
    part.length = batch.end - part.position;
  }
  return part;
}

Result<ShareRead> scanShareRead(log::ReadResult read, Offset last) {
  ShareRead scanned;
  scanned.slice = std::move(read.slice);
  if (scanned.slice.length == 0) return scanned;
  std::vector<log::AbortedTransaction> aborted = std::move(read.abortedTransactions);
  std::ranges::sort(aborted, {}, &log::AbortedTransaction::firstOffset);
  size_t begun = 0;
  std::set<ProducerId> open;
  log::HeaderScanner scanner(*scanned.slice.file, scanned.slice.position,
                             scanned.slice.position + scanned.slice.length);
  while (true) {
    TIDEMARK_ASSIGN(const records::Step step, scanner.next());
    // The last batch may be cut off.
    if (step != records::Step::Next) break;
    const records::BatchHeader& header = scanner.header();
    while (begun < aborted.size() && aborted[begun].firstOffset <= header.lastOffset())
      open.insert(aborted[begun++].producerId);
    const bool transactional = header.isTransactional() && open.contains(header.producerId);
    // The marker that ends an aborted transaction; what the producer writes next is another one.
    if (transactional && header.isControl()) open.erase(header.producerId);
    scanned.batches.push_back(
        {.range = {.first = header.baseOffset, .last = header.lastOffset(), .skipped = transactional},
         .position = scanner.position(),
         .end = scanner.position() + header.sizeInBytes()});
    if (header.lastOffset() >= last) break;
  }
  return scanned;
}

}  // namespace tidemark::broker
