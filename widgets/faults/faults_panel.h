#pragma once

#include <QWidget>

#include "bridge/engine_bridge.h"
#include "models/fault_model.h"
#include "models/fault_over_model.h"

class QAbstractItemModel;
class QLabel;
class QListView;
class QPushButton;
class QStyledItemDelegate;
class QVBoxLayout;

namespace tidemark::widgets {

class FaultActions;

/// The list of faults as cards: what, where, since when, how long still, how much of it met something, or why nothing.
/// Del or the button of a card heals it, S steps a hold, N sets another. Below it, folded at first, those that are over
/// and what they left behind; while there are none the fold is not there.
class FaultsPanel : public QWidget {
  Q_OBJECT

 public:
  FaultsPanel(EngineBridge& bridge, FaultActions& actions, QWidget* parent = nullptr);

  FaultModel& model() noexcept { return *m_model; }
  QListView& list() noexcept { return *m_list; }
  FaultOverModel& overModel() noexcept { return *m_overModel; }
  QListView& overList() noexcept { return *m_overList; }
  /// Opens and closes the list of those that are over.
  QPushButton& fold() noexcept { return *m_fold; }
  /// What is said where the list would be; empty while it is there.
  QString emptyText() const;
  /// The number of the fault that is picked, 0 if none is.
  int current() const;

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void frameList(QListView& list, QAbstractItemModel& model, QStyledItemDelegate& cards, const QString& name);
  void take();
  void takeFold();
  void showMenu(const QPoint& at);
  void showOverMenu(const QPoint& at);
  bool takesKey(const QKeyEvent& event);
  bool takesOverKey(const QKeyEvent& event);
  void click(const QPointF& at);

  EngineBridge& m_bridge;
  FaultActions& m_actions;
  FaultModel* m_model;
  FaultOverModel* m_overModel;
  QVBoxLayout* m_down;
  QPushButton* m_add;
  QPushButton* m_healAll;
  QLabel* m_none;
  QListView* m_list;
  QPushButton* m_fold;
  QListView* m_overList;
};

}  // namespace tidemark::widgets
