// QCustomPlot's header is written with Qt's keywords.
#undef QT_NO_KEYWORDS
#include "segments/index_plot.h"

#include <algorithm>
#include <cmath>

#include <QVBoxLayout>

#include <qcustomplot.h>

#include "belts/belt_viewport.h"
#include "segments/decimate.h"
#include "segments/index_overlay.h"
#include "text/format.h"
#include "theme/theme.h"
#include "theme/tool_tips.h"
#include "timeline/moment_ticker.h"

namespace tidemark::widgets {

namespace {

/// Offsets, grouped, at steps that are whole numbers.
class OffsetTicker : public QCPAxisTicker {
 protected:
  double getTickStep(const QCPRange& range) override { return std::max(1.0, niceStep(range.size() / 7.2)); }
  int getSubTickCount(double) override { return 0; }
  QString getTickLabel(double tick, const QLocale&, QChar, int) override {
    return tick < 0 ? QString() : grouped(std::llround(tick));
  }
};

/// Bytes, at steps that are powers of two.
class ByteTicker : public QCPAxisTicker {
 protected:
  double getTickStep(const QCPRange& range) override {
    m_step = std::max(1.0, std::exp2(std::ceil(std::log2(std::max(1.0, range.size() / 8)))));
    return m_step;
  }
  int getSubTickCount(double) override { return 0; }
  QString getTickLabel(double tick, const QLocale&, QChar, int) override {
    if (tick < 0) return {};
    static constexpr const char* kUnits[] = {"", " K", " M", " G"};
    size_t unit = 0;
    double step = m_step;
    for (; step >= 1024 && unit < 3; step /= 1024) ++unit;
    return grouped(std::llround(tick / std::pow(1024.0, static_cast<double>(unit)))) + QLatin1String(kUnits[unit]);
  }

 private:
  double m_step = 1;
};

}  // namespace

IndexPlot::IndexPlot(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_plot);
  setMinimumHeight(150);
  setAccessibleName(tr("Index of the segment as a curve. Press T for the same as a table."));
  m_plot->setFocusPolicy(Qt::NoFocus);
  m_plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
  m_plot->axisRect()->setRangeDrag(Qt::Horizontal);
  m_plot->axisRect()->setRangeZoom(Qt::Horizontal);
  m_plot->axisRect()->setAutoMargins(QCP::msNone);
  m_plot->axisRect()->setMargins({64, 6, 18, 42});
  m_plot->addGraph();
  m_plot->graph(0)->setAdaptiveSampling(false);
  m_plot->xAxis->setPadding(2);
  // What the stepping changes lies on a layer of its own.
  m_plot->addLayer(QStringLiteral("lookup"), m_plot->layer(QStringLiteral("main")), QCustomPlot::limAbove);
  m_plot->layer(QStringLiteral("lookup"))->setMode(QCPLayer::lmBuffered);
  m_overlay = new IndexOverlay(*this, m_plot);
  m_plot->installEventFilter(this);
  setWhich(Which::Offsets);
  colorize();
  connect(m_plot->xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this, [this] {
    if (m_filling) return;
    m_all = false;
    keepInside();
    refill();
  });
  connect(m_plot, &QCustomPlot::mouseDoubleClick, this, &IndexPlot::showAll);
  connect(&Theme::instance(), &Theme::changed, this, [this] {
    colorize();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
  });
}

IndexPlot::~IndexPlot() = default;

void IndexPlot::colorize() {
  const Palette& p = colors();
  m_plot->setBackground(p.panel);
  for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
    axis->setBasePen(Qt::NoPen);
    axis->setTickPen(Qt::NoPen);
    axis->setSubTickPen(Qt::NoPen);
    axis->setTickLabelFont(Theme::mono(10.5));
    axis->setTickLabelColor(p.muted);
    axis->setTickLabelPadding(6);
    axis->setLabelFont(Theme::body(11.5));
    axis->setLabelColor(p.muted);
    axis->setLabelPadding(2);
    axis->grid()->setPen(QPen(p.softLine, 1));
    axis->grid()->setZeroLinePen(QPen(p.softLine, 1));
  }
  m_plot->graph(0)->setPen(QPen(p.axis, 1.6));
}

void IndexPlot::setWhich(Which which) {
  m_which = which;
  const bool offsets = which == Which::Offsets;
  m_plot->xAxis->setTicker(offsets ? QSharedPointer<QCPAxisTicker>(new OffsetTicker)
                                   : QSharedPointer<QCPAxisTicker>(new MomentTicker(*m_plot->xAxis, 1)));
  m_plot->yAxis->setTicker(offsets ? QSharedPointer<QCPAxisTicker>(new ByteTicker)
                                   : QSharedPointer<QCPAxisTicker>(new OffsetTicker));
  m_plot->xAxis->setLabel(offsets ? tr("offset") : tr("timestamp"));
  // A time index is a stair: up to this offset nothing is newer.
  m_plot->graph(0)->setLineStyle(offsets ? QCPGraph::lsLine : QCPGraph::lsStepLeft);
  showAll();
}

void IndexPlot::setSegment(SegmentPicturePtr segment) {
  const bool another = !m_segment || !segment || m_segment->base != segment->base;
  m_segment = std::move(segment);
  if (another || m_all)
    showAll();
  else
    refill();
}

void IndexPlot::setFindings(std::vector<FindingEntry> findings) {
  if (findings == m_findings) return;
  m_findings = std::move(findings);
  redrawOverlay();
}

void IndexPlot::setLookup(LookupPicturePtr lookup, int step) {
  const bool another = lookup != m_lookup;
  m_lookup = std::move(lookup);
  m_step = step;
  if (another)
    m_plot->replot(QCustomPlot::rpQueuedReplot);
  else
    redrawOverlay();
}

void IndexPlot::redrawOverlay() {
  // Only the layer on top: the curve below stays as it is.
  m_plot->layer(QStringLiteral("lookup"))->replot();
}

std::pair<double, double> IndexPlot::extent() const {
  if (!m_segment) return {0, 1};
  if (m_which == Which::Offsets) {
    double end = static_cast<double>(m_segment->base.value()) + 1;
    if (!m_segment->offsets.empty()) end = std::max(end, static_cast<double>(m_segment->offsets.back().offset.value()));
    if (!m_segment->batches.empty()) end = std::max(end, static_cast<double>(m_segment->batches.back().last + 1));
    return {static_cast<double>(m_segment->base.value()), end};
  }
  double begin = 0;
  double end = 1;
  bool known = false;
  const auto take = [&](int64_t timestamp) {
    if (timestamp < 0) return;
    const auto value = static_cast<double>(timestamp);
    begin = known ? std::min(begin, value) : value;
    end = known ? std::max(end, value) : value;
    known = true;
  };
  if (!m_segment->times.empty()) {
    take(m_segment->times.front().timestampMs);
    take(m_segment->times.back().timestampMs);
  }
  if (!m_segment->batches.empty()) take(m_segment->batches.front().maxTimestampMs);
  return {begin, std::max(end, begin + 1)};
}

void IndexPlot::showAll() {
  m_all = true;
  const auto [begin, end] = extent();
  // The last dot does not sit on the edge.
  const double air = (end - begin) * (m_which == Which::Offsets ? 0.004 : 0.03);
  m_filling = true;
  m_plot->xAxis->setRange(m_which == Which::Offsets ? begin : begin - air, end + air);
  m_filling = false;
  refill();
}

void IndexPlot::keepInside() {
  const auto [begin, end] = extent();
  const double air = (end - begin) * 0.03;
  const QCPRange range = m_plot->xAxis->range();
  const double size = std::clamp(range.size(), std::min(4.0, end - begin), end - begin + 2 * air);
  const double lower = std::clamp(range.lower, begin - air, std::max(begin - air, end + air - size));
  m_filling = true;
  m_plot->xAxis->setRange(lower, lower + size);
  m_filling = false;
}

void IndexPlot::zoomBy(double factor) {
  m_plot->xAxis->scaleRange(1 / factor);
}

void IndexPlot::panBy(double part) {
  m_plot->xAxis->moveRange(m_plot->xAxis->range().size() * part);
}

std::pair<double, double> IndexPlot::visible() const {
  const QCPRange range = m_plot->xAxis->range();
  return {range.lower, range.upper};
}

size_t IndexPlot::dotsDrawn() const noexcept {
  return m_overlay->dots();
}

void IndexPlot::refill() {
  QCPGraph* graph = m_plot->graph(0);
  QVector<QCPGraphData> points;
  const auto [from, to] = visible();
  double lowest = 0;
  double highest = 1;
  if (m_segment) {
    const auto add = [&](double key, double value) { points.append({key, value}); };
    if (m_which == Which::Offsets) {
      lowest = 0;
      highest = static_cast<double>(m_segment->bytes);
      const std::span<const BatchPoint> batches(m_segment->batches);
      const std::span<const log::OffsetIndexEntry> entries(m_segment->offsets);
      if (!batches.empty())
        for (const size_t i : thinned(batches, from, to, kMostPoints, [](const BatchPoint& one) { return one.base; }))
          add(static_cast<double>(batches[i].base), static_cast<double>(batches[i].position));
      else
        add(static_cast<double>(m_segment->base.value()), 0);
      // Where no header was read the index itself is the curve.
      const double known = batches.empty() ? -1 : static_cast<double>(batches.back().last);
      for (const size_t i : thinned(entries, std::max(from, known), to, kMostPoints,
                                    [](const log::OffsetIndexEntry& one) { return one.offset.value(); }))
        if (static_cast<double>(entries[i].offset.value()) > known)
          add(static_cast<double>(entries[i].offset.value()), static_cast<double>(entries[i].position));
      if (!batches.empty() && m_segment->batchesEnd >= m_segment->bytes)
        add(static_cast<double>(batches.back().last + 1), static_cast<double>(m_segment->bytes));
      if (!m_all && points.size() > 1) {
        const auto first = std::ranges::lower_bound(points, from, {}, &QCPGraphData::key);
        const auto last = std::ranges::lower_bound(points, to, {}, &QCPGraphData::key);
        lowest = (first == points.begin() ? first : std::prev(first))->value;
        highest = (last == points.end() ? std::prev(last) : last)->value;
      }
    } else {
      const std::span<const log::TimeIndexEntry> entries(m_segment->times);
      for (const size_t i :
           thinned(entries, from, to, kMostPoints, [](const log::TimeIndexEntry& one) { return one.timestampMs; }))
        add(static_cast<double>(entries[i].timestampMs), static_cast<double>(entries[i].offset.value()));
      lowest = static_cast<double>(m_segment->base.value());
      highest = lowest + 1;
      if (!points.isEmpty()) {
        lowest = m_all ? lowest : points.front().value;
        highest = points.back().value;
        if (m_segment->base.value() < 0) lowest = 0;
      }
    }
  }
  m_points = static_cast<size_t>(points.size());
  graph->data()->set(points, true);
  const double air = std::max(1.0, highest - lowest);
  m_plot->yAxis->setRange(lowest - (m_all && m_which == Which::Offsets ? 0 : air * 0.04), highest + air * 0.07);
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

QString IndexPlot::toolTipAt(const QPointF& point) const {
  if (!m_segment) return {};
  const auto close = [&](double key, double value) {
    return std::hypot(m_plot->xAxis->coordToPixel(key) - point.x(), m_plot->yAxis->coordToPixel(value) - point.y()) < 9;
  };
  const double key = m_plot->xAxis->pixelToCoord(point.x());
  const auto [from, to] = visible();
  const double reach = (to - from) * 9 / std::max(1, m_plot->axisRect()->width());
  if (m_which == Which::Offsets) {
    const std::span<const log::OffsetIndexEntry> entries(m_segment->offsets);
    for (const size_t i : thinned(entries, key - reach, key + reach, 40,
                                  [](const log::OffsetIndexEntry& one) { return one.offset.value(); }))
      if (close(static_cast<double>(entries[i].offset.value()), static_cast<double>(entries[i].position)))
        return tr("Entry %1: the batch that ends with offset %2 starts at position %3")
            .arg(grouped(static_cast<int64_t>(i)), offsetText(entries[i].offset), grouped(entries[i].position));
    return {};
  }
  const std::span<const log::TimeIndexEntry> entries(m_segment->times);
  for (const size_t i :
       thinned(entries, key - reach, key + reach, 40, [](const log::TimeIndexEntry& one) { return one.timestampMs; }))
    if (close(static_cast<double>(entries[i].timestampMs), static_cast<double>(entries[i].offset.value())))
      return tr("Entry %1: up to offset %2 no record is newer than %3")
          .arg(grouped(static_cast<int64_t>(i)), offsetText(entries[i].offset), momentText(entries[i].timestampMs));
  return {};
}

bool IndexPlot::event(QEvent* event) {
  const auto textAt = [this](const QPoint& at) { return toolTipAt(m_plot->mapFrom(this, at)); };
  return showToolTip(event, this, textAt) || QWidget::event(event);
}

bool IndexPlot::eventFilter(QObject* watched, QEvent* event) {
  // A wheel over the plot zooms it only where there is something to zoom; else the page scrolls.
  if (watched == m_plot && event->type() == QEvent::Wheel && !m_segment) {
    event->ignore();
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace tidemark::widgets
