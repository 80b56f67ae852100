// How the upper half of the timeline is painted.
#include <algorithm>
#include <cmath>

#include <QPainter>

#include "text/format.h"
#include "theme/draw.h"
#include "theme/shapes.h"
#include "theme/theme.h"
#include "timeline/timeline_lanes.h"

namespace tidemark::widgets {

namespace {

constexpr double kNames = 16;
constexpr double kStretchHeight = 21;
constexpr double kEpochSquare = 5;

}  // namespace

void TimelineLanes::paintFaults(QPainter& painter) const {
  const Palette& p = colors();
  drawLine(painter, kNames, 25, tr("Faults"), Theme::body(13, QFont::DemiBold), p.ink);
  const QFont font = Theme::body(11.5, QFont::DemiBold);
  const std::vector<Bar> all = bars();
  if (all.empty()) {
    drawLine(painter, kTimelineLeft, 25, tr("nothing was broken on purpose in this time"), Theme::body(11.5), p.muted);
    return;
  }
  for (const Bar& bar : all) {
    const QColor color = bar.fault->severe ? p.bad : p.fault;
    painter.setPen(Qt::NoPen);
    painter.setBrush(bar.fault->severe ? p.stripDown : p.stripOut);
    painter.drawRoundedRect(bar.rect, 3, 3);
    painter.setBrush(color);
    painter.drawRect(QRectF(bar.rect.left(), bar.rect.top(), 3, bar.rect.height()));
    if (bar.label.isEmpty()) continue;
    drawLine(painter, bar.label.left(), bar.rect.center().y() + 4.3, bar.fault->title, font, p.ink);
  }
  // At the right how it stood at the moment that is told.
  const QFont note = Theme::body(11.5);
  for (const Bar* bar : told(all))
    drawLine(painter, width() - kTimelineRight + 14, bar->rect.center().y() + 4.3, stateOf(*bar->fault, moment()), note,
             p.muted);
}

std::vector<const TimelineLanes::Bar*> TimelineLanes::told(const std::vector<Bar>& all) const {
  // Of each row the newest that had begun by then, else the first one.
  std::vector<const Bar*> told;
  for (const Bar& bar : all) {
    const auto sameRow = [&bar](const Bar* other) { return std::abs(other->rect.top() - bar.rect.top()) < 1; };
    const auto known = std::ranges::find_if(told, sameRow);
    if (known == told.end())
      told.push_back(&bar);
    else if (bar.fault->begin <= moment() && bar.fault->begin >= (*known)->fault->begin)
      *known = &bar;
  }
  return told;
}

QString TimelineLanes::stateOf(const TimelineFault& fault, platform::WallTime at) {
  const auto seconds = [](platform::WallTime time) { return timeText(time).section(QLatin1Char('.'), 0, 0); };
  if (at < fault.begin) return tr("from %1").arg(seconds(fault.begin));
  if (fault.end == fault.begin) return tr("over at once");
  if (fault.end && at >= *fault.end) return tr("over · %1").arg(durationText(*fault.end - fault.begin));
  if (fault.end) return tr("until %1").arg(seconds(*fault.end));
  return fault.expected ? tr("until %1").arg(seconds(*fault.expected)) : tr("until healed");
}

void TimelineLanes::paintShades(QPainter& painter) const {
  const Palette& p = colors();
  const double right = width() - kTimelineRight;
  painter.save();
  painter.setClipRect(QRectF(kTimelineLeft, isrTop() + 1, right - kTimelineLeft, height() - isrTop() - 2));
  for (const Bar& bar : bars()) {
    const QColor color = bar.fault->severe ? p.bad : p.fault;
    QColor soft = color;
    soft.setAlphaF(p.dark ? 0.10F : 0.06F);
    const QRectF shade(bar.rect.left(), isrTop(), bar.rect.width(), height() - isrTop());
    painter.fillRect(shade, soft);
    painter.setPen(QPen(color, 1, Qt::DotLine));
    painter.drawLine(shade.topLeft(), shade.bottomLeft());
    if (bar.fault->end) painter.drawLine(shade.topRight(), shade.bottomRight());
  }
  painter.restore();
}

void TimelineLanes::paintStretch(QPainter& painter, const TimelineStretch& stretch, const QRectF& box) const {
  using State = TimelineStretch::State;
  const Palette& p = colors();
  const double radius = std::min(4.0, box.width() / 2);
  const QFont font = Theme::body(11.5, QFont::DemiBold);
  painter.setPen(Qt::NoPen);
  painter.setBrush(stretch.leader                   ? p.epoch(stretch.epoch)
                   : stretch.isAway()               ? p.stripDown
                   : stretch.state == State::Fenced ? p.fencedSoft
                   : stretch.state == State::Behind ? p.stripOut
                                                    : p.stripIn);
  painter.drawRoundedRect(box, radius, radius);
  if (!stretch.leader && stretch.state != State::InSync) {
    const QColor lines = stretch.isAway() ? p.bad : stretch.state == State::Fenced ? p.fenced : p.warn;
    painter.setOpacity(0.4);
    painter.setBrush(hatch(Qt::transparent, lines, 6, 1.2));
    painter.drawRoundedRect(box, radius, radius);
    painter.setOpacity(1);
  }
  // The ring around a change stands on the beginning of what it began.
  const bool ringed = m_current && QRectF(box.left() - 1, box.top(), 2, box.height()).contains(placeOf(*m_current));
  double text = box.left() + (ringed ? 15 : 8);
  if (stretch.leader && box.right() - text > 12) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(p.onEpoch);
    painter.drawPath(crownPath({text - 1, box.center().y() + 4}, 12));
    text += 17;
  }
  const QString epoch = QString::number(stretch.epoch.value());
  const QStringList words = stretch.leader
                                ? QStringList{tr("leader · epoch %1").arg(epoch), tr("epoch %1").arg(epoch), epoch}
                            : stretch.state == State::Down    ? QStringList{tr("down")}
                            : stretch.state == State::Offline ? QStringList{tr("offline")}
                            : stretch.state == State::Fenced  ? QStringList{tr("fenced")}
                            : stretch.state == State::Behind  ? QStringList{tr("out of ISR"), tr("out")}
                                                              : QStringList{tr("in ISR")};
  const QColor ink =
      stretch.leader || p.dark == (stretch.state == State::Behind || stretch.isAway()) ? p.onEpoch : p.ink;
  for (const QString& word : words)
    if (text + textWidth(word, font) + 6 < box.right()) {
      // On a hatch a word needs a ground.
      const QRectF ground(text - 3, box.top() + 3, textWidth(word, font) + 6, box.height() - 6);
      if (!stretch.leader && stretch.state != State::InSync) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(p.panel);
        painter.drawRoundedRect(ground, 3, 3);
        drawLine(painter, text, box.center().y() + 4.2, word, font,
                 stretch.isAway()                 ? p.badText
                 : stretch.state == State::Fenced ? p.fenced
                                                  : p.warnText);
      } else {
        drawLine(painter, text, box.center().y() + 4.2, word, font,
                 stretch.leader                   ? p.onEpoch
                 : stretch.state == State::InSync ? p.ink
                                                  : ink);
      }
      break;
    }
}

void TimelineLanes::paintRows(QPainter& painter) const {
  const Palette& p = colors();
  const double left = kTimelineLeft;
  const double right = width() - kTimelineRight;
  const double readings = right + 14;
  drawLine(painter, kNames, isrTop() + 21, tr("Leader and ISR"), Theme::body(13, QFont::DemiBold), p.ink);
  drawLine(painter, left, isrTop() + 21, tr("the crown is the leader; one colour per leader epoch"), Theme::body(11.5),
           p.muted);
  drawLine(painter, readings, isrTop() + 21, momentText(), Theme::body(11, QFont::Bold), p.heads);
  const TimelinePartition* partition = shown();
  if (partition == nullptr) return;
  const auto now = moment();
  int row = 0;
  for (const auto& [broker, copy] : partition->copies) {
    const double top = rowTop(row++);
    drawLine(painter, kNames, top + 15, tr("Broker %1").arg(broker.value()), Theme::body(13, QFont::DemiBold), p.ink);
    for (size_t i = 0; i < copy.stretches.size(); ++i) {
      const TimelineStretch& stretch = copy.stretches[i];
      const auto until = i + 1 < copy.stretches.size() ? copy.stretches[i + 1].begin : m_axis.now();
      if (until < m_axis.begin() || stretch.begin > m_axis.end()) continue;
      const double from = std::max(left, m_mouse->xOf(stretch.begin));
      const double to = std::min(right, m_mouse->xOf(until)) - (i + 1 < copy.stretches.size() ? 1.4 : 0);
      if (to - from >= 0.5) paintStretch(painter, stretch, {from, top, to - from, kStretchHeight});
    }
    const TimelineStretch* at = copy.at(now);
    if (at == nullptr) {
      drawLine(painter, readings, top + 15, tr("not known"), Theme::body(12), p.muted);
      continue;
    }
    using State = TimelineStretch::State;
    // At the very moment of a change it is the change that is told.
    const bool changes = at->begin == now && at != &copy.stretches.front();
    const TimelineStretch* before = changes ? copy.at(at->begin - platform::WallClock::duration(1)) : nullptr;
    const bool gaveUp = before != nullptr && before->leader && !at->leader;
    const auto [shape, color, word] =
        at->state == State::Down ? std::tuple(StateShape::Cross, p.bad, changes ? tr("goes down") : tr("down"))
        : at->state == State::Offline
            ? std::tuple(StateShape::Cross, p.bad, changes ? tr("goes offline") : tr("offline"))
        : at->state == State::Fenced
            ? std::tuple(StateShape::BarredRing, p.fenced, changes ? tr("is fenced") : tr("fenced"))
        : at->state == State::Behind
            ? std::tuple(StateShape::HalfDisc, p.warn, changes ? tr("leaves the ISR") : tr("out of the ISR"))
        : gaveUp                ? std::tuple(StateShape::Disc, p.ok, tr("gives up the lead"))
        : changes && at->leader ? std::tuple(StateShape::Disc, p.ok, tr("takes the lead"))
        : changes               ? std::tuple(StateShape::Disc, p.ok, tr("is in the ISR again"))
        : at->leader            ? std::tuple(StateShape::Disc, p.ok, tr("leads, in ISR"))
                                : std::tuple(StateShape::Disc, p.ok, tr("in ISR"));
    drawShape(painter, shape, {readings + 5, top + 11}, 10, color);
    drawLine(painter, readings + 18, top + 15, word, Theme::body(12), p.ink);
  }
}

void TimelineLanes::paintEpochs(QPainter& painter) const {
  const Palette& p = colors();
  const double y = epochsTop() + 9;
  const double right = width() - kTimelineRight;
  drawLine(painter, kNames, y + 4, tr("partition epoch"), Theme::body(11.5), p.muted);
  painter.setPen(QPen(p.grid, 1));
  painter.drawLine(QPointF(kTimelineLeft, y), QPointF(right, y));
  const QFont figure = Theme::mono(11, QFont::DemiBold);
  const QFont note = Theme::body(11);
  double free = kTimelineLeft - 40;
  for (const TimelineMark& mark : m_marks) {
    if (!mark.ofPartition || mark.at < m_axis.begin() || mark.at > m_axis.end()) continue;
    const double x = m_mouse->xOf(mark.at);
    if (mark.grave) {
      drawShape(painter, StateShape::Cross, {x, y}, 12, p.bad);
    } else if (mark.elects) {
      drawShape(painter, StateShape::Crown, {x, y}, 12, p.leaderCrown);
    } else {
      painter.setPen(QPen(p.violet, 1.8));
      painter.setBrush(p.panel);
      painter.drawRoundedRect(QRectF(x - kEpochSquare, y - kEpochSquare, 2 * kEpochSquare, 2 * kEpochSquare), 2, 2);
    }
    const QString number = mark.epoch.value() < 0 ? QString() : QString::number(mark.epoch.value());
    const double wide = textWidth(number, figure) + (number.isEmpty() ? 0 : 6) + textWidth(mark.note, note);
    const double begin = std::min(x - 6, right - wide);
    if (begin < free + 10) continue;
    free = begin + wide;
    drawLine(painter, begin, y + 22, number, figure, p.violet);
    drawLine(painter, begin + wide - textWidth(mark.note, note), y + 22, mark.note, note,
             mark.grave ? p.badText : p.muted);
  }
  if (!m_current) return;
  const QPointF place = placeOf(*m_current);
  if (place.x() < kTimelineLeft - 1 || place.x() > right + 1) return;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(p.bad, 2));
  painter.drawEllipse(place, 8, 8);
}

void TimelineLanes::paintTimes(QPainter& painter) const {
  using namespace std::chrono_literals;
  constexpr std::chrono::seconds kSteps[] = {1s, 2s, 5s, 10s, 15s, 30s, 60s, 120s, 300s, 600s, 1800s, 3600s};
  constexpr double kApart = 84;
  const Palette& p = colors();
  const double right = width() - kTimelineRight;
  const double pixels = (right - kTimelineLeft) / std::chrono::duration<double>(m_axis.span()).count();
  std::chrono::seconds step = kSteps[0];
  for (const auto each : kSteps) {
    step = each;
    if (static_cast<double>(each.count()) * pixels >= kApart) break;
  }
  const QFont font = Theme::mono(10.5);
  const double y = height() - 7;
  auto at = std::chrono::ceil<std::chrono::seconds>(m_axis.begin().time_since_epoch());
  at += (step - at % step) % step;
  for (; platform::WallTime(at) <= m_axis.end(); at += step) {
    const double x = m_mouse->xOf(platform::WallTime(at));
    if (x < kTimelineLeft || x > right) continue;
    painter.setPen(QPen(p.axis, 1));
    painter.drawLine(QPointF(x, y - 14), QPointF(x, y - 10));
    drawLine(painter, std::min(x, right - 24), y, timeText(platform::WallTime(at)).left(8), font, p.muted,
             Qt::AlignHCenter);
  }
}

void TimelineLanes::paintCursor(QPainter& painter) const {
  if (!m_axis.cursor()) return;
  const double x = m_mouse->xOf(*m_axis.cursor());
  if (x < kTimelineLeft || x > width() - kTimelineRight) return;
  const Palette& p = colors();
  const QColor& color = m_axis.held() == m_axis.cursor() ? p.fenced : p.accent;
  painter.setPen(QPen(color, 1.6));
  painter.drawLine(QPointF(x, 3), QPointF(x, height()));
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(QPolygonF({{x - 6, 1}, {x + 6, 1}, {x, 9}}));
}

}  // namespace tidemark::widgets
