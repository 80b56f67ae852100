#pragma once

#include <vector>

#include <QAbstractTableModel>
#include <QCoreApplication>

#include "models/rows_model.h"
#include "observe/snapshot.h"

namespace tidemark::widgets {

/// A copy of a partition in words: a cell for each column of the table.
struct ReplicaTableRow {
  std::vector<QString> cells;
  friend bool operator==(const ReplicaTableRow&, const ReplicaTableRow&) = default;
};

/// The table twin of the belts, upper half: one row for each copy of the partition.
class ReplicaTableModel : public RowsModel<ReplicaTableRow> {
  Q_DECLARE_TR_FUNCTIONS(tidemark::widgets::ReplicaTableModel)

 public:
  enum Cell { Broker, Role, State, LogStart, LogEnd, HighWatermark, Behind, CaughtUp, Size, Segments, CellCount };
  explicit ReplicaTableModel(QObject* parent = nullptr);

  void setPartition(const observe::ClusterSnapshot& cluster, const observe::PartitionSnapshot* partition);
};

/// Lower half: one row for each batch, newest first, with the brokers that have it. Batches come at one end and go at
/// the other at the same time, so it tells its changes itself.
class BatchTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { Base, Last, Records, Bytes, Epoch, Segment, Position, Codec, OnBrokers, Visible, ColumnCount };
  explicit BatchTableModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  void setPartition(const observe::PartitionSnapshot* partition);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    Offset base, last;
    LeaderEpoch epoch;
    int records = 0;
    int bytes = 0;
    int64_t position = 0;
    Offset segment;
    QString codec;
    QString brokers;
    bool visible = false;
    /// Every copy that has it parts from its leader there.
    bool parted = false;
    std::pair<Offset, LeaderEpoch> key() const { return {base, epoch}; }
    friend bool operator==(const Row&, const Row&) = default;
  };
  std::vector<Row> m_rows;
};

}  // namespace tidemark::widgets
