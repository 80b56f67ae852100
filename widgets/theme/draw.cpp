#include "theme/draw.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QTextLayout>
#include <QTextOption>

#include "theme/theme.h"

namespace tidemark::widgets {

void drawLine(QPainter& painter, double x, double baseline, const QString& text, const QFont& font, const QColor& color,
              Qt::Alignment align) {
  painter.setFont(font);
  painter.setPen(color);
  const double width = align & (Qt::AlignRight | Qt::AlignHCenter) ? textWidth(text, font) : 0;
  const double left = align & Qt::AlignRight ? x - width : align & Qt::AlignHCenter ? x - width / 2 : x;
  painter.drawText(QPointF(left, baseline), text);
}

double textWidth(const QString& text, const QFont& font) {
  return QFontMetricsF(font).horizontalAdvance(text);
}

QStringList wrappedLines(const QString& text, const QFont& font, double width, int most) {
  QTextLayout layout(text, font);
  QTextOption option;
  option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  layout.setTextOption(option);
  QStringList lines;
  layout.beginLayout();
  for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
    line.setLineWidth(width);
    if (lines.size() == most - 1) {
      lines << QFontMetricsF(font).elidedText(text.mid(line.textStart()), Qt::ElideRight, width);
      break;
    }
    lines << text.mid(line.textStart(), line.textLength()).trimmed();
  }
  layout.endLayout();
  return lines;
}

void drawCard(QPainter& painter, const QRectF& rect) {
  const Palette& p = colors();
  painter.setPen(QPen(p.line, 1));
  painter.setBrush(p.panel);
  painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
}

QColor mixed(const QColor& a, const QColor& b, double part) {
  const auto one = [part](float from, float to) { return static_cast<float>(from * (1 - part) + to * part); };
  return QColor::fromRgbF(one(a.redF(), b.redF()), one(a.greenF(), b.greenF()), one(a.blueF(), b.blueF()));
}

}  // namespace tidemark::widgets
