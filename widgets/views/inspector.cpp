#include "views/inspector.h"

#include <algorithm>

#include <QApplication>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include "text/format.h"
#include "text/node_words.h"
#include "theme/theme.h"
#include "views/fact_list.h"
#include "views/lag_plot.h"

namespace tidemark::widgets {

using observe::BrokerState;
using Fact = FactList::Fact;

StatePill::StatePill(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void StatePill::setLook(const StateLook& look) {
  if (look.word == m_look.word && look.color == m_look.color) return;
  m_look = look;
  setAccessibleName(look.word);
  updateGeometry();
  update();
}

QSize StatePill::sizeHint() const {
  if (m_look.word.isEmpty()) return {0, 20};
  return {qCeil(QFontMetricsF(Theme::body(11, QFont::DemiBold)).horizontalAdvance(m_look.word.toUpper())) + 36, 20};
}

void StatePill::paintEvent(QPaintEvent*) {
  if (m_look.word.isEmpty()) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(m_look.soft);
  painter.drawRoundedRect(rect(), 10, 10);
  drawShape(painter, m_look.shape, {14, 10}, 8, m_look.color);
  painter.setFont(Theme::body(11, QFont::DemiBold));
  painter.setPen(m_look.textColor);
  painter.drawText(QPointF(24, 14), m_look.word.toUpper());
}

Inspector::Inspector(EngineBridge& bridge, TimeTravel& travel, QWidget* parent)
    : QScrollArea(parent),
      m_bridge(bridge),
      m_travel(travel),
      m_title(new QLabel),
      m_pill(new StatePill),
      m_facts(new FactList),
      m_plotTitle(new QLabel),
      m_plotSpan(new QLabel),
      m_commandBox(new QWidget(this)) {
  setWidgetResizable(true);
  // Below that its words and buttons would be cut.
  setMinimumWidth(216);
  // What is inside takes the focus, the frame does not.
  setFocusPolicy(Qt::NoFocus);
  setProperty("kind", QStringLiteral("panel"));
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* inside = new QWidget(viewport());
  inside->setProperty("kind", QStringLiteral("clear"));
  // While it is empty: it is asked for its size.
  setWidget(inside);
  auto* layout = new QVBoxLayout(inside);
  layout->setContentsMargins(18, 2, 18, 16);
  layout->setSpacing(0);
  auto* head = new QHBoxLayout;
  head->setSpacing(12);
  m_title->setProperty("kind", QStringLiteral("inspected"));
  m_title->setTextFormat(Qt::PlainText);
  m_title->setMinimumWidth(60);
  head->addWidget(m_title);
  head->addWidget(m_pill);
  head->addStretch();
  layout->addLayout(head);
  layout->addSpacing(8);
  layout->addWidget(m_facts);

  m_plotBox = new QWidget(inside);
  m_plot = new LagPlot(m_plotBox);
  auto* plotLayout = new QVBoxLayout(m_plotBox);
  plotLayout->setContentsMargins(0, 10, 0, 0);
  plotLayout->setSpacing(8);
  auto* plotHead = new QHBoxLayout;
  m_plotTitle->setProperty("kind", QStringLiteral("muted"));
  auto* span = m_plotSpan;
  span->setProperty("kind", QStringLiteral("note"));
  plotHead->addWidget(m_plotTitle, 1);
  plotHead->addWidget(span);
  plotLayout->addLayout(plotHead);
  plotLayout->addWidget(m_plot);
  layout->addWidget(m_plotBox);

  layout->addStretch();

  using Command = EngineBridge::BrokerCommand;
  m_resume = makeButton(Command::Resume, tr("▶ Resume"), tr("Goes on where it was held, as after SIGCONT"));
  m_start = makeButton(Command::Restart, tr("▶ Start again"),
                       tr("Starts on its data folder; recovers what a kill left behind"));
  m_pause = makeButton(Command::Pause, tr("Pause"), tr("Runs nothing, keeps its sockets open, as after SIGSTOP"));
  m_kill = makeButton(Command::Kill, tr("✕ Kill"), tr("As by SIGKILL: nothing is flushed, sockets close at once"));
  m_restart = makeButton(Command::Restart, tr("Restart"), tr("Shuts down in control and starts again"));
  m_stop = makeButton(Command::Stop, tr("Stop"), tr("Controlled shutdown: its leadership moves first"));
  m_resume->setProperty("kind", QStringLiteral("primary"));
  m_start->setProperty("kind", QStringLiteral("primary"));
  m_kill->setProperty("kind", QStringLiteral("danger"));
  auto* commandLayout = new QVBoxLayout(m_commandBox);
  commandLayout->setContentsMargins(18, 12, 18, 16);
  commandLayout->setSpacing(10);
  m_commandBox->setProperty("kind", QStringLiteral("foot"));
  m_commandBox->setAttribute(Qt::WA_StyledBackground);
  auto* commandHead = new QLabel(tr("INJECT"));
  commandHead->setProperty("kind", QStringLiteral("head"));
  commandLayout->addWidget(commandHead);
  auto* grid = new QGridLayout;
  grid->setSpacing(8);
  grid->setColumnStretch(0, 1);
  grid->setColumnStretch(1, 1);
  // Opposites share a place.
  grid->addWidget(m_pause, 0, 0);
  grid->addWidget(m_resume, 0, 0);
  grid->addWidget(m_kill, 0, 1);
  grid->addWidget(m_restart, 1, 0);
  grid->addWidget(m_start, 1, 0);
  grid->addWidget(m_stop, 1, 1);
  m_faults = new QPushButton(tr("Other faults ▾"), m_commandBox);
  m_faults->setToolTip(tr("Isolate it, slow it down, fill its disk, move its clock, refuse requests …"));
  connect(m_faults, &QPushButton::clicked, this, [this] {
    if (m_picked.what == Picked::What::Broker)
      Q_EMIT faultMenuWanted(m_picked.broker, m_faults->mapToGlobal(QPoint(0, m_faults->height())));
  });
  grid->addWidget(m_faults, 2, 0, 1, 2);
  commandLayout->addLayout(grid);

  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (frame.snapshot != frame.previous) take();
  });
  connect(&bridge, &EngineBridge::second, this, [this] {
    if (isVisible()) take();
  });
  // Somebody points at a moment, which may be before this is seen for the first time, or looks at another stretch of
  // time.
  connect(&m_travel.axis(), &TimeAxis::cursorChanged, this, &Inspector::take);
  connect(&m_travel.axis(), &TimeAxis::rangeChanged, this, [this] {
    if (isVisible() && !m_travel.axis().follows()) take();
  });
  connect(&Theme::instance(), &Theme::changed, this, &Inspector::take);
  showCommands(std::nullopt);
  take();
}

QPushButton* Inspector::makeButton(EngineBridge::BrokerCommand command, const QString& text, const QString& tip) {
  auto* button = new QPushButton(text, m_commandBox);
  button->setToolTip(tip);
  button->hide();
  connect(button, &QPushButton::clicked, this, [this, command] {
    if (m_picked.what == Picked::What::Broker) Q_EMIT commandWanted(command, m_picked.broker);
  });
  return button;
}

void Inspector::setPicked(const Picked& picked) {
  if (picked == m_picked) return;
  m_picked = picked;
  take();
}

void Inspector::setPartition(const std::optional<TopicPartition>& partition) {
  if (partition == m_partition) return;
  m_partition = partition;
  take();
}

void Inspector::take() {
  const observe::SnapshotPtr& cluster = m_bridge.snapshot();
  if (m_picked.what == Picked::What::Broker)
    if (const auto* broker = observe::findBroker(*cluster, m_picked.broker)) return showBroker(*cluster, *broker);
  if (m_picked.what == Picked::What::Quorum && !cluster->brokers.empty()) return showQuorum(*cluster);
  if (m_picked.what == Picked::What::Partition) {
    const auto* topic = observe::findTopic(*cluster, m_picked.partition.topic);
    const auto* partition = observe::findPartition(*cluster, m_picked.partition);
    if (topic != nullptr && partition != nullptr) return showPartition(*topic, *partition);
  }
  m_title->setText(tr("Nothing is picked"));
  m_pill->setLook({});
  m_facts->setFacts({});
  m_plotBox->hide();
  showCommands(std::nullopt);
}

void Inspector::showBroker(const observe::ClusterSnapshot& cluster, const observe::BrokerSnapshot& broker) {
  const Palette& p = colors();
  const auto age = m_bridge.age();
  m_title->setText(nodeTitle(broker));
  m_pill->setLook(lookOf(broker));
  std::vector<Fact> facts;
  if (!broker.diedOf.empty())
    facts.push_back({tr("Died of"), fromUtf8(broker.diedOf), p.badText, true});
  else if (const QString reason = downReason(broker); !reason.isEmpty())
    facts.push_back({tr("Killed"), reason, p.badText, true});
  for (const observe::FailedDirectorySnapshot& failed : broker.failedDirectories) {
    facts.push_back({tr("Log directory offline"), fromUtf8(failed.path), p.badText, true});
    facts.push_back({tr("Why"), fromUtf8(failed.reason), p.badText, true});
  }
  if (!broker.isBroker) return showController(cluster, broker, std::move(facts));
  facts.push_back({tr("Listener"), fromUtf8(fmt::format("{}", broker.listener))});
  facts.push_back({tr("Controller"), fromUtf8(fmt::format("{}", broker.controller))});
  facts.push_back({tr("Epoch"), grouped(broker.epoch.value())});
  facts.push_back({tr("Leads"), tr("%1 of %n replica(s)", nullptr, broker.replicaCount).arg(broker.leaderCount)});
  const auto* partition = m_partition ? observe::findPartition(cluster, *m_partition) : nullptr;
  const auto* replica = partition == nullptr ? nullptr : observe::findReplica(*partition, broker.id);
  if (replica != nullptr) {
    if (const StateLook look = lookOf(*replica, broker.state); isOffline(*replica))
      facts.push_back({partitionText(*m_partition), look.word, look.textColor});
    facts.push_back({tr("Log end · %1").arg(partitionText(*m_partition)), offsetText(replica->logEnd)});
    if (const QString lost = powerLossText(*replica); !lost.isEmpty())
      facts.push_back({tr("Lost with its power"), lost, p.badText, true});
    const bool follows = partition->leader != kNoNode && partition->leader != broker.id;
    if (const auto lag = observe::lagOf(*partition, *replica); lag && follows) {
      facts.push_back({tr("Behind leader"), tr("%1 record(s)", nullptr, pluralOf(*lag)).arg(grouped(*lag))});
      if (replica->sinceCaughtUp)
        facts.push_back({tr("Last caught up"), *lag == 0 ? tr("just now") : agoText(*replica->sinceCaughtUp + age)});
    }
    if (!replica->inSync)
      if (const TimelineCopy* copy = pastOf(*m_partition, broker.id))
        if (const auto left = copy->leftIsr(cluster.wall))
          facts.push_back({tr("Dropped from ISR"), agoText(cluster.wall - *left + age), p.warnText});
  }
  for (const observe::Setting& setting : cluster.settings)
    if (setting.key == "replica.lag.time.max.ms")
      facts.push_back({fromUtf8(setting.key), grouped(fromUtf8(setting.value).toLongLong())});
  const bool up = broker.state == BrokerState::Running;
  if (broker.sinceHeartbeat && (!up || *broker.sinceHeartbeat > std::chrono::seconds(1)))
    facts.push_back({tr("Last heartbeat"), agoText(*broker.sinceHeartbeat + age)});
  if (broker.fencedIn && *broker.fencedIn > age)
    facts.push_back({tr("Fenced in"), durationText(*broker.fencedIn - age), p.warnText});
  if (broker.networkThreads > 0)
    facts.push_back({tr("Threads"), tr("%1 net · %2 io · %3 fetch")
                                        .arg(broker.networkThreads)
                                        .arg(broker.handlerThreads)
                                        .arg(broker.fetcherThreads)});
  // What is not recorded, or not known of one that is down, is not 0 B: then there is nothing to say.
  const bool isDown = broker.state == BrokerState::Killed || broker.state == BrokerState::Stopped;
  if (broker.diskBytes > 0 || !(m_bridge.isRecorded() || isDown))
    facts.push_back(
        {tr("Disk"), tr("%1 in %n segment(s)", nullptr, broker.segmentCount).arg(bytesText(broker.diskBytes))});
  m_facts->setFacts(std::move(facts));
  m_plotBox->setVisible(replica != nullptr);
  if (replica != nullptr) {
    m_plotTitle->setText(tr("Lag behind leader (records)"));
    const TimelineCopy* copy = pastOf(*m_partition, broker.id);
    std::vector<LagPlot::Mark> marks;
    const auto entered = cluster.wall - std::chrono::duration_cast<platform::WallClock::duration>(broker.inState);
    if (broker.state == BrokerState::Paused || broker.state == BrokerState::Killed ||
        broker.state == BrokerState::Stopped)
      marks.push_back({entered, broker.state == BrokerState::Paused ? tr("paused") : tr("down"), false});
    if (const auto left = copy == nullptr ? std::nullopt : copy->leftIsr(cluster.wall))
      marks.push_back({*left, tr("out of ISR"), true});
    drawLags({{broker.id, copy}}, marks);
  }
  // What was cannot be acted on.
  showCommands(m_bridge.moment() || m_bridge.isRecorded() ? std::nullopt : std::optional(broker.state));
}

void Inspector::showController(const observe::ClusterSnapshot& cluster, const observe::BrokerSnapshot& node,
                               std::vector<FactList::Fact> facts) {
  const Palette& p = colors();
  const observe::QuorumSnapshot& quorum = cluster.quorum;
  facts.push_back({tr("Listener"), fromUtf8(fmt::format("{}", node.controller))});
  const bool leads = quorum.leader == node.id;
  facts.push_back({tr("Role"), leads ? tr("active controller") : tr("voter"), leads ? p.fenced : QColor()});
  facts.push_back({tr("Quorum epoch"), QString::number(quorum.epoch.value())});
  for (const observe::VoterSnapshot& voter : quorum.voters) {
    if (voter.id != node.id) continue;
    facts.push_back({tr("Log end"), offsetText(voter.logEnd)});
    if (leads || voter.logEnd == kNoOffset) continue;
    if (const int64_t behind = std::max<int64_t>(0, quorum.highWatermark - voter.logEnd); behind > 0)
      facts.push_back({tr("Behind leader"), tr("%1 record(s)", nullptr, pluralOf(behind)).arg(grouped(behind))});
    if (voter.sinceFetch && *voter.sinceFetch > std::chrono::seconds(1))
      facts.push_back({tr("Last fetch"), agoText(*voter.sinceFetch + m_bridge.age()), p.warnText});
  }
  m_facts->setFacts(std::move(facts));
  m_plotBox->hide();
  showCommands(m_bridge.moment() || m_bridge.isRecorded() ? std::nullopt : std::optional(node.state));
}

const TimelineCopy* Inspector::pastOf(const TopicPartition& partition, NodeId broker) const {
  const TimelinePartition* past = m_travel.past().find(partition);
  if (past == nullptr) return nullptr;
  const auto copy = past->copies.find(broker);
  return copy == past->copies.end() ? nullptr : &copy->second;
}

void Inspector::drawLags(const std::vector<LagPlot::Line>& lines, const std::vector<LagPlot::Mark>& marks) {
  const QString span = durationText(m_travel.axis().span());
  if (m_plotSpan->text() != span) m_plotSpan->setText(span);
  m_plot->draw(lines, marks, m_travel.axis());
}

void Inspector::showQuorum(const observe::ClusterSnapshot& cluster) {
  const Palette& p = colors();
  const observe::QuorumSnapshot& quorum = cluster.quorum;
  m_title->setText(tr("Quorum"));
  m_pill->setLook(quorum.leader == kNoNode
                      ? StateLook{StateShape::Ring, p.ring, p.accent, p.selection, tr("electing")}
                      : StateLook{StateShape::Crown, p.controllerCrown, p.fenced, p.fencedSoft, tr("led")});
  std::vector<Fact> facts;
  facts.push_back({tr("Active controller"),
                   quorum.leader == kNoNode ? tr("none") : tr("node %1").arg(quorum.leader.value()),
                   quorum.leader == kNoNode ? p.badText : QColor()});
  facts.push_back({tr("Epoch"), QString::number(quorum.epoch.value())});
  facts.push_back({tr("High watermark"), offsetText(quorum.highWatermark)});
  for (const observe::VoterSnapshot& voter : quorum.voters) {
    const QString name = voter.observer ? tr("Observer %1 · log end") : tr("Voter %1 · log end");
    facts.push_back({name.arg(voter.id.value()), offsetText(voter.logEnd)});
    if (voter.sinceFetch && voter.id != quorum.leader && *voter.sinceFetch > std::chrono::seconds(1))
      facts.push_back({tr("   last fetch"), agoText(*voter.sinceFetch + m_bridge.age()), p.warnText});
  }
  m_facts->setFacts(std::move(facts));
  m_plotBox->hide();
  showCommands(std::nullopt);
}

void Inspector::showPartition(const observe::TopicSnapshot& topic, const observe::PartitionSnapshot& partition) {
  const Palette& p = colors();
  const QString name = partitionText({topic.name, partition.index});
  m_title->ensurePolished();
  m_title->setText(m_title->fontMetrics().elidedText(name, Qt::ElideMiddle, std::max(90, viewport()->width() - 150)));
  m_title->setToolTip(name);
  const int isr = static_cast<int>(partition.isr.size());
  m_pill->setLook(
      partition.leader == kNoNode   ? StateLook{StateShape::Cross, p.bad, p.badText, p.badSoft, tr("offline")}
      : isr < topic.minInSync       ? StateLook{StateShape::Cross, p.bad, p.badText, p.badSoft, tr("under min ISR")}
      : partition.underReplicated() ? StateLook{StateShape::HalfDisc, p.warn, p.warnText, p.warnSoft, tr("behind")}
                                    : StateLook{StateShape::Disc, p.ok, p.okText, p.okSoft, tr("in sync")});
  std::vector<Fact> facts;
  facts.push_back({tr("Topic id"), fromUtf8(topic.id.toString())});
  facts.push_back({tr("Leader"),
                   partition.leader == kNoNode ? tr("none") : tr("broker %1").arg(partition.leader.value()),
                   partition.leader == kNoNode ? p.badText : QColor()});
  facts.push_back({tr("Leader epoch"), QString::number(partition.leaderEpoch.value())});
  facts.push_back({tr("Partition epoch"), QString::number(partition.partitionEpoch.value())});
  facts.push_back({tr("Replicas"), nodeListText(partition.replicas)});
  facts.push_back({tr("ISR"), nodesText(partition.isr), partition.underReplicated() ? p.warnText : QColor()});
  facts.push_back({tr("min.insync.replicas"), QString::number(topic.minInSync)});
  for (const observe::ReplicaSnapshot& copy : partition.copies)
    if (isOffline(copy))
      facts.push_back(
          {tr("Offline on broker %1").arg(copy.broker.value()), fromUtf8(copy.offlineReason), p.badText, true});
  for (const observe::ReplicaSnapshot& copy : partition.copies)
    if (const QString lost = powerLossText(copy); !lost.isEmpty())
      facts.push_back({tr("Broker %1 lost with its power").arg(copy.broker.value()), lost, p.badText, true});
  if (const auto* leader = observe::findReplica(partition, partition.leader)) {
    facts.push_back({tr("Log start"), offsetText(partition.logStart)});
    facts.push_back({tr("Last stable offset"), offsetText(partition.lastStable)});
    facts.push_back({tr("High watermark"), offsetText(partition.highWatermark), p.highWatermark});
    facts.push_back({tr("Log end"), offsetText(partition.logEnd)});
    int64_t bytes = leader->sizeInBytes;
    if (bytes == 0)
      for (const observe::SegmentSnapshot& segment : leader->segments) bytes += segment.sizeInBytes;
    facts.push_back(
        {tr("On the leader"),
         tr("%1 in %n segment(s)", nullptr, static_cast<int>(leader->segments.size())).arg(bytesText(bytes))});
  } else {
    addWithoutLeader(partition, facts);
  }
  m_facts->setFacts(std::move(facts));
  std::vector<LagPlot::Line> lines;
  for (const observe::ReplicaSnapshot& replica : partition.copies)
    if (!replica.leader) lines.push_back({replica.broker, pastOf({topic.name, partition.index}, replica.broker)});
  m_plotBox->setVisible(!lines.empty());
  if (!lines.empty()) {
    QStringList names;
    for (const LagPlot::Line& line : lines)
      names << QStringLiteral("<span style='color:%1'>%2</span> %3")
                   .arg(LagPlot::colorOf(line.broker).name(), LagPlot::strokeOf(line.broker),
                        QString::number(line.broker.value()));
    m_plotTitle->setText(lines.size() == 1 ? tr("Lag behind leader (records)")
                                           : tr("Lag in records of %1").arg(names.join(QStringLiteral("&nbsp; "))));
    drawLags(lines, {});
  }
  showCommands(std::nullopt);
}

void Inspector::addWithoutLeader(const observe::PartitionSnapshot& partition, std::vector<Fact>& facts) const {
  // What it holds only a leader knows; what is left is who may lead next, and how much each copy has.
  std::vector<NodeId> eligible;
  for (const observe::ReplicaSnapshot& copy : partition.copies)
    if (copy.eligible) eligible.push_back(copy.broker);
  if (!eligible.empty()) facts.push_back({tr("Eligible leader replicas"), nodesText(eligible)});
  for (const observe::ReplicaSnapshot& copy : partition.copies) {
    const auto* broker = observe::findBroker(*m_bridge.snapshot(), copy.broker);
    const BrokerState state = broker == nullptr ? BrokerState::Stopped : broker->state;
    const QString name = tr("Log end on broker %1").arg(copy.broker.value());
    facts.push_back(
        {state == BrokerState::Running && !isOffline(copy)
             ? name
             : tr("%1, %2").arg(name, state == BrokerState::Running ? lookOf(copy, state).word : lookOf(state).word),
         offsetText(copy.logEnd)});
  }
}

void Inspector::showCommands(std::optional<BrokerState> state) {
  if (state == m_commandsFor && m_commandBox->isVisibleTo(this) == state.has_value()) return;
  m_commandsFor = state;
  // Whoever works with the keys stays here: the focus goes to what can be done next, not to the next view.
  QWidget* focused = QApplication::focusWidget();
  const bool had = focused != nullptr && m_commandBox->isAncestorOf(focused);
  std::vector<QPushButton*> fits;
  if (state) {
    switch (*state) {
      case BrokerState::Starting:
      case BrokerState::Stopping:
        fits = {m_kill};
        break;
      case BrokerState::Running:
      case BrokerState::Fenced:
        fits = {m_pause, m_kill, m_restart, m_stop};
        break;
      case BrokerState::Paused:
        fits = {m_resume, m_kill};
        break;
      case BrokerState::Stopped:
      case BrokerState::Killed:
        fits = {m_start};
        break;
    }
  }
  const auto applies = [&fits](const QPushButton* button) { return std::ranges::find(fits, button) != fits.end(); };
  for (QPushButton* button : fits) {
    button->setEnabled(true);
    button->show();
  }
  if (had && !fits.empty() && !applies(qobject_cast<QPushButton*>(focused)))
    fits.front()->setFocus(Qt::OtherFocusReason);
  for (QPushButton* button : {m_pause, m_resume, m_kill, m_restart, m_start, m_stop})
    if (!applies(button)) button->setEnabled(false);
  // Of each pair the one that applies; else the usual one, disabled.
  m_resume->setVisible(applies(m_resume));
  m_pause->setVisible(!applies(m_resume));
  m_start->setVisible(applies(m_start));
  m_restart->setVisible(!applies(m_start));
  m_kill->show();
  m_stop->show();
  m_commandBox->setVisible(state.has_value());
  placeCommands();
}

void Inspector::placeCommands() {
  const int foot = m_commandsFor ? m_commandBox->sizeHint().height() : 0;
  setViewportMargins(0, 0, 0, foot);
  m_commandBox->setGeometry(0, height() - foot, width(), foot);
}

void Inspector::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  placeCommands();
}

}  // namespace tidemark::widgets
