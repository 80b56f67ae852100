#pragma once

#include <deque>
#include <vector>

#include <QAbstractTableModel>

#include "clients/record_reader.h"

namespace tidemark::widgets {

/// The newest records that were read, oldest first; bounded.
class RecordModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { Partition, Offset, Time, Key, Value, ColumnCount };
  static constexpr size_t kCapacity = 5'000;
  explicit RecordModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  void append(std::vector<ReadRecord> records);
  void clear();
  qint64 total() const noexcept { return m_total; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::deque<ReadRecord> m_rows;
  qint64 m_total = 0;
};

}  // namespace tidemark::widgets
