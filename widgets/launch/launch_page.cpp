#include "launch/launch_page.h"

#include <algorithm>

#include <QAbstractButton>
#include <QApplication>
#include <QBoxLayout>
#include <QButtonGroup>
#include <QCheckBox>
#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QRegularExpression>
#include <QSpinBox>
#include <QStorageInfo>
#include <QVBoxLayout>

#include "launch/launch_picture.h"
#include "launch/setting_chips.h"
#include "text/format.h"
#include "theme/theme.h"
#include "views/elided_label.h"
#include "views/page_parts.h"

namespace tidemark::widgets {

namespace {

/// Below this width the picture goes under the form.
constexpr int kTwoColumns = 1120;

}  // namespace

LaunchPage::LaunchPage(EngineBridge& bridge, QWidget* parent) : QScrollArea(parent), m_bridge(bridge) {
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  m_inside = new QWidget(viewport());
  m_inside->setProperty("kind", QStringLiteral("clear"));
  // While it is empty: it is asked for its size.
  setWidget(m_inside);
  auto* across = new QHBoxLayout(m_inside);
  across->setContentsMargins(40, 28, 40, 32);
  across->addStretch(1);
  auto* page = new QWidget(m_inside);
  m_page = page;
  page->setMaximumWidth(1380);
  across->addWidget(page, 100);
  across->addStretch(1);

  auto* down = new QVBoxLayout(page);
  down->setContentsMargins(0, 0, 0, 0);
  down->setSpacing(0);
  down->addStretch(1);
  down->addWidget(kindLabel("page", tr("Start a cluster")));
  down->addSpacing(6);
  auto* lead =
      kindLabel("lead", tr("Real brokers inside this window. Any Kafka client can connect to their ports; when you "
                           "close the window, they stop."));
  lead->setWordWrap(true);
  down->addWidget(lead);
  down->addSpacing(22);
  auto* columns = new QBoxLayout(QBoxLayout::LeftToRight);
  m_columns = columns;
  columns->setSpacing(40);
  down->addLayout(columns);
  down->addStretch(3);

  auto* left = new QVBoxLayout;
  left->setSpacing(0);
  columns->addLayout(left, 800);
  left->addWidget(kindLabel("head", tr("CLUSTER")));
  left->addSpacing(10);
  m_form = makeCard(page);
  left->addWidget(m_form);
  left->addSpacing(20);
  auto* startRow = new QHBoxLayout;
  startRow->setSpacing(14);
  m_start = new QPushButton;
  m_start->setProperty("kind", QStringLiteral("big"));
  m_start->setAutoDefault(false);
  m_start->setMinimumWidth(208);
  startRow->addWidget(m_start);
  m_cancel = new QPushButton(tr("Cancel"));
  m_cancel->setAutoDefault(false);
  m_cancel->setToolTip(tr("Ends what has started so far (Esc)"));
  m_cancel->hide();
  startRow->addWidget(m_cancel);
  m_enter = kindLabel("key", QStringLiteral("⏎"));
  m_enter->setFixedSize(20, 18);
  m_enter->setAlignment(Qt::AlignCenter);
  startRow->addWidget(m_enter, 0, Qt::AlignVCenter);
  m_startNote = kindLabel("muted", tr("takes about a second"));
  m_startNote->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_startNote->setWordWrap(true);
  startRow->addWidget(m_startNote, 1);
  auto* same = new QVBoxLayout;
  same->setSpacing(2);
  auto* sameNote = kindLabel("note", tr("these brokers without a window, topic and load aside:"));
  sameNote->setAlignment(Qt::AlignRight);
  auto* copy = new QPushButton(tr("copy"));
  copy->setProperty("kind", QStringLiteral("link"));
  copy->setAutoDefault(false);
  copy->setAccessibleName(tr("Copy the command"));
  connect(copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_commandText); });
  m_command = kindLabel("command");
  m_command->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  m_command->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_command->setFont(Theme::mono(12, QFont::Medium));
  same->addWidget(sameNote);
  auto* commandRow = new QHBoxLayout;
  commandRow->setSpacing(8);
  commandRow->addStretch();
  commandRow->addWidget(m_command);
  commandRow->addWidget(copy);
  same->addLayout(commandRow);
  startRow->addLayout(same);
  left->addLayout(startRow);
  left->addSpacing(10);
  m_error = kindLabel("error");
  m_error->setWordWrap(true);
  m_error->hide();
  left->addWidget(m_error);
  left->addStretch();

  auto* right = new QVBoxLayout;
  right->setSpacing(0);
  columns->addLayout(right, 540);
  right->addSpacing(24);
  m_picture = new LaunchPicture;
  right->addWidget(m_picture);
  right->addStretch();

  m_checkSoon.setSingleShot(true);
  m_checkSoon.setInterval(150);
  connect(&m_checkSoon, &QTimer::timeout, this, &LaunchPage::check);
  m_checkAgain.setInterval(kCheckAgainMs);
  connect(&m_checkAgain, &QTimer::timeout, this, [this] {
    // Nobody looks at a window in the background, and while they start the ports are ours.
    if (!m_starting && isActiveWindow()) check();
  });
  connect(m_start, &QPushButton::clicked, this, &LaunchPage::start);
  connect(m_cancel, &QPushButton::clicked, this, &LaunchPage::cancelWanted);
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (m_starting && frame.snapshot != frame.previous) showProgress();
  });
  changed();
}

QWidget* LaunchPage::makeRow(QWidget* card, const QString& name, QLayout* content, bool last) {
  auto* row = new QWidget(card);
  row->setProperty("kind", last ? QStringLiteral("lastrow") : QStringLiteral("row"));
  row->setAttribute(Qt::WA_StyledBackground);
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 11, 0, 11);
  auto* label = kindLabel("rowname", name);
  label->setFixedWidth(170);
  layout->addWidget(label, 0, Qt::AlignTop);
  label->setFixedHeight(28);
  layout->addLayout(content, 1);
  return row;
}

QWidget* LaunchPage::makeCard(QWidget* parent) {
  auto* card = new QFrame(parent);
  card->setProperty("kind", QStringLiteral("card"));
  auto* rows = new QVBoxLayout(card);
  rows->setContentsMargins(20, 4, 20, 6);
  rows->setSpacing(0);

  auto* brokers = new QHBoxLayout;
  brokers->setSpacing(6);
  m_brokers = new QButtonGroup(this);
  for (const int count : {1, 3, 5}) {
    auto* button = new QPushButton(QString::number(count));
    button->setProperty("kind", QStringLiteral("choice"));
    button->setCheckable(true);
    button->setAutoDefault(false);
    button->setFixedSize(48, 28);
    button->setAccessibleName(tr("%n broker(s)", nullptr, count));
    m_brokers->addButton(button, count);
    brokers->addWidget(button);
  }
  m_brokers->button(3)->setChecked(true);
  brokers->addSpacing(12);
  m_brokersNote = kindLabel("muted");
  brokers->addWidget(m_brokersNote, 1);
  rows->addWidget(makeRow(card, tr("Brokers"), brokers));

  auto* controllers = new QHBoxLayout;
  controllers->setSpacing(6);
  m_controllers = new QButtonGroup(this);
  for (const int count : {0, 1, 3, 5}) {
    auto* button = new QPushButton(count == 0 ? tr("in each broker") : tr("%1 apart").arg(count));
    button->setProperty("kind", QStringLiteral("choice"));
    button->setCheckable(true);
    button->setAutoDefault(false);
    button->setFixedHeight(28);
    button->setAccessibleName(count == 0 ? tr("A controller in each broker")
                                         : tr("%n controller(s) of their own", nullptr, count));
    button->setToolTip(
        count == 0
            ? tr("Each broker is a controller too, and votes in the quorum that decides who leads. Whoever loses "
                 "a broker loses a vote.")
            : tr("%n node(s) more, numbered behind the brokers, are the quorum’s controllers and nothing else: no "
                 "client connects to them, and they hold no partition. Then a broker that is lost costs no "
                 "vote, and a controller that is lost no copy.",
                 nullptr, count));
    m_controllers->addButton(button, count);
    controllers->addWidget(button);
  }
  m_controllers->button(0)->setChecked(true);
  controllers->addSpacing(12);
  m_quorumNote = new ElidedLabel(Qt::ElideRight);
  m_quorumNote->setProperty("kind", QStringLiteral("muted"));
  controllers->addWidget(m_quorumNote, 1);
  rows->addWidget(makeRow(card, tr("Controllers"), controllers));

  auto* ports = new QHBoxLayout;
  ports->setSpacing(8);
  m_host = new QLineEdit(QStringLiteral("127.0.0.1"));
  m_host->setFont(Theme::mono(12.5));
  m_host->setFixedWidth(140);
  m_host->setAccessibleName(tr("Address to listen on"));
  m_port = new QSpinBox;
  m_port->setRange(0, 65'000);
  m_port->setValue(19'092);
  m_port->setSpecialValueText(tr("free"));
  m_port->setFont(Theme::mono(12.5, QFont::DemiBold));
  m_port->setFixedWidth(86);
  m_port->setAccessibleName(tr("Port of broker 1"));
  m_port->setToolTip(tr("Broker i listens on this port + i − 1, its controller 100 higher. 0: free ports are picked."));
  m_portNote = kindLabel("good");
  // What it says must not move the columns.
  m_portNote->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_hostNote = kindLabel("muted");
  ports->addWidget(m_host);
  ports->addWidget(m_port);
  ports->addSpacing(8);
  ports->addWidget(m_portNote, 1);
  ports->addWidget(m_hostNote);
  rows->addWidget(makeRow(card, tr("Ports"), ports));

  auto* storage = new QVBoxLayout;
  storage->setSpacing(6);
  auto* temporaryRow = new QHBoxLayout;
  m_temporary = new QRadioButton(tr("A temporary folder"));
  m_temporary->setChecked(true);
  m_temporary->setFixedWidth(160);
  temporaryRow->addWidget(m_temporary);
  temporaryRow->addWidget(kindLabel("muted", tr("removed at the end")), 1);
  auto* chosenRow = new QHBoxLayout;
  m_chosen = new QRadioButton(tr("A folder"));
  m_chosen->setFixedWidth(160);
  m_folder = QDir::homePath() + QStringLiteral("/Tidemark/cluster");
  m_folderNote = new ElidedLabel(Qt::ElideMiddle);
  m_folderNote->setProperty("kind", QStringLiteral("muted"));
  m_choose = new QPushButton(tr("Choose…"));
  m_choose->setProperty("kind", QStringLiteral("link"));
  m_choose->setAutoDefault(false);
  chosenRow->addWidget(m_chosen);
  chosenRow->addWidget(m_folderNote, 1);
  chosenRow->addWidget(m_choose);
  storage->addLayout(temporaryRow);
  storage->addLayout(chosenRow);
  rows->addWidget(makeRow(card, tr("Storage"), storage));

  auto* topic = new QVBoxLayout;
  topic->setSpacing(10);
  auto* topicRow = new QHBoxLayout;
  topicRow->setSpacing(8);
  m_withTopic = new QCheckBox(tr("Create"));
  m_withTopic->setChecked(true);
  m_topic = new QLineEdit(QStringLiteral("orders"));
  m_topic->setFixedWidth(160);
  m_topic->setAccessibleName(tr("Name of the first topic"));
  m_partitions = new QSpinBox;
  m_partitions->setRange(1, 1000);
  m_partitions->setValue(3);
  m_partitions->setFixedWidth(68);
  m_partitions->setAccessibleName(tr("Partitions"));
  m_topicNote = kindLabel("muted");
  topicRow->addWidget(m_withTopic);
  topicRow->addWidget(m_topic);
  topicRow->addWidget(kindLabel("muted", tr("with")));
  topicRow->addWidget(m_partitions);
  topicRow->addWidget(m_topicNote, 1);
  auto* loadRow = new QHBoxLayout;
  loadRow->setSpacing(8);
  m_withLoad = new QCheckBox(tr("Write"));
  m_withLoad->setChecked(true);
  m_load = new QSpinBox;
  m_load->setRange(1, 100'000);
  m_load->setValue(5);
  m_load->setFixedWidth(86);
  m_load->setAccessibleName(tr("Records a second"));
  loadRow->addWidget(m_withLoad);
  loadRow->addWidget(m_load);
  auto* loadNote = kindLabel("muted", tr("records a second into it, acks=all"));
  loadRow->addWidget(loadNote, 1);
  topic->addLayout(topicRow);
  topic->addLayout(loadRow);
  rows->addWidget(makeRow(card, tr("First topic"), topic));
  const int checkWidth = std::max(m_withTopic->sizeHint().width(), m_withLoad->sizeHint().width());
  m_withTopic->setFixedWidth(checkWidth + 4);
  m_withLoad->setFixedWidth(checkWidth + 4);

  auto* settings = new QVBoxLayout;
  settings->setSpacing(8);
  m_settingsNote = kindLabel("plain");
  m_settingsNote->setFixedHeight(28);
  m_settings = new SettingChips;
  settings->addWidget(m_settingsNote);
  settings->addWidget(m_settings);
  rows->addWidget(makeRow(card, tr("Settings"), settings, true));

  connect(m_brokers, &QButtonGroup::idClicked, this, &LaunchPage::changed);
  connect(m_controllers, &QButtonGroup::idClicked, this, &LaunchPage::changed);
  connect(m_host, &QLineEdit::textChanged, this, &LaunchPage::changed);
  connect(m_port, &QSpinBox::valueChanged, this, &LaunchPage::changed);
  connect(m_temporary, &QRadioButton::toggled, this, &LaunchPage::changed);
  connect(m_choose, &QPushButton::clicked, this, &LaunchPage::chooseFolder);
  connect(m_withTopic, &QCheckBox::toggled, this, &LaunchPage::changed);
  connect(m_topic, &QLineEdit::textChanged, this, &LaunchPage::changed);
  connect(m_partitions, &QSpinBox::valueChanged, this, &LaunchPage::changed);
  connect(m_withLoad, &QCheckBox::toggled, this, &LaunchPage::changed);
  connect(m_load, &QSpinBox::valueChanged, this, &LaunchPage::changed);
  return card;
}

bool LaunchPage::isFolderChosen() const {
  return m_chosen->isChecked();
}

int LaunchPage::separateControllers() const {
  return std::max(0, m_controllers->checkedId());
}

void LaunchPage::setSeparateControllers(int count) {
  if (auto* button = m_controllers->button(count)) button->setChecked(true);
  changed();
}

void LaunchPage::setFolder(const QString& path, bool chosen) {
  if (!path.isEmpty()) m_folder = path;
  m_chosen->setChecked(chosen);
  m_temporary->setChecked(!chosen);
  changed();
}

observe::LaunchOptions LaunchPage::options() const {
  observe::LaunchOptions options;
  // What a folder holds decides, also where it has a number that is not offered.
  options.brokers = m_stored ? m_stored->brokers : m_brokers->checkedId();
  options.separateControllers = m_stored ? m_stored->separateControllers : separateControllers();
  options.host = m_host->text().trimmed().toStdString();
  options.port = static_cast<uint16_t>(m_port->value());
  if (m_chosen->isChecked()) options.dataFolder = m_folder.toStdString();
  if (m_withTopic->isChecked()) {
    observe::TopicOptions topic;
    topic.name = m_topic->text().trimmed().toStdString();
    topic.partitions = m_partitions->value();
    // As one would in production, where there are replicas: acks=all means two of them at least.
    topic.configs.push_back({"min.insync.replicas", std::to_string(std::min(2, options.brokers))});
    options.firstTopic = topic;
  }
  return options;
}

double LaunchPage::load() const {
  return m_withTopic->isChecked() && m_withLoad->isChecked() ? m_load->value() : 0;
}

void LaunchPage::setOptions(const observe::LaunchOptions& options) {
  if (auto* button = m_brokers->button(options.brokers)) button->setChecked(true);
  if (auto* button = m_controllers->button(options.separateControllers)) button->setChecked(true);
  m_host->setText(fromUtf8(options.host));
  m_port->setValue(options.port);
  m_chosen->setChecked(!options.dataFolder.empty());
  m_temporary->setChecked(options.dataFolder.empty());
  if (!options.dataFolder.empty()) m_folder = fromUtf8(options.dataFolder);
  m_withTopic->setChecked(options.firstTopic.has_value());
  if (options.firstTopic) {
    m_topic->setText(fromUtf8(options.firstTopic->name));
    m_partitions->setValue(options.firstTopic->partitions);
  }
  changed();
}

void LaunchPage::changed() {
  m_error->hide();
  describe();
  m_checkSoon.start();
}

void LaunchPage::describe() {
  const observe::LaunchOptions chosen = options();
  const int brokers = chosen.brokers;
  m_start->setText(m_starting ? tr("Starting…") : tr("Start %n broker(s)", nullptr, brokers));
  m_cancel->setVisible(m_starting);
  m_enter->setVisible(!m_starting);
  m_brokersNote->setText(m_stored       ? tr("%1 in the folder").arg(brokers)
                         : brokers == 1 ? tr("nothing is replicated")
                                        : QString());
  const int voters = chosen.separateControllers > 0 ? chosen.separateControllers : brokers;
  m_quorumNote->setText(voters < 3 ? tr("survives no loss") : tr("survives the loss of %1").arg((voters - 1) / 2));
  m_quorumNote->setToolTip(tr("A quorum of %n controller(s)", nullptr, voters));
  m_topic->setEnabled(m_withTopic->isChecked());
  m_partitions->setEnabled(m_withTopic->isChecked());
  m_withLoad->setEnabled(m_withTopic->isChecked());
  m_load->setEnabled(m_withTopic->isChecked() && m_withLoad->isChecked());
  const QString topicProblem = m_withTopic->isChecked() ? topicNameProblem(m_topic->text().trimmed()) : QString();
  setStyled(m_topic, "wrong", !topicProblem.isEmpty());
  setStyled(m_topicNote, "kind", topicProblem.isEmpty() ? QStringLiteral("muted") : QStringLiteral("error"));
  m_topicNote->setText(!topicProblem.isEmpty() ? topicProblem
                                               : tr("partitions, %n replica(s) each", nullptr, std::min(3, brokers)));
  const std::vector<observe::Setting> profile = m_bridge.profile(brokers);
  m_settingsNote->setText(
      brokers == 1 ? tr("Kafka 4.4 defaults but for %n: shorter times, fewer threads, one copy of each topic:", nullptr,
                        static_cast<int>(profile.size()))
                   : tr("Kafka 4.4 defaults but for %n: shorter times, fewer threads, copies of each topic:", nullptr,
                        static_cast<int>(profile.size())));
  m_settings->setSettings(profile);
  QString command = QStringLiteral("tidemark serve --brokers %1 --port %2").arg(brokers).arg(chosen.port);
  if (chosen.separateControllers > 0)
    command += QStringLiteral(" --separate-controllers %1").arg(chosen.separateControllers);
  if (chosen.host != "127.0.0.1") command += QStringLiteral(" --host %1").arg(fromUtf8(chosen.host));
  if (!chosen.dataFolder.empty()) {
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_./~+-]+$"));
    QString quoted = m_folder;
    if (!plain.match(quoted).hasMatch())
      quoted = QStringLiteral("'%1'").arg(quoted.replace(QLatin1Char('\''), QStringLiteral("'\\''")));
    command += QStringLiteral(" --data %1").arg(quoted);
  }
  m_commandText = command;
  m_command->setToolTip(command);
  m_command->setText(QFontMetrics(m_command->font()).elidedText(command, Qt::ElideMiddle, 300));
  m_picture->setOptions(chosen, load(), m_stored.has_value());
}

void LaunchPage::chooseFolder() {
  const QString folder =
      QFileDialog::getExistingDirectory(this, tr("Folder for the cluster's data"), QFileInfo(m_folder).absolutePath());
  if (folder.isEmpty()) return;
  m_folder = folder;
  m_chosen->setChecked(true);
  changed();
}

void LaunchPage::start() {
  if (m_starting) return;
  check();
  if (!m_problem.isEmpty()) return;
  Q_EMIT startWanted(options(), load());
}

void LaunchPage::setStarting(bool starting) {
  m_starting = starting;
  m_form->setEnabled(!starting);
  changed();
  check();
}

void LaunchPage::showCancelled() {
  m_startNote->setText(tr("cancelled; nothing runs"));
}

void LaunchPage::showError(const QString& text) {
  m_error->setText(tr("It did not start: %1").arg(text));
  m_error->show();
}

QString LaunchPage::error() const {
  return m_error->isHidden() ? QString() : m_error->text();
}

void LaunchPage::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
    start();
  else if (event->key() == Qt::Key_Escape && m_starting)
    Q_EMIT cancelWanted();
  else
    QScrollArea::keyPressEvent(event);
}

void LaunchPage::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  const bool wide = viewport()->width() >= kTwoColumns;
  m_columns->setDirection(wide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  m_inside->layout()->setContentsMargins(wide ? 40 : 24, 28, wide ? 40 : 24, 32);
}

void LaunchPage::showEvent(QShowEvent* event) {
  QScrollArea::showEvent(event);
  check();
  m_checkAgain.start();
}

void LaunchPage::hideEvent(QHideEvent* event) {
  QScrollArea::hideEvent(event);
  m_checkAgain.stop();
}

}  // namespace tidemark::widgets
