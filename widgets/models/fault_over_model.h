#pragma once

#include <vector>

#include <QAbstractTableModel>
#include <QColor>
#include <QStringList>

#include "observe/snapshot.h"
#include "theme/shapes.h"

namespace tidemark::widgets {

/// A fault that is over as it is shown.
struct FaultOverRow {
  int id = 0;
  /// To be set again.
  faults::Fault fault;
  QString title;
  QString target;
  /// "healed", "time over", "happened", "dropped".
  QString ending;
  /// The same in a sentence, with the reason if there is one.
  QString why;
  /// Why it could not begin, or what it found nobody for; empty: neither.
  QString note;
  /// When it ended: "14:02:05.385".
  QString ended;
  /// How long after it was set: "12.4 s".
  QString after;
  /// "23 transfers", "nothing"; empty if its kind meets nothing.
  QString fired;
  /// What stays; with the end of a path, and with all of it.
  QStringList lasting;
  QStringList lastingWhole;
  /// Files are among it, which nobody looks after.
  bool leavesFiles = false;
  StateShape shape = StateShape::None;
  QColor color;

  int key() const { return id; }
  friend bool operator==(const FaultOverRow&, const FaultOverRow&) = default;
};

/// The newest first.
std::vector<FaultOverRow> faultOverRows(const observe::ClusterSnapshot& cluster);

/// The faults that are over, for the panel: one row each, changed in place.
class FaultOverModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { What, Where, Ended, After, Why, Met, Left, ColumnCount };

  explicit FaultOverModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  void setSnapshot(const observe::ClusterSnapshot& cluster);
  const std::vector<FaultOverRow>& rows() const noexcept { return m_rows; }
  /// How many of them left something behind.
  int lastingCount() const noexcept;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  std::vector<FaultOverRow> m_rows;
};

}  // namespace tidemark::widgets
