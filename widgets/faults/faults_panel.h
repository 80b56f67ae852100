#pragma once

#include <QWidget>

#include "bridge/engine_bridge.h"
#include "models/fault_model.h"

class QLabel;
class QListView;
class QPushButton;

namespace tidemark::widgets {

class FaultActions;

/// The list of faults as cards: what, where, since when, how long still, how much of it met something. Del or the
/// button of a card heals it, S steps a hold, N sets another.
class FaultsPanel : public QWidget {
  Q_OBJECT

 public:
  FaultsPanel(EngineBridge& bridge, FaultActions& actions, QWidget* parent = nullptr);

  FaultModel& model() noexcept { return *m_model; }
  QListView& list() noexcept { return *m_list; }
  /// The number of the fault that is picked, 0 if none is.
  int current() const;

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  class Cards;
  void take();
  void showMenu(const QPoint& at);

  EngineBridge& m_bridge;
  FaultActions& m_actions;
  FaultModel* m_model;
  Cards* m_cards;
  QListView* m_list;
  QLabel* m_none;
  QPushButton* m_add;
  QPushButton* m_healAll;
};

}  // namespace tidemark::widgets
