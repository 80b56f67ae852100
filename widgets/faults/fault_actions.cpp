#include "faults/fault_actions.h"

#include <algorithm>

#include <QMenu>

#include "faults/fault_dialog.h"
#include "observe/fault_check.h"
#include "text/fault_notes.h"
#include "text/fault_words.h"
#include "text/format.h"
#include "text/node_words.h"

namespace tidemark::widgets {

namespace {

/// A line between two groups of actions: not where a menu begins, nor below a heading.
void separate(QMenu& menu) {
  if (!menu.isEmpty() && !menu.actions().back()->isSeparator()) menu.addSeparator();
}

}  // namespace

FaultActions::FaultActions(EngineBridge& bridge, QWidget* window)
    : QObject(window), m_bridge(bridge), m_window(window) {
  connect(&bridge, &EngineBridge::live, this, [this](const Frame& frame) {
    if (frame.anotherCluster) m_unseen.clear();
    if (!m_unseen.empty()) tellNotes(*frame.snapshot);
  });
}

bool FaultActions::isHindered() {
  const QString hindrance = m_bridge.hindrance();
  if (!hindrance.isEmpty()) Q_EMIT said(hindrance);
  return !hindrance.isEmpty();
}

void FaultActions::set(const faults::Fault& fault) {
  if (isHindered()) return;
  m_bridge.setFault(fault, this, [this, title = faultTitle(fault)](const Result<int>& result) {
    if (result)
      tellSet(*result, title);
    else
      Q_EMIT said(tr("Not set: %1").arg(errorText(result.error())));
  });
}

void FaultActions::tellSet(int id, const QString& title) {
  Q_EMIT said(title);
  m_unseen[id] = title;
  tellNotes(*m_bridge.newest());
}

void FaultActions::tellNotes(const observe::ClusterSnapshot& cluster) {
  std::erase_if(m_unseen, [&](const auto& set) {
    const auto& [id, title] = set;
    const auto active = std::ranges::find(cluster.faults, id, &observe::FaultSnapshot::id);
    const auto over = std::ranges::find(cluster.faultsOver, id, &observe::FaultOverSnapshot::id);
    if (active == cluster.faults.end() && over == cluster.faultsOver.end()) return false;
    const QString note = active != cluster.faults.end() ? faultNote(*active, cluster) : faultNote(*over, cluster);
    if (!note.isEmpty()) Q_EMIT said(tr("%1. %2").arg(title, note));
    return true;
  });
}

void FaultActions::tellHealed(const QString& what, const Result<observe::Healed>& result, const QString& healed) {
  if (result)
    Q_EMIT said(result->down.empty() ? healed : tr("%1. %2").arg(healed, stayDownText(result->down)));
  else if (result.error().code == ErrorCode::RequestTimedOut)
    Q_EMIT said(tr("%1: healed, but %2").arg(what, errorText(result.error())));
  else
    Q_EMIT said(tr("%1: not healed, %2").arg(what, errorText(result.error())));
}

QString FaultActions::stayDownText(const std::vector<NodeId>& down) const {
  QStringList names;
  for (const NodeId id : down)
    names << (names.isEmpty() ? nodeTitle(*m_bridge.newest(), id) : nodeText(*m_bridge.newest(), id));
  return tr("%1 stay(s) down: start each from its menu", nullptr, static_cast<int>(down.size()))
      .arg(names.join(QStringLiteral(", ")));
}

void FaultActions::heal(int id) {
  if (isHindered()) return;
  const auto& faults = m_bridge.snapshot()->faults;
  const auto found = std::ranges::find(faults, id, &observe::FaultSnapshot::id);
  const QString title = found == faults.end() ? tr("Fault %1").arg(id) : faultTitle(found->fault);
  m_bridge.healFault(id, this, [this, title](const Result<observe::Healed>& result) {
    tellHealed(title, result, tr("%1: healed").arg(title));
  });
}

void FaultActions::healAll() {
  if (isHindered()) return;
  if (m_bridge.snapshot()->faults.empty()) {
    Q_EMIT said(tr("Nothing is broken on purpose"));
    return;
  }
  m_bridge.healAll(this, [this](const Result<observe::Healed>& result) {
    const int count = result ? static_cast<int>(result->count) : 0;
    tellHealed(tr("All faults"), result, tr("%n fault(s) healed", nullptr, count));
  });
}

void FaultActions::step(int id) {
  if (isHindered()) return;
  m_bridge.stepFault(id, 1, this, [this](const Result<size_t>& result) {
    Q_EMIT said(!result        ? tr("Not stepped: %1").arg(errorText(result.error()))
                : *result == 0 ? tr("Nothing is held")
                               : tr("%n transfer(s) let through", nullptr, static_cast<int>(*result)));
  });
}

FaultDialog* FaultActions::dialog() const noexcept {
  return m_dialog;
}

void FaultActions::openDialog(const faults::Fault& beginning) {
  if (isHindered()) return;
  if (!m_dialog) {
    m_dialog = new FaultDialog(m_bridge, m_window);
    m_dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(m_dialog, &FaultDialog::wasSet, this, &FaultActions::tellSet);
  }
  m_dialog->setFault(beginning);
  m_dialog->show();
  m_dialog->raise();
  m_dialog->activateWindow();
}

void FaultActions::addOffers(QMenu& menu, const std::vector<FaultOffer>& offers) {
  menu.setToolTipsVisible(true);
  for (const FaultOffer& offer : offers) {
    if (offer.begins) separate(menu);
    QAction* action = menu.addAction(offer.text, this, [this, fault = offer.fault] { set(fault); });
    const auto possible = observe::checkFault(offer.fault, *m_bridge.snapshot());
    const QString hindrance = m_bridge.hindrance();
    action->setEnabled(possible.has_value() && hindrance.isEmpty());
    action->setToolTip(!hindrance.isEmpty() ? hindrance
                       : possible           ? faultKindMeaning(offer.fault.kind)
                                            : fromUtf8(possible.error().message));
  }
}

void FaultActions::addHeals(QMenu& menu, const std::vector<const observe::FaultSnapshot*>& faults) {
  for (const observe::FaultSnapshot* fault : faults) {
    menu.addAction(tr("Heal: %1").arg(faultTitle(fault->fault)), this, [this, id = fault->id] { heal(id); });
    if (fault->fault.kind == faults::Kind::Hold)
      menu.addAction(tr("Step: the next transfer"), this, [this, id = fault->id] { step(id); });
  }
  if (!faults.empty()) menu.addSeparator();
}

void FaultActions::addDialog(QMenu& menu, faults::Kind kind, faults::Target target) {
  faults::Fault beginning;
  beginning.kind = kind;
  beginning.target = std::move(target);
  separate(menu);
  QAction* another = menu.addAction(tr("Another fault…"), this, [this, beginning] { openDialog(beginning); });
  another->setEnabled(m_bridge.hindrance().isEmpty());
  another->setToolTip(m_bridge.hindrance());
}

void FaultActions::fillBroker(QMenu& menu, NodeId broker) {
  const auto* node = observe::findBroker(*m_bridge.snapshot(), broker);
  if (node == nullptr) return;
  addHeals(menu, faultsOfBroker(*m_bridge.snapshot(), broker));
  addOffers(menu, offersForBroker(nodeNamed(*node)));
  addDialog(menu, faults::Kind::Slow, nodeNamed(*node));
}

void FaultActions::fillLink(QMenu& menu, const faults::LinkEnd& from, const faults::LinkEnd& to) {
  const auto end = [](const faults::LinkEnd& named) {
    return faults::End{.node = named.isClients ? kNoNode : named.node.id, .port = named.port, .client = named.client};
  };
  addHeals(menu, faultsOfLink(*m_bridge.snapshot(), end(from), end(to)));
  addOffers(menu, offersForLink(from, to));
  addDialog(menu, faults::Kind::Delay, faults::LinkName{.from = from, .to = to, .bothWays = true});
}

void FaultActions::fillPartition(QMenu& menu, const TopicPartition& partition) {
  const NodeId leader = observe::resolve(leaderNamed(partition), *m_bridge.snapshot());
  if (leader != kNoNode) addHeals(menu, faultsOfBroker(*m_bridge.snapshot(), leader));
  addOffers(menu, offersForPartition(partition));
  addDialog(menu, faults::Kind::Pause, leaderNamed(partition));
}

void FaultActions::fillClients(QMenu& menu, const std::string& client) {
  std::vector<const observe::FaultSnapshot*> mine;
  for (const observe::FaultSnapshot& fault : m_bridge.snapshot()->faults)
    if (const auto* who = std::get_if<faults::ClientsName>(&fault.fault.target);
        who != nullptr && (who->client.empty() || who->client == client))
      mine.push_back(&fault);
  addHeals(menu, mine);
  addOffers(menu, offersForClients(client));
  addDialog(menu, faults::Kind::RequestDelay, faults::ClientsName{client});
}

void FaultActions::fillFault(QMenu& menu, int id) {
  const auto& faults = m_bridge.snapshot()->faults;
  const auto found = std::ranges::find(faults, id, &observe::FaultSnapshot::id);
  if (found == faults.end()) return;
  if (found->fault.kind == faults::Kind::Hold && !found->waits)
    menu.addAction(tr("Step: the next transfer"), this, [this, id] { step(id); });
  menu.addAction(tr("Heal"), QKeySequence(Qt::Key_Delete), this, [this, id] { heal(id); });
  menu.addAction(tr("Set another like it…"), this, [this, fault = found->fault] { openDialog(fault); });
  menu.addSeparator();
  menu.addAction(tr("Heal all"), QKeySequence(Qt::CTRL | Qt::Key_H), this, &FaultActions::healAll);
}

void FaultActions::fillOver(QMenu& menu, const faults::Fault& fault) {
  menu.setToolTipsVisible(true);
  QAction* again = menu.addAction(tr("Set it again…"), this, [this, fault] { openDialog(fault); });
  again->setEnabled(m_bridge.hindrance().isEmpty());
  again->setToolTip(m_bridge.hindrance());
}

}  // namespace tidemark::widgets
