// QCustomPlot's header is written with Qt's keywords.
#undef QT_NO_KEYWORDS
#include "timeline/timeline_plot.h"

#include <algorithm>
#include <cmath>

#include <QPainter>
#include <QTimer>
#include <QVBoxLayout>

#include <qcustomplot.h>

#include "belts/belt_viewport.h"
#include "text/format.h"
#include "theme/draw.h"
#include "theme/theme.h"
#include "timeline/moment_ticker.h"
#include "timeline/time_mouse.h"

namespace tidemark::widgets {

namespace {

constexpr Qt::PenStyle kStrokes[] = {Qt::SolidLine, Qt::DashLine, Qt::DotLine};
constexpr int kPauseMs = 100;
constexpr double kOffsetsShare = 2.2;
constexpr int kTopMargin = 12;

double keyOf(platform::WallTime time) {
  return static_cast<double>(time.time_since_epoch().count()) / 1000;
}

size_t strokeOf(NodeId broker) {
  return static_cast<size_t>(std::max(0, broker.value() - 1)) % std::size(kStrokes);
}

QPen penOf(NodeId broker) {
  return {colors().brokers[strokeOf(broker)], 1.7, kStrokes[strokeOf(broker)]};
}

/// Offsets in groups of three; nothing between whole numbers.
class CountTicker : public QCPAxisTicker {
 protected:
  double getTickStep(const QCPRange& range) override { return niceStep(range.size() / mTickCount); }
  QString getTickLabel(double tick, const QLocale&, QChar, int) override {
    return std::abs(tick - std::round(tick)) > 0.01 || tick < 0 ? QString()
                                                                : grouped(static_cast<int64_t>(std::llround(tick)));
  }
};

}  // namespace

void TimelinePlot::Bounds::add(double value) {
  least = any ? std::min(least, value) : value;
  most = any ? std::max(most, value) : value;
  any = true;
}

/// Names at the left, what holds at the cursor at the right, the cursor between them: painted over the plot, so that
/// moving the pointer draws nothing else anew.
class TimelinePlot::Readings : public QWidget {
 public:
  Readings(TimelinePlot& plot, const TimeAxis& axis) : QWidget(&plot), m_plot(plot), m_axis(axis) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    connect(&axis, &TimeAxis::cursorChanged, this, qOverload<>(&QWidget::update));
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Palette& p = colors();
    const TimelinePartition* partition = m_plot.shown();
    const double lagTop = m_plot.m_lags->outerRect().top();
    const QFont head = Theme::body(13, QFont::DemiBold);
    drawLine(painter, 16, 25, TimelinePlot::tr("Offsets"), head, p.ink);
    drawLine(painter, 16, lagTop + 18, TimelinePlot::tr("Lag"), head, p.ink);
    drawLine(painter, 16, lagTop + 34, TimelinePlot::tr("records behind"), Theme::body(11.5), p.muted);
    drawLine(painter, 16, height() - 12, TimelinePlot::tr("time"), Theme::body(11.5), p.muted);
    if (partition == nullptr) return;
    const double right = width() - kTimelineRight + 14;
    const double edge = width() - 16;
    const auto now = m_axis.cursor().value_or(m_axis.end());
    const QFont name = Theme::body(11.5);
    const QFont figure = Theme::mono(12, QFont::DemiBold);
    const auto reading = [&](double y, const QString& what, const std::optional<int64_t>& value, const QColor& color) {
      drawLine(painter, right, y, what, name, p.muted);
      drawLine(painter, edge, y, value ? grouped(*value) : QStringLiteral("–"), figure, color, Qt::AlignRight);
    };
    double y = 43;
    const auto legend = [&](const QString& what, const QPen& pen) {
      painter.setPen(pen);
      painter.drawLine(QPointF(16, y - 4), QPointF(38, y - 4));
      drawLine(painter, 45, y, what, name, p.muted);
    };
    legend(TimelinePlot::tr("HW"), QPen(p.highWatermark, 3));
    reading(25, TimelinePlot::tr("HW"), partition->highWatermark.at(now), p.highWatermark);
    double line = 43;
    double lagLine = lagTop + 18;
    for (const auto& [broker, copy] : partition->copies) {
      y += 18;
      const QString number = QString::number(broker.value());
      if (y < lagTop - 6) legend(TimelinePlot::tr("LEO %1").arg(number), penOf(broker));
      reading(line, number, copy.logEnd.at(now), colors().brokers[strokeOf(broker)]);
      line += 18;
      const TimelineStretch* stretch = copy.at(now);
      if (stretch != nullptr && stretch->leader) {
        drawLine(painter, right, lagLine, number, name, p.muted);
        drawLine(painter, edge, lagLine, TimelinePlot::tr("leader"), Theme::body(11.5, QFont::DemiBold),
                 colors().brokers[strokeOf(broker)], Qt::AlignRight);
      } else {
        reading(lagLine, number, copy.lag.at(now), colors().brokers[strokeOf(broker)]);
      }
      lagLine += 18;
    }
    if (!m_axis.cursor()) return;
    const double x = kTimelineLeft + m_axis.part(*m_axis.cursor()) * (width() - kTimelineLeft - kTimelineRight);
    if (x < kTimelineLeft || x > width() - kTimelineRight) return;
    const bool held = m_axis.held() == m_axis.cursor();
    painter.setPen(QPen(held ? p.fenced : p.accent, 1.6));
    painter.drawLine(QPointF(x, 0), QPointF(x, height() - 26));
    const QString time = timeText(*m_axis.cursor());
    const double half = textWidth(time, figure) / 2 + 8;
    const QRectF pill(x - half, height() - 27, 2 * half, 20);
    painter.setPen(Qt::NoPen);
    painter.setBrush(held ? p.fenced : p.button);
    painter.drawRoundedRect(pill, 10, 10);
    drawLine(painter, x, pill.center().y() + 4.3, time, figure, held ? p.onViolet : p.onButton, Qt::AlignHCenter);
  }

 private:
  TimelinePlot& m_plot;
  const TimeAxis& m_axis;
};

TimelinePlot::TimelinePlot(TimeAxis& axis, const TimelinePast& past, QWidget* parent)
    : QWidget(parent), m_axis(axis), m_past(past), m_plot(new QCustomPlot(this)) {
  setMinimumHeight(220);
  setAccessibleName(tr("High watermark, log ends and lag over time"));
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(1, 1, 1, 1);
  down->addWidget(m_plot);
  setProperty("kind", QStringLiteral("card"));
  setAttribute(Qt::WA_StyledBackground);
  m_plot->plotLayout()->clear();
  m_plot->plotLayout()->setRowSpacing(0);
  m_offsets = new QCPAxisRect(m_plot, true);
  m_lags = new QCPAxisRect(m_plot, true);
  m_plot->plotLayout()->addElement(0, 0, m_offsets);
  m_plot->plotLayout()->addElement(1, 0, m_lags);
  m_plot->plotLayout()->setRowStretchFactor(0, kOffsetsShare);
  makeRect(m_offsets, false);
  makeRect(m_lags, true);
  m_mouse = new TimeMouse(axis, m_plot);
  connect(m_mouse, &TimeMouse::hovered, this, &TimelinePlot::hovered);
  connect(m_mouse, &TimeMouse::clicked, this, &TimelinePlot::clicked);
  connect(m_mouse, &TimeMouse::left, this, &TimelinePlot::left);
  m_readings = new Readings(*this, axis);
  m_readings->raise();
  colorize();
  connect(&axis, &TimeAxis::rangeChanged, this, &TimelinePlot::take);
  connect(&Theme::instance(), &Theme::changed, this, [this] {
    colorize();
    take();
  });
}

void TimelinePlot::makeRect(QCPAxisRect* rect, bool withTimes) {
  rect->setAutoMargins(QCP::msNone);
  // The frame's own line is a pixel.
  rect->setMargins(
      {static_cast<int>(kTimelineLeft) - 1, kTopMargin, static_cast<int>(kTimelineRight) - 1, withTimes ? 34 : 6});
  QCPAxis* keys = rect->axis(QCPAxis::atBottom);
  QCPAxis* values = rect->axis(QCPAxis::atLeft);
  keys->setTicker(QSharedPointer<MomentTicker>::create(*keys, 1e-3));
  keys->setTickLabels(withTimes);
  keys->setTicks(withTimes);
  keys->setSubTicks(false);
  keys->setTickLabelPadding(8);
  keys->grid()->setVisible(false);
  values->setTicker(QSharedPointer<CountTicker>::create());
  values->ticker()->setTickCount(withTimes ? 3 : 6);
  values->setSubTicks(false);
  values->setTickLength(0, 0);
  values->setTickLabelPadding(10);
  for (QCPAxis* unused : {rect->axis(QCPAxis::atTop), rect->axis(QCPAxis::atRight)})
    if (unused != nullptr) unused->setVisible(false);
  for (QCPAxis* axis : {keys, values}) {
    axis->setTickLabelFont(Theme::mono(11.5));
    axis->setLayer(QStringLiteral("axes"));
    axis->grid()->setLayer(QStringLiteral("grid"));
  }
}

void TimelinePlot::colorize() {
  const Palette& p = colors();
  m_plot->setBackground(p.panel);
  for (QCPAxisRect* rect : {m_offsets, m_lags})
    for (QCPAxis* axis : {rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft)}) {
      axis->setTickLabelColor(p.muted);
      axis->setBasePen(axis->axisType() == QCPAxis::atLeft ? QPen(Qt::NoPen) : QPen(p.line, 1));
      axis->setTickPen(QPen(p.line, 1));
      axis->grid()->setPen(QPen(p.grid, 1));
      axis->grid()->setZeroLinePen(QPen(p.grid, 1));
    }
}

const TimelinePartition* TimelinePlot::shown() const {
  return m_partition ? m_past.find(*m_partition) : nullptr;
}

void TimelinePlot::setPartition(const std::optional<TopicPartition>& partition) {
  m_partition = partition;
  take();
}

void TimelinePlot::take() {
  if (m_due || !isVisible()) return;
  const qint64 gone = m_sinceDrawn.isValid() ? m_sinceDrawn.elapsed() : kPauseMs;
  if (gone >= kPauseMs) return draw();
  m_due = true;
  QTimer::singleShot(kPauseMs - gone, this, [this] {
    m_due = false;
    draw();
  });
}

void TimelinePlot::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  m_readings->setGeometry(rect());
}

void TimelinePlot::addSeries(const TimelineSeries& series, QCPAxisRect* rect, const QPen& pen, bool peaks,
                             Bounds& bounds) {
  const auto& points = series.points();
  QCPGraph* graph = m_plot->addGraph(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
  graph->setLineStyle(QCPGraph::lsStepLeft);
  graph->setPen(pen);
  if (points.empty()) return;
  auto from = std::ranges::upper_bound(points, m_axis.begin(), {}, &TimelineSeries::Point::at);
  if (from != points.begin()) --from;
  const auto to = std::ranges::upper_bound(points, m_axis.end(), {}, &TimelineSeries::Point::at);
  // No more points than can be told apart: the newest of a pixel, of lags the greatest.
  const double pixel = std::chrono::duration<double>(m_axis.span()).count() / std::max(1, rect->width());
  QVector<QCPGraphData> drawn;
  for (auto point = from; point != to; ++point) {
    const double key = keyOf(point->at);
    const auto value = static_cast<double>(point->value);
    bounds.add(value);
    if (!drawn.isEmpty() && key - drawn.back().key < pixel / 2) {
      drawn.back().value = peaks ? std::max(drawn.back().value, value) : value;
      continue;
    }
    drawn.push_back({key, value});
  }
  if (from == to) return;
  drawn.push_back({keyOf(std::min(m_axis.end(), m_axis.now())), static_cast<double>(std::prev(to)->value)});
  m_points += static_cast<int>(drawn.size());
  graph->data()->set(drawn, true);
}

void TimelinePlot::addShades() {
  const Palette& p = colors();
  for (const TimelineFault& fault : m_past.faults()) {
    const auto until = fault.end.value_or(m_axis.end());
    if (until < m_axis.begin() || fault.begin > m_axis.end()) continue;
    const QColor color = fault.severe ? p.bad : p.fault;
    QColor soft = color;
    soft.setAlphaF(p.dark ? 0.10F : 0.06F);
    for (QCPAxisRect* rect : {m_offsets, m_lags}) {
      auto* shade = new QCPItemRect(m_plot);
      shade->setLayer(QStringLiteral("background"));
      shade->setPen(Qt::NoPen);
      shade->setBrush(soft);
      shade->setClipAxisRect(rect);
      for (const auto& [position, time, y] :
           {std::tuple(shade->topLeft, fault.begin, -0.2), std::tuple(shade->bottomRight, until, 1.2)}) {
        position->setTypeX(QCPItemPosition::ptPlotCoords);
        position->setTypeY(QCPItemPosition::ptAxisRectRatio);
        position->setAxes(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
        position->setAxisRect(rect);
        position->setCoords(keyOf(time), y);
      }
      for (const auto& edge : {std::optional(fault.begin), fault.end}) {
        if (!edge) continue;
        auto* line = new QCPItemStraightLine(m_plot);
        line->setLayer(QStringLiteral("background"));
        line->setClipAxisRect(rect);
        line->setPen(QPen(color, 1, Qt::DotLine));
        for (const auto& [position, y] : {std::pair(line->point1, 0.0), std::pair(line->point2, 1.0)}) {
          position->setAxes(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
          position->setCoords(keyOf(*edge), y);
        }
      }
    }
  }
}

void TimelinePlot::draw() {
  m_sinceDrawn.restart();
  ++m_drawings;
  m_points = 0;
  m_plot->clearGraphs();
  m_plot->clearItems();
  Bounds offsets;
  Bounds lags;
  lags.add(0);
  if (const TimelinePartition* partition = shown(); partition != nullptr) {
    for (const auto& [broker, copy] : partition->copies) {
      addSeries(copy.logEnd, m_offsets, penOf(broker), false, offsets);
      addSeries(copy.lag, m_lags, penOf(broker), true, lags);
    }
    addSeries(partition->highWatermark, m_offsets, QPen(colors().highWatermark, 2.6), false, offsets);
  }
  addShades();
  const double room = std::max(4.0, offsets.most - offsets.least) * 0.08;
  m_offsets->axis(QCPAxis::atLeft)->setRange(offsets.least - room, offsets.most + room);
  const double most = std::max(4.0, lags.most);
  m_lags->axis(QCPAxis::atLeft)->setRange(-most * 0.06, most * 1.15);
  for (QCPAxisRect* rect : {m_offsets, m_lags})
    rect->axis(QCPAxis::atBottom)->setRange(keyOf(m_axis.begin()), keyOf(m_axis.end()));
  m_plot->replot(QCustomPlot::rpQueuedReplot);
  m_readings->update();
}

}  // namespace tidemark::widgets
