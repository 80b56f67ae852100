#include "log/batch_walk.h"

#include "log/header_scanner.h"
#include "records/record.h"

namespace tidemark::log {

using records::BatchHeader;
using records::BatchView;
using records::EndTxnMarker;
using records::Step;

std::optional<EndTxnMarker> markerOf(const BatchView& batch) {
  if (!batch.header.isControl() || !batch.header.hasProducerId() || batch.header.isCompressed()) return std::nullopt;
  records::RecordCursor cursor(batch.header, batch.payload());
  if (cursor.next() != Step::Next) return std::nullopt;
  return records::readEndTxnMarker(cursor.record());
}

Result<void> forEachBatch(const SegmentList& segments, Offset from, Offset to,
                          const std::function<void(const BatchHeader&, const std::optional<EndTxnMarker>&,
                                                   const LogOffsetMetadata&)>& visit) {
  if (segments.empty() || from >= to) return {};
  size_t index = segments.floorIndex(from);
  if (index == segments.size()) index = 0;
  for (; index < segments.size() && segments.at(index)->baseOffset() < to; ++index) {
    const Segment& segment = *segments.at(index);
    TIDEMARK_ASSIGN(const auto files, segment.files());
    TIDEMARK_ASSIGN(const auto start, segment.find(from, segment.size()));
    if (!start) continue;
    HeaderScanner scanner(*files->log(), start->position, segment.size());
    while (true) {
      TIDEMARK_ASSIGN(const Step step, scanner.next());
      if (step != Step::Next || scanner.header().baseOffset >= to) break;
      const BatchHeader& header = scanner.header();
      std::optional<EndTxnMarker> marker;
      if (header.isControl() && header.hasProducerId()) {
        ByteVector bytes(header.sizeInBytes());
        TIDEMARK_ASSIGN(const size_t got, files->log()->readAt(scanner.position(), bytes));
        if (got == bytes.size()) marker = markerOf({header, bytes});
      }
      visit(header, marker, {header.baseOffset, segment.baseOffset(), static_cast<int64_t>(scanner.position())});
    }
  }
  return {};
}

}  // namespace tidemark::log
