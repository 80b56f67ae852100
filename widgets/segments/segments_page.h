#pragma once

#include <optional>
#include <vector>

#include <QStringList>
#include <QWidget>

#include "segments/segments_controller.h"

class QButtonGroup;
class QFrame;
class QLabel;
class QLineEdit;
class QPushButton;
class QSettings;
class QSplitter;
class QStackedWidget;

namespace tidemark::widgets {

class BatchPanel;
class CheckLine;
class FindingsBar;
class FolderPicker;
class IndexPlot;
class LookupPanel;
class PastPanel;
class SegmentStrip;
class SegmentTables;

/// The Segments view: a partition's files to scale, its sparse indexes, the lookup step by step, a batch byte by byte.
/// Of a broker's copy it follows what happens; of files from disk it shows what is there. At a moment of the past it
/// shows what was told of the log up to then, and says what no recording holds.
///
/// Keys: Ctrl+F the search field, ↑/↓ or , and . step by step, Home/End its ends, Page up/down batch by batch, Alt+←/→
/// segment by segment, ←/→ and +/− move and zoom the index, 0 all of it, I the other index, T tables, F5 reads again,
/// Ctrl+C copies what is shown as text.
class SegmentsPage : public QWidget {
  Q_OBJECT

 public:
  /// `fromDisk`: a page of its own for files, with a way back.
  SegmentsPage(EngineBridge& bridge, bool fromDisk, QWidget* parent = nullptr);

  /// A partition of the cluster; the leader's copy unless a copy was chosen for it already.
  void setPartition(const std::optional<TopicPartition>& partition);
  /// The batch that holds an offset, in the copy of a broker.
  void showBatch(const TopicPartition& partition, NodeId broker, Offset offset);
  /// A partition's folder, one of its files, or a folder that holds partitions.
  void openPath(const QString& path);
  const QString& path() const noexcept { return m_path; }

  /// Reads and follows only while it is shown.
  void setActive(bool active);
  bool showsTable() const noexcept { return m_asTable; }
  void showTable(bool table);
  void focusSearch();
  /// Looks for what is typed, as Enter does.
  void search(const QString& text);
  QString asText() const;

  void save(QSettings& settings) const;
  void restore(const QSettings& settings);

  SegmentsController& controller() noexcept { return m_controller; }
  SegmentStrip& strip() noexcept { return *m_strip; }
  IndexPlot& plot() noexcept { return *m_plot; }
  LookupPanel& lookupPanel() noexcept { return *m_lookup; }
  BatchPanel& batchPanel() noexcept { return *m_batch; }
  PastPanel& pastPanel() noexcept { return *m_past; }
  /// Made when they are first asked for.
  SegmentTables& tables();
  CheckLine& checkLine() noexcept { return *m_checked; }
  FindingsBar& findingsBar() noexcept { return *m_findings; }
  QLineEdit& searchField() noexcept { return *m_search; }
  /// Null unless files from disk are shown.
  FolderPicker* folderPicker() noexcept { return m_picker; }

 Q_SIGNALS:
  void backWanted();
  void told(const QString& text);
  /// The moment of an event of the log is to be shown.
  void eventWanted(quint64 number, tidemark::platform::WallTime at);
  /// A folder or file could be opened, and should be remembered.
  void pathOpened(const QString& path);

 protected:
  /// Comma and full stop step through the lookup here, not through time.
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  // In their parents from the first: a part that is moved into one later is styled twice.
  QWidget* makeHead();
  /// Of the partition, in the menu of `m_place`.
  void listCopies();
  void makeBody(QWidget* body);
  QWidget* makePlotCard(QWidget* parent);
  void takeOpened();
  void takePartition();
  void takeSegment();
  void takePlace();
  void nameSearch();
  void onFrame(const Frame& frame);
  void pickCopy(NodeId broker);
  void setIndex(bool times);

  EngineBridge& m_bridge;
  const bool m_fromDisk;
  SegmentsController m_controller;
  std::optional<TopicPartition> m_partition;
  QString m_path;
  QStringList m_folders;
  /// Waits until the files are open.
  std::optional<LookupTarget> m_pending;
  bool m_asTable = false;
  Offset m_shownSegment;

  QLabel* m_title = nullptr;
  QPushButton* m_place = nullptr;
  /// Of files from disk only: which of the partitions that were found.
  FolderPicker* m_picker = nullptr;
  CheckLine* m_checked = nullptr;
  QFrame* m_searchBox = nullptr;
  QLabel* m_searchName = nullptr;
  QLineEdit* m_search = nullptr;
  QPushButton* m_back = nullptr;
  QStackedWidget* m_stack = nullptr;
  FindingsBar* m_findings = nullptr;
  SegmentStrip* m_strip = nullptr;
  QLabel* m_indexTitle = nullptr;
  QLabel* m_indexNote = nullptr;
  QButtonGroup* m_indexChoice;
  IndexPlot* m_plot = nullptr;
  LookupPanel* m_lookup = nullptr;
  BatchPanel* m_batch = nullptr;
  /// In its place while a moment of the past is shown.
  PastPanel* m_past = nullptr;
  QStackedWidget* m_below = nullptr;
  /// Where the tables come.
  QWidget* m_tablesPage = nullptr;
  SegmentTables* m_tables = nullptr;
  QLabel* m_nothing = nullptr;
  QSplitter* m_rows = nullptr;
  QSplitter* m_columns = nullptr;
};

}  // namespace tidemark::widgets
