#pragma once

#include <optional>

#include <QWidget>

#include "bridge/engine_bridge.h"
#include "models/event_model.h"

class QAction;
class QLineEdit;
class QPushButton;
class QTableView;

namespace tidemark::widgets {

class EventHeader;

/// The controls of the event table (a pill that says whether it is held, filter, kinds, pause, copy, export), to be put
/// beside the ISR strip, and the table itself.
class EventPanel : public QObject {
  Q_OBJECT

 public:
  /// The controls are made in `head`, the table in `owner`, which owns this.
  EventPanel(EngineBridge& bridge, QWidget* head, QWidget* owner);

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
  /// The newest event at the moment that the window shows: picked without a word to others, later ones are paler.
  /// Nothing: the present is shown.
  void setMoment(std::optional<uint64_t> number);

 Q_SIGNALS:
  /// A word on what was done, for the status line.
  void said(const QString& text);
  /// Somebody went to that row.
  void eventPicked(quint64 number, tidemark::platform::WallTime at);

 private:
  void nameKinds();
  /// Of the model: the newest one up to that number; −1 if there is none.
  int rowOf(uint64_t number) const;
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
  std::optional<uint64_t> m_moment;
  /// The current row is set by the window, not by its reader.
  bool m_following = false;
};

}  // namespace tidemark::widgets
