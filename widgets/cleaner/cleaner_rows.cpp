#include "cleaner/cleaner_rows.h"

#include <algorithm>
#include <tuple>

#include <QCoreApplication>

#include "text/format.h"

namespace tidemark::widgets {

namespace {

struct CleanerWords {
  Q_DECLARE_TR_FUNCTIONS(Cleaner)
};

}  // namespace

bool operator==(const CleanerRow& a, const CleanerRow& b) {
  const auto facts = [](const CleanerRow& row) {
    const observe::CleanerSnapshot& log = row.log;
    return std::tuple(row.state, log.broker, log.partition, log.logStart, log.firstDirty, log.firstUncleanable,
                      log.logEnd, log.cleanBytes, log.dirtyBytes, log.uncleanableBytes, log.minDirtyRatio, log.overdue,
                      log.passes, log.uncleanableReason, log.lookAgainAt);
  };
  return facts(a) == facts(b);
}

std::vector<CleanerRow> cleanerRows(const observe::ClusterSnapshot& cluster, NodeId broker, bool emptyToo) {
  std::vector<CleanerRow> rows;
  for (const observe::CleanerSnapshot& log : cluster.cleaners) {
    if (broker != kNoNode && log.broker != broker) continue;
    CleanerRow row{.log = log};
    if (!emptyToo && row.allBytes() == 0) continue;
    if (!log.uncleanableReason.empty())
      row.state = CleanerRow::State::SetAside;
    else if (log.running)
      row.state = CleanerRow::State::Running;
    else if (log.dirtyBytes > 0 && (log.overdue || log.dirtyRatio > log.minDirtyRatio))
      row.state = CleanerRow::State::Due;
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, [](const CleanerRow& a, const CleanerRow& b) { return a.key() < b.key(); });
  return rows;
}

QString percentText(double part) {
  return CleanerWords::tr("%1 %").arg(QString::number(part * 100, 'f', part > 0 && part < 0.1 ? 1 : 0));
}

QString cleanerStateText(const CleanerRow& row) {
  switch (row.state) {
    case CleanerRow::State::Running:
      return CleanerWords::tr("is being cleaned");
    case CleanerRow::State::Due:
      return row.log.overdue ? CleanerWords::tr("due: a record is older than max.compaction.lag.ms")
                             : CleanerWords::tr("due: %1 dirty").arg(percentText(row.log.dirtyRatio));
    case CleanerRow::State::SetAside:
      return CleanerWords::tr("set aside: %1").arg(fromUtf8(row.log.uncleanableReason));
    case CleanerRow::State::Idle:
      break;
  }
  if (row.log.dirtyBytes == 0) return CleanerWords::tr("nothing to clean yet");
  return CleanerWords::tr("%1 dirty, cleaned above %2")
      .arg(percentText(row.log.dirtyRatio), percentText(row.log.minDirtyRatio));
}

std::vector<std::pair<QString, QString>> passFacts(const CleanerRow& row, platform::WallTime now) {
  std::vector<std::pair<QString, QString>> facts;
  if (!row.log.lastPass) return facts;
  const observe::CleanerPassSnapshot& pass = *row.log.lastPass;
  const auto add = [&facts](const QString& name, const QString& value) { facts.emplace_back(name, value); };
  add(CleanerWords::tr("began"), momentText(pass.startedAt.time_since_epoch().count()));
  add(CleanerWords::tr("took"),
      pass.throttled > platform::Duration::zero()
          ? CleanerWords::tr("%1, of that throttled %2").arg(durationText(pass.took), durationText(pass.throttled))
          : durationText(pass.took));
  add(CleanerWords::tr("dirty offsets"),
      QStringLiteral("%1 … %2").arg(offsetText(pass.firstDirty), offsetText(pass.endOffset)));
  // What a recording was told between two snapshots is less.
  if (pass.mapSlots > 0)
    add(CleanerWords::tr("keys in the offset map"),
        CleanerWords::tr("%1 of %2 slots").arg(grouped(pass.keys), grouped(pass.mapSlots)));
  add(CleanerWords::tr("records kept"),
      CleanerWords::tr("%1 of %2").arg(grouped(pass.recordsKept), grouped(pass.recordsRead)));
  add(CleanerWords::tr("tombstones kept"), grouped(pass.tombstonesKept));
  add(CleanerWords::tr("tombstones dropped"), grouped(pass.tombstonesDropped));
  if (pass.markersDropped > 0) add(CleanerWords::tr("markers dropped"), grouped(pass.markersDropped));
  if (pass.earliestHorizon) {
    const auto left = std::chrono::duration_cast<platform::Duration>(*pass.earliestHorizon - now);
    add(CleanerWords::tr("earliest horizon"), left > platform::Duration::zero()
                                                  ? CleanerWords::tr("in %1").arg(durationText(left))
                                                  : CleanerWords::tr("over"));
  }
  add(CleanerWords::tr("bytes"),
      QStringLiteral("%1 → %2").arg(binaryBytesText(pass.bytesBefore), binaryBytesText(pass.bytesAfter)));
  if (pass.segmentsBefore > 0)
    add(CleanerWords::tr("segments"), QStringLiteral("%1 → %2").arg(pass.segmentsBefore).arg(pass.segmentsAfter));
  return facts;
}

}  // namespace tidemark::widgets
