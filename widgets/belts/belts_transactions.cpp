// What transactions do to the belts: aborted records are struck out, open ones outlined, markers stand between them.
#include <algorithm>

#include <QPainter>

#include "belts/belts_view.h"
#include "text/format.h"
#include "theme/draw.h"
#include "theme/theme.h"

namespace tidemark::widgets {

using observe::TransactionFate;

void BeltsView::paintTransaction(QPainter& painter, const QRectF& box, TransactionFate fate, bool control) const {
  const Palette& p = colors();
  if (control) {
    // Never so small that its shape is lost.
    const double size = std::clamp(box.width() * 0.5, 4.0, 8.0);
    painter.setPen(Qt::NoPen);
    painter.setBrush(p.panel);
    painter.drawEllipse(box.center(), size + 2, size + 2);
    drawShape(painter, fate == TransactionFate::Committed ? StateShape::Lozenge : StateShape::Cross, box.center(),
              size * 1.6, fate == TransactionFate::Committed ? p.ok : p.bad);
    return;
  }
  const double radius = std::min(4.0, box.width() / 3);
  if (fate == TransactionFate::Aborted) {
    painter.setPen(QPen(p.bad, 1.4));
    painter.setBrush(hatch(p.panel, p.bad, 6, 1.3));
    painter.drawRoundedRect(box, radius, radius);
  } else if (fate == TransactionFate::Open) {
    QPen pen(p.highWatermark, 2);
    pen.setDashPattern({2.2, 1.6});
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), radius, radius);
  }
}

void BeltsView::paintLastStable(QPainter& painter, const QRectF& lane) const {
  const observe::PartitionSnapshot* partition = shown();
  if (partition == nullptr || partition->lastStable.value() < 0 || partition->lastStable >= partition->highWatermark)
    return;
  const Palette& p = colors();
  const BeltsLayout layout = layoutOfBelts();
  const double x = layout.beltLeft() + m_viewport.x(static_cast<double>(partition->lastStable.value()), now());
  if (x < layout.beltLeft() || x > layout.beltLeft() + layout.beltWidth()) return;
  QPen pen(p.violet, 2);
  pen.setDashPattern({2.4, 1.8});
  painter.setPen(pen);
  painter.drawLine(QPointF(x, lane.top() + 16), QPointF(x, lane.bottom() - 8));
  const QFont font = Theme::body(11, QFont::DemiBold);
  const QString text = tr("LSO %1").arg(offsetText(partition->lastStable));
  const double width = textWidth(text, font) + 14;
  painter.setPen(Qt::NoPen);
  painter.setBrush(p.violet);
  painter.drawRoundedRect(QRectF(x - width / 2, lane.bottom() - 20, width, 16), 8, 8);
  drawLine(painter, x, lane.bottom() - 8, text, font, p.onViolet, Qt::AlignHCenter);
}

}  // namespace tidemark::widgets
