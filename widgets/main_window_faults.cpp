// What breaks things on purpose, and who offers it.
#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QListView>
#include <QMenu>
#include <QPushButton>

#include "belts/belts_view.h"
#include "faults/fault_actions.h"
#include "faults/faults_panel.h"
#include "groups/groups_page.h"
#include "main_window.h"
#include "map/map_page.h"
#include "text/format.h"
#include "text/node_words.h"
#include "timeline/timeline_page.h"
#include "transactions/transactions_page.h"
#include "views/cluster_page.h"
#include "views/dock_title.h"
#include "views/event_panel.h"
#include "views/inspector.h"
#include "views/status_line.h"
#include "views/top_bar.h"

namespace tidemark::widgets {

void MainWindow::makeFaults() {
  m_faultActions = new FaultActions(m_bridge, this);
  connect(m_faultActions, &FaultActions::said, this, [this](const QString& text) { m_status->say(text); });
  m_faultDock = new QDockWidget(tr("Faults"), this);
  m_faultDock->setObjectName(QStringLiteral("faults"));
  m_faults = new FaultsPanel(m_bridge, *m_faultActions, m_faultDock);
  m_faultDock->setTitleBarWidget(new DockTitle(tr("ACTIVE FAULTS"), 18, 38, m_faultDock));
  m_faultDock->setWidget(m_faults);
  addDockWidget(Qt::RightDockWidgetArea, m_faultDock);

  const auto pop = [this](const QPoint& at, auto&& fill) {
    QMenu menu(this);
    fill(menu);
    if (!menu.isEmpty()) menu.exec(at);
  };
  const auto brokerMenu = [this, pop](NodeId broker, const QPoint& at) {
    pop(at, [this, broker](QMenu& menu) { fillBrokerMenu(menu, broker); });
  };
  connect(m_tree, &ClusterTree::brokerMenuWanted, this, brokerMenu);
  connect(m_tree, &ClusterTree::topicMenuWanted, this, [this, pop](const QString& topic, const QPoint& at) {
    const auto last = m_lastPartition.find(topic);
    const TopicPartition partition{topic.toStdString(),
                                   PartitionIndex(last == m_lastPartition.end() ? 0 : last->second)};
    pop(at, [this, partition](QMenu& menu) { fillPartitionMenu(menu, partition); });
  });
  connect(m_tree, &ClusterTree::faultMenuWanted, this, [this, pop](int fault, const QPoint& at) {
    pop(at, [this, fault](QMenu& menu) { m_faultActions->fillFault(menu, fault); });
  });
  connect(m_tree, &ClusterTree::healWanted, m_faultActions, &FaultActions::heal);
  connect(m_inspector, &Inspector::faultMenuWanted, this, [this, pop](NodeId broker, const QPoint& at) {
    pop(at, [this, broker](QMenu& menu) { m_faultActions->fillBroker(menu, broker); });
  });
  connect(&m_clusterPage->groups(), &GroupsPage::eventWanted, this, [this](uint64_t number) { revealEvent(number); });
  connect(&m_clusterPage->groups(), &GroupsPage::told, this, [this](const QString& text) { m_status->say(text); });
  connect(&m_clusterPage->transactions(), &TransactionsPage::eventWanted, this,
          [this](uint64_t number) { revealEvent(number); });
  connect(&m_clusterPage->transactions(), &TransactionsPage::told, this,
          [this](const QString& text) { m_status->say(text); });
  connect(m_tree, &ClusterTree::groupPicked, this, [this](const QString& group) {
    m_clusterPage->groups().showGroup(group.toStdString());
    m_clusterPage->showView(ClusterPage::View::Groups);
  });
  connect(&m_clusterPage->timeline(), &TimelinePage::eventWanted, this,
          [this](quint64 number) { revealEvent(number); });
  connect(&m_clusterPage->map(), &MapPage::menuWanted, this, &MainWindow::showMapMenu);
  BeltsView& belts = m_clusterPage->belts();
  belts.setContextMenuPolicy(Qt::CustomContextMenu);
  connect(&belts, &QWidget::customContextMenuRequested, this, [this, brokerMenu, pop](const QPoint& at) {
    BeltsView& view = m_clusterPage->belts();
    const auto& shown = m_clusterPage->partition();
    const auto* partition = shown ? observe::findPartition(*m_bridge.snapshot(), *shown) : nullptr;
    if (partition == nullptr) return;
    const BeltsLayout layout = view.layoutOfBelts();
    for (int i = 0; i < layout.laneCount; ++i)
      if (layout.lane(i).contains(at))
        return brokerMenu(partition->copies[static_cast<size_t>(i)].broker, view.mapToGlobal(at));
    pop(view.mapToGlobal(at), [this, name = *shown](QMenu& menu) { fillPartitionMenu(menu, name); });
  });
}

void MainWindow::makeFaultMenu() {
  auto* menu = new QMenu(m_topBar->faultButton());
  // Their keys work while the menu is closed.
  auto* add = new QAction(tr("Set a fault…"), this);
  add->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F));
  connect(add, &QAction::triggered, this, [this] {
    if (showsCluster()) m_faultActions->openDialog();
  });
  auto* heal = new QAction(tr("Heal all"), this);
  heal->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_H));
  connect(heal, &QAction::triggered, this, [this] {
    if (showsCluster()) m_faultActions->healAll();
  });
  auto* list = new QAction(tr("Active faults"), this);
  list->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_J));
  connect(list, &QAction::triggered, this, [this] {
    if (showsCluster()) showFaults();
  });
  addActions({add, heal, list});
  connect(menu, &QMenu::aboutToShow, this, [this, menu, add, heal, list] {
    menu->clear();
    menu->addAction(add);
    menu->addSeparator();
    for (const observe::BrokerSnapshot& broker : m_bridge.snapshot()->brokers)
      m_faultActions->fillBroker(*menu->addMenu(nodeTitle(broker)), broker.id);
    if (const auto& shown = m_clusterPage->partition())
      m_faultActions->fillPartition(*menu->addMenu(partitionText(*shown)), *shown);
    m_faultActions->fillClients(*menu->addMenu(tr("Clients")), {});
    menu->addSeparator();
    menu->addAction(heal);
    menu->addAction(list);
    heal->setEnabled(true);
  });
  m_topBar->faultButton()->setMenu(menu);
}

void MainWindow::revealEvent(uint64_t number) {
  m_eventDock->show();
  m_events->reveal(number);
}

void MainWindow::showFaults() {
  // Where it is in sight, the same key closes it.
  if (!m_faultDock->isHidden() && !m_faults->visibleRegion().isEmpty()) {
    m_faultDock->hide();
    return;
  }
  if (m_faultDock->isHidden()) {
    m_faultDock->show();
    // Beside the inspector it has room for three of them.
    resizeDocks({m_faultDock}, {height() * 32 / 100}, Qt::Vertical);
  }
  m_faultDock->raise();
  m_faults->list().setFocus(Qt::ShortcutFocusReason);
}

void MainWindow::command(EngineBridge::BrokerCommand what, NodeId broker) {
  using Command = EngineBridge::BrokerCommand;
  // What is done is done now.
  if (!m_bridge.isRecorded()) m_travel.goLive();
  const QString name = nodeTitle(*m_bridge.snapshot(), broker);
  const auto sentence = [&](bool done) {
    switch (what) {
      case Command::Kill:
        return done ? tr("%1 is killed").arg(name) : tr("%1 was not killed").arg(name);
      case Command::Pause:
        return done ? tr("%1 is paused").arg(name) : tr("%1 was not paused").arg(name);
      case Command::Resume:
        return done ? tr("%1 goes on").arg(name) : tr("%1 does not go on").arg(name);
      case Command::Restart:
        return done ? tr("%1 has started again").arg(name) : tr("%1 did not start").arg(name);
      case Command::Stop:
        return done ? tr("%1 has stopped").arg(name) : tr("%1 did not stop").arg(name);
    }
    return QString();
  };
  const QString good = sentence(true);
  const QString bad = sentence(false);
  m_bridge.command(what, broker, this, [this, good, bad](const Result<void>& result) {
    if (result)
      m_status->say(good);
    else if (result.error().code == ErrorCode::RequestTimedOut)
      // It goes on; only nobody waits for it any longer.
      m_status->say(tr("Not yet: %1").arg(errorText(result.error())));
    else
      m_status->say(tr("%1: %2").arg(bad, errorText(result.error())));
  });
}

void MainWindow::fillBrokerMenu(QMenu& menu, NodeId id) {
  using What = EngineBridge::BrokerCommand;
  const auto* broker = observe::findBroker(*m_bridge.snapshot(), id);
  if (broker == nullptr) return;
  const auto add = [&](const QString& text, What what) {
    menu.addAction(text, this, [this, what, id] { command(what, id); });
  };
  switch (broker->state) {
    case observe::BrokerState::Running:
    case observe::BrokerState::Fenced:
      add(tr("Pause"), What::Pause);
      add(tr("Restart"), What::Restart);
      add(tr("Stop"), What::Stop);
      menu.addSeparator();
      add(tr("Kill"), What::Kill);
      break;
    case observe::BrokerState::Paused:
      add(tr("Resume"), What::Resume);
      menu.addSeparator();
      add(tr("Kill"), What::Kill);
      break;
    case observe::BrokerState::Starting:
    case observe::BrokerState::Stopping:
      add(tr("Kill"), What::Kill);
      break;
    case observe::BrokerState::Stopped:
    case observe::BrokerState::Killed:
      add(tr("Start again"), What::Restart);
      break;
  }
  menu.addSeparator();
  m_faultActions->fillBroker(*menu.addMenu(tr("Faults")), id);
  menu.addSeparator();
  menu.addAction(tr("Copy address"), this, [address = broker->isBroker ? broker->listener : broker->controller] {
    QApplication::clipboard()->setText(fromUtf8(fmt::format("{}", address)));
  });
}

void MainWindow::showMapMenu(const MapPick& pick, const QPoint& at) {
  QMenu menu(this);
  switch (pick.what) {
    case MapPick::What::Broker:
      fillBrokerMenu(menu, pick.broker);
      break;
    case MapPick::What::Controller:
      menu.addSection(tr("Controller %1, what others send to it").arg(pick.broker.value()));
      for (const observe::BrokerSnapshot& other : m_bridge.snapshot()->brokers)
        if (other.id != pick.broker)
          m_faultActions->fillLink(*menu.addMenu(tr("From %1").arg(other.id.value())), endNamed(other.id),
                                   controllerEnd(pick.broker));
      break;
    case MapPick::What::Client:
      menu.addSection(pick.client.empty() ? tr("Clients") : fromUtf8(pick.client));
      m_faultActions->fillClients(menu, pick.client);
      break;
    case MapPick::What::Link: {
      const faults::LinkEnd other =
          pick.client.empty() && pick.other != kNoNode ? endNamed(pick.other) : clientsEnd(pick.client);
      menu.addSection(tr("Link %1 ↔ %2").arg(QString::number(pick.broker.value()), endText(other)));
      m_faultActions->fillLink(menu, endNamed(pick.broker), other);
      break;
    }
    case MapPick::What::Nothing:
      return;
  }
  menu.exec(at);
}

void MainWindow::fillPartitionMenu(QMenu& menu, const TopicPartition& partition) {
  const auto* found = observe::findPartition(*m_bridge.snapshot(), partition);
  if (found == nullptr) return;
  menu.addSection(found->leader == kNoNode
                      ? tr("%1 has no leader").arg(partitionText(partition))
                      : tr("%1, led by %2").arg(partitionText(partition)).arg(found->leader.value()));
  m_faultActions->fillPartition(menu, partition);
}

}  // namespace tidemark::widgets
