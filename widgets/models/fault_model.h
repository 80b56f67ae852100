#pragma once

#include <vector>

#include <QAbstractTableModel>
#include <QColor>

#include "observe/snapshot.h"
#include "theme/shapes.h"

namespace tidemark::widgets {

/// A fault of the list as it is shown.
struct FaultRow {
  int id = 0;
  /// "Link 2 ↔ 3 cut".
  QString title;
  QString target;
  /// When it began or will begin, and for how long: "since 14:02:05.385, for 15 s".
  QString when;
  /// What it takes of what it meets, "each 5th"; empty: all.
  QString occasions;
  /// "9.0 s left", "until healed".
  QString left;
  /// "23 transfers"; empty if it meets nothing.
  QString fired;
  /// "3 held": of links, what they keep back now.
  QString held;
  /// Why it meets nothing: "Matches nothing yet: …". Empty: it may.
  QString note;
  /// What it has done to files: as much as fits in a card, and all of it.
  QString lasting;
  QString lastingWhole;
  /// How long it has been set: "12.4 s".
  QString age;
  /// Of its time that is left, in sixtieths; −1: until healed.
  int part = -1;
  /// A hold: it can be stepped.
  bool steps = false;
  bool waits = false;
  StateShape shape = StateShape::None;
  QColor color;
  QColor textColor;
  /// Where it acts, if that is one broker.
  NodeId broker = kNoNode;

  int key() const { return id; }
  friend bool operator==(const FaultRow&, const FaultRow&) = default;
};

/// The faults of a cluster, oldest first; `age`: of the snapshot.
std::vector<FaultRow> faultRows(const observe::ClusterSnapshot& cluster, platform::Duration age);

/// The list of faults, for the panel and the tree: one row each, changed in place.
class FaultModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { What, Where, When, Left, Fired, Held, Note, ColumnCount };
  /// int: its number.
  static constexpr int kIdRole = Qt::UserRole + 1;

  explicit FaultModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  void setSnapshot(const observe::ClusterSnapshot& cluster, platform::Duration age);
  const std::vector<FaultRow>& rows() const noexcept { return m_rows; }
  /// Nothing if there is none of that number.
  const FaultRow* find(int id) const noexcept;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  std::vector<FaultRow> m_rows;
};

}  // namespace tidemark::widgets
