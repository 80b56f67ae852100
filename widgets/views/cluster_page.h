#pragma once

#include <optional>
#include <set>

#include <QWidget>

#include "bridge/engine_bridge.h"
#include "models/log_breaks.h"
#include "timeline/time_travel.h"

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
class GroupsPage;
class MomentPill;
class TimeBar;
class TimelinePage;
class TransactionsPage;

/// The middle of the window while a cluster runs: the views of one partition as tabs, each with a table twin. Above
/// them stands which moment they show, and whether records were lost that nobody has taken note of.
class ClusterPage : public QWidget {
  Q_OBJECT

 public:
  ClusterPage(EngineBridge& bridge, TimeTravel& travel, QWidget* parent = nullptr);

  void setPartition(const std::optional<TopicPartition>& partition);
  const std::optional<TopicPartition>& partition() const noexcept { return m_partition; }
  enum class View { Belts, Segments, Cleaner, Map, Timeline, Groups, Transactions };
  static constexpr int kViews = 7;
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
  GroupsPage& groups() noexcept { return *m_groups; }
  TransactionsPage& transactions() noexcept { return *m_transactions; }
  TimeBar& timeBar() noexcept { return *m_timeBar; }
  MomentPill& moment() noexcept { return *m_moment; }
  QPushButton& lostButton() noexcept { return *m_lost; }
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
  /// Of all partitions: what was acknowledged and is lost.
  void takeLost();
  void fillTables();
  QTableView* makeTable(QAbstractItemModel* model, const QString& name);

  EngineBridge& m_bridge;
  TimeTravel& m_travel;
  std::optional<TopicPartition> m_partition;
  /// Where records were lost; the first one is gone to.
  std::optional<TopicPartition> m_lostIn;
  /// Losses that somebody has taken note of.
  std::set<std::pair<TopicPartition, LeaderEpoch>> m_noted;
  // Each is made in its parent, in the order of the Tab key.
  QWidget* m_bar;
  QTabBar* m_tabs;
  QPushButton* m_lost;
  MomentPill* m_moment;
  QPushButton* m_asTable;
  TimeBar* m_timeBar;
  QStackedWidget* m_views;
  QWidget* m_beltsPage;
  PartitionHeader* m_header;
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
  GroupsPage* m_groups;
  TransactionsPage* m_transactions;
  View m_shown = View::Belts;
};

}  // namespace tidemark::widgets
