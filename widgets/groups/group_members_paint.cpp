// Who has what: the topology of a streams group, and partitions or tasks as lanes of their members.
#include <algorithm>

#include <QCoreApplication>

#include "groups/group_strokes.h"
#include "groups/group_view.h"

namespace tidemark::widgets {

namespace {

constexpr double kMemberPitch = 62;
constexpr double kOwnsOnlyPitch = 44;

/// What a task is to whoever has it.
StateShape roleShape(observe::TaskRole role) {
  return role == observe::TaskRole::Active    ? StateShape::Disc
         : role == observe::TaskRole::Standby ? StateShape::Ring
                                              : StateShape::HalfDisc;
}

}  // namespace

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
  if (topics.isEmpty())
    what = QCoreApplication::translate("Groups", "nothing is assigned yet");
  else
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

}  // namespace tidemark::widgets
