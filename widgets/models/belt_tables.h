#pragma once

#include <vector>

#include <QAbstractTableModel>

#include "observe/snapshot.h"

namespace tidemark::widgets {

/// The table twin of the belts, upper half: one row for each copy of the partition.
class ReplicaTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { Broker, Role, State, LogStart, LogEnd, HighWatermark, Behind, CaughtUp, Size, Segments, ColumnCount };
  explicit ReplicaTableModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  void setPartition(const observe::ClusterSnapshot& cluster, const observe::PartitionSnapshot* partition);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    int broker = -1;
    std::vector<QString> cells;
    int key() const { return broker; }
    friend bool operator==(const Row&, const Row&) = default;
  };
  std::vector<Row> m_rows;
};

/// Lower half: one row for each batch, newest first, with the brokers that have it.
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
