// QCustomPlot's header is written with Qt's keywords.
#undef QT_NO_KEYWORDS
#include "views/lag_plot.h"

#include <algorithm>

#include <QVBoxLayout>

#include <qcustomplot.h>

#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

constexpr Qt::PenStyle kStyles[] = {Qt::SolidLine, Qt::DashLine, Qt::DotLine};

size_t styleOf(NodeId broker) {
  return static_cast<size_t>(std::max(0, broker.value() - 1)) % std::size(kStyles);
}

}  // namespace

LagPlot::LagPlot(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(1, 1, 1, 1);
  layout->addWidget(m_plot);
  setProperty("kind", QStringLiteral("plotframe"));
  setAttribute(Qt::WA_StyledBackground);
  setFixedHeight(96);
  setAccessibleName(tr("Lag behind the leader over the last thirty seconds"));
  // The plot is the frame: no axes, no margins; the head above says what it is.
  m_plot->plotLayout()->clear();
  auto* area = new QCPAxisRect(m_plot, true);
  area->setAutoMargins(QCP::msNone);
  area->setMargins({0, 0, 0, 0});
  m_plot->plotLayout()->addElement(0, 0, area);
  for (QCPAxis* axis : area->axes()) {
    axis->setVisible(false);
    axis->grid()->setVisible(false);
  }
  m_plot->setAttribute(Qt::WA_TransparentForMouseEvents);
  colorize();
  connect(&Theme::instance(), &Theme::changed, this, [this] {
    colorize();
    m_drawn = {};
    m_plot->replot(QCustomPlot::rpQueuedReplot);
  });
}

QColor LagPlot::colorOf(NodeId broker) {
  return colors().brokers[styleOf(broker)];
}

QString LagPlot::strokeOf(NodeId broker) {
  static const QString kStrokes[] = {QStringLiteral("━━"), QStringLiteral("╍╍"), QStringLiteral("┅┅")};
  return kStrokes[styleOf(broker)];
}

void LagPlot::colorize() {
  const Palette& p = colors();
  m_plot->setBackground(p.plot);
}

void LagPlot::draw(const std::vector<Line>& lines, platform::WallTime now) {
  std::vector<NodeId> brokers;
  for (const Line& line : lines) brokers.push_back(line.broker);
  const void* copy = lines.empty() ? nullptr : lines[0].copy;
  const bool same = brokers == m_drawnBrokers && copy == m_drawnCopy;
  // Time alone moves it by nine pixels a second.
  int64_t digest = 0;
  for (const Line& line : lines)
    if (line.copy != nullptr && !line.copy->lag.empty())
      digest = digest * 31 + line.copy->lag.back().records + line.copy->lag.back().at.time_since_epoch().count() +
               line.copy->leftIsr.time_since_epoch().count() + line.copy->wentDown.time_since_epoch().count();
  const auto pause = digest == m_drawnDigest ? std::chrono::milliseconds(950) : std::chrono::milliseconds(100);
  if (same && now - m_drawn < pause && now >= m_drawn) return;
  m_drawnDigest = digest;
  m_drawnBrokers = std::move(brokers);
  m_drawnCopy = copy;
  m_drawn = now;
  const Palette& p = colors();
  m_plot->clearGraphs();
  m_plot->clearItems();
  QCPAxisRect* area = m_plot->axisRect();
  QCPAxis* keys = area->axis(QCPAxis::atBottom);
  QCPAxis* values = area->axis(QCPAxis::atLeft);
  const double span = std::chrono::duration<double>(PartitionPast::kLagKept).count();
  const auto secondsAgo = [now](platform::WallTime time) { return -std::chrono::duration<double>(now - time).count(); };
  double highest = 4;
  for (const Line& line : lines) {
    if (line.copy == nullptr || line.copy->lag.empty()) continue;
    QCPGraph* graph = m_plot->addGraph(keys, values);
    graph->setLineStyle(QCPGraph::lsStepLeft);
    // One line alone is the story of its broker, in the colour of being behind; several are told apart.
    graph->setPen(lines.size() == 1 ? QPen(p.warn, 1.8) : QPen(colorOf(line.broker), 1.6, kStyles[styleOf(line.broker)]));
    for (const LagSample& sample : line.copy->lag) {
      graph->addData(std::max(secondsAgo(sample.at), -span), static_cast<double>(sample.records));
      highest = std::max(highest, static_cast<double>(sample.records));
    }
    graph->addData(0, static_cast<double>(line.copy->lag.back().records));
  }
  double lastMark = -1e9;
  const auto mark = [&](platform::WallTime time, const QString& word, const QColor& lineColor,
                        const QColor& textColor) {
    const double at = secondsAgo(time);
    if (at < -span || at > 0) return;
    auto* vertical = new QCPItemStraightLine(m_plot);
    vertical->point1->setAxes(keys, values);
    vertical->point2->setAxes(keys, values);
    vertical->point1->setCoords(at, 0);
    vertical->point2->setCoords(at, 1);
    vertical->setPen(QPen(lineColor, 1, Qt::DashLine));
    auto* text = new QCPItemText(m_plot);
    text->position->setTypeX(QCPItemPosition::ptPlotCoords);
    text->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    text->position->setAxes(keys, values);
    text->position->setAxisRect(area);
    // Two that stand close together are told in two lines.
    text->position->setCoords(at, std::abs(at - lastMark) < span * 0.3 ? 0.2 : 0.04);
    lastMark = at;
    const bool atRight = at < -span * 0.75;
    text->setPositionAlignment(Qt::AlignTop | (atRight ? Qt::AlignLeft : Qt::AlignRight));
    text->setPadding({4, 1, 5, 0});
    text->setText(word);
    text->setFont(Theme::body(10.5, QFont::Medium));
    text->setColor(textColor);
  };
  if (lines.size() == 1 && lines[0].copy != nullptr) {
    const bool paused = lines[0].copy->broker == observe::BrokerState::Paused;
    mark(lines[0].copy->wentDown, paused ? tr("paused") : tr("down"), p.warn, p.warnText);
    mark(lines[0].copy->leftIsr, tr("out of ISR"), p.bad, p.badText);
  }
  keys->setRange(-span, span * 0.012);
  values->setRange(-highest * 0.06, highest * 1.24);
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

}  // namespace tidemark::widgets
