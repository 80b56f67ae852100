#include "views/status_line.h"

#include <algorithm>

#include <QDateTime>
#include <QDir>
#include <QPainter>
#include <QTimer>

#include "text/format.h"
#include "text/node_words.h"
#include "theme/theme.h"

namespace tidemark::widgets {

StatusLine::StatusLine(EngineBridge& bridge, QWidget* parent) : QWidget(parent), m_bridge(bridge) {
  setFixedHeight(22);
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (frame.anotherCluster) {
      m_produced.clear();
      m_fetched.clear();
    }
    if (frame.snapshot != frame.previous) take();
  });
  connect(&bridge, &EngineBridge::second, this, [this] {
    if (isVisible()) take();
  });
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
  take();
}

void StatusLine::say(const QString& text) {
  m_said = text;
  setAccessibleDescription(text);
  const int ticket = ++m_saying;
  QTimer::singleShot(6000, this, [this, ticket] {
    if (ticket != m_saying) return;
    m_said.clear();
    setAccessibleDescription({});
    update();
  });
  update();
}

void StatusLine::take() {
  const observe::ClusterSnapshot& cluster = *m_bridge.snapshot();
  QString left = tr("ready");
  QString right = tr("F1 shortcuts");
  bool trouble = false;
  if (!cluster.brokers.empty()) {
    const qint64 now =
        std::chrono::duration_cast<std::chrono::milliseconds>((cluster.at + m_bridge.age()).time_since_epoch()).count();
    int64_t produced = 0;
    int64_t fetched = 0;
    for (const observe::BrokerSnapshot& broker : cluster.brokers) {
      produced += broker.producedBytes;
      fetched += broker.fetchedBytes;
    }
    m_produced.add(now, static_cast<double>(produced));
    m_fetched.add(now, static_cast<double>(fetched));
    int partitions = 0;
    int under = 0;
    int offline = 0;
    int starved = 0;
    for (const observe::TopicSnapshot& topic : cluster.topics)
      for (const observe::PartitionSnapshot& partition : topic.partitions) {
        ++partitions;
        if (partition.leader == kNoNode)
          ++offline;
        else if (partition.underReplicated())
          ++under;
        starved += observe::isBelowMinInSync(topic, partition);
      }
    QStringList parts;
    const NodeCounts nodes = countNodes(cluster);
    parts << (nodes.brokersUp == nodes.brokers
                  ? tr("%n broker(s)", nullptr, nodes.brokers)
                  : tr("%1 of %n broker(s) up", nullptr, nodes.brokers).arg(nodes.brokersUp));
    if (nodes.controllers > 0)
      parts << (nodes.controllersUp == nodes.controllers
                    ? tr("%n controller(s)", nullptr, nodes.controllers)
                    : tr("%1 of %n controller(s) up", nullptr, nodes.controllers).arg(nodes.controllersUp));
    parts << tr("%n partition(s)", nullptr, partitions);
    parts << tr("produce %1").arg(rateText(m_produced.perSecond(now)))
          << tr("fetch %1").arg(rateText(m_fetched.perSecond(now)));
    if (under > 0) parts << tr("%n partition(s) under-replicated", nullptr, under);
    if (starved > 0) parts << tr("%n partition(s) below min.insync", nullptr, starved);
    if (offline > 0) parts << tr("%n partition(s) without a leader", nullptr, offline);
    trouble = offline > 0 || starved > 0;
    left = parts.join(QStringLiteral(" · "));
    QString folder = fromUtf8(cluster.dataFolder);
    if (folder.startsWith(QDir::homePath())) folder = QLatin1Char('~') + folder.mid(QDir::homePath().size());
    right = folder.isEmpty() ? tr("data: a temporary folder, removed at the end") : tr("data: %1").arg(folder);
    if (cluster.lostEvents > 0)
      right = tr("%1 event(s) lost", nullptr, pluralOf(static_cast<int64_t>(cluster.lostEvents)))
                  .arg(grouped(static_cast<int64_t>(cluster.lostEvents))) +
              QStringLiteral(" · ") + right;
  }
  if (left == m_left && right == m_right && trouble == m_trouble) return;
  m_left = left;
  m_right = right;
  m_trouble = trouble;
  setAccessibleName(m_left);
  update();
}

void StatusLine::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Palette& p = colors();
  painter.setFont(Theme::body(12));
  const QFontMetricsF metrics(painter.font());
  painter.setPen(!m_said.isEmpty() ? p.ink : m_trouble ? p.badText : p.muted);
  const QString& left = m_said.isEmpty() ? m_left : m_said;
  painter.drawText(QPointF(14, 15), metrics.elidedText(left, Qt::ElideRight, width() - 28));
  // What runs comes first; where it lies has the room that is left.
  const double room = width() - 28 - metrics.horizontalAdvance(left) - 24;
  if (room < 120) return;
  painter.setPen(p.muted);
  const QString right = metrics.elidedText(m_right, Qt::ElideMiddle, room);
  painter.drawText(QPointF(width() - 14 - metrics.horizontalAdvance(right), 15), right);
}

}  // namespace tidemark::widgets
