#include "faults/faults_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QListView>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>
#include <QShortcut>
#include <QStackedLayout>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include "faults/fault_actions.h"
#include "segments/table_text.h"
#include "theme/draw.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

constexpr int kCardHeight = 86;
constexpr double kRing = 22;

}  // namespace

/// A card for each fault.
class FaultsPanel::Cards : public QStyledItemDelegate {
 public:
  explicit Cards(FaultModel& model, QObject* parent) : QStyledItemDelegate(parent), m_model(model) {}

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return {200, kCardHeight}; }

  /// Where the word stands that heals it.
  static QRectF healArea(const QRectF& card) { return {card.right() - 70, card.top() + 48, 64, 26}; }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const FaultRow& row = m_model.rows()[static_cast<size_t>(index.row())];
    const Palette& p = colors();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRectF card = QRectF(option.rect).adjusted(14.5, 3.5, -14.5, -4.5);
    const bool selected = option.state & QStyle::State_Selected;
    const bool focused = selected && (option.state & QStyle::State_HasFocus);
    painter->setPen(QPen(focused ? p.accent : selected ? p.selectionLine : p.line, focused ? 1.6 : 1));
    painter->setBrush(selected ? p.selection : p.sunken);
    painter->drawRoundedRect(card, 7, 7);
    const double left = card.left() + 12;
    const double right = card.right() - 12;
    drawShape(*painter, row.shape, {left + 5, card.top() + 18}, 10, row.color);
    double titleRight = right;
    const QFont small = Theme::body(11.5);
    const QFont strong = Theme::body(11.5, QFont::DemiBold);
    if (row.part >= 0) {
      const QRectF ring(right - kRing + 1, card.top() + 7, kRing - 3, kRing - 3);
      painter->setBrush(Qt::NoBrush);
      painter->setPen(QPen(mixed(p.sunken, row.color, 0.28), 3));
      painter->drawEllipse(ring);
      painter->setPen(QPen(row.color, 3, Qt::SolidLine, Qt::FlatCap));
      painter->drawArc(ring, 90 * 16, row.part * 96);
      titleRight -= kRing + 8;
    }
    drawLine(*painter, titleRight, card.top() + 22, row.left, strong, row.part >= 0 ? row.textColor : p.muted,
             Qt::AlignRight);
    titleRight -= textWidth(row.left, strong) + 10;
    const QFont title = Theme::body(13, QFont::DemiBold);
    drawLine(*painter, left + 20, card.top() + 22,
             QFontMetricsF(title).elidedText(row.title, Qt::ElideRight, titleRight - left - 20), title, p.ink);
    const auto elided = [&](const QString& text, const QFont& font, double room) {
      return QFontMetricsF(font).elidedText(text, Qt::ElideRight, room);
    };
    drawLine(*painter, left, card.top() + 44, elided(row.when, small, right - left), small, p.muted);
    const QString met = row.fired.isEmpty()       ? row.occasions
                        : row.occasions.isEmpty() ? row.fired
                                                  : FaultsPanel::tr("%1 · %2").arg(row.fired, row.occasions);
    drawLine(*painter, left, card.top() + 65, elided(met.isEmpty() ? row.target : met, small, right - left - 110),
             small, p.ink);
    const double foot = card.top() + 65;
    drawLine(*painter, right, foot, FaultsPanel::tr("heal"), strong, p.accent, Qt::AlignRight);
    if (row.steps)
      drawLine(*painter, right - textWidth(FaultsPanel::tr("heal"), strong) - 16, foot, FaultsPanel::tr("step"), strong,
               p.accent, Qt::AlignRight);
    painter->restore();
  }

 private:
  FaultModel& m_model;
};

FaultsPanel::FaultsPanel(EngineBridge& bridge, FaultActions& actions, QWidget* parent)
    : QWidget(parent),
      m_bridge(bridge),
      m_actions(actions),
      m_model(new FaultModel(this)),
      m_cards(new Cards(*m_model, this)),
      m_list(new QListView),
      m_none(new QLabel(tr("Nothing is broken on purpose.\nBrokers, links and clients have a menu of faults each; all "
                           "of them are under “Fault…”."))),
      m_add(new QPushButton(tr("Fault…"))),
      m_healAll(new QPushButton(tr("Heal all"))) {
  setProperty("kind", QStringLiteral("panel"));
  setAttribute(Qt::WA_StyledBackground);
  setMinimumWidth(240);
  m_list->setModel(m_model);
  m_list->setItemDelegate(m_cards);
  m_list->setFrameShape(QFrame::NoFrame);
  m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->setUniformItemSizes(true);
  m_list->setAccessibleName(tr("Active faults"));
  m_list->setContextMenuPolicy(Qt::CustomContextMenu);
  m_list->installEventFilter(this);
  m_list->viewport()->installEventFilter(this);
  m_none->setProperty("kind", QStringLiteral("muted"));
  m_none->setWordWrap(true);
  m_none->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  m_none->setContentsMargins(18, 4, 18, 0);
  m_add->setProperty("kind", QStringLiteral("danger"));
  m_add->setToolTip(tr("Any fault with all it takes (Ctrl+Shift+F)"));
  m_healAll->setToolTip(tr("Ctrl+H"));
  auto* buttons = new QHBoxLayout;
  buttons->setContentsMargins(18, 0, 18, 0);
  buttons->setSpacing(8);
  buttons->addWidget(m_add, 1);
  buttons->addWidget(m_healAll, 1);
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(0, 0, 0, 10);
  down->setSpacing(10);
  down->addLayout(buttons);
  down->addWidget(m_none, 1);
  down->addWidget(m_list, 1);
  setFocusProxy(m_list);

  connect(m_add, &QPushButton::clicked, this, [this] { m_actions.openDialog(); });
  connect(m_healAll, &QPushButton::clicked, &actions, &FaultActions::healAll);
  connect(m_list, &QListView::customContextMenuRequested, this,
          [this](const QPoint& at) { showMenu(m_list->viewport()->mapToGlobal(at)); });
  auto* copy = new QShortcut(QKeySequence::Copy, m_list);
  copy->setContext(Qt::WidgetShortcut);
  connect(copy, &QShortcut::activated, this, [this] { QApplication::clipboard()->setText(tableText(*m_model)); });
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (frame.snapshot != frame.previous) take();
  });
  connect(&bridge, &EngineBridge::second, this, [this] {
    if (isVisible() && !m_model->rows().empty()) take();
  });
  connect(&Theme::instance(), &Theme::changed, this, &FaultsPanel::take);
  take();
}

void FaultsPanel::take() {
  m_model->setSnapshot(*m_bridge.snapshot(), m_bridge.age());
  const bool any = !m_model->rows().empty();
  // The one that was picked may be gone: keys work on the next one.
  if (any && !m_list->currentIndex().isValid()) m_list->setCurrentIndex(m_model->index(0, 0));
  m_list->setVisible(any);
  m_none->setVisible(!any);
  m_healAll->setEnabled(any);
}

int FaultsPanel::current() const {
  return m_list->currentIndex().data(FaultModel::kIdRole).toInt();
}

void FaultsPanel::showMenu(const QPoint& at) {
  if (current() == 0) return;
  QMenu menu(this);
  m_actions.fillFault(menu, current());
  menu.exec(at);
}

void FaultsPanel::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
      if (current() != 0) m_actions.heal(current());
      return;
    case Qt::Key_S:
      if (const FaultRow* row = m_model->find(current()); row != nullptr && row->steps) m_actions.step(row->id);
      return;
    case Qt::Key_N:
      m_actions.openDialog();
      return;
    case Qt::Key_Menu:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (m_list->currentIndex().isValid())
        showMenu(m_list->viewport()->mapToGlobal(m_list->visualRect(m_list->currentIndex()).center()));
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

bool FaultsPanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_list && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    // Not to be taken for the first letter of a row.
    for (const int ours : {Qt::Key_Delete, Qt::Key_Backspace, Qt::Key_S, Qt::Key_N, Qt::Key_Return, Qt::Key_Enter})
      if (key->key() == ours && key->modifiers() == Qt::NoModifier) {
        keyPressEvent(static_cast<QKeyEvent*>(event));
        return true;
      }
  }
  if (watched == m_list->viewport() && event->type() == QEvent::MouseButtonRelease) {
    const auto* mouse = static_cast<QMouseEvent*>(event);
    const QModelIndex index = m_list->indexAt(mouse->pos());
    const QRectF card = QRectF(m_list->visualRect(index)).adjusted(14.5, 3.5, -14.5, -4.5);
    if (index.isValid() && mouse->button() == Qt::LeftButton) {
      const FaultRow row = m_model->rows()[static_cast<size_t>(index.row())];
      const QRectF heal = Cards::healArea(card);
      if (heal.contains(mouse->position())) m_actions.heal(row.id);
      if (row.steps && heal.translated(-52, 0).contains(mouse->position()) && !heal.contains(mouse->position()))
        m_actions.step(row.id);
    }
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace tidemark::widgets
