// Menus, dialogs and shortcuts of the window.
#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QKeyEvent>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QShortcut>

#include "dialogs/consume_dialog.h"
#include "dialogs/produce_dialog.h"
#include "dialogs/topic_dialog.h"
#include "main_window.h"
#include "text/format.h"
#include "views/cluster_page.h"
#include "views/event_panel.h"
#include "views/inspector.h"
#include "views/status_line.h"
#include "views/top_bar.h"

namespace tidemark::widgets {

void MainWindow::makeMenus() {
  auto* cluster = new QMenu(m_topBar->clusterButton());
  cluster->addAction(tr("Copy bootstrap address"), QKeySequence(Qt::CTRL | Qt::Key_B), this, [this] {
    if (!m_bridge.hasCluster()) return;
    QApplication::clipboard()->setText(fromUtf8(m_bridge.snapshot()->bootstrap));
    m_status->say(tr("%1 is copied").arg(fromUtf8(m_bridge.snapshot()->bootstrap)));
  });
  cluster->addSeparator();
  cluster->addAction(tr("Stop the cluster"), this, &MainWindow::stopCluster);
  m_topBar->clusterButton()->setMenu(cluster);

  auto* menu = new QMenu(m_topBar->menuButton());
  auto* theme = menu->addMenu(tr("Colours"));
  auto* group = new QActionGroup(theme);
  const std::pair<ThemeChoice, QString> choices[] = {{ThemeChoice::Automatic, tr("As the desktop")},
                                                     {ThemeChoice::Light, tr("Light")},
                                                     {ThemeChoice::Dark, tr("Dark")}};
  for (const auto& [choice, text] : choices) {
    QAction* action = theme->addAction(text, this, [chosen = choice] { Theme::instance().setChoice(chosen); });
    action->setCheckable(true);
    group->addAction(action);
    connect(theme, &QMenu::aboutToShow, action,
            [action, of = choice] { action->setChecked(Theme::instance().choice() == of); });
  }
  auto* panels = menu->addMenu(tr("Panels"));
  connect(panels, &QMenu::aboutToShow, panels, [this, panels] {
    panels->clear();
    for (QDockWidget* dock : {m_treeDock, m_inspectorDock, m_eventDock}) panels->addAction(dock->toggleViewAction());
    panels->addSeparator();
    panels->addAction(tr("As at the first start"), this, &MainWindow::resetLayout);
    for (QAction* action : panels->actions()) action->setEnabled(showsCluster());
  });
  menu->addSeparator();
  menu->addAction(tr("Shortcuts"), QKeySequence(Qt::Key_F1), this, &MainWindow::showShortcuts);
  menu->addAction(tr("About Tidemark"), this, [this] {
    QMessageBox::about(
        this, tr("About Tidemark"),
        tr("<b>Tidemark %1</b><p>A lab for clusters that speak Kafka’s protocol: real brokers in one window.</p>"
           "<p>The engine is under the Apache License 2.0; with this window, which links QCustomPlot, the program "
           "is under the GPL 3.0.</p>")
            .arg(QApplication::applicationVersion()));
  });
  menu->addSeparator();
  menu->addAction(tr("Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q), this, &QWidget::close);
  m_topBar->menuButton()->setMenu(menu);
  // Their keys work while the menus are closed.
  addActions(cluster->actions());
  addActions(menu->actions());
}

void MainWindow::makeShortcuts() {
  const auto on = [this](const QKeySequence& keys, auto&& call) {
    auto* shortcut = new QShortcut(keys, this);
    connect(shortcut, &QShortcut::activated, this, [this, call] {
      if (showsCluster()) call();
    });
  };
  on(QKeySequence(Qt::CTRL | Qt::Key_T), [this] { openTopicDialog(); });
  on(QKeySequence(Qt::CTRL | Qt::Key_P), [this] { openProduceDialog(); });
  on(QKeySequence(Qt::CTRL | Qt::Key_R), [this] { openConsumeDialog(); });
  on(QKeySequence(Qt::CTRL | Qt::Key_F), [this] { m_events->focusFilter(); });
  on(QKeySequence(Qt::Key_T), [this] { m_clusterPage->showTable(!m_clusterPage->showsTable()); });
  on(QKeySequence(Qt::Key_BracketLeft), [this] { step(-1); });
  on(QKeySequence(Qt::Key_BracketRight), [this] { step(1); });
  on(QKeySequence(Qt::Key_F10), [this] { m_topBar->menuButton()->showMenu(); });
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  // Not a shortcut: a button that has the focus keeps its space bar.
  if (event->key() == Qt::Key_Space && showsCluster()) {
    m_events->setPaused(!m_events->model().isPaused());
    return;
  }
  QMainWindow::keyPressEvent(event);
}

void MainWindow::openTopicDialog() {
  TopicDialog dialog(m_bridge, this);
  QString created;
  connect(&dialog, &TopicDialog::created, this, [&created](const QString& topic) { created = topic; });
  if (dialog.exec() != QDialog::Accepted || created.isEmpty()) return;
  m_bridge.refresh();
  const TopicPartition first{created.toStdString(), PartitionIndex(0)};
  if (observe::findPartition(*m_bridge.snapshot(), first) != nullptr) showPartition(first);
  m_status->say(tr("Topic %1 is created").arg(created));
}

void MainWindow::openProduceDialog() {
  if (!m_produceDialog) {
    m_produceDialog = new ProduceDialog(m_bridge, m_load, this);
    m_produceDialog->setAttribute(Qt::WA_DeleteOnClose);
    m_produceDialog->setTopic(shownTopic());
  }
  m_produceDialog->show();
  m_produceDialog->raise();
  m_produceDialog->activateWindow();
}

void MainWindow::openConsumeDialog() {
  if (!m_consumeDialog) {
    m_consumeDialog = new ConsumeDialog(m_bridge, this);
    m_consumeDialog->setAttribute(Qt::WA_DeleteOnClose);
    m_consumeDialog->setTopic(shownTopic());
  }
  m_consumeDialog->show();
  m_consumeDialog->raise();
  m_consumeDialog->activateWindow();
}

void MainWindow::showShortcuts() {
  const std::pair<QString, QString> rows[] = {
      {tr("Enter"), tr("start the cluster (first page)")},
      {tr("Ctrl+T"), tr("new topic")},
      {tr("Ctrl+P"), tr("produce")},
      {tr("Ctrl+R"), tr("consume")},
      {tr("Ctrl+B"), tr("copy the bootstrap address")},
      {tr("T"), tr("belts or table")},
      {tr("[  ]"), tr("partition before, partition after")},
      {tr("← →, drag, wheel"), tr("scroll the belts")},
      {tr("+ −, Ctrl+wheel"), tr("zoom; 0: chosen by the traffic")},
      {tr("F, End"), tr("follow the tail; Home: oldest record")},
      {tr("Ctrl+F"), tr("filter events")},
      {tr("Space"), tr("hold the event table, go on")},
      {tr("Ctrl+C"), tr("copy what is selected as text")},
      {tr("F10"), tr("menu; Ctrl+Q: quit")},
  };
  QString text = QStringLiteral("<table>");
  for (const auto& [keys, meaning] : rows)
    text += QStringLiteral("<tr><td style='padding-right:24px; padding-bottom:5px'><b>%1</b></td><td>%2</td></tr>")
                .arg(keys, meaning);
  QMessageBox box(QMessageBox::NoIcon, tr("Shortcuts"), text + QStringLiteral("</table>"), QMessageBox::Close, this);
  box.exec();
}

}  // namespace tidemark::widgets
