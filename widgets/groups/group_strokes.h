#pragma once

#include <algorithm>

#include <QBrush>
#include <QFontMetricsF>
#include <QPainter>
#include <QPen>

#include "theme/draw.h"
#include "theme/theme.h"

// What the parts of a group's picture are painted with. Each part is laid out by the same code that paints it: where
// the painter is null nothing is drawn, and only its height and its spots come out.

namespace tidemark::widgets {

/// As much of `text` as fits into `width`.
inline QString cutTo(const QString& text, const QFont& font, double width) {
  return QFontMetricsF(font).elidedText(text, Qt::ElideRight, std::max(0.0, width));
}

/// One line of text, as drawLine().
inline void line(QPainter* painter, double x, double baseline, const QString& text, const QFont& font,
                 const QColor& color, Qt::Alignment align = Qt::AlignLeft) {
  if (painter != nullptr) drawLine(*painter, x, baseline, text, font, color, align);
}

/// A thin line across.
inline void rule(QPainter* painter, double left, double right, double y) {
  if (painter == nullptr) return;
  painter->setPen(QPen(colors().softLine, 1));
  painter->drawLine(QPointF(left, y), QPointF(right, y));
}

/// The colour of a member: by its place among the members, as with epochs.
inline const QColor& memberColor(int row) {
  return colors().epochs[static_cast<size_t>(row + 2) % 3];
}

/// A filled bar with round corners; with a pen its edge lies within `rect`.
inline void roundBar(QPainter& painter, const QRectF& rect, const QBrush& fill, const QPen& pen = Qt::NoPen,
                     double radius = 4) {
  painter.setPen(pen);
  painter.setBrush(fill);
  painter.drawRoundedRect(pen == Qt::NoPen ? rect : rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
}

/// A pill with a word in it. Answers its width.
inline double pill(QPainter* painter, double x, double top, const QString& text, const QColor& fill, const QColor& ink,
                   const QColor& edge) {
  const QFont font = Theme::body(12, QFont::DemiBold);
  const double width = textWidth(text, font) + 22;
  if (painter != nullptr) {
    roundBar(*painter, QRectF(x, top, width, 24), fill, edge.isValid() ? QPen(edge, 1) : QPen(Qt::NoPen), 12);
    line(painter, x + width / 2, top + 16.5, text, font, ink, Qt::AlignHCenter);
  }
  return width;
}

/// How a bar looks, and what is written on it.
struct Looks {
  QBrush fill;
  QColor ink;
  QPen pen = QPen(Qt::NoPen);
};

}  // namespace tidemark::widgets
