#include "timeline/timeline_lanes.h"

#include <algorithm>
#include <cmath>

#include <QPainter>

#include "text/format.h"
#include "theme/draw.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

constexpr double kBarPitch = 21;
constexpr double kBarHeight = 15;
constexpr int kMostBars = 8;
constexpr double kFaultsTop = 9;
constexpr double kGapOfCards = 10;
constexpr double kHeadOfRows = 30;
constexpr double kRowPitch = 28;
constexpr double kRowBar = 21;
constexpr double kEpochsHeight = 42;
constexpr double kTimesHeight = 18;
constexpr double kNearMark = 8;

}  // namespace

TimelineLanes::TimelineLanes(TimeAxis& axis, const TimelinePast& past, QWidget* parent)
    : QWidget(parent), m_axis(axis), m_past(past), m_mouse(new TimeMouse(axis, this)) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Faults, leader and ISR over time"));
  connect(&axis, &TimeAxis::rangeChanged, this, &TimelineLanes::measure);
  connect(&axis, &TimeAxis::cursorChanged, this, qOverload<>(&QWidget::update));
  connect(m_mouse, &TimeMouse::hovered, this, [this](const QPointF& at) {
    const auto mark = markAt(at);
    setCursor(mark ? Qt::PointingHandCursor : Qt::ArrowCursor);
    Q_EMIT markHovered(mark, mark ? placeOf(*mark) : at);
  });
  connect(m_mouse, &TimeMouse::left, this, [this] { Q_EMIT markHovered(std::nullopt, {}); });
  connect(m_mouse, &TimeMouse::clicked, this, [this](const QPointF& at) {
    if (const auto mark = markAt(at))
      Q_EMIT markClicked(*mark);
    else if (at.x() >= kTimelineLeft && at.x() <= width() - kTimelineRight)
      Q_EMIT timeClicked(timeAt(at.x()));
  });
}

void TimelineLanes::setPartition(const std::optional<TopicPartition>& partition) {
  m_partition = partition;
  measure();
}

void TimelineLanes::setMarks(std::vector<TimelineMark> marks) {
  m_marks = std::move(marks);
  measure();
}

void TimelineLanes::setCurrent(const std::optional<TimelineMark>& mark) {
  if (mark == m_current) return;
  m_current = mark;
  update();
}

const TimelinePartition* TimelineLanes::shown() const {
  return m_partition ? m_past.find(*m_partition) : nullptr;
}

void TimelineLanes::measure() {
  int rows = 1;
  for (const Bar& bar : bars()) rows = std::max(rows, static_cast<int>((bar.rect.top() - kFaultsTop) / kBarPitch) + 1);
  m_faultRows = std::min(rows, kMostBars);
  if (sizeHint().height() != height()) updateGeometry();
  update();
}

void TimelineLanes::resizeEvent(QResizeEvent*) {
  measure();
}

double TimelineLanes::isrTop() const {
  return kFaultsTop + kBarPitch * std::max(2, m_faultRows) + 6 + kGapOfCards;
}

double TimelineLanes::rowTop(int row) const {
  return isrTop() + kHeadOfRows + kRowPitch * row;
}

double TimelineLanes::epochsTop() const {
  return rowTop(shown() == nullptr ? 3 : static_cast<int>(shown()->copies.size()));
}

QSize TimelineLanes::sizeHint() const {
  return {900, static_cast<int>(std::ceil(epochsTop() + kEpochsHeight + kTimesHeight))};
}

std::vector<TimelineLanes::Bar> TimelineLanes::bars() const {
  std::vector<Bar> bars;
  const double left = kTimelineLeft;
  const double right = width() - kTimelineRight;
  const QFont font = Theme::body(11.5, QFont::DemiBold);
  double ends[kMostBars];
  std::ranges::fill(ends, -1e9);
  for (const TimelineFault& fault : m_past.faults()) {
    const auto until = fault.end.value_or(m_axis.now());
    if (until < m_axis.begin() || fault.begin > m_axis.end()) continue;
    Bar bar{.fault = &fault, .rect = {}, .label = {}};
    const double from = std::max(left, m_mouse->xOf(fault.begin));
    const double to = std::max(from + 3, std::min(right, m_mouse->xOf(until)));
    const double word = textWidth(fault.title, font) + 10;
    bar.inside = to - from > word + 10;
    // Beside it where there is room: at the right, else at the left.
    const bool after = to + 6 + word < right;
    const double wordLeft = bar.inside ? from + 9 : after ? to + 6 : from - word;
    auto row = std::ranges::find_if(ends, [&](double end) { return std::min(from, wordLeft) >= end + 8; });
    // Where too much is broken at once titles give way: hovering tells them.
    const bool named = row != std::end(ends);
    if (!named) row = std::ranges::min_element(ends);
    const double y = kFaultsTop + kBarPitch * static_cast<double>(row - std::begin(ends));
    bar.rect = QRectF(from, y, to - from, kBarHeight);
    if (named) bar.label = QRectF(wordLeft, y, word, kBarHeight);
    *row = std::max(to, named ? wordLeft + word : to);
    bars.push_back(bar);
  }
  // A bar that found no free row lies across another's title, which gives way as well.
  for (Bar& named : bars)
    if (std::ranges::any_of(bars, [&named](const Bar& other) {
          return &other != &named && other.rect.adjusted(-2, 0, 2, 0).intersects(named.label);
        }))
      named.label = {};
  return bars;
}

QString TimelineLanes::momentText() const {
  return !m_axis.cursor() && m_axis.follows() ? tr("now") : tr("at %1").arg(timeText(moment()));
}

QPointF TimelineLanes::placeOf(const TimelineMark& mark) const {
  const double x = m_mouse->xOf(mark.at);
  if (mark.fault != 0)
    for (const Bar& bar : bars())
      if (bar.fault->id == mark.fault && bar.fault->begin == mark.at)
        return {std::max(kTimelineLeft, x), bar.rect.center().y()};
  if (const TimelinePartition* partition = shown(); partition != nullptr && mark.broker != kNoNode) {
    const auto found = partition->copies.find(mark.broker);
    if (found != partition->copies.end())
      return {x, rowTop(static_cast<int>(std::distance(partition->copies.begin(), found))) + kRowBar / 2};
  }
  return {x, epochsTop() + 12};
}

std::optional<TimelineMark> TimelineLanes::markAt(const QPointF& at) const {
  if (at.y() < isrTop() - kGapOfCards) {
    for (const Bar& bar : bars())
      if (bar.rect.adjusted(-3, -3, 3, 3).contains(at) || bar.label.contains(at)) {
        const auto mark = std::ranges::find_if(m_marks, [&bar](const TimelineMark& one) {
          return one.fault == bar.fault->id && one.at == bar.fault->begin;
        });
        if (mark != m_marks.end()) return *mark;
      }
    return std::nullopt;
  }
  std::optional<TimelineMark> nearest;
  double least = kNearMark;
  const double top = epochsTop();
  for (const TimelineMark& mark : m_marks) {
    if (mark.fault != 0) continue;
    // In the rows it counts whom it is about; among the epochs only what is the partition's own.
    if (at.y() < top && std::abs(placeOf(mark).y() - at.y()) > kRowPitch / 2 && !mark.ofPartition) continue;
    if (at.y() >= top && !mark.ofPartition) continue;
    const double away =
        std::abs(m_mouse->xOf(mark.at) - at.x()) + (std::abs(placeOf(mark).y() - at.y()) > kRowPitch / 2 ? 2 : 0);
    if (away >= least) continue;
    least = away;
    nearest = mark;
  }
  return nearest;
}

void TimelineLanes::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const double below = isrTop();
  drawCard(painter, QRectF(0, 0, width(), below - kGapOfCards));
  drawCard(painter, QRectF(0, below, width(), height() - below));
  paintFaults(painter);
  paintShades(painter);
  paintRows(painter);
  paintEpochs(painter);
  paintTimes(painter);
  paintCursor(painter);
}

}  // namespace tidemark::widgets
