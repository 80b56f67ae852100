#include "models/fault_over_model.h"

#include <algorithm>
#include <ranges>

#include "models/row_sync.h"
#include "text/fault_notes.h"
#include "text/fault_words.h"
#include "text/format.h"

namespace tidemark::widgets {

std::vector<FaultOverRow> faultOverRows(const observe::ClusterSnapshot& cluster) {
  std::vector<FaultOverRow> rows;
  for (const observe::FaultOverSnapshot& fault : std::views::reverse(cluster.faultsOver)) {
    FaultOverRow& row = rows.emplace_back();
    row.id = fault.id;
    row.fault = fault.fault;
    row.title = faultTitle(fault.fault);
    row.target = faultTargetText(fault.fault.target);
    row.ending = endingText(fault.ending);
    row.why = endingMeaning(fault);
    row.note = fault.reason.empty() ? faultNote(fault, cluster) : fromUtf8(fault.reason);
    row.ended =
        timeText(cluster.wall - std::chrono::duration_cast<std::chrono::milliseconds>(cluster.at - fault.endedAt));
    row.after = durationText(fault.endedAt - fault.setAt);
    row.fired = faultFiredText(fault.fault.kind, fault.fired);
    if (!row.fired.isEmpty() && fault.fired == 0) row.fired = FaultOverModel::tr("met nothing");
    row.lasting = lastingTexts(fault.fault.kind, fault.lasting, false);
    row.lastingWhole = lastingTexts(fault.fault.kind, fault.lasting, true);
    row.leavesFiles = !fault.lasting.paths.empty();
    const StateLook look = lookOf(fault.fault.kind);
    row.shape = look.shape;
    row.color = look.color;
  }
  return rows;
}

void FaultOverModel::setSnapshot(const observe::ClusterSnapshot& cluster) {
  struct {
    FaultOverModel& model;
    void removing(int first, int last) { model.beginRemoveRows({}, first, last); }
    void removed() { model.endRemoveRows(); }
    void inserting(int first, int last) { model.beginInsertRows({}, first, last); }
    void inserted() { model.endInsertRows(); }
    void changed(int row) { Q_EMIT model.dataChanged(model.index(row, 0), model.index(row, ColumnCount - 1)); }
  } signals{*this};
  std::vector<FaultOverRow> rows = faultOverRows(cluster);
  // When it ended is told once: two clocks that are read one after the other would make it tremble.
  for (FaultOverRow& row : rows)
    if (const auto before = std::ranges::find(m_rows, row.id, &FaultOverRow::id); before != m_rows.end())
      row.ended = before->ended;
  syncRows(m_rows, std::move(rows), signals);
}

int FaultOverModel::lastingCount() const noexcept {
  return static_cast<int>(
      std::ranges::count_if(m_rows, [](const FaultOverRow& row) { return !row.lasting.isEmpty(); }));
}

int FaultOverModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int FaultOverModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant FaultOverModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const FaultOverRow& row = m_rows[static_cast<size_t>(index.row())];
  switch (role) {
    case Qt::AccessibleTextRole:
    case Qt::ToolTipRole: {
      QStringList parts{row.title, tr("%1 at %2, %3 after it was set").arg(row.ending, row.ended, row.after), row.why};
      if (!row.fired.isEmpty()) parts << row.fired;
      if (!row.note.isEmpty() && !row.why.contains(row.note)) parts << row.note;
      for (const QString& left : row.lastingWhole) parts << tr("Left behind: %1").arg(left);
      if (row.leavesFiles) parts << tr("Nobody looks after files: they may have been written over since.");
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
    case Ended:
      return row.ended;
    case After:
      return row.after;
    case Why:
      return row.note.isEmpty() ? row.ending : tr("%1: %2").arg(row.ending, row.note);
    case Met:
      return row.fired;
    case Left:
      return row.lastingWhole.join(QStringLiteral("; "));
    case ColumnCount:
      break;
  }
  return {};
}

QVariant FaultOverModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (static_cast<Column>(section)) {
    case What:
      return tr("fault");
    case Where:
      return tr("where");
    case Ended:
      return tr("ended");
    case After:
      return tr("after");
    case Why:
      return tr("why");
    case Met:
      return tr("met");
    case Left:
      return tr("left behind");
    case ColumnCount:
      break;
  }
  return {};
}

}  // namespace tidemark::widgets
