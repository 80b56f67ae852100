#include "transactions/transactions_view.h"

#include <QKeyEvent>

namespace tidemark::widgets {

TransactionsView::TransactionsView(QWidget* parent) : SceneView({620, 360}, parent) {
  setAccessibleName(tr("Transactions. Press T for the same as tables."));
}

void TransactionsView::setScene(TransactionScene scene) {
  if (scene == m_scene) return;
  m_scene = std::move(scene);
  sceneChanged();
}

void TransactionsView::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Right:
      Q_EMIT stepped(-1);
      return;
    case Qt::Key_Down:
    case Qt::Key_Left:
      Q_EMIT stepped(1);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

QString TransactionsView::asText() const {
  QStringList lines;
  if (!m_scene.facts.title.isEmpty()) lines << QStringLiteral("%1\t%2").arg(m_scene.facts.title, m_scene.facts.state);
  for (const auto& [name, value] : m_scene.facts.facts) lines << QStringLiteral("%1\t%2").arg(name, value);
  if (!m_scene.facts.warning.isEmpty()) lines << m_scene.facts.warning;
  for (const LogScene& log : m_scene.logs)
    lines << QStringLiteral("%1\t%2\t%3\t%4").arg(log.partition, log.lastStableText, log.highWatermarkText, log.held);
  for (const FencingRow& row : m_scene.fencing)
    lines << QStringLiteral("%1\t%2\t%3").arg(row.time, row.epoch, row.text);
  for (const AbortedRow& row : m_scene.aborted)
    lines << QStringLiteral("%1\t%2\t%3\t%4\t%5").arg(row.partition, row.producer, row.first, row.last, row.lastStable);
  return lines.join(QLatin1Char('\n'));
}

}  // namespace tidemark::widgets
