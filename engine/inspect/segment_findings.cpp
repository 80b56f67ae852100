#include "inspect/segment_findings.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::inspect {

namespace {

/// So many findings of one kind in one segment are told one by one, the rest in one.
constexpr size_t kToldOneByOne = 20;

}  // namespace

void SegmentFindings::tell(Finding finding) {
  const size_t told = ++told_[static_cast<size_t>(finding.kind)];
  if (told <= kToldOneByOne) sink_(std::move(finding));
}

void SegmentFindings::finish() {
  for (size_t kind = 0; kind < std::size(told_); ++kind)
    if (told_[kind] > kToldOneByOne)
      sink_({static_cast<FindingKind>(kind),
             Severity::Error,
             logPath_,
             {},
             0,
             {},
             "",
             fmt::format("{} more of this kind in this segment", told_[kind] - kToldOneByOne),
             ""});
}

ByteVector shownBytes(ByteView bytes) {
  const ByteView part = bytes.first(std::min(bytes.size(), Finding::kMaxBytes));
  return {part.begin(), part.end()};
}

ByteVector shownBytes(const platform::File& file, uint64_t position, uint64_t length) {
  ByteVector bytes(std::min<uint64_t>(length, Finding::kMaxBytes));
  const auto got = file.readAt(position, bytes);
  bytes.resize(got.value_or(0));
  return bytes;
}

}  // namespace tidemark::inspect
