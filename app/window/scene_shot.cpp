#include "scene_shot.h"

#include <algorithm>

#include <QPixmap>

#include "belts/belts_view.h"
#include "cleaner/cleaner_list.h"
#include "cleaner/cleaner_page.h"
#include "launch/launch_page.h"
#include "main_window.h"
#include "segments/segments_page.h"
#include "text/format.h"
#include "text/node_words.h"
#include "theme/theme.h"
#include "views/cluster_page.h"

namespace tidemark::widgets {

namespace {

/// Small enough that a picture need not wait for a mebibyte, and that a segment has a dozen index entries.
const std::vector<observe::Setting> kSmallSegments{{"segment.ms", "12000"}, {"index.interval.bytes", "1024"}};
const std::vector<observe::Setting> kCompacted{{"cleanup.policy", "compact"},
                                               {"segment.ms", "3000"},
                                               {"min.cleanable.dirty.ratio", "0.7"},
                                               {"delete.retention.ms", "3600000"}};
/// An unclean election costs what the only replica in sync had.
const std::vector<observe::Setting> kUnclean{{"unclean.leader.election.enable", "true"}, {"min.insync.replicas", "1"}};

}  // namespace

QStringList SceneShot::conditions() {
  return {QStringLiteral("launch"),        QStringLiteral("steady"),      QStringLiteral("killed"),
          QStringLiteral("recovered"),     QStringLiteral("table"),       QStringLiteral("partition"),
          QStringLiteral("idle"),          QStringLiteral("segments"),    QStringLiteral("segments-table"),
          QStringLiteral("segments-past"), QStringLiteral("cleaner"),     QStringLiteral("map"),
          QStringLiteral("map-broken"),    QStringLiteral("faults"),      QStringLiteral("timeline"),
          QStringLiteral("history"),       QStringLiteral("lost"),        QStringLiteral("truncated"),
          QStringLiteral("groups"),        QStringLiteral("transactions")};
}

SceneShot::SceneShot(MainWindow& window, QString condition, QString file, uint16_t port, QObject* parent)
    : QObject(parent),
      m_window(window),
      m_condition(std::move(condition)),
      m_file(std::move(file)),
      m_port(port),
      m_wait(
          [this](const QString& what) {
            Q_EMIT waits(tr("waiting for %1, %2 s at most").arg(what).arg(m_wait.limit() / std::chrono::seconds(1)));
          },
          [this](const QString& what) {
            const QString lacks = missing();
            giveUp(lacks.isEmpty() ? tr("waited in vain for %1").arg(what)
                                   : tr("waited in vain for %1: %2").arg(what, lacks));
          }) {
  m_timer.setInterval(20);
  connect(&m_timer, &QTimer::timeout, this, &SceneShot::look);
}

bool SceneShot::isrIsFull() const {
  const observe::ClusterSnapshot& cluster = *m_window.bridge().snapshot();
  const auto* topic = observe::findTopic(cluster, kShown.topic);
  return topic != nullptr && std::ranges::all_of(topic->partitions, [](const observe::PartitionSnapshot& partition) {
           return partition.leader != kNoNode && partition.isr.size() == partition.replicas.size() &&
                  partition.replicas.size() == 3;
         });
}

int64_t SceneShot::logEnd() const {
  const auto* partition = observe::findPartition(*m_window.bridge().snapshot(), kShown);
  return partition == nullptr ? 0 : partition->highWatermark.value();
}

void SceneShot::addTraffic() {
  m_steps.push_back({tr("a consumer"), [this] {
                       ConsumeOptions consume;
                       consume.bootstrap = QString::fromStdString(m_window.bridge().snapshot()->bootstrap);
                       consume.topic = QString::fromStdString(kShown.topic);
                       consume.fromBeginning = false;
                       return m_reader.start(consume, &m_problem);
                     }});
  m_steps.push_back({tr("sixty records in %1-0").arg(QString::fromStdString(kShown.topic)),
                     [this] { return logEnd() >= 60 && !m_window.bridge().snapshot()->readers.empty(); }});
}

void SceneShot::addLoad(double rate, int size, int lingerMs, int keys, int tombstoneEvery) {
  m_steps.push_back({tr("a load"), [=, this] {
                       ProduceOptions load;
                       load.bootstrap = QString::fromStdString(m_window.bridge().snapshot()->bootstrap);
                       load.topic = QString::fromStdString(kShown.topic);
                       load.rate = rate;
                       load.size = size;
                       load.lingerMs = lingerMs;
                       load.keys = keys;
                       load.tombstoneEvery = tombstoneEvery;
                       load.idempotent = true;
                       return m_window.load().start(load, &m_problem);
                     }});
}

void SceneShot::addCleaner() {
  addLoad(240, 90, 60, 400, 11);
  m_steps.push_back({tr("a pass of the cleaner and something dirty again"), [this] {
                       m_window.clusterPage().showView(ClusterPage::View::Cleaner);
                       const auto& cleaners = m_window.bridge().snapshot()->cleaners;
                       const auto dirty = [](const observe::CleanerSnapshot& log) {
                         return log.partition.topic == kShown.topic && log.passes >= 1 && log.dirtyRatio > 0.3 &&
                                log.lastPass && log.lastPass->tombstonesKept > 0;
                       };
                       if (std::ranges::count_if(cleaners, dirty) < 3) return false;
                       m_window.load().stop();
                       return true;
                     }});
  m_steps.push_back({tr("a still window"), [this] {
                       const auto& rows = m_window.clusterPage().cleaner().list().rows();
                       for (size_t i = 0; i < rows.size(); ++i)
                         if (rows[i].log.lastPass && rows[i].log.dirtyBytes > 0) {
                           m_window.clusterPage().cleaner().list().setCurrent(static_cast<int>(i));
                           break;
                         }
                       return held(120);
                     }});
}

void SceneShot::addSegments() {
  addLoad(60, 56, 150, 100, 0);
  m_steps.push_back({tr("three segments"), [this] {
                       const auto* partition = observe::findPartition(*m_window.bridge().snapshot(), kShown);
                       const auto* leader =
                           partition == nullptr ? nullptr : observe::findReplica(*partition, partition->leader);
                       if (leader == nullptr || leader->segments.size() < 3) return false;
                       // The active one has some records as well.
                       return leader->logEnd - leader->segments.back().baseOffset > 24;
                     }});
  if (m_condition == QStringLiteral("segments-past")) {
    addSegmentsPast();
    return;
  }
  m_steps.push_back({tr("the segments"), [this] {
                       m_window.clusterPage().showView(ClusterPage::View::Segments);
                       return m_window.clusterPage().segments().controller().segment() != nullptr;
                     }});
  m_steps.push_back({tr("a lookup"), [this] {
                       SegmentsPage& page = m_window.clusterPage().segments();
                       const auto& segments = *page.controller().partition()->segments;
                       const int64_t from = segments[1].base.value();
                       const int64_t to = segments[2].base.value();
                       page.search(QString::number(from + (to - from) * 3 / 5));
                       return true;
                     }});
  m_steps.push_back({tr("its end"), [this] {
                       SegmentsController& controller = m_window.clusterPage().segments().controller();
                       if (!controller.lookup() || controller.isReading()) return false;
                       controller.setRow(static_cast<int>(controller.rows().size()) - 1);
                       if (m_condition == QStringLiteral("segments-table")) m_window.clusterPage().showTable(true);
                       return controller.batch() && controller.batch()->segment == controller.segment()->base;
                     }});
  m_steps.push_back({tr("a still window"), [this] { return held(300); }});
}

void SceneShot::addSegmentsPast() {
  m_steps.push_back({tr("the moment"), [this] {
                       const auto& events = m_window.bridge().recording().events();
                       const auto roll =
                           std::find_if(events.rbegin(), events.rend(), [](const observe::ObservedEvent& one) {
                             return std::holds_alternative<events::SegmentRolled>(one.event.payload) &&
                                    one.topic == kShown.topic && one.partition == kShown.partition;
                           });
                       if (roll == events.rend()) return false;
                       m_window.travel().lookAt(roll->event.wall + std::chrono::milliseconds(900));
                       m_window.clusterPage().showView(ClusterPage::View::Segments);
                       SegmentsPage& page = m_window.clusterPage().segments();
                       const auto& partition = page.controller().partition();
                       if (!partition || partition->segments->size() < 2) return false;
                       page.search(QString::number(((*partition->segments)[1].base + 7).value()));
                       return true;
                     }});
  m_steps.push_back({tr("a still window"), [this] { return held(300); }});
}

void SceneShot::begin() {
  if (m_condition == QStringLiteral("launch")) {
    m_steps.push_back({tr("the first page"), [this] { return held(400); }});
  } else {
    // As the first page would, but for the ports.
    observe::LaunchOptions options = m_window.launchPage().options();
    options.port = m_port;
    const bool idle = m_condition == QStringLiteral("idle");
    const bool segments = m_condition.startsWith(QStringLiteral("segments"));
    const bool cleaner = m_condition == QStringLiteral("cleaner");
    if (cleaner && options.firstTopic) options.firstTopic->configs = kCompacted;
    const bool loss = m_condition == QStringLiteral("lost") || m_condition == QStringLiteral("truncated");
    if (loss && options.firstTopic) {
      options.firstTopic->replicationFactor = 2;
      options.firstTopic->configs = kUnclean;
    }
    if (segments && options.firstTopic) options.firstTopic->configs = kSmallSegments;
    const bool transactions = m_condition == QStringLiteral("transactions");
    m_window.launch(options, idle || segments || cleaner || transactions ? 0 : 6);
    m_steps.push_back({tr("full ISRs"), [this, loss] {
                         return loss ? observe::findPartition(*m_window.bridge().snapshot(), kShown) != nullptr &&
                                           held(1000)
                                     : isrIsFull();
                       }});
    if (segments)
      addSegments();
    else if (cleaner)
      addCleaner();
    else if (idle)
      m_steps.push_back({tr("forty seconds"), [this] {
                           m_timer.setInterval(1000);
                           return held(40'000);
                         }});
    else if (transactions)
      addTransactions();
    else
      addTraffic();
    if (m_condition == QStringLiteral("groups")) addGroups();
    if (loss) addLoss();
    if (m_condition == QStringLiteral("killed") || m_condition == QStringLiteral("recovered") ||
        m_condition == QStringLiteral("history")) {
      m_steps.push_back({tr("the leader's death"), [this] {
                           const auto* partition = observe::findPartition(*m_window.bridge().snapshot(), kShown);
                           if (partition == nullptr || partition->leader == kNoNode) return false;
                           m_victim = partition->leader;
                           m_window.pick({Picked::What::Broker, m_victim, {}});
                           m_window.command(EngineBridge::BrokerCommand::Kill, m_victim);
                           return true;
                         }});
      m_steps.push_back({tr("another leader"), [this] {
                           const auto* partition = observe::findPartition(*m_window.bridge().snapshot(), kShown);
                           m_end = logEnd();
                           return partition != nullptr && partition->leader != kNoNode &&
                                  partition->leader != m_victim && partition->isr.size() == 2;
                         }});
      m_steps.push_back({tr("records under it"), [this] { return logEnd() >= m_end + 8; }});
    }
    if (m_condition == QStringLiteral("recovered")) {
      m_steps.push_back({tr("its return"), [this] {
                           m_window.command(EngineBridge::BrokerCommand::Restart, m_victim);
                           return true;
                         }});
      m_steps.push_back({tr("full ISRs again"), [this] {
                           m_end = logEnd();
                           return isrIsFull();
                         }});
      m_steps.push_back({tr("records after it"), [this] { return logEnd() >= m_end + 12; }});
    }
    if (m_condition.startsWith(QStringLiteral("map")) || m_condition == QStringLiteral("faults")) addFaults();
    if (m_condition == QStringLiteral("timeline")) addTimeline();
    if (m_condition == QStringLiteral("history")) addHistory();
    if (m_condition == QStringLiteral("table"))
      m_steps.push_back({tr("the table"), [this] {
                           m_window.clusterPage().showTable(true);
                           return held(300);
                         }});
    if (m_condition == QStringLiteral("partition"))
      m_steps.push_back({tr("the partition"), [this] {
                           m_window.pick({Picked::What::Partition, {}, kShown});
                           return held(300);
                         }});
  }
  await();
  m_timer.start();
}

void SceneShot::await() {
  m_inStep.start();
  m_wait.begin(m_step < m_steps.size() ? m_steps[m_step].what : tr("a still window"));
}

QString SceneShot::missing() const {
  const observe::ClusterSnapshot& cluster = *m_window.bridge().newest();
  if (cluster.brokers.empty()) return tr("no broker was started");
  QStringList lacks;
  for (const observe::BrokerSnapshot& node : cluster.brokers)
    if (node.state != observe::BrokerState::Running)
      lacks << tr("%1 is %2").arg(nodeText(node), lookOf(node.state).word);
  const auto* topic = observe::findTopic(cluster, kShown.topic);
  if (topic == nullptr)
    return (lacks << tr("there is no topic %1").arg(fromUtf8(kShown.topic))).join(QLatin1String(", "));
  for (const observe::PartitionSnapshot& partition : topic->partitions)
    if (partition.leader == kNoNode)
      lacks << tr("%1 has no leader").arg(partitionText({topic->name, partition.index}));
    else if (partition.isr.size() < partition.replicas.size())
      lacks << tr("%1 has %2 of %3 in sync")
                   .arg(partitionText({topic->name, partition.index}))
                   .arg(partition.isr.size())
                   .arg(partition.replicas.size());
  // What a client said when it could not begin.
  if (!m_problem.isEmpty()) lacks << m_problem;
  return lacks.join(QLatin1String(", "));
}

void SceneShot::giveUp(const QString& problem) {
  m_timer.stop();
  m_wait.end();
  m_problem = problem;
  Q_EMIT finished(1);
}

void SceneShot::look() {
  // What was read is not looked at; the consumer goes on.
  m_reader.take();
  if (m_step < m_steps.size()) {
    // Nothing will come of a launch that failed.
    if (const QString error = m_window.launchPage().error(); !error.isEmpty()) return giveUp(error);
    if (m_steps[m_step].reached()) {
      ++m_step;
      await();
    }
    return;
  }
  // Between two records: nothing is on its way.
  if (!m_window.clusterPage().belts().isSettled() && m_inStep.elapsed() < 3000) return;
  m_timer.stop();
  m_wait.end();
  take();
}

void SceneShot::take() {
  if (m_window.grab().save(m_file)) {
    Q_EMIT finished(0);
    return;
  }
  m_problem = tr("%1 cannot be written").arg(m_file);
  Q_EMIT finished(1);
}

}  // namespace tidemark::widgets
