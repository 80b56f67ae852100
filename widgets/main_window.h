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
#include "views/cluster_page.h"
#include "views/cluster_tree.h"

class QSettings;
class QStackedWidget;

namespace tidemark::widgets {

class ConsumeDialog;
class EventPanel;
class Inspector;
class IsrStrip;
class LaunchPage;
class ProduceDialog;
class SegmentsPage;
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
  SegmentsPage& files() noexcept { return *m_filesPage; }
  /// Files from disk are in sight, whether a cluster runs or not.
  bool showsFiles() const;

  /// Launches, and writes `loadPerSecond` into the first topic when it is there.
  void launch(const observe::LaunchOptions& options, double loadPerSecond);
  void command(EngineBridge::BrokerCommand what, NodeId broker);
  void pick(const Picked& picked);
  void showPartition(const TopicPartition& partition);
  /// Shows the segments at a path: a partition's folder, one of its files, or a folder that holds partitions.
  void openFiles(const QString& path);
  /// Docks and sizes as they are at the first start.
  void resetLayout();
  /// As closing the window, but without a question: somebody outside wants the program to end. `ended` runs when the
  /// brokers have shut down.
  void endInControl(std::function<void()> ended);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  static constexpr int kLayoutVersion = 1;
  static constexpr int kRecentFiles = 8;

  void makeDocks();
  void makeMenus();
  void makeShortcuts();
  void onFrame(const Frame& frame);
  void enterCluster();
  void leaveCluster();
  void showDocks(bool shown);
  /// Which docks stand where beside the view that is shown: a view that needs the room has a layout of its own.
  QByteArray& layoutOf(ClusterPage::View view) { return view == ClusterPage::View::Belts ? m_layout : m_wideLayout; }
  const QByteArray& defaultLayoutOf(ClusterPage::View view) const {
    return view == ClusterPage::View::Belts ? m_defaultLayout : m_defaultWideLayout;
  }
  void keepLayout();
  void takeLayout();
  void closeFiles();
  void chooseFiles(bool folder);
  void rememberFiles(const QString& path);
  /// Gives the docks the sizes that the reader chose, or less where the window has no room for them.
  void applyDockSizes();
  /// Keeps what the reader has dragged.
  void noteDockSizes();
  /// Somebody is looked at as soon as there is somebody.
  void pickFirst();
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
  SegmentsPage* m_filesPage;
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
  /// Widths of tree and inspector, height of the events; 0: by the size of the window.
  struct DockSizes {
    int tree = 236;
    int inspector = 300;
    int events = 0;
  };
  DockSizes m_docks;
  QByteArray m_defaultLayout;
  QByteArray m_layout;
  QByteArray m_defaultWideLayout;
  QByteArray m_wideLayout;
  /// Whose layout the docks have now.
  ClusterPage::View m_view = ClusterPage::View::Belts;
};

}  // namespace tidemark::widgets
