#pragma once

#include <map>
#include <string>
#include <vector>

#include <QObject>
#include <QPointer>

#include "bridge/engine_bridge.h"
#include "faults/fault_offers.h"

class QMenu;
class QWidget;

namespace tidemark::widgets {

class FaultDialog;

/// Sets faults and heals them, from menus, the map, the panel: everything that breaks something on purpose goes through
/// here, and is told in the status line. Belongs to the window.
class FaultActions : public QObject {
  Q_OBJECT

 public:
  FaultActions(EngineBridge& bridge, QWidget* window);

  void set(const faults::Fault& fault);
  void heal(int id);
  void healAll();
  /// Lets the next transfer of a hold pass.
  void step(int id);
  /// To choose any fault with all it takes, beginning with that one.
  void openDialog(const faults::Fault& beginning = {});
  FaultDialog* dialog() const noexcept;

  // Menus: the common faults of what was picked, what can be healed there, and the way to all others. What is
  // impossible now is greyed, its tooltip says why.
  void fillBroker(QMenu& menu, NodeId broker);
  void fillLink(QMenu& menu, const faults::LinkEnd& from, const faults::LinkEnd& to);
  void fillPartition(QMenu& menu, const TopicPartition& partition);
  void fillClients(QMenu& menu, const std::string& client);
  /// Of one fault of the list.
  void fillFault(QMenu& menu, int id);
  /// Of one that is over.
  void fillOver(QMenu& menu, const faults::Fault& fault);

 Q_SIGNALS:
  void said(const QString& text);

 private:
  /// A moment of the past is shown: it says so.
  bool isHindered();
  /// It is set under that number: said now, and what it matches nothing of once a snapshot tells.
  void tellSet(int id, const QString& title);
  void tellNotes(const observe::ClusterSnapshot& cluster);
  /// `healed`: what is said once it is done, with who stays down; `what`: of an error. A broker that is waited for no
  /// longer: the fault is over all the same.
  void tellHealed(const QString& what, const Result<observe::Healed>& result, const QString& healed);
  /// Of nodes that no fault holds: "Broker 2 stays down: start it from its menu".
  QString stayDownText(const std::vector<NodeId>& down) const;
  void addOffers(QMenu& menu, const std::vector<FaultOffer>& offers);
  void addHeals(QMenu& menu, const std::vector<const observe::FaultSnapshot*>& faults);
  void addDialog(QMenu& menu, faults::Kind kind, faults::Target target);

  EngineBridge& m_bridge;
  QWidget* m_window;
  QPointer<FaultDialog> m_dialog;
  /// Set, and not seen in a snapshot yet.
  std::map<int, QString> m_unseen;
};

}  // namespace tidemark::widgets
