#pragma once

#include <QColor>
#include <QFont>
#include <QRectF>
#include <QString>
#include <QStringList>

class QPainter;

namespace tidemark::widgets {

/// One line of text with its baseline at `baseline`; `x` is its left end, its middle or its right end by `align`.
void drawLine(QPainter& painter, double x, double baseline, const QString& text, const QFont& font, const QColor& color,
              Qt::Alignment align = Qt::AlignLeft);

double textWidth(const QString& text, const QFont& font);

/// The text in lines of that width, broken at words or else anywhere; of more than `most` lines the last one ends in
/// an ellipsis.
QStringList wrappedLines(const QString& text, const QFont& font, double width, int most);

/// The ground of a card: panel, line, rounded by 8.
void drawCard(QPainter& painter, const QRectF& rect);

/// `a` with `part` of `b` in it.
QColor mixed(const QColor& a, const QColor& b, double part);

}  // namespace tidemark::widgets
