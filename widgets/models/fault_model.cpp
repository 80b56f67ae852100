#include "models/fault_model.h"

#include <algorithm>

#include "models/row_sync.h"
#include "text/fault_notes.h"
#include "text/fault_words.h"
#include "text/format.h"

namespace tidemark::widgets {

namespace {

constexpr int kParts = 60;

}  // namespace

std::vector<FaultRow> faultRows(const observe::ClusterSnapshot& cluster, platform::Duration age) {
  std::vector<FaultRow> rows;
  for (const observe::FaultSnapshot& fault : cluster.faults) {
    FaultRow& row = rows.emplace_back();
    row.id = fault.id;
    row.title = faultTitle(fault.fault);
    row.target = faultTargetText(fault.fault.target);
    const StateLook look = lookOf(fault);
    row.shape = look.shape;
    row.color = look.color;
    row.textColor = look.textColor;
    row.occasions = faultOccasions(fault.fault.trigger);
    row.steps = fault.fault.kind == faults::Kind::Hold && !fault.waits;
    row.waits = fault.waits;
    row.broker = fault.broker;
    row.note = faultNote(fault, cluster);
    row.lasting = lastingTexts(fault.fault.kind, fault.lasting, false).join(QStringLiteral("; "));
    row.lastingWhole = lastingTexts(fault.fault.kind, fault.lasting, true).join(QStringLiteral("; "));
    row.age = durationText(fault.since + age);
    if (!fault.waits) row.fired = faultFiredText(fault.fault.kind, fault.fired);
    row.held = faultHeldText(fault);
    const platform::Duration lasts = fault.fault.duration;
    const auto set = cluster.wall - std::chrono::duration_cast<std::chrono::milliseconds>(fault.since);
    const auto begun =
        set + std::chrono::duration_cast<std::chrono::milliseconds>(fault.waits ? fault.since : platform::Duration{});
    const QString whole =
        lasts > platform::Duration{} ? FaultModel::tr(", for %1").arg(durationText(lasts)) : QString();
    const platform::Duration left =
        fault.left ? std::max(*fault.left - age, platform::Duration{}) : platform::Duration{};
    if (fault.waits && !fault.left) {
      row.left = FaultModel::tr("waits");
      row.when = FaultModel::tr("waits for %1%2").arg(fromUtf8(fault.fault.trigger.event), whole);
    } else if (fault.waits) {
      row.left = FaultModel::tr("in %1").arg(durationText(left));
      row.when = FaultModel::tr("begins by itself%1").arg(whole);
    } else {
      row.left = fault.left ? FaultModel::tr("%1 left").arg(durationText(left)) : FaultModel::tr("until healed");
      row.when = FaultModel::tr("since %1%2").arg(timeText(begun), whole);
    }
    const platform::Duration all = fault.waits ? fault.fault.trigger.after : lasts;
    if (fault.left && all > platform::Duration{})
      row.part = std::clamp(static_cast<int>(left * kParts / all), 0, kParts);
  }
  return rows;
}

void FaultModel::setSnapshot(const observe::ClusterSnapshot& cluster, platform::Duration age) {
  struct {
    FaultModel& model;
    void removing(int first, int last) { model.beginRemoveRows({}, first, last); }
    void removed() { model.endRemoveRows(); }
    void inserting(int first, int last) { model.beginInsertRows({}, first, last); }
    void inserted() { model.endInsertRows(); }
    void changed(int row) { Q_EMIT model.dataChanged(model.index(row, 0), model.index(row, ColumnCount - 1)); }
  } signals{*this};
  std::vector<FaultRow> rows = faultRows(cluster, age);
  // When it was set is told once: two clocks that are read one after the other would make it tremble.
  for (FaultRow& row : rows)
    if (const FaultRow* before = find(row.id); before != nullptr && before->waits == row.waits) row.when = before->when;
  syncRows(m_rows, std::move(rows), signals);
}

const FaultRow* FaultModel::find(int id) const noexcept {
  const auto found = std::ranges::find(m_rows, id, &FaultRow::id);
  return found == m_rows.end() ? nullptr : &*found;
}

int FaultModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int FaultModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant FaultModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const FaultRow& row = m_rows[static_cast<size_t>(index.row())];
  switch (role) {
    case kIdRole:
      return row.id;
    case Qt::AccessibleTextRole:
    case Qt::ToolTipRole: {
      QStringList parts{row.title, row.when, row.left};
      if (!row.occasions.isEmpty()) parts << row.occasions;
      if (!row.fired.isEmpty()) parts << row.fired;
      if (!row.held.isEmpty()) parts << row.held;
      if (!row.note.isEmpty()) parts << row.note;
      if (!row.lastingWhole.isEmpty()) parts << row.lastingWhole;
      return parts.join(role == Qt::ToolTipRole ? QStringLiteral("\n") : QStringLiteral(", "));
    }
    case Qt::DisplayRole:
      break;
    default:
      return {};
  }
  switch (static_cast<Column>(index.column())) {
    case What:
      return row.title;
    case Where:
      return row.target;
    case When:
      return row.occasions.isEmpty() ? row.when : tr("%1 · %2").arg(row.when, row.occasions);
    case Left:
      return row.left;
    case Fired:
      return row.fired;
    case Held:
      return row.held;
    case Note:
      return row.note.isEmpty() ? row.lastingWhole : row.note;
    case ColumnCount:
      break;
  }
  return {};
}

QVariant FaultModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (static_cast<Column>(section)) {
    case What:
      return tr("fault");
    case Where:
      return tr("where");
    case When:
      return tr("when");
    case Left:
      return tr("left");
    case Fired:
      return tr("met");
    case Held:
      return tr("held");
    case Note:
      return tr("note");
    case ColumnCount:
      break;
  }
  return {};
}

}  // namespace tidemark::widgets
