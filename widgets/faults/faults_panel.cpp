#include "faults/faults_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QListView>
#include <QMenu>
#include <QMouseEvent>
#include <QPushButton>
#include <QShortcut>
#include <QVBoxLayout>

#include "faults/fault_actions.h"
#include "faults/fault_cards.h"
#include "theme/draw.h"
#include "theme/table_text.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

/// Of those that are over at least one is in sight.
constexpr int kLeastOver = 96;
/// How the two lists share the panel.
constexpr int kActiveShare = 3;
constexpr int kOverShare = 2;

QPoint middleOf(const QListView& list) {
  return list.viewport()->mapToGlobal(list.visualRect(list.currentIndex()).center());
}

}  // namespace

FaultsPanel::FaultsPanel(EngineBridge& bridge, FaultActions& actions, QWidget* parent)
    : QWidget(parent),
      m_bridge(bridge),
      m_actions(actions),
      m_model(new FaultModel(this)),
      m_overModel(new FaultOverModel(this)),
      m_down(new QVBoxLayout(this)),
      m_add(new QPushButton(tr("Fault…"), this)),
      m_healAll(new QPushButton(tr("Heal all"), this)),
      m_none(new QLabel(this)),
      m_list(new QListView(this)),
      m_fold(new QPushButton(this)),
      m_overList(new QListView(this)) {
  setProperty("kind", QStringLiteral("panel"));
  setAttribute(Qt::WA_StyledBackground);
  setMinimumWidth(240);
  frameList(*m_list, *m_model, *new FaultCards(*m_model, this), tr("Active faults"));
  frameList(*m_overList, *m_overModel, *new FaultOverCards(*m_overModel, this), tr("Faults that are over"));
  m_overList->setMinimumHeight(kLeastOver);
  m_none->setProperty("kind", QStringLiteral("muted"));
  m_none->setWordWrap(true);
  m_none->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  m_none->setContentsMargins(18, 4, 18, 0);
  m_fold->setProperty("kind", QStringLiteral("fold"));
  m_fold->setCheckable(true);
  m_fold->setIconSize({10, 10});
  m_fold->setAccessibleName(tr("Faults that are over"));
  m_fold->setToolTip(tr("What is over: when and how it ended, and what it left behind"));
  m_add->setProperty("kind", QStringLiteral("danger"));
  auto* buttons = new QHBoxLayout;
  buttons->setContentsMargins(18, 0, 18, 0);
  buttons->setSpacing(8);
  buttons->addWidget(m_add, 1);
  buttons->addWidget(m_healAll, 1);
  m_down->setContentsMargins(0, 0, 0, 10);
  m_down->setSpacing(10);
  m_down->addLayout(buttons);
  m_down->addWidget(m_none, 1);
  m_down->addWidget(m_list, kActiveShare);
  m_down->addWidget(m_fold);
  m_down->addWidget(m_overList, kOverShare);
  setFocusProxy(m_list);

  connect(m_add, &QPushButton::clicked, this, [this] { m_actions.openDialog(); });
  connect(m_healAll, &QPushButton::clicked, &actions, &FaultActions::healAll);
  const auto showArrow = [this](bool open) {
    m_fold->setIcon(QIcon(open ? QStringLiteral(":/tidemark/icons/chevron-down.svg")
                               : QStringLiteral(":/tidemark/icons/chevron-right.svg")));
  };
  showArrow(false);
  connect(m_fold, &QPushButton::toggled, this, showArrow);
  connect(m_fold, &QPushButton::toggled, this, &FaultsPanel::takeFold);
  connect(m_list, &QListView::customContextMenuRequested, this,
          [this](const QPoint& at) { showMenu(m_list->viewport()->mapToGlobal(at)); });
  connect(m_overList, &QListView::customContextMenuRequested, this,
          [this](const QPoint& at) { showOverMenu(m_overList->viewport()->mapToGlobal(at)); });
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (frame.anotherCluster) m_fold->setChecked(false);
    if (frame.snapshot != frame.previous) take();
  });
  connect(&bridge, &EngineBridge::second, this, [this] {
    if (isVisible() && !m_model->rows().empty()) take();
  });
  connect(&Theme::instance(), &Theme::changed, this, &FaultsPanel::take);
  take();
}

void FaultsPanel::frameList(QListView& list, QAbstractItemModel& model, QStyledItemDelegate& cards,
                            const QString& name) {
  list.setModel(&model);
  list.setItemDelegate(&cards);
  list.setFrameShape(QFrame::NoFrame);
  list.setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  list.setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  // How many lines a note takes depends on the width.
  list.setResizeMode(QListView::Adjust);
  list.setAccessibleName(name);
  list.setContextMenuPolicy(Qt::CustomContextMenu);
  list.installEventFilter(this);
  list.viewport()->installEventFilter(this);
  auto* copy = new QShortcut(QKeySequence::Copy, &list);
  copy->setContext(Qt::WidgetShortcut);
  connect(copy, &QShortcut::activated, this,
          [shown = &model] { QApplication::clipboard()->setText(tableText(*shown)); });
}

void FaultsPanel::take() {
  m_model->setSnapshot(*m_bridge.snapshot(), m_bridge.age());
  m_overModel->setSnapshot(*m_bridge.snapshot());
  const bool any = !m_model->rows().empty();
  // The one that was picked may be gone: keys work on the next one.
  if (any && !m_list->currentIndex().isValid()) m_list->setCurrentIndex(m_model->index(0, 0));
  m_list->setVisible(any);
  const QString hindrance = m_bridge.hindrance();
  m_add->setVisible(!m_bridge.isRecorded());
  m_healAll->setVisible(!m_bridge.isRecorded());
  m_add->setEnabled(hindrance.isEmpty());
  m_add->setToolTip(hindrance.isEmpty() ? tr("Any fault with all it takes (Ctrl+Shift+F)") : hindrance);
  m_none->setText(!m_overModel->rows().empty() ? tr("Nothing is broken on purpose any more. What was is listed below.")
                  : m_bridge.isRecorded()
                      ? tr("Nothing was broken on purpose at this moment.\nA recording only shows what was: nothing in "
                           "it can be broken or healed.")
                      : tr("Nothing is broken on purpose.\nBrokers, links and clients have a menu of faults each; all "
                           "of them are under “Fault…”."));
  m_none->setVisible(!any);
  m_healAll->setEnabled(any && hindrance.isEmpty());
  m_healAll->setToolTip(hindrance.isEmpty() ? tr("Ctrl+H") : hindrance);
  takeFold();
}

void FaultsPanel::takeFold() {
  const auto count = static_cast<int>(m_overModel->rows().size());
  const int lasting = m_overModel->lastingCount();
  QString text = tr("OVER  %1").arg(count);
  if (lasting > 0) text += tr("  ·  %1 left something behind").arg(lasting);
  const bool open = m_fold->isChecked();
  if (m_fold->text() != text) {
    m_fold->setText(text);
    m_fold->setAccessibleDescription(text);
  }
  m_fold->setVisible(count > 0);
  m_overList->setVisible(count > 0 && open);
  // Nothing but a sentence above it: the list has the room.
  m_down->setStretchFactor(m_none, count > 0 && open ? 0 : 1);
}

QString FaultsPanel::emptyText() const {
  return m_none->isHidden() ? QString() : m_none->text();
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

void FaultsPanel::showOverMenu(const QPoint& at) {
  if (!m_overList->currentIndex().isValid()) return;
  QMenu menu(this);
  m_actions.fillOver(menu, m_overModel->rows()[static_cast<size_t>(m_overList->currentIndex().row())].fault);
  menu.exec(at);
}

void FaultsPanel::keyPressEvent(QKeyEvent* event) {
  const bool isEnter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (m_fold->hasFocus()) {
    if (isEnter) return m_fold->toggle();
    return QWidget::keyPressEvent(event);
  }
  if (!takesKey(*event)) QWidget::keyPressEvent(event);
}

bool FaultsPanel::takesKey(const QKeyEvent& event) {
  switch (event.key()) {
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
      if (current() != 0) m_actions.heal(current());
      return true;
    case Qt::Key_S:
      if (const FaultRow* row = m_model->find(current()); row != nullptr && row->steps) m_actions.step(row->id);
      return true;
    case Qt::Key_N:
      m_actions.openDialog();
      return true;
    case Qt::Key_Menu:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (m_list->currentIndex().isValid()) showMenu(middleOf(*m_list));
      return true;
    default:
      return false;
  }
}

bool FaultsPanel::takesOverKey(const QKeyEvent& event) {
  switch (event.key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
      showOverMenu(middleOf(*m_overList));
      return true;
    case Qt::Key_N:
      return takesKey(event);
    // What is over is neither healed nor stepped, and the list above is not meant.
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
    case Qt::Key_S:
      return true;
    default:
      return false;
  }
}

bool FaultsPanel::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress && (watched == m_list || watched == m_overList)) {
    const auto& key = *static_cast<QKeyEvent*>(event);
    // Not to be taken for the first letter of a row.
    if (key.modifiers() == Qt::NoModifier && key.key() != Qt::Key_Menu &&
        (watched == m_list ? takesKey(key) : takesOverKey(key)))
      return true;
  }
  if (watched == m_list->viewport() && event->type() == QEvent::MouseButtonRelease)
    if (const auto* mouse = static_cast<QMouseEvent*>(event); mouse->button() == Qt::LeftButton)
      click(mouse->position());
  return QWidget::eventFilter(watched, event);
}

void FaultsPanel::click(const QPointF& at) {
  const QModelIndex index = m_list->indexAt(at.toPoint());
  if (!index.isValid()) return;
  const QRectF area = m_list->visualRect(index);
  const FaultRow row = m_model->rows()[static_cast<size_t>(index.row())];
  if (FaultCards::healArea(row, area).contains(at))
    m_actions.heal(row.id);
  else if (row.steps && FaultCards::stepArea(row, area).contains(at))
    m_actions.step(row.id);
}

}  // namespace tidemark::widgets
