#include "groups/group_view.h"

#include <QKeyEvent>
#include <QPainter>

#include "theme/theme.h"

namespace tidemark::widgets {

GroupView::GroupView(QWidget* parent) : SceneView({560, 300}, parent) {
  setAccessibleName(tr("A group. Press T for the same as tables."));
}

void GroupView::setScene(GroupScene scene) {
  if (scene == m_scene) return;
  m_scene = std::move(scene);
  sceneChanged();
}

void GroupView::paintEvent(QPaintEvent* event) {
  SceneView::paintEvent(event);
  if (!hasFocus()) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(colors().accent, 1.5));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(QRectF(1, 1, width() - 2, height() - 2), 8, 8);
}

void GroupView::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right) {
    Q_EMIT rebalanceStepped(event->key() == Qt::Key_Left ? 1 : -1);
    return;
  }
  // The scroll area around it would take them for its own.
  if (event->key() == Qt::Key_Up || event->key() == Qt::Key_Down) {
    Q_EMIT groupStepped(event->key() == Qt::Key_Down ? 1 : -1);
    return;
  }
  QWidget::keyPressEvent(event);
}

QString GroupView::asText() const {
  QStringList lines{QStringLiteral("%1\t%2\t%3").arg(m_scene.id, m_scene.kind, m_scene.state)};
  lines << m_scene.facts;
  for (const AssignmentRow& row : m_scene.assignment.rows)
    lines << QStringLiteral("%1\t%2\t%3\t%4").arg(row.name, row.epoch, row.state, row.says);
  for (const LagRow& row : m_scene.lag)
    lines << QStringLiteral("%1\t%2\t%3\t%4\t%5\t%6")
                 .arg(row.partition, row.owner, row.committed, row.highWatermark, row.lag, row.seconds);
  for (const RebalanceRow& row : m_scene.rebalances)
    lines << QStringLiteral("%1\t%2\t%3\t%4").arg(row.generation, row.cause, row.took, row.idle);
  for (const HappenedRow& row : m_scene.happened) lines << QStringLiteral("%1\t%2").arg(row.time, row.text);
  return lines.join(QLatin1Char('\n'));
}

}  // namespace tidemark::widgets
