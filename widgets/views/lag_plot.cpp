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
  setAccessibleName(tr("Lag behind the leader over time"));
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

void LagPlot::draw(const std::vector<Line>& lines, const std::vector<Mark>& marks, const TimeAxis& axis) {
  std::vector<NodeId> brokers;
  for (const Line& line : lines) brokers.push_back(line.broker);
  const void* copy = lines.empty() ? nullptr : lines[0].copy;
  const auto end = std::min(axis.end(), axis.now());
  const bool same = brokers == m_drawnBrokers && copy == m_drawnCopy && axis.cursor() == m_drawnCursor;
  int64_t digest = static_cast<int64_t>(marks.size());
  for (const Line& line : lines)
    if (line.copy != nullptr && !line.copy->lag.points().empty()) {
      const TimelineSeries::Point& last = line.copy->lag.points().back();
      digest = digest * 31 + last.value + last.at.time_since_epoch().count();
    }
  for (const Mark& mark : marks) digest = digest * 31 + mark.at.time_since_epoch().count();
  // Time alone moves it by a few pixels a second.
  const auto pause = digest == m_drawnDigest ? std::chrono::milliseconds(950) : std::chrono::milliseconds(100);
  const auto moved = std::max(std::chrono::abs(end - m_drawn), std::chrono::abs(axis.begin() - m_drawnBegin));
  if (same && (axis.follows() ? moved < pause : moved.count() == 0 && digest == m_drawnDigest)) return;
  m_drawnDigest = digest;
  m_drawnBrokers = std::move(brokers);
  m_drawnCopy = copy;
  m_drawnCursor = axis.cursor();
  m_drawn = end;
  m_drawnBegin = axis.begin();
  const Palette& p = colors();
  m_plot->clearGraphs();
  m_plot->clearItems();
  QCPAxisRect* area = m_plot->axisRect();
  QCPAxis* keys = area->axis(QCPAxis::atBottom);
  QCPAxis* values = area->axis(QCPAxis::atLeft);
  const double span = std::chrono::duration<double>(axis.span()).count();
  const auto keyAt = [&axis](platform::WallTime time) {
    return std::chrono::duration<double>(time - axis.end()).count();
  };
  const auto upright = [&](double at, const QPen& pen) {
    auto* vertical = new QCPItemStraightLine(m_plot);
    vertical->point1->setAxes(keys, values);
    vertical->point2->setAxes(keys, values);
    vertical->point1->setCoords(at, 0);
    vertical->point2->setCoords(at, 1);
    vertical->setPen(pen);
  };
  double highest = 4;
  for (const Line& line : lines) {
    if (line.copy == nullptr || line.copy->lag.points().empty()) continue;
    const auto& points = line.copy->lag.points();
    QCPGraph* graph = m_plot->addGraph(keys, values);
    graph->setLineStyle(QCPGraph::lsStepLeft);
    // One line alone is the story of its broker, in the colour of being behind; several are told apart.
    graph->setPen(lines.size() == 1 ? QPen(p.warn, 1.8)
                                    : QPen(colorOf(line.broker), 1.6, kStyles[styleOf(line.broker)]));
    auto point = std::ranges::upper_bound(points, axis.begin(), {}, &TimelineSeries::Point::at);
    if (point != points.begin()) --point;
    int64_t newest = point->value;
    for (; point != points.end() && point->at <= end; ++point) {
      newest = point->value;
      graph->addData(std::max(keyAt(point->at), -span), static_cast<double>(point->value));
      highest = std::max(highest, static_cast<double>(point->value));
    }
    graph->addData(keyAt(end), static_cast<double>(newest));
  }
  double lastMark = -1e9;
  for (const Mark& mark : marks) {
    const double at = keyAt(mark.at);
    if (at < -span || at > 0) continue;
    upright(at, QPen(mark.grave ? p.bad : p.warn, 1, Qt::DashLine));
    auto* text = new QCPItemText(m_plot);
    text->position->setTypeX(QCPItemPosition::ptPlotCoords);
    text->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    text->position->setAxes(keys, values);
    text->position->setAxisRect(area);
    // Two that stand close together are told in two lines.
    text->position->setCoords(at, std::abs(at - lastMark) < span * 0.3 ? 0.2 : 0.04);
    lastMark = at;
    text->setPositionAlignment(Qt::AlignTop | (at < -span * 0.75 ? Qt::AlignLeft : Qt::AlignRight));
    text->setPadding({4, 1, 5, 0});
    text->setText(mark.word);
    text->setFont(Theme::body(10.5, QFont::Medium));
    text->setColor(mark.grave ? p.badText : p.warnText);
  }
  if (axis.cursor()) upright(keyAt(*axis.cursor()), QPen(axis.held() ? p.fenced : p.accent, 1.4));
  keys->setRange(-span, span * 0.012);
  values->setRange(-highest * 0.06, highest * 1.24);
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

}  // namespace tidemark::widgets
