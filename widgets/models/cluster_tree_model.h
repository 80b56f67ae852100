#pragma once

#include <vector>

#include <QAbstractItemModel>

#include "observe/snapshot.h"
#include "theme/shapes.h"

namespace tidemark::widgets {

/// The tree on the left: quorum and brokers, topics, groups, active faults. Two levels: sections and their rows. Fed
/// with snapshots; sections stand for ever, rows come and go, values change in place.
class ClusterTreeModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum class Section { Cluster, Topics, Groups, Faults };
  static constexpr int kSections = 4;
  enum class Kind { Section, Quorum, Broker, Topic, Group, Fault };
  enum Role {
    KindRole = Qt::UserRole + 1,
    /// int, of a broker.
    BrokerRole,
    /// int, of a fault.
    FaultRole,
    /// QString, of a topic or a group.
    NameRole,
    /// What stands at the right, and whether it wants to be seen.
    NoteRole,
    NoteColorRole,
    /// int (StateShape) and QColor.
    ShapeRole,
    ShapeColorRole,
    /// bool: drawn fainter (internal topics).
    FaintRole,
  };

  explicit ClusterTreeModel(QObject* parent = nullptr);

  /// `age`: of the snapshot, added to what tells a time.
  void setSnapshot(const observe::ClusterSnapshot& cluster, platform::Duration age);
  QModelIndex section(Section which) const { return index(static_cast<int>(which), 0); }
  QModelIndex broker(NodeId id) const;
  QModelIndex topic(const QString& name) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  struct Row {
    Kind kind = Kind::Broker;
    int number = -1;
    QString name;
    QString text;
    QString note;
    QColor noteColor;
    StateShape shape = StateShape::None;
    QColor shapeColor;
    bool faint = false;
    std::tuple<Kind, int, QString> key() const { return {kind, number, name}; }
    friend bool operator==(const Row&, const Row&) = default;
  };
  static std::vector<Row> clusterRows(const observe::ClusterSnapshot& cluster);
  static std::vector<Row> topicRows(const observe::ClusterSnapshot& cluster);
  static std::vector<Row> groupRows(const observe::ClusterSnapshot& cluster);
  static std::vector<Row> activeFaults(const observe::ClusterSnapshot& cluster, platform::Duration age);
  void sync(Section which, std::vector<Row> rows);

  std::vector<Row> m_rows[kSections];
};

}  // namespace tidemark::widgets
