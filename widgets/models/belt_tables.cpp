#include "models/belt_tables.h"

#include <algorithm>
#include <map>

#include "models/log_breaks.h"
#include "text/format.h"
#include "text/node_words.h"
#include "theme/shapes.h"

namespace tidemark::widgets {

ReplicaTableModel::ReplicaTableModel(QObject* parent)
    : RowsModel(
          [] {
            const QString heads[CellCount] = {tr("broker"),  tr("role"),           tr("state"),  tr("log start"),
                                              tr("log end"), tr("high watermark"), tr("behind"), tr("last caught up"),
                                              tr("size"),    tr("segments")};
            std::vector<Column> columns;
            for (size_t cell = 0; cell < CellCount; ++cell)
              columns.push_back({.head = heads[cell],
                                 .text = [cell](const ReplicaTableRow& row, int) { return row.cells[cell]; },
                                 .right = cell >= LogStart,
                                 .color = {}});
            return columns;
          }(),
          parent) {}

void ReplicaTableModel::setPartition(const observe::ClusterSnapshot& cluster,
                                     const observe::PartitionSnapshot* partition) {
  std::vector<ReplicaTableRow> rows;
  if (partition != nullptr)
    for (const observe::ReplicaSnapshot& replica : partition->copies) {
      const observe::BrokerSnapshot* broker = observe::findBroker(cluster, replica.broker);
      const auto state = broker == nullptr ? observe::BrokerState::Stopped : broker->state;
      const auto lag = observe::lagOf(*partition, replica);
      ReplicaTableRow row{.cells = std::vector<QString>(CellCount)};
      row.cells[Broker] = QString::number(replica.broker.value());
      row.cells[Role] = replica.leader ? tr("leader") : tr("follower");
      row.cells[State] = lookOf(replica, state).word;
      if (isOffline(replica)) row.cells[State] = tr("%1: %2").arg(row.cells[State], fromUtf8(replica.offlineReason));
      if (const QString lost = powerLossText(replica); !lost.isEmpty())
        row.cells[State] = tr("%1, lost with its power: %2").arg(row.cells[State], lost);
      row.cells[LogStart] = offsetText(replica.logStart);
      row.cells[LogEnd] = offsetText(replica.logEnd);
      row.cells[HighWatermark] = offsetText(replica.highWatermark);
      row.cells[Behind] = lag ? grouped(*lag) : QStringLiteral("–");
      // Whole tenths of a second, or the row would change with each frame.
      row.cells[CaughtUp] = replica.leader || !replica.sinceCaughtUp ? QStringLiteral("–")
                            : *replica.sinceCaughtUp < std::chrono::milliseconds(1000)
                                ? tr("just now")
                                : agoText(*replica.sinceCaughtUp);
      row.cells[Size] = bytesText(replica.sizeInBytes);
      row.cells[Segments] = grouped(static_cast<int64_t>(replica.segments.size()));
      rows.push_back(std::move(row));
    }
  setRows(std::move(rows));
}

void BatchTableModel::setPartition(const observe::PartitionSnapshot* partition) {
  std::vector<Row> rows;
  if (partition != nullptr) {
    std::map<std::pair<Offset, LeaderEpoch>, Row, std::greater<>> all;
    for (const observe::ReplicaSnapshot& replica : partition->copies) {
      const auto parts = partsFrom(*partition, replica);
      for (const observe::BatchSnapshot& batch : replica.batches) {
        Row& row = all[{batch.baseOffset, batch.epoch}];
        if (row.brokers.isEmpty()) {
          row.base = batch.baseOffset;
          row.last = batch.lastOffset;
          row.epoch = batch.epoch;
          row.records = batch.recordCount;
          row.bytes = batch.sizeInBytes;
          row.position = batch.position;
          row.codec = fromUtf8(batch.codec);
          row.parted = parts && batch.baseOffset >= *parts;
          row.visible = !row.parted && batch.lastOffset < partition->highWatermark;
          for (const observe::SegmentSnapshot& segment : replica.segments)
            if (segment.baseOffset <= batch.baseOffset) row.segment = segment.baseOffset;
        } else {
          row.brokers += QStringLiteral(", ");
        }
        row.brokers += QString::number(replica.broker.value());
      }
    }
    rows.reserve(all.size());
    for (auto& [key, row] : all) rows.push_back(std::move(row));
  }
  // syncRows is for short lists; batches only come at the front, go at the back, or change.
  const auto known = [](const std::vector<Row>& in, const Row& row) {
    const auto at = std::ranges::lower_bound(in, row.key(), std::greater<>(), &Row::key);
    return at != in.end() && at->key() == row.key();
  };
  for (int i = static_cast<int>(m_rows.size()) - 1; i >= 0; --i) {
    if (known(rows, m_rows[static_cast<size_t>(i)])) continue;
    int first = i;
    while (first > 0 && !known(rows, m_rows[static_cast<size_t>(first - 1)])) --first;
    beginRemoveRows({}, first, i);
    m_rows.erase(m_rows.begin() + first, m_rows.begin() + i + 1);
    endRemoveRows();
    i = first;
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i < m_rows.size() && m_rows[i].key() == rows[i].key()) {
      if (m_rows[i] == rows[i]) continue;
      m_rows[i] = rows[i];
      Q_EMIT dataChanged(index(static_cast<int>(i), 0), index(static_cast<int>(i), ColumnCount - 1), {Qt::DisplayRole});
      continue;
    }
    size_t last = i;
    while (last + 1 < rows.size() && (i >= m_rows.size() || rows[last + 1].key() != m_rows[i].key())) ++last;
    beginInsertRows({}, static_cast<int>(i), static_cast<int>(last));
    m_rows.insert(m_rows.begin() + static_cast<std::ptrdiff_t>(i), rows.begin() + static_cast<std::ptrdiff_t>(i),
                  rows.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    endInsertRows();
    i = last;
  }
}

int BatchTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int BatchTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant BatchTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>((index.column() >= Codec ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  const Row& row = m_rows[static_cast<size_t>(index.row())];
  switch (index.column()) {
    case Base:
      return offsetText(row.base);
    case Last:
      return offsetText(row.last);
    case Records:
      return grouped(row.records);
    case Bytes:
      return grouped(row.bytes);
    case Epoch:
      return QString::number(row.epoch.value());
    case Segment:
      // The twenty digits of the file's name would hide the ones that matter.
      return row.segment.value() < 0 ? QStringLiteral("–") : offsetText(row.segment);
    case Position:
      return grouped(row.position);
    case Codec:
      return row.codec;
    case OnBrokers:
      return row.brokers;
    case Visible:
      return row.parted ? tr("no: not the leader's") : row.visible ? tr("yes") : tr("not yet");
    default:
      return {};
  }
}

QVariant BatchTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>((section >= Codec ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case Base:
      return tr("base offset");
    case Last:
      return tr("last offset");
    case Records:
      return tr("records");
    case Bytes:
      return tr("bytes");
    case Epoch:
      return tr("epoch");
    case Segment:
      return tr("segment");
    case Position:
      return tr("position");
    case Codec:
      return tr("codec");
    case OnBrokers:
      return tr("on brokers");
    case Visible:
      return tr("visible");
    default:
      return {};
  }
}

}  // namespace tidemark::widgets
