#pragma once

#include <functional>
#include <map>
#include <memory>

#include <QMainWindow>
#include <QPointer>

#include "bridge/engine_bridge.h"
#include "clients/producer_load.h"
#include "dock_layouts.h"
#include "theme/theme.h"
#include "timeline/time_travel.h"
#include "views/cluster_page.h"
#include "views/cluster_tree.h"

class QMenu;
class QSettings;
class QStackedWidget;

namespace tidemark::widgets {

class ConsumeDialog;
class EventPanel;
class FaultActions;
class FaultsPanel;
class Inspector;
class IsrStrip;
class LaunchPage;
struct MapPick;
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
  TimeTravel& travel() noexcept { return m_travel; }
  LaunchPage& launchPage() noexcept { return *m_launchPage; }
  ClusterPage& clusterPage() noexcept { return *m_clusterPage; }
  Inspector& inspector() noexcept { return *m_inspector; }
  EventPanel& events() noexcept { return *m_events; }
  ClusterTree& tree() noexcept { return *m_tree; }
  FaultsPanel& faults() noexcept { return *m_faults; }
  FaultActions& faultActions() noexcept { return *m_faultActions; }
  ProducerLoad& load() noexcept { return m_load; }
  void setLoadStarter(LoadStarter starter) { m_startLoad = std::move(starter); }
  bool showsCluster() const;
  /// The page of files from disk, made when it is first asked for.
  SegmentsPage& files();
  /// Files from disk are in sight, whether a cluster runs or not.
  bool showsFiles() const;

  /// Launches, and writes `loadPerSecond` into the first topic when it is there.
  void launch(const observe::LaunchOptions& options, double loadPerSecond);
  void command(EngineBridge::BrokerCommand what, NodeId broker);
  /// The menu of a broker: what its state allows, and the common faults.
  void fillBrokerMenu(QMenu& menu, NodeId broker);
  void fillPartitionMenu(QMenu& menu, const TopicPartition& partition);
  void showFaults();
  /// Brings an event of the history into sight.
  void revealEvent(uint64_t number);
  void pick(const Picked& picked);
  void showPartition(const TopicPartition& partition);
  /// Shows the segments at a path: a partition's folder, one of its files, or a folder that holds partitions.
  void openFiles(const QString& path);
  /// Opens a recording in a window of its own, which nobody need own: closing it removes it. Null, once `error` says
  /// why, if it cannot be read.
  static MainWindow* openRecording(const QString& path, QString* error);
  /// Writes what is remembered into a file that can be opened so; an empty text, or why not.
  QString saveRecording(const QString& path) const;
  /// Of a recording: shows the moment so long after its beginning, such as "12.5s". What is wrong with it, else empty.
  QString lookAt(const QString& sinceBegin);
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
  static constexpr int kRecentFiles = 8;

  void makeDocks();
  void makeMenus();
  void makeShortcuts();
  void makeFaults();
  void makeFaultMenu();
  void showMapMenu(const MapPick& pick, const QPoint& at);
  void onFrame(const Frame& frame);
  void enterCluster();
  void leaveCluster();
  void makeTime();
  /// All of a recording has come up: its beginning is shown.
  void enterRecording();
  void chooseRecording();
  void chooseWhereToRecord();
  void closeFiles();
  void chooseFiles(bool folder);
  void rememberFiles(const QString& path);
  /// Somebody is looked at as soon as there is somebody.
  void pickFirst();
  /// Of the first topic that is not the brokers' own.
  static std::optional<TopicPartition> firstPartition(const observe::ClusterSnapshot& cluster);
  void stopCluster();
  /// False: the reader would rather keep what would be lost.
  bool mayLoseData(const QString& title, const QString& verb);
  void restore();
  void restoreColours();
  void save();
  void step(int by);
  void openTopicDialog();
  void openProduceDialog();
  void openConsumeDialog();
  void showShortcuts();
  QString shownTopic() const;

  QSettings* m_settings;
  /// Of a window that owns what it shows; goes last.
  std::shared_ptr<observe::ClusterSource> m_shown;
  EngineBridge m_bridge;
  TimeTravel m_travel;
  ProducerLoad m_load;
  LoadStarter m_startLoad;
  Picked m_picked;
  std::map<QString, int> m_lastPartition;
  double m_pendingLoad = 0;
  /// The first page stays until the launch is answered.
  bool m_launching = false;
  bool m_cancelled = false;
  bool m_closing = false;

  TopBar* m_topBar = nullptr;
  QStackedWidget* m_pages = nullptr;
  LaunchPage* m_launchPage = nullptr;
  ClusterPage* m_clusterPage = nullptr;
  /// Null until files are opened.
  SegmentsPage* m_filesPage = nullptr;
  StatusLine* m_status = nullptr;
  ClusterTree* m_tree = nullptr;
  Inspector* m_inspector = nullptr;
  EventPanel* m_events = nullptr;
  IsrStrip* m_strip = nullptr;
  QDockWidget* m_treeDock = nullptr;
  QDockWidget* m_inspectorDock = nullptr;
  QDockWidget* m_eventDock = nullptr;
  FaultActions* m_faultActions = nullptr;
  FaultsPanel* m_faults = nullptr;
  QDockWidget* m_faultDock = nullptr;
  QPointer<ProduceDialog> m_produceDialog;
  QPointer<ConsumeDialog> m_consumeDialog;
  std::unique_ptr<DockLayouts> m_layouts;
};

}  // namespace tidemark::widgets
