#pragma once

#include <QTreeView>

#include "bridge/engine_bridge.h"
#include "models/cluster_tree_model.h"

namespace tidemark::widgets {

/// What the reader looks at: it decides what the inspector and the belts show.
struct Picked {
  enum class What { Nothing, Quorum, Broker, Partition } what = What::Nothing;
  NodeId broker;
  TopicPartition partition;
  friend bool operator==(const Picked&, const Picked&) = default;
};

/// The tree on the left, drawn by a delegate of its own.
class ClusterTree : public QTreeView {
  Q_OBJECT

 public:
  explicit ClusterTree(EngineBridge& bridge, QWidget* parent = nullptr);

  ClusterTreeModel& clusterModel() noexcept { return *m_model; }
  /// Marks the topic whose partition the belts show; a fainter mark than the selection.
  void setShownTopic(const QString& topic);
  void selectBroker(NodeId broker);

 Q_SIGNALS:
  void quorumPicked();
  void brokerPicked(tidemark::NodeId broker);
  void topicPicked(const QString& topic);
  void groupPicked(const QString& group);
  /// Right click on a broker.
  void brokerMenuWanted(tidemark::NodeId broker, const QPoint& globalPosition);
  void topicMenuWanted(const QString& topic, const QPoint& globalPosition);
  void faultMenuWanted(int fault, const QPoint& globalPosition);
  /// Del on a fault.
  void healWanted(int fault);

 protected:
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void drawBranches(QPainter*, const QRect&, const QModelIndex&) const override {}

 private:
  void pick(const QModelIndex& index);
  ClusterTreeModel* m_model;
  class Delegate;
  Delegate* m_delegate;
};

}  // namespace tidemark::widgets
