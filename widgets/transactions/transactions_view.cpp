#include "transactions/transactions_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "theme/theme.h"

namespace tidemark::widgets {

TransactionsView::TransactionsView(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setAccessibleName(tr("Transactions. Press T for the same as tables."));
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void TransactionsView::setScene(TransactionScene scene) {
  if (scene == m_scene) return;
  m_scene = std::move(scene);
  setAccessibleDescription(asText());
  updateGeometry();
  update();
}

QSize TransactionsView::sizeHint() const {
  return {1000, heightForWidth(std::max(620, width()))};
}

int TransactionsView::heightForWidth(int width) const {
  return static_cast<int>(const_cast<TransactionsView*>(this)->layOut(nullptr, width)) + 1;
}

void TransactionsView::paintEvent(QPaintEvent*) {
  ++m_paintings;
  layOut(nullptr, width());
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  layOut(&painter, width());
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

void TransactionsView::mousePressEvent(QMouseEvent* event) {
  for (const Spot& spot : m_spots) {
    if (!spot.rect.contains(event->position())) continue;
    if (spot.transaction != 0) {
      Q_EMIT picked(spot.transaction);
      return;
    }
    if (spot.event != 0) {
      Q_EMIT eventWanted(spot.event);
      return;
    }
  }
}

bool TransactionsView::event(QEvent* event) {
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
