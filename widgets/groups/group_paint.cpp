// How a group is painted: its parts and where they stand, its states, what happened.
#include <algorithm>

#include <QCoreApplication>

#include "groups/group_strokes.h"
#include "groups/group_view.h"

namespace tidemark::widgets {

namespace {

constexpr double kPad = 18;
constexpr double kLagWidth = 376;

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

}  // namespace tidemark::widgets
