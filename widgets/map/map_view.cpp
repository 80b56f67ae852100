#include "map/map_view.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>

#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {

MapView::MapView(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAccessibleName(tr("Cluster map"));
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void MapView::setScene(MapScene scene) {
  if (scene == m_scene) return;
  m_scene = std::move(scene);
  m_layout = MapLayout(m_scene, size());
  // Where there is too little room for all of it one scrolls.
  setMinimumSize(minimumSizeHint());
  // Whoever is gone is not picked any more.
  if (m_picked.what != MapPick::What::Nothing && m_layout.middle(m_picked).isNull()) pick({});
  update();
}

void MapView::resizeEvent(QResizeEvent*) {
  m_layout = MapLayout(m_scene, size());
}

void MapView::pick(const MapPick& pick) {
  if (pick == m_picked) return;
  m_picked = pick;
  setAccessibleDescription(textOf(pick));
  update();
  Q_EMIT pickChanged(pick);
}

QString MapView::textOf(const MapPick& pick) const {
  switch (pick.what) {
    case MapPick::What::Broker:
    case MapPick::What::Controller:
      for (const MapBroker& broker : m_scene.brokers) {
        if (broker.id != pick.broker) continue;
        if (pick.what == MapPick::What::Controller)
          return tr("Controller %1: %2").arg(QString::number(broker.id.value()), broker.controller);
        QStringList lines{tr("%1 on %2").arg(broker.name, broker.port)};
        lines += broker.failedDirectories;
        lines += broker.isBroker ? QStringList{broker.leads, broker.machine} : QStringList{broker.controller};
        if (!broker.reason.isEmpty()) lines.insert(1, broker.reason);
        if (!broker.trouble.isEmpty()) lines.insert(1, broker.trouble);
        return (lines + broker.faults).join(QLatin1Char('\n'));
      }
      break;
    case MapPick::What::Client:
      for (const MapClient& client : m_scene.clients)
        if (client.name == pick.client)
          return (QStringList{fromUtf8(client.name), client.software, client.does} + client.faults)
              .join(QLatin1Char('\n'));
      break;
    case MapPick::What::Link:
      if (const MapLink* link = m_scene.link(pick)) {
        const QString& one = link->name;
        const QString& other = link->otherName;
        const auto way = [](const QString& from, const QString& to, const MapDirection& direction) {
          QString text = tr("%1 → %2").arg(from, to);
          if (!direction.fault.isEmpty()) text += tr(": %1").arg(direction.fault);
          if (direction.rate >= 0) text += tr(" · %1 records/s").arg(direction.rate, 0, 'f', 1);
          return text;
        };
        QStringList lines{way(one, other, link->from), way(other, one, link->to)};
        if (link->down) lines << tr("not connected: one end does not run");
        return lines.join(QLatin1Char('\n'));
      }
      break;
    case MapPick::What::Nothing:
      break;
  }
  return {};
}

void MapView::openMenu(const MapPick& picked, const QPointF& at) {
  if (picked.what == MapPick::What::Nothing) return;
  pick(picked);
  Q_EMIT menuWanted(picked, mapToGlobal(at.toPoint()));
}

void MapView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const MapPick hit = m_layout.at(event->position());
  pick(hit);
  // A link is there to be broken; what stands on a card is there to be looked at, too.
  if (hit.what == MapPick::What::Link) openMenu(hit, event->position());
}

void MapView::mouseMoveEvent(QMouseEvent* event) {
  const MapPick hit = m_layout.at(event->position());
  setCursor(hit.what == MapPick::What::Nothing ? Qt::ArrowCursor : Qt::PointingHandCursor);
  if (hit == m_hovered) return;
  m_hovered = hit;
  update();
}

void MapView::leaveEvent(QEvent*) {
  if (m_hovered == MapPick{}) return;
  m_hovered = {};
  update();
}

void MapView::contextMenuEvent(QContextMenuEvent* event) {
  if (event->reason() == QContextMenuEvent::Mouse)
    openMenu(m_layout.at(event->pos()), event->pos());
  else
    openMenu(m_picked, m_layout.middle(m_picked));
}

void MapView::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  // Somebody who comes with the keys sees where they are.
  if (event->reason() != Qt::MouseFocusReason && m_picked.what == MapPick::What::Nothing && !m_scene.brokers.empty())
    pick({MapPick::What::Broker, m_scene.brokers.front().id, {}, {}});
  update();
}

void MapView::keyPressEvent(QKeyEvent* event) {
  const auto go = [this](double x, double y) { pick(m_layout.next(m_picked, {x, y})); };
  if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(textOf(m_picked));
    return;
  }
  switch (event->key()) {
    case Qt::Key_Left:
      return go(-1, 0);
    case Qt::Key_Right:
      return go(1, 0);
    case Qt::Key_Up:
      return go(0, -1);
    case Qt::Key_Down:
      return go(0, 1);
    case Qt::Key_Home:
      if (!m_layout.picks().empty()) pick(m_layout.picks().front());
      return;
    case Qt::Key_End:
      if (!m_layout.picks().empty()) pick(m_layout.picks().back());
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Menu:
      return openMenu(m_picked, m_layout.middle(m_picked));
    default:
      QWidget::keyPressEvent(event);
  }
}

bool MapView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const QString text = textOf(m_layout.at(help->pos()));
  if (text.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(help->globalPos(), text, this);
  return true;
}

}  // namespace tidemark::widgets
