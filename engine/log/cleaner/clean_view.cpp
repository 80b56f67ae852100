#include "log/cleaner/clean_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "log/segment.h"

namespace tidemark::log {

Offset CleanView::endOf(const Segment& segment) const {
  const auto next = std::ranges::upper_bound(segments, segment.baseOffset(), {},
                                             [](const auto& other) { return other->baseOffset(); });
  return next == segments.end() ? logEnd : (*next)->baseOffset();
}

Result<void> CleanView::checkPlace(const records::BatchHeader& header, const Segment& segment, Offset end) {
  if (header.baseOffset >= segment.baseOffset() && header.lastOffsetDelta >= 0 && header.nextOffset() <= end) return {};
  return fail(ErrorCode::CorruptMessage, fmt::format("segment {} cannot hold a batch of offsets {} to {}",
                                                     segment.baseOffset(), header.baseOffset, header.lastOffset()));
}

}  // namespace tidemark::log
