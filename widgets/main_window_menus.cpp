// Menus, dialogs and shortcuts of the window.
#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QShortcut>
#include <QUrl>
#include <QVBoxLayout>

#include "dialogs/consume_dialog.h"
#include "dialogs/produce_dialog.h"
#include "dialogs/topic_dialog.h"
#include "main_window.h"
#include "models/bootstrap.h"
#include "segments/segments_page.h"
#include "text/format.h"
#include "views/cluster_page.h"
#include "views/event_panel.h"
#include "views/inspector.h"
#include "views/status_line.h"
#include "views/top_bar.h"

namespace tidemark::widgets {

namespace {

constexpr int kShortcutsWidth = 1060;

}  // namespace

void MainWindow::makeMenus() {
  auto* cluster = new QMenu(m_topBar->clusterButton());
  cluster->addAction(tr("Copy bootstrap addresses"), QKeySequence(Qt::CTRL | Qt::Key_B), this, [this] {
    if (!m_bridge.hasCluster()) return;
    const QString addresses = allAddresses(*m_bridge.snapshot());
    QApplication::clipboard()->setText(addresses);
    m_status->say(tr("%1 is copied").arg(addresses));
  });
  cluster->addSeparator();
  cluster->addAction(tr("Stop the cluster"), this, &MainWindow::stopCluster);
  m_topBar->clusterButton()->setMenu(cluster);

  makeFaultMenu();
  auto* menu = new QMenu(m_topBar->menuButton());
  menu->addAction(tr("Open segments…"), QKeySequence::Open, this, [this] { chooseFiles(true); });
  menu->addAction(tr("Open a file of a partition…"), this, [this] { chooseFiles(false); });
  menu->addAction(tr("Open a recording…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O), this,
                  &MainWindow::chooseRecording);
  QAction* save =
      menu->addAction(tr("Save what is remembered as a recording…"), this, &MainWindow::chooseWhereToRecord);
  connect(menu, &QMenu::aboutToShow, save, [this, save] { save->setEnabled(!m_bridge.recording().empty()); });
  auto* recent = menu->addMenu(tr("Opened before"));
  connect(menu, &QMenu::aboutToShow, recent, [this, recent] {
    recent->clear();
    const QStringList paths =
        m_settings == nullptr ? QStringList() : m_settings->value(QStringLiteral("files")).toStringList();
    for (const QString& path : paths) recent->addAction(path, this, [this, path] { openFiles(path); });
    recent->menuAction()->setVisible(!paths.isEmpty());
  });
  menu->addSeparator();
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
    for (QDockWidget* dock : m_layouts->docks()) panels->addAction(dock->toggleViewAction());
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
  // What files from disk have as well.
  const auto anywhere = [this](const QKeySequence& keys, auto&& call) {
    auto* shortcut = new QShortcut(keys, this);
    connect(shortcut, &QShortcut::activated, this, call);
  };
  anywhere(QKeySequence(Qt::CTRL | Qt::Key_F), [this] {
    if (showsFiles())
      m_filesPage->focusSearch();
    else if (showsCluster() && m_clusterPage->view() == ClusterPage::View::Segments)
      m_clusterPage->segments().focusSearch();
    else if (showsCluster())
      m_events->focusFilter();
  });
  anywhere(QKeySequence(Qt::Key_T), [this] {
    if (showsFiles())
      m_filesPage->showTable(!m_filesPage->showsTable());
    else if (showsCluster())
      m_clusterPage->showTable(!m_clusterPage->showsTable());
  });
  for (int i = 0; i < ClusterPage::kViews; ++i)
    on(QKeySequence(Qt::Key_1 + i), [this, i] { m_clusterPage->showView(static_cast<ClusterPage::View>(i)); });
  on(QKeySequence(Qt::Key_BracketLeft), [this] { step(-1); });
  on(QKeySequence(Qt::Key_BracketRight), [this] { step(1); });
  on(QKeySequence(Qt::Key_F10), [this] { m_topBar->menuButton()->showMenu(); });
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  // Not a shortcut: a button that has the focus keeps its space bar.
  if (event->key() == Qt::Key_Space && showsCluster() && !m_travel.isLive()) {
    m_travel.isPlaying() ? m_travel.pause() : m_travel.play();
    return;
  }
  if (event->key() == Qt::Key_Space && showsCluster()) {
    m_events->setPaused(!m_events->model().isPaused());
    return;
  }
  QMainWindow::keyPressEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (!urls.isEmpty() && urls.front().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.isEmpty() || !urls.front().isLocalFile()) return;
  event->acceptProposedAction();
  const QString path = urls.front().toLocalFile();
  if (QString error; path.endsWith(QStringLiteral(".jsonl"), Qt::CaseInsensitive)) {
    if (MainWindow* window = openRecording(path, &error))
      window->show();
    else
      QMessageBox::warning(this, tr("Not opened"), error);
    return;
  }
  openFiles(path);
}

void MainWindow::chooseFiles(bool folder) {
  const QString before =
      m_settings == nullptr ? QString() : m_settings->value(QStringLiteral("files")).toStringList().value(0);
  const QString path =
      folder ? QFileDialog::getExistingDirectory(this, tr("A partition's folder, or one that holds partitions"), before)
             : QFileDialog::getOpenFileName(this, tr("A file of a partition"), before,
                                            tr("Segments and indexes (*.log *.index *.timeindex *.txnindex *.snapshot "
                                               "*.checkpoint *.deleted *.swap "
                                               "*.cleaned);;All files (*)"));
  if (!path.isEmpty()) openFiles(path);
}

void MainWindow::rememberFiles(const QString& path) {
  if (m_settings == nullptr) return;
  QStringList paths = m_settings->value(QStringLiteral("files")).toStringList();
  paths.removeAll(path);
  paths.prepend(path);
  m_settings->setValue(QStringLiteral("files"), paths.mid(0, kRecentFiles));
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
    // It stays when it is closed: what it reads goes on, as what Produce writes.
    m_consumeDialog = new ConsumeDialog(m_bridge, this);
    connect(m_consumeDialog, &ConsumeDialog::readingChanged, m_topBar, &TopBar::setConsuming);
  }
  m_consumeDialog->setTopic(shownTopic());
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
      {tr("Ctrl+B"), tr("copy the bootstrap addresses")},
      {tr("Ctrl+Shift+F"), tr("set a fault; Ctrl+H: heal all; Ctrl+J: the list of faults")},
      {tr("Del, S"), tr("in the list of faults: heal, step a hold")},
      {tr("1 – 7"), tr("belts, segments, cleaner, map, timeline, groups, transactions")},
      {tr("T"), tr("the view or its table")},
      {tr("Ctrl+O"), tr("open segments from disk; or drop a folder or file here")},
      {tr("[  ]"), tr("partition before, partition after")},
      {tr("← →, drag, wheel"), tr("scroll the belts")},
      {tr("+ −, Ctrl+wheel"), tr("zoom; 0: chosen by the traffic")},
      {tr("F, End"), tr("follow the tail; Home: oldest record")},
      {tr("↑ ↓, Home End"), tr("segments: step by step through a lookup; P plays it")},
      {tr("Page up, down"), tr("segments: batch by batch; Alt+← →: segment by segment")},
      {tr("I"), tr("segments: offset index or time index; F5: read again")},
      {tr("← → ↑ ↓, Enter"), tr("map: from broker to link to client; what can be done there")},
      {tr("← →, Enter, Z, L"),
       tr("timeline: change by change, its event, zoom to a fault, live; + − and the wheel zoom")},
      {tr("↑ ↓, ← →, O"), tr("groups: from group to group, from rebalance to rebalance, the group’s offsets")},
      {tr("↑ ↓, A"), tr("transactions: one by one, abort the one that is open; + − less or more time")},
      {tr("Ctrl+F"), tr("filter events; in segments: find an offset or a time")},
      {tr(", ."), tr("one event back, one event on, in all views; L: live again")},
      {tr("Space"), tr("live: hold the event table, go on; in the past: play, stop")},
      {tr("Ctrl+Shift+O"), tr("open a recording")},
      {tr("Enter, Esc"), tr("where records were lost: their event; I have taken note")},
      {tr("Ctrl+C"), tr("copy what is selected as text")},
      {tr("F10"), tr("menu; Ctrl+Q: quit")},
  };
  // Two columns: it is to fit a small window.
  const auto cell = [](const std::pair<QString, QString>& row) {
    return QStringLiteral(
               "<td style='padding-right:16px; padding-bottom:5px'><b>%1</b></td>"
               "<td style='padding-right:28px'>%2</td>")
        .arg(row.first, row.second);
  };
  const size_t count = std::size(rows);
  const size_t half = (count + 1) / 2;
  QString text = QStringLiteral("<table>");
  for (size_t i = 0; i < half; ++i)
    text += QStringLiteral("<tr>%1%2</tr>").arg(cell(rows[i]), half + i < count ? cell(rows[half + i]) : QString());
  auto* table = new QLabel(text + QStringLiteral("</table>"));
  table->setWordWrap(true);
  table->setContentsMargins(16, 12, 8, 8);
  table->setAlignment(Qt::AlignTop);
  auto* scroll = new QScrollArea;
  scroll->setWidget(table);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  auto* dialog = new QDialog(this);
  dialog->setObjectName(QStringLiteral("shortcuts"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Shortcuts"));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  auto* down = new QVBoxLayout(dialog);
  down->setContentsMargins(0, 0, 0, 12);
  down->addWidget(scroll, 1);
  down->addWidget(buttons);
  buttons->setContentsMargins(12, 0, 12, 0);
  const int width = std::min(kShortcutsWidth, this->width() - 40);
  const int height = table->heightForWidth(width) + buttons->sizeHint().height() + 40;
  dialog->resize(width, std::min(height, this->height() - 40));
  dialog->open();
}

}  // namespace tidemark::widgets
