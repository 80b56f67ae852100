// How a group is painted.
#include <algorithm>
#include <cmath>

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>

#include "groups/group_view.h"
#include "theme/draw.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

constexpr double kPad = 18;
constexpr double kLagWidth = 376;
constexpr double kNamesOfLanes = 168;
constexpr double kLaneBar = 22;
constexpr double kLanePitch = 50;
constexpr double kMemberPitch = 62;
constexpr double kOwnsOnlyPitch = 44;

QString cutTo(const QString& text, const QFont& font, double width) {
  return QFontMetricsF(font).elidedText(text, Qt::ElideRight, std::max(0.0, width));
}

/// Does nothing while it is only measured.
void line(QPainter* painter, double x, double baseline, const QString& text, const QFont& font, const QColor& color,
          Qt::Alignment align = Qt::AlignLeft) {
  if (painter != nullptr) drawLine(*painter, x, baseline, text, font, color, align);
}

void rule(QPainter* painter, double left, double right, double y) {
  if (painter == nullptr) return;
  painter->setPen(QPen(colors().softLine, 1));
  painter->drawLine(QPointF(left, y), QPointF(right, y));
}

/// The colour of a member: by its place among the members, as with epochs.
const QColor& memberColor(int row) {
  return colors().epochs[static_cast<size_t>(row + 2) % 3];
}

void roundBar(QPainter& painter, const QRectF& rect, const QBrush& fill, const QPen& pen = Qt::NoPen,
              double radius = 4) {
  painter.setPen(pen);
  painter.setBrush(fill);
  painter.drawRoundedRect(pen == Qt::NoPen ? rect : rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
}

double pill(QPainter* painter, double x, double top, const QString& text, const QColor& fill, const QColor& ink,
            const QColor& edge) {
  const QFont font = Theme::body(12, QFont::DemiBold);
  const double width = textWidth(text, font) + 22;
  if (painter != nullptr) {
    roundBar(*painter, QRectF(x, top, width, 24), fill, edge.isValid() ? QPen(edge, 1) : QPen(Qt::NoPen), 12);
    line(painter, x + width / 2, top + 16.5, text, font, ink, Qt::AlignHCenter);
  }
  return width;
}

/// What a task is to whoever has it.
StateShape roleShape(observe::TaskRole role) {
  return role == observe::TaskRole::Active    ? StateShape::Disc
         : role == observe::TaskRole::Standby ? StateShape::Ring
                                              : StateShape::HalfDisc;
}

struct Looks {
  QBrush fill;
  QColor ink;
  QPen pen = QPen(Qt::NoPen);
};

Looks looksOf(SequenceBar::Kind kind) {
  const Palette& p = colors();
  switch (kind) {
    case SequenceBar::Kind::Owns:
      return {p.stripIn, p.ink};
    case SequenceBar::Kind::Waits:
      return {p.warnSoft, p.warnText};
    case SequenceBar::Kind::Synced:
      return {p.okSoft, p.okText, QPen(p.ok, 1)};
    case SequenceBar::Kind::Lost:
      return {hatch(p.panel, p.badLine), p.badText, QPen(p.badLine, 1, Qt::DashLine)};
    case SequenceBar::Kind::Coordinator:
      return {p.selection, p.ink};
    case SequenceBar::Kind::CoordinatorStable:
      return {p.okSoft, p.okText};
    case SequenceBar::Kind::Revokes:
      return {hatch(p.warnSoft, p.warn), p.warnText, QPen(p.warn, 1)};
  }
  return {p.sunken, p.ink};
}

/// Records of a share group, by Kafka's name of their state.
Looks looksOfShare(const QString& state) {
  const Palette& p = colors();
  if (state == QStringLiteral("Acquired")) return {p.epochs[2], p.onEpoch};
  if (state == QStringLiteral("Archived")) return {hatch(p.badSoft, p.badLine), p.badText, QPen(p.bad, 1)};
  if (state == QStringLiteral("Available")) return {p.panel, p.ink, QPen(p.accent, 1.5, Qt::DashLine)};
  return {p.okSoft, p.ink, QPen(p.ok, 1)};
}

double niceStep(double span) {
  double step = std::pow(10, std::floor(std::log10(std::max(span, 1e-6) / 4)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (span / (step * factor) <= 6) return step * factor;
  return step * 10;
}

}  // namespace

double GroupView::layOut(QPainter* painter, double width) {
  if (painter != nullptr) drawCard(*painter, QRectF(0, 0, width, height()));
  // Where there is little room, lag stands below.
  const bool beside = width >= 880;
  const double left = kPad;
  const double right = beside ? width - kPad - kLagWidth - 22 : width - kPad;
  double y = paintHead(painter, left, kPad, width - kPad);
  y = paintStates(painter, left, y, width - kPad);
  const double top = y;
  if (m_scene.sequence.shown) y = paintSequence(painter, left, y, right);
  if (!m_scene.topology.empty()) y = paintTopology(painter, left, y, right);
  if (!m_scene.assignment.rows.empty()) y = paintAssignment(painter, left, y, right);
  if (!m_scene.shared.empty()) y = paintShared(painter, left, y, right);
  y = paintHappened(painter, left, y, right);
  const double lagLeft = beside ? right + 44 : left;
  double lagTop = beside ? top : y + 10;
  lagTop = paintLag(painter, lagLeft, lagTop, width - kPad);
  lagTop = paintRebalances(painter, lagLeft, lagTop, width - kPad);
  const double bottom = std::max(y, lagTop) + kPad;
  if (painter != nullptr && beside) {
    painter->setPen(QPen(colors().softLine, 1));
    painter->drawLine(QPointF(right + 22, top), QPointF(right + 22, bottom - kPad));
  }
  return bottom;
}

double GroupView::paintHead(QPainter* painter, double left, double y, double right) {
  const Palette& p = colors();
  const QFont title = Theme::body(17, QFont::Bold);
  const QString name = cutTo(m_scene.id, title, (right - left) * 0.45);
  line(painter, left, y + 17, name, title, p.ink);
  double x = left + textWidth(name, title) + 14;
  x += pill(painter, x, y, m_scene.kind, p.selection, p.ink, QColor()) + 16;
  const QFont note = Theme::body(12.5);
  line(painter, x, y + 17, cutTo(m_scene.facts, note, right - x), note, p.muted);
  return y + 40;
}

double GroupView::paintStates(QPainter* painter, double left, double y, double right) {
  const Palette& p = colors();
  double x = left;
  bool known = false;
  double stableMiddle = 0;
  double secondMiddle = 0;
  for (size_t i = 0; i < m_scene.states.size(); ++i) {
    const bool current = m_scene.states[i] == m_scene.state;
    known = known || current;
    if (i > 0) {
      if (painter != nullptr) {
        painter->setPen(QPen(p.arrow, 1.5));
        painter->drawLine(QPointF(x + 3, y + 12), QPointF(x + 13, y + 12));
        painter->setBrush(p.arrow);
        painter->setPen(Qt::NoPen);
        painter->drawPolygon(QPolygonF{{x + 17, y + 12}, {x + 11, y + 8.5}, {x + 11, y + 15.5}});
      }
      x += 20;
    }
    const double begin = x;
    x += pill(painter, x, y, m_scene.states[i], current ? p.button : p.sunken, current ? p.onButton : p.muted,
              current ? QColor() : p.line);
    if (m_scene.states[i] == QStringLiteral("Stable")) stableMiddle = (begin + x) / 2;
    if (i == 1) secondMiddle = (begin + x) / 2;
  }
  // From work back to being distributed anew.
  if (painter != nullptr && stableMiddle > secondMiddle && m_scene.states.size() > 3) {
    painter->setPen(QPen(p.arrow, 1.5));
    painter->setBrush(Qt::NoBrush);
    painter->drawPolyline(
        QPolygonF{{stableMiddle, y + 25}, {stableMiddle, y + 33}, {secondMiddle, y + 33}, {secondMiddle, y + 29}});
    painter->setBrush(p.arrow);
    painter->setPen(Qt::NoPen);
    painter->drawPolygon(QPolygonF{{secondMiddle, y + 25}, {secondMiddle - 3.5, y + 31}, {secondMiddle + 3.5, y + 31}});
  }
  const QFont note = Theme::body(12.5);
  const QString text =
      known ? m_scene.stateNote
            : m_scene.state + (m_scene.stateNote.isEmpty() ? QString() : QStringLiteral(" · ") + m_scene.stateNote);
  line(painter, x + 16, y + 16.5, cutTo(text, note, right - x - 16), note, p.muted);
  return y + 48;
}

double GroupView::paintSequence(QPainter* painter, double left, double y, double right) {
  const Palette& p = colors();
  const SequenceScene& scene = m_scene.sequence;
  const QFont head = Theme::body(11.5, QFont::Bold);
  const double from = left + kNamesOfLanes;
  line(painter, left, y + 10, QCoreApplication::translate("Groups", "who"), head, p.heads);
  line(painter, from, y + 10, cutTo(scene.title, head, right - from), head, p.heads);
  y += 22;
  const double span = std::max(1e-6, scene.end - scene.begin);
  const auto xOf = [&](double seconds) { return from + (seconds - scene.begin) / span * (right - from); };
  const double bottom = y + kLanePitch * static_cast<double>(scene.lanes.size()) - 14;
  if (painter != nullptr) {
    if (scene.now) {
      const QRectF later(xOf(*scene.now), y - 4, right - xOf(*scene.now), bottom - y + 8);
      painter->fillRect(later, hatch(p.hatchGround, p.hatchLine));
    }
    painter->setPen(QPen(p.grid, 1));
    painter->drawLine(QPointF(xOf(0), y - 4), QPointF(xOf(0), bottom));
  }
  const QFont name = Theme::body(12.5, QFont::DemiBold);
  const QFont note = Theme::body(11.5);
  const QFont inside = Theme::body(11.5, QFont::DemiBold);
  for (const SequenceLane& lane : scene.lanes) {
    line(painter, left, y + 12, cutTo(lane.name, name, kNamesOfLanes - 8), name, p.ink);
    line(painter, left, y + 27, cutTo(lane.note, note, kNamesOfLanes - 8), note, p.muted);
    for (const SequenceBar& bar : lane.bars) {
      const QRectF rect(xOf(bar.from), y, std::max(2.0, xOf(bar.to) - xOf(bar.from)), kLaneBar);
      if (painter == nullptr) {
        addSpot({.rect = rect, .tip = QStringLiteral("%1: %2").arg(lane.name, bar.text)});
        continue;
      }
      const Looks looks = looksOf(bar.kind);
      roundBar(*painter, rect, looks.fill, looks.pen);
      const QString text = cutTo(bar.text, inside, rect.width() - 12);
      // Of a short one the tool tip tells: half of a word says nothing.
      if (text == bar.text || rect.width() > 90) {
        // Text on a hatched ground stands on its own.
        if (bar.kind == SequenceBar::Kind::Lost || bar.kind == SequenceBar::Kind::Revokes) {
          painter->setPen(Qt::NoPen);
          painter->setBrush(bar.kind == SequenceBar::Kind::Lost ? p.panel : p.warnSoft);
          painter->drawRoundedRect(QRectF(rect.left() + 5, y + 4, textWidth(text, inside) + 6, kLaneBar - 8), 3, 3);
        }
        line(painter, rect.left() + 8, y + 15.5, text, inside, looks.ink);
      }
    }
    if (!lane.says.isEmpty()) {
      // What is still to come is left free.
      const double end = scene.now ? xOf(*scene.now) - 8 : right;
      line(painter, end, y + 36, cutTo(lane.says, note, end - from), note, scene.now ? p.warnText : p.badText,
           Qt::AlignRight);
    }
    y += kLanePitch;
  }
  y = bottom;
  if (painter != nullptr) {
    const double step = niceStep(span);
    const QFont figure = Theme::mono(11);
    for (double at = std::ceil(scene.begin / step) * step; at <= scene.end; at += step) {
      const double x = xOf(at);
      painter->setPen(QPen(p.axis, 1));
      painter->drawLine(QPointF(x, y), QPointF(x, y + 4));
      const int digits = step >= 1 ? 0 : step >= 0.1 ? 1 : 2;
      if (x < right - 26)
        line(painter, x, y + 17,
             QCoreApplication::translate("Groups", "%1 s")
                 .arg(QString::number(std::abs(at) < 1e-9 ? 0 : at, 'f', digits)),
             figure, p.muted, Qt::AlignHCenter);
    }
    if (scene.now) {
      const double x = xOf(*scene.now);
      painter->setPen(QPen(p.accent, 2));
      painter->drawLine(QPointF(x, bottom - kLanePitch * static_cast<double>(scene.lanes.size()) + 10),
                        QPointF(x, bottom + 4));
      pill(painter, x - 22, y + 4, QCoreApplication::translate("Groups", "now"), p.button, p.onButton, QColor());
    }
  }
  y += 34;
  rule(painter, left, right, y);
  double x = left;
  const double each = (right - left) / static_cast<double>(std::max<size_t>(1, scene.facts.size()));
  const QFont value = Theme::body(12);
  for (const auto& [what, text] : scene.facts) {
    line(painter, x, y + 20, what, head, p.heads);
    line(painter, x, y + 38, cutTo(text, value, each - 14), value, p.ink);
    if (painter == nullptr) addSpot({.rect = QRectF(x, y + 8, each - 14, 36), .tip = text});
    x += each;
  }
  return y + 60;
}

double GroupView::paintTopology(QPainter* painter, double left, double y, double right) {
  const Palette& p = colors();
  const QFont head = Theme::body(11.5, QFont::Bold);
  const QFont title = Theme::body(12.5, QFont::DemiBold);
  const QFont what = Theme::body(11.5);
  const QFont topics = Theme::mono(11.5);
  constexpr double kGap = 26;
  constexpr size_t kAcross = 3;
  constexpr double kHeads = 52;
  line(painter, left, y + 10, QCoreApplication::translate("Groups", "topology"), head, p.heads);
  line(painter, left + 150, y + 10,
       cutTo(QCoreApplication::translate("Groups", "what each part reads, keeps and writes for the next"), head,
             right - left - 150),
       head, p.heads);
  y += 22;
  const size_t across = std::min(kAcross, m_scene.topology.size());
  const double each = (right - left - kGap * static_cast<double>(across - 1)) / static_cast<double>(across);
  for (size_t first = 0; first < m_scene.topology.size(); first += across) {
    const size_t last = std::min(first + across, m_scene.topology.size());
    size_t lines = 0;
    for (size_t i = first; i < last; ++i) lines = std::max(lines, m_scene.topology[i].lines.size());
    const double height = 32 + 19 * static_cast<double>(lines);
    for (size_t i = first; i < last; ++i) {
      const TopologyPart& part = m_scene.topology[i];
      const QRectF box(left + (each + kGap) * static_cast<double>(i - first), y, each, height);
      if (painter != nullptr) {
        roundBar(*painter, box, p.sunken, QPen(p.line, 1), 6);
        if (part.feedsNext && i + 1 < last) {
          const double middle = box.center().y();
          painter->setPen(QPen(p.arrow, 1.5));
          painter->drawLine(QPointF(box.right() + 4, middle), QPointF(box.right() + kGap - 9, middle));
          painter->setBrush(p.arrow);
          painter->setPen(Qt::NoPen);
          painter->drawPolygon(QPolygonF{{box.right() + kGap - 3, middle},
                                         {box.right() + kGap - 10, middle - 3.5},
                                         {box.right() + kGap - 10, middle + 3.5}});
        }
      }
      line(painter, box.left() + 12, y + 20, cutTo(part.title, title, each - 24), title, p.ink);
      QStringList tip{part.title};
      double at = y + 39;
      for (const auto& [name, text] : part.lines) {
        line(painter, box.left() + 12, at, name, what, p.muted);
        line(painter, box.left() + kHeads, at, cutTo(text, topics, each - kHeads - 12), topics, p.ink);
        tip << QStringLiteral("%1 %2").arg(name, text);
        at += 19;
      }
      if (painter == nullptr) addSpot({.rect = box, .tip = tip.join(QLatin1Char('\n'))});
    }
    y += height + 14;
  }
  return y + 4;
}

double GroupView::paintCell(QPainter* painter, const QRectF& place, const AssignmentCell& cell, int row,
                            bool targetHalf) {
  if (painter == nullptr) return place.bottom();
  const Palette& p = colors();
  const QColor& color = memberColor(row);
  const bool target = targetHalf && cell.target;
  const bool owned = !targetHalf && (cell.owned || cell.revoking);
  if (target) {
    const bool standsBy = cell.targetRole != observe::TaskRole::Active;
    roundBar(*painter, place, p.panel, QPen(color, standsBy ? 1.2 : 2));
    if (m_scene.assignment.ofTasks)
      drawShape(*painter, roleShape(cell.targetRole), place.center(), 7, p.ink);
    else if (place.width() >= 22)
      line(painter, place.center().x(), place.center().y() + 4, m_scene.assignment.epoch,
           Theme::mono(11, QFont::DemiBold), p.ink, Qt::AlignHCenter);
  } else if (!targetHalf && cell.revoking) {
    roundBar(*painter, place, hatch(p.warnSoft, p.warn), QPen(p.warn, 1));
    drawShape(*painter, StateShape::HalfDisc, place.center(), 8, p.warnText);
  } else if (owned && cell.role != observe::TaskRole::Active) {
    // A copy of the state that does no work.
    roundBar(*painter, place, mixed(p.panel, color, 0.3), QPen(color, 1.2));
    drawShape(*painter, roleShape(cell.role), place.center(), 8, p.ink);
  } else if (owned) {
    roundBar(*painter, place, color);
    drawShape(*painter, StateShape::Disc, place.center(), 6, p.onEpoch);
  } else if (!targetHalf && cell.waits) {
    roundBar(*painter, place, p.panel, QPen(color, 1.5, Qt::DashLine));
    drawShape(*painter, StateShape::Ring, place.center(), 8, p.muted);
  } else {
    roundBar(*painter, place, p.sunken);
  }
  return place.bottom();
}

double GroupView::paintAssignment(QPainter* painter, double left, double y, double right) {
  const Palette& p = colors();
  const AssignmentScene& scene = m_scene.assignment;
  const QFont head = Theme::body(11.5, QFont::Bold);
  const QFont name = Theme::body(12.5, QFont::DemiBold);
  const QFont note = Theme::body(11.5);
  const QFont figure = Theme::mono(11.5);
  const double names = 224;
  const double epochs = scene.hasTarget ? 66 : 0;
  const double kinds = scene.hasTarget ? 52 : 0;
  const double states = 196;
  const double from = left + names + epochs + kinds;
  const double count = static_cast<double>(std::max<size_t>(1, scene.columns.size()));
  const double gap = scene.columns.size() > 14 ? 3 : 5;
  const double each = std::clamp((right - from - states) / count, 8.0, 64.0);
  line(painter, left, y + 10, QCoreApplication::translate("Groups", "member"), head, p.heads);
  if (scene.hasTarget)
    line(painter, left + names, y + 10, QCoreApplication::translate("Groups", "epoch"), head, p.heads);
  QStringList topics;
  for (const auto& [topic, columns] : scene.topics) topics << topic;
  QString what = scene.hasTarget
                     ? QCoreApplication::translate(
                           "Groups", "%1, one column a partition: the target above, what is owned now below")
                     : QCoreApplication::translate("Groups", "%1, one column a partition");
  if (scene.ofTasks)
    what = QCoreApplication::translate(
        "Groups", "tasks of subtopologies %1: the target above, what is run now below · ● active ○ standby ◐ warm-up");
  what = what.arg(topics.mid(0, 3).join(QStringLiteral(", ")));
  if (scene.hidden > 0)
    what += QStringLiteral(" · ") + QCoreApplication::translate("Groups", "%1 more in the table (T)").arg(scene.hidden);
  line(painter, from, y + 10, cutTo(what, head, right - from), head, p.heads);
  y += 20;
  for (size_t i = 0; i < scene.columns.size(); ++i)
    if (each >= (scene.ofTasks ? 28 : 16))
      line(painter, from + each * static_cast<double>(i) + (each - gap) / 2, y + 10, scene.columns[i], figure, p.muted,
           Qt::AlignHCenter);
  y += 16;
  rule(painter, left, right, y + 2);
  y += 12;
  for (size_t r = 0; r < scene.rows.size(); ++r) {
    const AssignmentRow& row = scene.rows[r];
    const int index = static_cast<int>(r);
    if (painter != nullptr)
      roundBar(*painter, QRectF(left, y, 5, scene.hasTarget ? 44 : 24), memberColor(index), Qt::NoPen, 2.5);
    line(painter, left + 14, y + 12, cutTo(row.name, name, names - 24), name, p.ink);
    line(painter, left + 14, y + 27, cutTo(row.note, note, names - 20), note, p.muted);
    if (painter == nullptr)
      addSpot({.rect = QRectF(left, y, names, 34), .tip = QStringLiteral("%1 · %2").arg(row.name, row.note)});
    if (scene.hasTarget) {
      if (painter != nullptr)
        roundBar(*painter, QRectF(left + names, y - 2, 40, 20), row.behind ? p.warnSoft : p.okSoft, Qt::NoPen, 10);
      line(painter, left + names + 20, y + 12, row.epoch, Theme::mono(11.5, QFont::DemiBold),
           row.behind ? p.warnText : p.okText, Qt::AlignHCenter);
      line(painter, left + names, y + 32, QCoreApplication::translate("Groups", "of %1").arg(scene.epoch), note,
           p.muted);
      line(painter, left + names + epochs, y + 12, QCoreApplication::translate("Groups", "target"), note, p.muted);
      line(painter, left + names + epochs, y + 36, QCoreApplication::translate("Groups", "owns"), note, p.muted);
    }
    for (size_t c = 0; c < row.cells.size(); ++c) {
      const double x = from + each * static_cast<double>(c);
      if (scene.hasTarget) paintCell(painter, QRectF(x, y - 2, each - gap, 20), row.cells[c], index, true);
      paintCell(painter, QRectF(x, scene.hasTarget ? y + 22 : y, each - gap, 20), row.cells[c], index, false);
    }
    const double stateLeft = std::max(from + each * count + 14, right - states);
    const bool ok = row.shape == StateShape::Disc;
    if (painter != nullptr)
      drawShape(*painter, row.shape, {stateLeft + 5, y + 8}, 9,
                ok                               ? p.ok
                : row.shape == StateShape::Ring  ? p.ring
                : row.shape == StateShape::Cross ? p.bad
                                                 : p.warn);
    line(painter, stateLeft + 16, y + 12, cutTo(row.state, name, right - stateLeft - 16), name, p.ink);
    line(painter, stateLeft + 16, y + 28, cutTo(row.says, note, right - stateLeft - 16), note, p.muted);
    if (painter == nullptr) addSpot({.rect = QRectF(stateLeft, y, right - stateLeft, 34), .tip = row.says});
    y += scene.hasTarget ? kMemberPitch : kOwnsOnlyPitch;
    if (r + 1 < scene.rows.size()) rule(painter, left, right, y - 8);
  }
  return y + 8;
}

double GroupView::paintShared(QPainter* painter, double left, double y, double right) {
  const Palette& p = colors();
  const QFont head = Theme::body(11.5, QFont::Bold);
  const QFont name = Theme::mono(12, QFont::DemiBold);
  const QFont note = Theme::body(11.5);
  line(painter, left, y + 10, QCoreApplication::translate("Groups", "in flight"), head, p.heads);
  const double from = left + 190;
  line(
      painter, from, y + 10,
      QCoreApplication::translate(
          "Groups",
          "records between the group's start and what it has not touched; the number is how often they were delivered"),
      head, p.heads);
  y += 24;
  for (const ShareLane& lane : m_scene.shared) {
    line(painter, left, y + 12, cutTo(lane.partition, name, 180), name, p.ink);
    line(painter, left, y + 27, cutTo(lane.note, note, 184), note, p.muted);
    if (painter != nullptr) roundBar(*painter, QRectF(from, y + 8, right - from, 6), p.rail, Qt::NoPen, 3);
    for (const ShareBatch& batch : lane.batches) {
      const QRectF rect(from + (right - from) * batch.from, y,
                        std::max(14.0, (right - from) * (batch.to - batch.from) - 2), 22);
      if (painter == nullptr) {
        QStringList tip{batch.offsets, batch.state,
                        QCoreApplication::translate("Groups", "delivered %n time(s)", nullptr, batch.deliveries)};
        if (!batch.member.isEmpty()) tip << batch.member;
        if (!batch.lock.isEmpty()) tip << QCoreApplication::translate("Groups", "lock for %1 more").arg(batch.lock);
        addSpot({.rect = rect, .tip = tip.join(QStringLiteral(" · "))});
        continue;
      }
      const Looks looks = looksOfShare(batch.state);
      roundBar(*painter, rect, looks.fill, looks.pen);
      line(painter, rect.center().x(), y + 15, QString::number(batch.deliveries), Theme::mono(11, QFont::DemiBold),
           looks.ink, Qt::AlignHCenter);
      if (!batch.member.isEmpty())
        line(painter, rect.left(), y + 35,
             cutTo(batch.lock.isEmpty() ? batch.member : QStringLiteral("%1 · %2").arg(batch.member, batch.lock), note,
                   rect.width()),
             note, p.muted);
    }
    y += 48;
  }
  paintShareLegend(painter, from, y);
  return y + 26;
}

void GroupView::paintShareLegend(QPainter* painter, double x, double y) {
  const QFont note = Theme::body(11.5);
  for (const auto& [state, text] :
       {std::pair(QStringLiteral("Acquired"), QCoreApplication::translate("Groups", "acquired, its lock below")),
        std::pair(QStringLiteral("Available"), QCoreApplication::translate("Groups", "available again")),
        std::pair(QStringLiteral("Acknowledged"), QCoreApplication::translate("Groups", "acknowledged")),
        std::pair(QStringLiteral("Archived"), QCoreApplication::translate("Groups", "archived"))}) {
    const Looks looks = looksOfShare(state);
    if (painter != nullptr) roundBar(*painter, QRectF(x, y, 18, 12), looks.fill, looks.pen, 3);
    line(painter, x + 24, y + 10, text, note, colors().muted);
    x += 24 + textWidth(text, note) + 20;
  }
}

double GroupView::paintHappened(QPainter* painter, double left, double y, double right) {
  if (m_scene.happened.empty()) return y;
  const Palette& p = colors();
  rule(painter, left, right, y);
  line(painter, left, y + 20, QCoreApplication::translate("Groups", "What happened"), Theme::body(12, QFont::Bold),
       p.heads);
  y += 42;
  const QFont time = Theme::mono(11.5);
  const QFont text = Theme::body(12);
  for (const HappenedRow& row : m_scene.happened) {
    line(painter, left, y, row.time, time, p.muted);
    line(painter, left + 100, y, cutTo(row.text, text, right - left - 100), text, p.ink);
    if (painter == nullptr)
      addSpot({.rect = QRectF(left, y - 14, right - left, 20), .event = row.event, .tip = row.text});
    y += 21;
  }
  return y;
}

double GroupView::paintLag(QPainter* painter, double left, double y, double right) {
  const Palette& p = colors();
  const QFont head = Theme::body(11.5, QFont::Bold);
  const double history = 44;
  const double seconds = right - history - 12;
  const double lag = seconds - 46;
  const double end = lag - 50;
  const double committed = end - 62;
  line(painter, left, y + 10, QCoreApplication::translate("Groups", "Lag"), Theme::body(12.5, QFont::Bold), p.ink);
  line(painter, left + 34, y + 10, QCoreApplication::translate("Groups", "records and seconds"), Theme::body(12),
       p.muted);
  y += 34;
  line(painter, left, y, QCoreApplication::translate("Groups", "partition"), head, p.heads);
  line(painter, committed, y, QCoreApplication::translate("Groups", "commit"), head, p.heads, Qt::AlignRight);
  line(painter, end, y, QCoreApplication::translate("Groups", "HW"), head, p.heads, Qt::AlignRight);
  line(painter, lag, y, QCoreApplication::translate("Groups", "lag"), head, p.heads, Qt::AlignRight);
  line(painter, seconds, y, QCoreApplication::translate("Groups", "s"), head, p.heads, Qt::AlignRight);
  line(painter, right, y, QCoreApplication::translate("Groups", "60 s"), head, p.heads, Qt::AlignRight);
  y += 10;
  rule(painter, left, right, y);
  const QFont name = Theme::mono(12, QFont::DemiBold);
  const QFont figure = Theme::mono(12);
  const QFont note = Theme::body(11.5);
  constexpr size_t kShown = 16;
  for (size_t i = 0; i < std::min(kShown, m_scene.lag.size()); ++i) {
    const LagRow& row = m_scene.lag[i];
    const QColor ink = row.behind ? p.warnText : p.ink;
    line(painter, left, y + 17, cutTo(row.partition, name, committed - left - 52), name, p.ink);
    line(painter, left, y + 32, cutTo(row.owner, note, committed - left), note, p.muted);
    line(painter, committed, y + 17, row.committed, figure, p.ink, Qt::AlignRight);
    line(painter, end, y + 17, row.highWatermark, figure, p.ink, Qt::AlignRight);
    line(painter, lag, y + 17, row.lag, Theme::mono(12, QFont::DemiBold), ink, Qt::AlignRight);
    line(painter, seconds, y + 17, row.seconds, Theme::mono(12, QFont::DemiBold), ink, Qt::AlignRight);
    if (painter == nullptr)
      addSpot({.rect = QRectF(left, y + 2, right - left, 36),
               .tip = QStringLiteral("%1 · %2").arg(row.partition, row.owner)});
    if (painter != nullptr && row.history.size() > 1) {
      const QRectF plot(right - history, y + 6, history, 16);
      const double most = std::max(1.0, *std::ranges::max_element(row.history));
      QPolygonF curve;
      for (size_t s = 0; s < row.history.size(); ++s)
        curve << QPointF(
            plot.right() - plot.width() * static_cast<double>(row.history.size() - 1 - s) / GroupPast::kLagSeconds,
            plot.bottom() - plot.height() * row.history[s] / most);
      const QColor color = row.behind ? p.warn : p.ring;
      QPolygonF area = curve;
      area << plot.bottomRight() << QPointF(curve.first().x(), plot.bottom());
      painter->setPen(Qt::NoPen);
      painter->setBrush(mixed(p.panel, color, 0.16));
      painter->drawPolygon(area);
      painter->setPen(QPen(color, 1.3));
      painter->setBrush(Qt::NoBrush);
      painter->drawPolyline(curve);
    }
    y += 40;
    rule(painter, left, right, y);
  }
  if (m_scene.lag.empty())
    line(painter, left, y + 20, QCoreApplication::translate("Groups", "nothing is committed"), note, p.muted);
  if (m_scene.lag.size() > kShown)
    line(painter, left, y + 20,
         QCoreApplication::translate("Groups", "%1 more in the table (T)").arg(m_scene.lag.size() - kShown), note,
         p.muted);
  if (m_scene.lag.size() > 1) {
    line(painter, left + 150, y + 20, QCoreApplication::translate("Groups", "group"), Theme::body(12, QFont::DemiBold),
         p.ink);
    line(painter, lag, y + 20, m_scene.lagSum, Theme::mono(12, QFont::DemiBold), p.ink, Qt::AlignRight);
  }
  y += 40;
  line(painter, left, y, QCoreApplication::translate("Groups", "seconds: age of the first record not yet committed"),
       note, p.muted);
  return y + 22;
}

double GroupView::paintRebalances(QPainter* painter, double left, double y, double right) {
  if (m_scene.rebalances.empty()) return y;
  const Palette& p = colors();
  const QFont head = Theme::body(11.5, QFont::Bold);
  const QFont text = Theme::body(12);
  const QFont figure = Theme::mono(12);
  line(painter, left, y + 12, QCoreApplication::translate("Groups", "Last rebalances"), Theme::body(12.5, QFont::Bold),
       p.ink);
  y += 36;
  const double took = right - 74;
  const double cause = left + 86;
  line(painter, left, y, QCoreApplication::translate("Groups", "generation"), head, p.heads);
  line(painter, cause, y, QCoreApplication::translate("Groups", "cause"), head, p.heads);
  line(painter, took, y, QCoreApplication::translate("Groups", "took"), head, p.heads, Qt::AlignRight);
  line(painter, right, y, QCoreApplication::translate("Groups", "idle"), head, p.heads, Qt::AlignRight);
  y += 8;
  for (size_t i = 0; i < m_scene.rebalances.size(); ++i) {
    const RebalanceRow& row = m_scene.rebalances[i];
    const QRectF place(left - 6, y, right - left + 12, 26);
    if (painter != nullptr && row.current) roundBar(*painter, place, p.selection, QPen(p.selectionLine, 1));
    if (painter == nullptr) addSpot({.rect = place, .pick = static_cast<int>(i), .tip = row.cause});
    line(painter, left, y + 17, row.generation, figure, p.ink);
    line(painter, cause, y + 17, cutTo(row.cause, text, took - cause - 54), text, p.ink);
    line(painter, took, y + 17, row.took, figure, p.ink, Qt::AlignRight);
    line(painter, right, y + 17, row.idle, figure, p.ink, Qt::AlignRight);
    y += 27;
  }
  return y + 6;
}

}  // namespace tidemark::widgets
