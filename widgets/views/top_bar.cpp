#include "views/top_bar.h"

#include <algorithm>
#include <map>

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>
#include <QTimer>
#include <QToolTip>

#include "models/bootstrap.h"
#include "text/format.h"
#include "theme/shapes.h"
#include "theme/theme.h"

namespace tidemark::widgets {

/// Where clients begin, with a copy button; the whole of it copies.
class TopBar::Bootstrap : public QPushButton {
 public:
  explicit Bootstrap(QWidget* parent) : QPushButton(parent) {
    setCursor(Qt::PointingHandCursor);
    setProperty("kind", QStringLiteral("bootstrap"));
    setAccessibleName(TopBar::tr("Copy the bootstrap addresses"));
    connect(this, &QPushButton::clicked, this, [this] {
      QApplication::clipboard()->setText(m_all);
      m_copied = true;
      update();
      QTimer::singleShot(1400, this, [this] {
        m_copied = false;
        update();
      });
    });
  }
  /// Only the address; the whole of it still copies.
  void setCompact(bool compact) {
    if (compact == m_compact) return;
    m_compact = compact;
    updateGeometry();
    update();
  }
  /// One is shown, all are copied.
  void setAddress(const QString& address, const QString& all) {
    if (address == m_address && all == m_all) return;
    m_address = address;
    m_all = all;
    setToolTip(
        TopBar::tr("Any Kafka client can connect here. A click copies the addresses of all brokers (Ctrl+B):\n%1")
            .arg(all));
    updateGeometry();
    update();
  }
  QSize sizeHint() const override {
    if (m_compact)
      return {qCeil(24 + QFontMetricsF(Theme::mono(12.5, QFont::DemiBold)).horizontalAdvance(m_address)), 28};
    return {qCeil(12 + label() + 10 + QFontMetricsF(Theme::mono(12.5, QFont::DemiBold)).horizontalAdvance(m_address) +
                  18 + std::max(width(TopBar::tr("copy")), width(TopBar::tr("copied"))) + 12),
            28};
  }
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Palette& p = colors();
    painter.setPen(QPen(hasFocus() || underMouse() ? p.accent : p.selectionLine, 1));
    painter.setBrush(p.selection);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    const double baseline = height() / 2.0 + 4.7;
    if (!m_compact) {
      painter.setFont(Theme::body(11.5));
      painter.setPen(p.muted);
      painter.drawText(QPointF(12, baseline), TopBar::tr("bootstrap"));
    }
    painter.setFont(Theme::mono(12.5, QFont::DemiBold));
    painter.setPen(m_compact && m_copied ? p.okText : p.accent);
    painter.drawText(QPointF(m_compact ? 12 : 12 + label() + 10, baseline), m_address);
    if (m_compact) return;
    const QString copy = m_copied ? TopBar::tr("copied") : TopBar::tr("copy");
    painter.setFont(Theme::body(11.5, QFont::DemiBold));
    painter.setPen(m_copied ? p.okText : p.accent);
    painter.drawText(QPointF(QPushButton::width() - 12 - width(copy), baseline), copy);
  }

 private:
  static double width(const QString& text) {
    return QFontMetricsF(Theme::body(11.5, QFont::DemiBold)).horizontalAdvance(text);
  }
  static double label() { return QFontMetricsF(Theme::body(11.5)).horizontalAdvance(TopBar::tr("bootstrap")); }
  QString m_address;
  QString m_all;
  bool m_compact = false;
  bool m_copied = false;
};

/// External clients, CPU and memory; painted.
class TopBar::Usage : public QWidget {
 public:
  using QWidget::QWidget;
  void setClients(const observe::ClusterSnapshot& cluster) {
    std::map<QString, int> bySoftware;
    std::map<QString, int> names;
    int count = 0;
    std::map<std::string, int> clients;
    for (const observe::ConnectionSnapshot& connection : cluster.connections) {
      if (connection.own) continue;
      // One client has a connection to each broker: what differs by name or address is another client.
      if (!clients.emplace(connection.client + '\n' + connection.peer.host + '\n' + connection.softwareName, 0).second)
        continue;
      ++count;
      QString software = fromUtf8(connection.softwareName);
      ++names[software];
      if (software.isEmpty()) software = TopBar::tr("software not told");
      if (!connection.softwareVersion.empty()) software += QLatin1Char(' ') + fromUtf8(connection.softwareVersion);
      ++bySoftware[software + QStringLiteral("  ·  ") + fromUtf8(connection.client)];
    }
    if (count == m_clients && bySoftware == m_bySoftware) return;
    m_clients = count;
    m_bySoftware = std::move(bySoftware);
    QStringList told;
    for (const auto& [name, copies] : names)
      if (!name.isEmpty()) told << (copies > 1 ? TopBar::tr("%1 × %2").arg(name).arg(copies) : name);
    m_names = told.join(QStringLiteral(" · "));
    setAccessibleName(TopBar::tr("%n external client(s)", nullptr, m_clients) + QLatin1Char(' ') + m_names);
    updateGeometry();
    update();
  }
  void setProcess(const std::optional<ProcessUsage::Sample>& sample) {
    const QString text =
        sample ? TopBar::tr("CPU %1 %   %2").arg(qRound(sample->cpuPercent)).arg(bytesText(sample->residentBytes))
               : QString();
    if (text == m_process) return;
    m_process = text;
    updateGeometry();
    update();
  }
  /// Bytes of what happened, of those that the process takes.
  void setRemembered(size_t bytes) { m_remembered = static_cast<int64_t>(bytes); }
  void setRunning(bool running) {
    m_running = running;
    updateGeometry();
    update();
  }
  /// Only how many clients there are.
  void setCompact(bool compact) {
    if (compact == m_compact) return;
    m_compact = compact;
    updateGeometry();
    update();
  }
  QSize sizeHint() const override {
    const QFontMetricsF metrics(Theme::body(12.5));
    if (!m_running) return {qCeil(metrics.horizontalAdvance(TopBar::tr("no cluster is running"))), 28};
    if (m_compact) return minimumSizeHint();
    const double names = m_names.isEmpty() ? 0 : std::min(260.0, metrics.horizontalAdvance(m_names) + 14);
    return {qCeil(fixedWidth() + names), 28};
  }
  /// The names give way first, then what the process takes.
  QSize minimumSizeHint() const override {
    if (!m_running) return sizeHint();
    return {qCeil(18 + QFontMetricsF(Theme::body(12.5)).horizontalAdvance(clients())), 28};
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    const Palette& p = colors();
    painter.setFont(Theme::body(12.5));
    const QFontMetricsF metrics(painter.font());
    const double baseline = height() / 2.0 + 4.7;
    painter.setPen(p.muted);
    if (!m_running) {
      const QString text = TopBar::tr("no cluster is running");
      painter.drawText(QPointF(width() - metrics.horizontalAdvance(text), baseline), text);
      return;
    }
    const bool room = width() >= fixedWidth();
    if (room) painter.drawText(QPointF(width() - metrics.horizontalAdvance(m_process), baseline), m_process);
    drawShape(painter, m_clients > 0 ? StateShape::Disc : StateShape::Ring, {6, height() / 2.0}, 10,
              m_clients > 0 ? p.ok : p.muted);
    painter.setPen(p.ink);
    painter.drawText(QPointF(18, baseline), clients());
    const double names = 18 + metrics.horizontalAdvance(clients()) + 10;
    const double end = room ? width() - metrics.horizontalAdvance(TopBar::tr("CPU 000 %   000 MB")) - 20 : width();
    if (m_names.isEmpty() || end - names < 40) return;
    painter.setPen(p.muted);
    painter.drawText(QPointF(names, baseline), metrics.elidedText(m_names, Qt::ElideRight, end - names));
  }
  bool event(QEvent* event) override {
    if (event->type() == QEvent::ToolTip && m_running) {
      QStringList lines;
      for (const auto& [software, count] : m_bySoftware)
        lines << (count > 1 ? TopBar::tr("%1  × %2").arg(software).arg(count) : software);
      if (lines.isEmpty()) lines << TopBar::tr("No client from outside this window is connected.");
      lines << TopBar::tr("About %1 of the memory remember what happened; of snapshots at most %2 are kept.")
                   .arg(bytesText(m_remembered), bytesText(EngineBridge::kRememberedBytes));
      QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), lines.join(QLatin1Char('\n')), this);
      return true;
    }
    return QWidget::event(event);
  }

 private:
  QString clients() const {
    return m_compact ? QString::number(m_clients) : TopBar::tr("%n external client(s)", nullptr, m_clients);
  }
  double fixedWidth() const {
    const QFontMetricsF metrics(Theme::body(12.5));
    return 18 + metrics.horizontalAdvance(clients()) + 34 + metrics.horizontalAdvance(TopBar::tr("CPU 000 %   000 MB"));
  }
  bool m_running = false;
  bool m_compact = false;
  int m_clients = 0;
  std::map<QString, int> m_bySoftware;
  /// "librdkafka · kafkajs × 2".
  QString m_names;
  QString m_process;
  int64_t m_remembered = 0;
};

TopBar::TopBar(EngineBridge& bridge, QWidget* parent)
    : QWidget(parent),
      m_bridge(bridge),
      m_cluster(new QPushButton(tr("▶ Cluster"), this)),
      m_topic(new QPushButton(tr("+ Topic"), this)),
      m_produce(new QPushButton(tr("Produce…"), this)),
      m_consume(new QPushButton(tr("Consume…"), this)),
      m_fault(new QPushButton(tr("Fault ▾"), this)),
      m_menu(new QPushButton(QStringLiteral("⋯"), this)),
      m_bootstrap(new Bootstrap(this)),
      m_usage(new Usage(this)) {
  setFixedHeight(53);
  m_cluster->setProperty("kind", QStringLiteral("primary"));
  m_topic->setToolTip(tr("Create a topic (Ctrl+T)"));
  m_produce->setToolTip(tr("Write records into a topic (Ctrl+P)"));
  m_consume->setToolTip(tr("Read a topic's records (Ctrl+R)"));
  m_fault->setProperty("kind", QStringLiteral("danger"));
  m_menu->setToolTip(tr("View, theme, shortcuts (F10)"));
  m_menu->setAccessibleName(tr("Menu"));
  m_menu->setProperty("kind", QStringLiteral("quiet"));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(156, 12, 12, 13);
  layout->setSpacing(8);
  layout->addWidget(m_cluster);
  layout->addWidget(m_topic);
  layout->addWidget(m_produce);
  layout->addWidget(m_consume);
  layout->addWidget(m_fault);
  layout->addStretch();
  layout->addWidget(m_bootstrap);
  layout->addSpacing(14);
  layout->addWidget(m_usage);
  layout->addWidget(m_menu);
  for (QPushButton* button : {m_cluster, m_topic, m_produce, m_consume, m_fault}) button->setFixedHeight(28);
  // Wide enough for both of their words: neither moves its neighbours.
  setProducing(true);
  setConsuming(true);
  for (QPushButton* button : {m_produce, m_consume}) {
    button->ensurePolished();
    button->setMinimumWidth(button->sizeHint().width());
  }
  setProducing(false);
  setConsuming(false);
  connect(m_topic, &QPushButton::clicked, this, &TopBar::topicWanted);
  connect(m_produce, &QPushButton::clicked, this, &TopBar::produceWanted);
  connect(m_consume, &QPushButton::clicked, this, &TopBar::consumeWanted);
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (frame.snapshot != frame.previous) take();
  });
  connect(&bridge, &EngineBridge::second, this, [this] {
    if (!isVisible()) return;
    m_usage->setProcess(m_process.sample());
    m_usage->setRemembered(m_bridge.recording().bytes());
  });
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
  m_usage->setProcess(m_process.sample());
  setRunning(false);
}

void TopBar::setRunning(bool running) {
  m_running = running;
  for (QWidget* widget :
       {static_cast<QWidget*>(m_cluster), static_cast<QWidget*>(m_topic), static_cast<QWidget*>(m_produce),
        static_cast<QWidget*>(m_consume), static_cast<QWidget*>(m_fault), static_cast<QWidget*>(m_bootstrap)})
    widget->setVisible(running);
  m_usage->setRunning(running);
  take();
}

void TopBar::setRecorded() {
  for (QWidget* widget :
       {static_cast<QWidget*>(m_cluster), static_cast<QWidget*>(m_topic), static_cast<QWidget*>(m_produce),
        static_cast<QWidget*>(m_consume), static_cast<QWidget*>(m_fault), static_cast<QWidget*>(m_bootstrap)})
    widget->hide();
  m_running = false;
  update();
}

void TopBar::setProducing(bool producing) {
  m_produce->setText(producing ? tr("● Producing…") : tr("Produce…"));
}

void TopBar::setConsuming(bool consuming) {
  m_consume->setText(consuming ? tr("● Consuming…") : tr("Consume…"));
}

void TopBar::take() {
  const observe::ClusterSnapshot& cluster = *m_bridge.snapshot();
  m_bootstrap->setAddress(firstAddress(cluster), allAddresses(cluster));
  const QString hindrance = m_bridge.hindrance();
  m_fault->setEnabled(hindrance.isEmpty());
  m_fault->setToolTip(hindrance.isEmpty() ? tr("Break something on purpose (Ctrl+Shift+F)") : hindrance);
  m_usage->setClients(cluster);
}

void TopBar::resizeEvent(QResizeEvent*) {
  m_compact = width() < kCompactBelow;
  layout()->setContentsMargins(m_compact ? 56 : 156, 12, 12, 13);
  m_bootstrap->setCompact(m_compact);
  m_usage->setCompact(m_compact);
}

void TopBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Palette& p = colors();
  painter.fillRect(rect(), p.panel);
  painter.setPen(QPen(p.line, 1));
  painter.drawLine(QPointF(0, height() - 0.5), QPointF(width(), height() - 0.5));
  drawLogo(painter, {16, 16});
  if (m_compact && m_running) return;
  painter.setFont(Theme::body(16, QFont::Bold));
  painter.setPen(p.ink);
  painter.drawText(QPointF(60, 31), QStringLiteral("Tidemark"));
}

}  // namespace tidemark::widgets
