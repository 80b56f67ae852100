#pragma once

#include <QWidget>

#include "bridge/engine_bridge.h"
#include "models/event_model.h"

class QAction;
class QLineEdit;
class QPushButton;
class QTableView;

namespace tidemark::widgets {

class EventHeader;

/// The controls of the event table (LIVE pill, filter, kinds, pause, copy, export), to be put beside the ISR strip, and
/// the table itself.
class EventPanel : public QObject {
  Q_OBJECT

 public:
  explicit EventPanel(EngineBridge& bridge, QWidget* owner);

  QWidget* controls() const noexcept { return m_controls; }
  QTableView* table() const noexcept { return m_table; }
  EventModel& model() noexcept { return *m_model; }
  EventFilterModel& filter() noexcept { return *m_filter; }

  void setPaused(bool paused);
  void copySelection();
  /// Asks for a file; CSV or JSON by its name.
  void exportToFile();
  void focusFilter();
  /// Brings that event into sight and picks it; a filter that hides it is taken off. False if it is not kept any more.
  bool reveal(uint64_t number);

 Q_SIGNALS:
  /// A word on what was done, for the status line.
  void said(const QString& text);

 private:
  void nameKinds();
  void counts();
  void onFrame(const Frame& frame);

  EngineBridge& m_bridge;
  EventModel* m_model;
  EventFilterModel* m_filter;
  QWidget* m_controls;
  class LivePill;
  LivePill* m_live;
  QLineEdit* m_words;
  QPushButton* m_kinds;
  QPushButton* m_pause;
  QPushButton* m_copy;
  QPushButton* m_export;
  QTableView* m_table;
  EventHeader* m_header = nullptr;
  std::vector<QAction*> m_groups;
};

}  // namespace tidemark::widgets
