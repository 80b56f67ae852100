#include "theme/card.h"

#include <QPainter>

#include "theme/draw.h"

namespace tidemark::widgets {

void Card::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  drawCard(painter, rect());
}

}  // namespace tidemark::widgets
