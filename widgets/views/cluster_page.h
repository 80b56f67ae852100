#pragma once

#include <optional>

#include <QWidget>

#include "bridge/engine_bridge.h"

class QAbstractItemModel;
class QPushButton;
class QScrollArea;
class QStackedWidget;
class QTabBar;
class QTableView;

namespace tidemark::widgets {

class BatchTableModel;
class BeltsView;
class CleanerPage;
class MapPage;
class PartitionHeader;
class ReplicaTableModel;
class SegmentsPage;
class TimelinePage;

/// The middle of the window while a cluster runs: the views of one partition as tabs, each with a table twin.
class ClusterPage : public QWidget {
  Q_OBJECT

 public:
  explicit ClusterPage(EngineBridge& bridge, QWidget* parent = nullptr);

  void setPartition(const std::optional<TopicPartition>& partition);
  const std::optional<TopicPartition>& partition() const noexcept { return m_partition; }
  enum class View { Belts, Segments, Cleaner, Map, Timeline };
  static constexpr int kViews = 5;
  View view() const;
  void showView(View view);
  /// The table twin of the view that is shown.
  bool showsTable() const;
  void showTable(bool table);
  BeltsView& belts() noexcept { return *m_belts; }
  SegmentsPage& segments() noexcept { return *m_segments; }
  CleanerPage& cleaner() noexcept { return *m_cleaner; }
  MapPage& map() noexcept { return *m_map; }
  TimelinePage& timeline() noexcept { return *m_timeline; }
  /// What works with the keys in the view that is shown.
  QWidget* viewWidget() const;

 Q_SIGNALS:
  void partitionPicked(int partition);
  /// Of any topic.
  void otherPartitionPicked(const tidemark::TopicPartition& partition);
  void brokerPicked(tidemark::NodeId broker);
  void viewChanged(tidemark::widgets::ClusterPage::View view);

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void takeView();
  void fillTables();
  QTableView* makeTable(QAbstractItemModel* model, const QString& name);

  EngineBridge& m_bridge;
  std::optional<TopicPartition> m_partition;
  QTabBar* m_tabs;
  QPushButton* m_asTable;
  PartitionHeader* m_header;
  QStackedWidget* m_views;
  QStackedWidget* m_stack;
  QScrollArea* m_scroll;
  BeltsView* m_belts;
  QWidget* m_tables;
  ReplicaTableModel* m_replicas;
  BatchTableModel* m_batches;
  SegmentsPage* m_segments;
  CleanerPage* m_cleaner;
  MapPage* m_map;
  TimelinePage* m_timeline;
  View m_shown = View::Belts;
};

}  // namespace tidemark::widgets
