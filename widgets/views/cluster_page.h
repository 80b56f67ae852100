#pragma once

#include <optional>

#include <QWidget>

#include "bridge/engine_bridge.h"

class QAbstractItemModel;
class QScrollArea;
class QStackedWidget;
class QTabBar;
class QTableView;

namespace tidemark::widgets {

class BatchTableModel;
class BeltsView;
class PartitionHeader;
class ReplicaTableModel;

/// The middle of the window while a cluster runs: the belts of one partition, and their table twin.
class ClusterPage : public QWidget {
  Q_OBJECT

 public:
  explicit ClusterPage(EngineBridge& bridge, QWidget* parent = nullptr);

  void setPartition(const std::optional<TopicPartition>& partition);
  const std::optional<TopicPartition>& partition() const noexcept { return m_partition; }
  bool showsTable() const;
  void showTable(bool table);
  BeltsView& belts() noexcept { return *m_belts; }

 Q_SIGNALS:
  void partitionPicked(int partition);
  void brokerPicked(tidemark::NodeId broker);

 private:
  void fillTables();
  QTableView* makeTable(QAbstractItemModel* model, const QString& name);

  EngineBridge& m_bridge;
  std::optional<TopicPartition> m_partition;
  QTabBar* m_tabs;
  PartitionHeader* m_header;
  QStackedWidget* m_stack;
  QScrollArea* m_scroll;
  BeltsView* m_belts;
  QWidget* m_tables;
  ReplicaTableModel* m_replicas;
  BatchTableModel* m_batches;
};

}  // namespace tidemark::widgets
