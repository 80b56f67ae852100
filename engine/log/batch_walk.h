#pragma once

#include <functional>
#include <optional>

#include "base/result.h"
#include "log/log_types.h"
#include "log/segment.h"
#include "records/batch.h"
#include "records/control.h"

namespace tidemark::log {

/// Calls `visit` for each batch in [from, to) of the segments: its header, its transaction marker if it is one, its
/// place. Reads headers only (and the markers).
Result<void> forEachBatch(
    const SegmentList& segments, Offset from, Offset to,
    const std::function<void(const records::BatchHeader&, const std::optional<records::EndTxnMarker>&,
                             const LogOffsetMetadata&)>& visit);

/// The marker in a control batch of a producer; nothing if it is none.
std::optional<records::EndTxnMarker> markerOf(const records::BatchView& batch);

}  // namespace tidemark::log
