#pragma once

#include <functional>
#include <map>

#include <QByteArray>
#include <QMainWindow>
#include <QPointer>

#include "bridge/engine_bridge.h"
#include "clients/producer_load.h"
#include "models/partition_past.h"
#include "theme/theme.h"
#include "views/cluster_tree.h"

class QSettings;
class QStackedWidget;

namespace tidemark::widgets {

class ClusterPage;
class ConsumeDialog;
class EventPanel;
class Inspector;
class IsrStrip;
class LaunchPage;
class ProduceDialog;
class StatusLine;
class TopBar;

/// The window. It looks at a cluster and acts on it through a ClusterSource, and nothing else of the engine.
class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  /// Writes `recordsPerSecond` into the topic, through the bootstrap address; replaced in tests, where nobody listens
  /// there.
  using LoadStarter = std::function<void(const ProduceOptions& options)>;

  /// `source` and `settings` must outlive the window; `settings` may be null (nothing is kept).
  MainWindow(observe::ClusterSource& source, QSettings* settings, QWidget* parent = nullptr);
  ~MainWindow() override;

  EngineBridge& bridge() noexcept { return m_bridge; }
  LaunchPage& launchPage() noexcept { return *m_launchPage; }
  ClusterPage& clusterPage() noexcept { return *m_clusterPage; }
  Inspector& inspector() noexcept { return *m_inspector; }
  EventPanel& events() noexcept { return *m_events; }
  ClusterTree& tree() noexcept { return *m_tree; }
  ProducerLoad& load() noexcept { return m_load; }
  void setLoadStarter(LoadStarter starter) { m_startLoad = std::move(starter); }
  bool showsCluster() const;

  /// Launches, and writes `loadPerSecond` into the first topic when it is there.
  void launch(const observe::LaunchOptions& options, double loadPerSecond);
  void command(EngineBridge::BrokerCommand what, NodeId broker);
  void pick(const Picked& picked);
  void showPartition(const TopicPartition& partition);
  /// Docks and sizes as they are at the first start.
  void resetLayout();

 protected:
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  static constexpr int kLayoutVersion = 1;

  void makeDocks();
  void makeMenus();
  void makeShortcuts();
  void onFrame(const Frame& frame);
  void enterCluster();
  void leaveCluster();
  void showDocks(bool shown);
  void stopCluster();
  /// False: the reader would rather keep what would be lost.
  bool mayLoseData(const QString& title, const QString& verb);
  void restore();
  void save();
  void step(int by);
  void openTopicDialog();
  void openProduceDialog();
  void openConsumeDialog();
  void showShortcuts();
  void showBrokerMenu(NodeId broker, const QPoint& at);
  QString shownTopic() const;

  QSettings* m_settings;
  EngineBridge m_bridge;
  PartitionPast m_past;
  ProducerLoad m_load;
  LoadStarter m_startLoad;
  Picked m_picked;
  std::map<QString, int> m_lastPartition;
  double m_pendingLoad = 0;
  /// The first page stays until the launch is answered.
  bool m_launching = false;
  bool m_cancelled = false;
  bool m_closing = false;

  TopBar* m_topBar;
  QStackedWidget* m_pages;
  LaunchPage* m_launchPage;
  ClusterPage* m_clusterPage;
  StatusLine* m_status;
  ClusterTree* m_tree = nullptr;
  Inspector* m_inspector = nullptr;
  EventPanel* m_events = nullptr;
  IsrStrip* m_strip = nullptr;
  QDockWidget* m_treeDock = nullptr;
  QDockWidget* m_inspectorDock = nullptr;
  QDockWidget* m_eventDock = nullptr;
  QPointer<ProduceDialog> m_produceDialog;
  QPointer<ConsumeDialog> m_consumeDialog;
  QByteArray m_defaultLayout;
  QByteArray m_layout;
};

}  // namespace tidemark::widgets
