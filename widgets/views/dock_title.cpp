#include "views/dock_title.h"

#include <QPainter>

#include "theme/theme.h"

namespace tidemark::widgets {

DockTitle::DockTitle(const QString& text, int left, int height, QWidget* parent)
    : QWidget(parent), m_text(text), m_left(left) {
  setFixedHeight(height);
}

void DockTitle::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), colors().panel);
  painter.setFont(Theme::body(11, QFont::Bold));
  painter.setPen(colors().heads);
  painter.drawText(QPointF(m_left, 27), m_text);
}

void DockHead::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), colors().panel);
  painter.setPen(QPen(colors().line, 1));
  painter.drawLine(QPointF(0, height() - 0.5), QPointF(width(), height() - 0.5));
}

}  // namespace tidemark::widgets
