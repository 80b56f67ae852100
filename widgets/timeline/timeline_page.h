#pragma once

#include <optional>
#include <vector>

#include <QWidget>

#include "bridge/engine_bridge.h"
#include "models/rows_model.h"
#include "models/timeline_past.h"
#include "timeline/time_travel.h"
#include "timeline/timeline_marks.h"

class QComboBox;
class QLabel;
class QPushButton;
class QScrollArea;
class QStackedWidget;
class QTableView;

namespace tidemark::widgets {

class CauseCard;
class TimelineLanes;
class TimelinePlot;

/// One line of the table twin.
struct TimelineRow {
  TimelineMark mark;
  CauseWords words;
  friend bool operator==(const TimelineRow& a, const TimelineRow& b) {
    return a.mark == b.mark && a.words.title == b.words.title && a.words.lines == b.words.lines;
  }
};

/// The Timeline view of a partition: what was broken, who led and was in the ISR, offsets and lags on the time axis of
/// the window. It follows the present until somebody moves it. ← and → go from change to change, and every view shows
/// that moment; so does a click. Enter shows the event.
class TimelinePage : public QWidget {
  Q_OBJECT

 public:
  TimelinePage(EngineBridge& bridge, TimeTravel& travel, QWidget* parent = nullptr);

  void setPartition(const std::optional<TopicPartition>& partition);
  void setActive(bool active);
  bool showsTable() const noexcept { return m_asTable; }
  void showTable(bool table);
  TimeAxis& axis() noexcept { return m_axis; }
  const TimelinePast& past() const noexcept { return m_past; }
  TimelineLanes& lanes() noexcept { return *m_lanes; }
  TimelinePlot& plot() noexcept { return *m_plot; }
  CauseCard& card() noexcept { return *m_card; }
  QTableView& table() noexcept { return *m_table; }
  const std::optional<TimelineMark>& current() const noexcept { return m_current; }
  /// To the change before or after the one that is picked.
  void step(int by);

 Q_SIGNALS:
  /// Somebody wants to see that event.
  void eventWanted(quint64 number);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void onLive(const Frame& frame);
  /// The window shows another moment: its mark is ringed.
  void onMoment();
  void goTo(const TimelineMark& mark);
  void take();
  void takeMarks();
  void takeHead();
  void fillTable();
  void pick(const std::optional<TimelineMark>& mark);
  void showCause(const std::optional<TimelineMark>& mark, const QPointF& inPicture);
  void zoomToFault();

  EngineBridge& m_bridge;
  TimeTravel& m_travel;
  TimeAxis& m_axis;
  const TimelinePast& m_past;
  std::optional<TopicPartition> m_partition;
  std::vector<TimelineMark> m_marks;
  std::optional<TimelineMark> m_current;
  bool m_active = false;
  bool m_asTable = false;
  QLabel* m_title;
  QLabel* m_note;
  QComboBox* m_spans;
  QPushButton* m_goLive;
  QStackedWidget* m_stack;
  QScrollArea* m_scroll;
  QWidget* m_picture;
  TimelineLanes* m_lanes;
  TimelinePlot* m_plot;
  CauseCard* m_card;
  QWidget* m_tables;
  QTableView* m_table;
  QLabel* m_foot;
  RowsModel<TimelineRow>* m_model;
};

}  // namespace tidemark::widgets
