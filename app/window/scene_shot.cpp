#include "scene_shot.h"

#include <algorithm>

#include <QPixmap>

#include "belts/belts_view.h"
#include "launch/launch_page.h"
#include "main_window.h"
#include "views/cluster_page.h"

namespace tidemark::widgets {

namespace {

const TopicPartition kShown{"orders", PartitionIndex(0)};
/// A machine that builds at the same time is slow.
constexpr int kLimitMs = 60'000;

}  // namespace

QStringList SceneShot::conditions() {
  return {QStringLiteral("launch"), QStringLiteral("steady"),    QStringLiteral("killed"), QStringLiteral("recovered"),
          QStringLiteral("table"),  QStringLiteral("partition"), QStringLiteral("idle")};
}

SceneShot::SceneShot(MainWindow& window, QString condition, QString file, uint16_t port, QObject* parent)
    : QObject(parent), m_window(window), m_condition(std::move(condition)), m_file(std::move(file)), m_port(port) {
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

void SceneShot::begin() {
  if (m_condition == QStringLiteral("launch")) {
    m_steps.push_back({tr("the first page"), [this] { return held(400); }});
  } else {
    // As the first page would, but for the ports.
    observe::LaunchOptions options = m_window.launchPage().options();
    options.port = m_port;
    const bool idle = m_condition == QStringLiteral("idle");
    m_window.launch(options, idle ? 0 : 6);
    m_steps.push_back({tr("full ISRs"), [this] { return isrIsFull(); }});
    if (idle)
      m_steps.push_back({tr("forty seconds"), [this] {
                           m_timer.setInterval(1000);
                           return held(40'000);
                         }});
    else
      addTraffic();
    if (m_condition == QStringLiteral("killed") || m_condition == QStringLiteral("recovered")) {
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
  m_inStep.start();
  m_timer.start();
}

void SceneShot::look() {
  // What was read is not looked at; the consumer goes on.
  m_reader.take();
  if (m_step < m_steps.size()) {
    if (m_steps[m_step].reached()) {
      ++m_step;
      m_inStep.restart();
    } else if (m_inStep.elapsed() > kLimitMs) {
      m_timer.stop();
      m_problem = tr("waited in vain for %1").arg(m_steps[m_step].what);
      if (!m_window.launchPage().problem().isEmpty())
        m_problem += QStringLiteral(": ") + m_window.launchPage().problem();
      Q_EMIT finished(1);
    }
    return;
  }
  // Between two records: nothing is on its way.
  if (!m_window.clusterPage().belts().isSettled() && m_inStep.elapsed() < 3000) return;
  m_timer.stop();
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
