// Records in flight of a share group.
#include <algorithm>
#include <utility>

#include <QCoreApplication>

#include "groups/group_strokes.h"
#include "groups/group_view.h"

namespace tidemark::widgets {

namespace {

/// Records of a share group, by Kafka's name of their state.
Looks looksOfShare(const QString& state) {
  const Palette& p = colors();
  if (state == QStringLiteral("Acquired")) return {p.epochs[2], p.onEpoch};
  if (state == QStringLiteral("Archived")) return {hatch(p.badSoft, p.badLine), p.badText, QPen(p.bad, 1)};
  if (state == QStringLiteral("Available")) return {p.panel, p.ink, QPen(p.accent, 1.5, Qt::DashLine)};
  return {p.okSoft, p.ink, QPen(p.ok, 1)};
}

}  // namespace

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

}  // namespace tidemark::widgets
