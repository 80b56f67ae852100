#include "segments/segment_check.h"

#include <algorithm>
#include <map>

#include <QCoreApplication>

#include "text/format.h"

namespace tidemark::widgets {

namespace {

struct CheckWords {
  Q_DECLARE_TR_FUNCTIONS(Segments)
};

FindingEntry entryOf(const inspect::Finding& finding) {
  FindingEntry entry;
  entry.severe = finding.severity != inspect::Severity::Note;
  const std::string_view path = finding.file;
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  entry.file = fromUtf8(name);
  if (const auto base = baseOfFile(name)) entry.segment = Offset(*base);
  if (finding.position) entry.position = static_cast<int64_t>(*finding.position);
  entry.length = static_cast<int64_t>(finding.length);
  // The engine's own words for what is wrong: they stand in its documentation and in `tidemark verify` alike.
  entry.what = fromUtf8(inspect::explain(finding.kind));
  if (!finding.expected.empty() || !finding.found.empty())
    entry.what =
        CheckWords::tr("%1: %2 is there, not %3").arg(entry.what, fromUtf8(finding.found), fromUtf8(finding.expected));
  if (!finding.found.empty() && finding.expected.empty())
    entry.what = QStringLiteral("%1: %2").arg(fromUtf8(inspect::explain(finding.kind)), fromUtf8(finding.found));
  return entry;
}

/// Whether a segment is still as long as it was: a log that a broker has open may be cut or deleted at any time, and
/// what was read of it meanwhile says nothing.
bool isStillThere(const inspect::PartitionView& view, const SegmentToCheck& segment) {
  if (!view.live()) return true;
  const auto segments = view.segments();
  const auto found = std::ranges::find(segments, segment.base, &inspect::SegmentSummary::baseOffset);
  return found != segments.end() && static_cast<int64_t>(found->fileBytes) >= segment.bytes;
}

void mark(SegmentEntry& entry, const CheckedSegment& checked) {
  entry.findings = checked.severe;
  entry.badAt = -1;
  for (const FindingEntry& finding : checked.findings) {
    if (!finding.severe) continue;
    if (finding.file.endsWith(QStringLiteral(".log")) && finding.position >= 0 &&
        (entry.badAt < 0 || finding.position < entry.badAt)) {
      entry.badAt = finding.position;
      entry.badBytes = finding.length;
    }
    for (size_t side = 0; side < kSideFiles; ++side)
      if (finding.file.endsWith(fromUtf8(kSideSuffixes[side])))
        entry.badSides = static_cast<uint8_t>(entry.badSides | (1u << side));
  }
}

}  // namespace

Result<CheckedSegments> checkSegments(const observe::LookAccess& access, ReaderCache& cache,
                                      const std::vector<SegmentToCheck>& segments, CheckTicket& ticket) {
  CheckedSegments checked;
  TIDEMARK_ASSIGN(const PartitionViewPtr view, viewOf(access, cache, false));
  for (const SegmentToCheck& segment : segments) {
    if (ticket.stop) break;
    const auto findings = view->check(segment.base, [&ticket](uint64_t bytes) {
      ticket.bytesRead += static_cast<int64_t>(bytes);
      return !ticket.stop;
    });
    if (!findings && ticket.stop) break;
    if (!findings || !isStillThere(*view, segment)) {
      checked.passedOver.push_back(segment);
      continue;
    }
    CheckedSegment& done = checked.done.emplace_back(CheckedSegment{.segment = segment});
    for (const inspect::Finding& finding : *findings) {
      FindingEntry entry = entryOf(finding);
      if (entry.severe) ++done.severe;
      if (done.findings.size() < CheckedSegment::kMostFindings) done.findings.push_back(std::move(entry));
    }
  }
  return checked;
}

PartitionPicturePtr withFindings(const PartitionPicturePtr& read, std::span<const CheckedSegment* const> checked) {
  if (!read || checked.empty()) return read;
  auto picture = std::make_shared<PartitionPicture>(*read);
  auto segments = std::make_shared<std::vector<SegmentEntry>>(*read->segments);
  std::map<Offset, const CheckedSegment*> byBase;
  for (const CheckedSegment* one : checked) byBase[one->segment.base] = one;
  for (SegmentEntry& entry : *segments) {
    const auto found = byBase.find(entry.base);
    if (entry.state == SegmentEntry::State::Deleted || found == byBase.end()) continue;
    mark(entry, *found->second);
    picture->findings.insert(picture->findings.end(), found->second->findings.begin(), found->second->findings.end());
  }
  picture->segments = std::move(segments);
  return picture;
}

}  // namespace tidemark::widgets
