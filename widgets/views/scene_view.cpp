#include "views/scene_view.h"

#include <algorithm>

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "theme/theme.h"

namespace tidemark::widgets {

SceneView::SceneView(const QSize& least, QWidget* parent) : QWidget(parent), m_least(least) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void SceneView::sceneChanged() {
  setAccessibleDescription(asText());
  updateGeometry();
  update();
}

double SceneView::measure(double width) {
  m_spots.clear();
  return layOut(nullptr, width);
}

QSize SceneView::sizeHint() const {
  return {1000, heightForWidth(std::max(m_least.width(), width()))};
}

int SceneView::heightForWidth(int width) const {
  // Only spots are written, which the next painting writes again.
  return static_cast<int>(const_cast<SceneView*>(this)->measure(width)) + 1;
}

void SceneView::paintEvent(QPaintEvent*) {
  ++m_paintings;
  measure(width());
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  layOut(&painter, width());
}

void SceneView::mousePressEvent(QMouseEvent* event) {
  for (const Spot& spot : m_spots) {
    if (!spot.rect.contains(event->position())) continue;
    if (spot.pick >= 0) {
      Q_EMIT picked(spot.pick);
      return;
    }
    if (spot.event != 0) {
      Q_EMIT eventWanted(spot.event);
      return;
    }
  }
}

bool SceneView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    for (const Spot& spot : m_spots)
      if (spot.rect.contains(help->pos()) && !spot.tip.isEmpty()) {
        QToolTip::showText(help->globalPos(), spot.tip, this, spot.rect.toRect());
        return true;
      }
    QToolTip::hideText();
    return true;
  }
  return QWidget::event(event);
}

}  // namespace tidemark::widgets
