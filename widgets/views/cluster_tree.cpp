#include "views/cluster_tree.h"

#include <algorithm>

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>

#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {

class ClusterTree::Delegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  QString shownTopic;

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
    const bool head = kind(index) == ClusterTreeModel::Kind::Section;
    // The first head is the title of the dock.
    return {100, head ? (index.row() == 0 ? 1 : 50) : 26};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Palette& p = colors();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRectF row = option.rect;
    const double right = row.right() - 15;
    const QString note = index.data(ClusterTreeModel::NoteRole).toString();
    if (kind(index) == ClusterTreeModel::Kind::Section) {
      if (index.row() == 0) {
        painter->restore();
        return;
      }
      painter->setFont(Theme::body(11, QFont::Bold));
      painter->setPen(p.heads);
      const double baseline = row.bottom() - 15;
      painter->drawText(QPointF(row.left() + 16, baseline), index.data().toString());
      painter->setFont(Theme::body(11));
      painter->drawText(QPointF(right - QFontMetricsF(painter->font()).horizontalAdvance(note), baseline), note);
      painter->restore();
      return;
    }
    const bool selected = option.state & QStyle::State_Selected;
    const bool hovered = option.state & QStyle::State_MouseOver;
    const bool shown = kind(index) == ClusterTreeModel::Kind::Topic && index.data().toString() == shownTopic;
    if (selected || hovered || shown) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(selected ? p.selection : p.hover);
      painter->drawRoundedRect(row.adjusted(8, 0.5, -8, -0.5), 5, 5);
      if (selected && (option.state & QStyle::State_HasFocus)) {
        painter->setPen(QPen(p.selectionLine, 1));
        painter->drawRoundedRect(row.adjusted(8.5, 1, -8.5, -1), 5, 5);
      }
    }
    const auto shape = static_cast<StateShape>(index.data(ClusterTreeModel::ShapeRole).toInt());
    const bool topLevel = kind(index) == ClusterTreeModel::Kind::Topic || kind(index) == ClusterTreeModel::Kind::Group;
    const double middle = row.center().y() + 0.5;
    const double textLeft = topLevel ? row.left() + 24 : row.left() + 42;
    drawShape(*painter, shape, {topLevel ? row.left() + 15 : row.left() + 25, middle}, topLevel ? 7 : 10,
              index.data(ClusterTreeModel::ShapeColorRole).value<QColor>());
    const QColor noteColor = index.data(ClusterTreeModel::NoteColorRole).value<QColor>();
    const QFont noteFont = Theme::body(11.5, noteColor == p.muted ? QFont::Normal : QFont::DemiBold);
    const QFont font =
        kind(index) == ClusterTreeModel::Kind::Fault ? Theme::body(12.5) : Theme::body(13, QFont::Medium);
    // The name comes first, up to half of the room.
    const double room = right - textLeft - 8;
    const double name = std::min(QFontMetricsF(font).horizontalAdvance(index.data().toString()) + 1, room / 2);
    const QString shownNote = QFontMetricsF(noteFont).elidedText(note, Qt::ElideRight, room - name);
    const double noteWidth = QFontMetricsF(noteFont).horizontalAdvance(shownNote);
    painter->setFont(noteFont);
    painter->setPen(noteColor);
    painter->drawText(QPointF(right - noteWidth, middle + 4.5), shownNote);
    painter->setFont(font);
    painter->setPen(index.data(ClusterTreeModel::FaintRole).toBool() ? p.muted : p.ink);
    painter->drawText(
        QPointF(textLeft, middle + 4.5),
        QFontMetricsF(font).elidedText(index.data().toString(), Qt::ElideMiddle, right - noteWidth - textLeft - 8));
    painter->restore();
  }

 private:
  static ClusterTreeModel::Kind kind(const QModelIndex& index) {
    return static_cast<ClusterTreeModel::Kind>(index.data(ClusterTreeModel::KindRole).toInt());
  }
};

ClusterTree::ClusterTree(EngineBridge& bridge, QWidget* parent)
    : QTreeView(parent), m_model(new ClusterTreeModel(this)), m_delegate(new Delegate(this)) {
  setModel(m_model);
  setItemDelegate(m_delegate);
  setHeaderHidden(true);
  setRootIsDecorated(false);
  setIndentation(0);
  setItemsExpandable(false);
  setExpandsOnDoubleClick(false);
  setFrameShape(QFrame::NoFrame);
  setMouseTracking(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollMode(ScrollPerPixel);
  setMinimumWidth(180);
  setAccessibleName(tr("Cluster"));
  expandAll();
  const auto hideEmpty = [this] {
    for (int i = 0; i < ClusterTreeModel::kSections; ++i) {
      const bool always = i != static_cast<int>(ClusterTreeModel::Section::Groups);
      setRowHidden(i, {}, !always && m_model->rowCount(m_model->index(i, 0)) == 0);
    }
  };
  hideEmpty();
  connect(&bridge, &EngineBridge::frame, this, [this, &bridge, hideEmpty](const Frame& frame) {
    if (frame.snapshot == frame.previous) return;
    m_model->setSnapshot(*frame.snapshot, bridge.age());
    hideEmpty();
  });
  connect(&bridge, &EngineBridge::second, this, [this, &bridge] {
    if (isVisible()) m_model->setSnapshot(*bridge.snapshot(), bridge.age());
  });
  connect(&Theme::instance(), &Theme::changed, this, [this, &bridge] {
    m_model->setSnapshot(*bridge.snapshot(), bridge.age());
    viewport()->update();
  });
  connect(selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& now) { pick(now); });
  connect(this, &QTreeView::clicked, this, [this](const QModelIndex& now) { pick(now); });
}

void ClusterTree::pick(const QModelIndex& index) {
  switch (static_cast<ClusterTreeModel::Kind>(index.data(ClusterTreeModel::KindRole).toInt())) {
    case ClusterTreeModel::Kind::Quorum:
      Q_EMIT quorumPicked();
      break;
    case ClusterTreeModel::Kind::Broker:
      Q_EMIT brokerPicked(NodeId(index.data(ClusterTreeModel::BrokerRole).toInt()));
      break;
    case ClusterTreeModel::Kind::Topic:
      Q_EMIT topicPicked(index.data(ClusterTreeModel::NameRole).toString());
      break;
    case ClusterTreeModel::Kind::Group:
      Q_EMIT groupPicked(index.data(ClusterTreeModel::NameRole).toString());
      break;
    case ClusterTreeModel::Kind::Section:
    case ClusterTreeModel::Kind::Fault:
      break;
  }
}

void ClusterTree::setShownTopic(const QString& topic) {
  if (m_delegate->shownTopic == topic) return;
  m_delegate->shownTopic = topic;
  viewport()->update();
}

void ClusterTree::selectBroker(NodeId broker) {
  const QModelIndex index = m_model->broker(broker);
  if (index.isValid() && index != currentIndex()) setCurrentIndex(index);
}

void ClusterTree::contextMenuEvent(QContextMenuEvent* event) {
  const bool byMouse = event->reason() == QContextMenuEvent::Mouse;
  const QModelIndex index = byMouse ? indexAt(event->pos()) : currentIndex();
  const QPoint at = byMouse ? event->globalPos() : viewport()->mapToGlobal(visualRect(index).center());
  switch (static_cast<ClusterTreeModel::Kind>(index.data(ClusterTreeModel::KindRole).toInt())) {
    case ClusterTreeModel::Kind::Broker:
      Q_EMIT brokerMenuWanted(NodeId(index.data(ClusterTreeModel::BrokerRole).toInt()), at);
      break;
    case ClusterTreeModel::Kind::Topic:
      Q_EMIT topicMenuWanted(index.data(ClusterTreeModel::NameRole).toString(), at);
      break;
    case ClusterTreeModel::Kind::Fault:
      Q_EMIT faultMenuWanted(index.data(ClusterTreeModel::FaultRole).toInt(), at);
      break;
    default:
      break;
  }
}

void ClusterTree::keyPressEvent(QKeyEvent* event) {
  const QModelIndex index = currentIndex();
  const bool isFault = static_cast<ClusterTreeModel::Kind>(index.data(ClusterTreeModel::KindRole).toInt()) ==
                       ClusterTreeModel::Kind::Fault;
  if (isFault && (event->key() == Qt::Key_Delete || event->key() == Qt::Key_Backspace)) {
    Q_EMIT healWanted(index.data(ClusterTreeModel::FaultRole).toInt());
    return;
  }
  QTreeView::keyPressEvent(event);
}

}  // namespace tidemark::widgets
