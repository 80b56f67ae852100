#include "segments/lookup_rows.h"

#include <QCoreApplication>
#include <QDateTime>

#include "text/format.h"

namespace tidemark::widgets {

namespace {

struct LookupWords {
  Q_DECLARE_TR_FUNCTIONS(Lookup)
};

using Step = log::LookupStep;

QString range(Offset first, Offset last) {
  return first == last ? offsetText(first) : QStringLiteral("%1 … %2").arg(offsetText(first), offsetText(last));
}

}  // namespace

std::vector<LookupRow> lookupRows(const LookupPicture& lookup) {
  std::vector<LookupRow> rows;
  int probes = 0;
  int batches = 0;
  const auto& steps = lookup.steps();
  // The day is said once, by what was asked for.
  const auto clock = [day =
                          QDateTime::fromMSecsSinceEpoch(std::max<int64_t>(0, lookup.target)).date()](int64_t moment) {
    const QDateTime at = QDateTime::fromMSecsSinceEpoch(moment);
    return at.date() == day ? at.toString(QStringLiteral("HH:mm:ss.zzz")) : momentText(moment);
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    LookupRow row;
    row.step = i;
    row.index = step.index;
    const bool byTime = step.index == Step::Index::Time;
    const auto entry = [&] {
      row.slot = grouped(static_cast<int64_t>(step.entry));
      row.entry = byTime ? clock(step.timestampMs) : offsetText(step.offset);
      row.leadsTo = byTime ? offsetText(step.offset) : grouped(step.position);
    };
    switch (step.kind) {
      case Step::Kind::SegmentChosen:
        row.mark = LookupRow::Mark::Segment;
        row.slot = grouped(static_cast<int64_t>(step.entry));
        row.entry = offsetText(step.segmentBase);
        row.then = LookupWords::tr("this segment");
        break;
      case Step::Kind::SegmentSkipped:
        row.mark = LookupRow::Mark::Miss;
        row.slot = grouped(static_cast<int64_t>(step.entry));
        row.entry = clock(step.timestampMs);
        row.then = LookupWords::tr("too old");
        break;
      case Step::Kind::IndexUnusable:
        row.mark = LookupRow::Mark::Miss;
        row.entry = byTime ? QStringLiteral(".timeindex") : QStringLiteral(".index");
        row.then = LookupWords::tr("unusable");
        break;
      case Step::Kind::Probe:
        row.number = ++probes;
        entry();
        row.then = step.taken ? LookupWords::tr("→ right") : LookupWords::tr("← left");
        break;
      case Step::Kind::FloorEntry:
        row.mark = LookupRow::Mark::Floor;
        entry();
        row.then = LookupWords::tr("floor entry");
        break;
      case Step::Kind::NoFloorEntry:
        row.mark = LookupRow::Mark::Floor;
        row.entry = LookupWords::tr("none below");
        row.then = LookupWords::tr("from byte 0");
        break;
      case Step::Kind::EntryFalse:
        row.mark = LookupRow::Mark::Miss;
        entry();
        row.slot.clear();
        row.then = LookupWords::tr("not true");
        break;
      case Step::Kind::ScanBegins:
        continue;
      case Step::Kind::BatchScanned:
        row.mark = LookupRow::Mark::Scan;
        row.number = ++batches;
        row.entry = range(step.header.baseOffset, step.offset);
        row.leadsTo = grouped(step.position);
        row.then = step.taken ? LookupWords::tr("holds it") : LookupWords::tr("next batch");
        break;
      case Step::Kind::BatchFound:
        row.mark = LookupRow::Mark::Found;
        row.entry = range(step.header.baseOffset, step.offset);
        row.leadsTo = grouped(step.position);
        row.then = LookupWords::tr("found");
        break;
      case Step::Kind::RecordFound:
        row.mark = LookupRow::Mark::Found;
        row.slot = grouped(static_cast<int64_t>(step.entry));
        row.entry = clock(step.timestampMs);
        row.leadsTo = offsetText(step.offset);
        row.then = LookupWords::tr("this record");
        break;
      case Step::Kind::NoRecordInBatch:
        row.mark = LookupRow::Mark::Miss;
        row.slot = grouped(static_cast<int64_t>(step.count));
        row.then = LookupWords::tr("no record");
        break;
      case Step::Kind::NotInSegment:
        row.mark = LookupRow::Mark::Miss;
        row.leadsTo = grouped(step.position);
        row.then = LookupWords::tr("not in here");
        break;
      case Step::Kind::KnownOffset:
        row.mark = LookupRow::Mark::Found;
        row.entry = offsetText(step.offset);
        row.then = LookupWords::tr("known");
        break;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

LookupSums sumUp(const LookupPicture& lookup, int step) {
  LookupSums sums;
  const auto& steps = lookup.steps();
  const size_t count = std::min(steps.size(), static_cast<size_t>(std::max(0, step + 1)));
  for (size_t i = 0; i < count; ++i) {
    const Step& one = steps[i];
    switch (one.kind) {
      case Step::Kind::Probe:
        ++sums.probes;
        sums.entries = one.count;
        break;
      case Step::Kind::FloorEntry:
        (one.index == Step::Index::Time ? sums.timeFloor : sums.floor) = one;
        break;
      case Step::Kind::NoFloorEntry:
        if (one.index != Step::Index::Time) sums.noFloor = true;
        break;
      case Step::Kind::BatchScanned:
        ++sums.batches;
        // A header is read of each, and of the last one all that is wanted of it.
        sums.bytesScanned += static_cast<int64_t>(one.header.sizeInBytes());
        break;
      case Step::Kind::BatchFound:
        sums.found = one;
        break;
      case Step::Kind::RecordFound:
        sums.record = one;
        break;
      default:
        break;
    }
  }
  return sums;
}

}  // namespace tidemark::widgets
