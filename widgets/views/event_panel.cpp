#include "views/event_panel.h"

#include <algorithm>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPainter>
#include <QPushButton>
#include <QSaveFile>
#include <QScrollBar>
#include <QShortcut>
#include <QStyledItemDelegate>
#include <QTableView>

#include "text/format.h"
#include "theme/shapes.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

/// Wide enough for whatever it will say: what stands beside it does not move.
void reserve(QPushButton* button, const QStringList& texts) {
  const QString now = button->text();
  button->ensurePolished();
  int widest = 0;
  for (const QString& text : texts) {
    button->setText(text);
    widest = std::max(widest, button->sizeHint().width());
  }
  button->setText(now);
  button->setMinimumWidth(widest);
}

}  // namespace

/// Heads that stand where the text of their column begins; at the right what the table leaves out.
class EventHeader : public QHeaderView {
 public:
  explicit EventHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {}
  void setNote(const QString& note) {
    if (note == m_note) return;
    m_note = note;
    viewport()->update();
  }

 protected:
  void paintSection(QPainter* painter, const QRect& rect, int section) const override {
    const Palette& p = colors();
    painter->save();
    painter->fillRect(rect, p.panel);
    painter->setFont(Theme::body(11, QFont::Bold));
    painter->setPen(p.heads);
    const int left = section == EventModel::Time ? 16 : section == EventModel::Event ? 22 : 8;
    painter->drawText(QPointF(rect.left() + left, rect.center().y() + 5),
                      model()->headerData(section, Qt::Horizontal).toString());
    if (section == EventModel::Detail && !m_note.isEmpty()) {
      painter->setFont(Theme::body(11));
      painter->setPen(p.muted);
      const QFontMetricsF metrics(painter->font());
      const QString note = metrics.elidedText(m_note, Qt::ElideRight, std::max(0, rect.width() - 80));
      painter->drawText(QPointF(rect.right() - 16 - metrics.horizontalAdvance(note), rect.center().y() + 5), note);
    }
    painter->restore();
  }

 private:
  QString m_note;
};

namespace {

/// A row as in the legend: grave events stand on a soft ground, the mark before the name tells the state.
class EventDelegate : public QStyledItemDelegate {
 public:
  EventDelegate(const std::optional<uint64_t>& moment, QObject* parent)
      : QStyledItemDelegate(parent), m_moment(moment) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Palette& p = colors();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRectF cell = option.rect;
    const bool first = index.column() == 0;
    const bool last = index.column() == EventModel::ColumnCount - 1;
    const bool grave = static_cast<Weight>(index.data(EventModel::WeightRole).toInt()) == Weight::Grave;
    const bool selected = option.state & QStyle::State_Selected;
    if (selected || grave) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(selected ? p.selection : p.badSoft);
      painter->save();
      painter->setClipRect(cell);
      // Each cell paints its part of one long rounded bar.
      painter->drawRoundedRect(cell.adjusted(first ? 8 : -12, 0.5, last ? -8 : 12, -0.5), 4, 4);
      painter->restore();
    }
    // What has not happened yet at the moment that is shown.
    if (m_moment && index.data(EventModel::NumberRole).toULongLong() > *m_moment) painter->setOpacity(0.45);
    const double middle = cell.center().y() + 0.5;
    QFont font = Theme::body(12.5);
    QColor color = p.ink;
    double left = cell.left() + 8;
    switch (index.column()) {
      case EventModel::Time:
        font = Theme::mono(12);
        color = p.muted;
        left = cell.left() + 16;
        break;
      case EventModel::Source:
        color = p.muted;
        break;
      case EventModel::Event:
        font = Theme::body(12.5, QFont::DemiBold);
        drawShape(*painter, static_cast<StateShape>(index.data(EventModel::ShapeRole).toInt()),
                  {cell.left() + 10, middle}, 8.5, index.data(EventModel::ShapeColorRole).value<QColor>());
        left = cell.left() + 22;
        break;
      case EventModel::Where:
        font = Theme::mono(12);
        break;
      default:
        break;
    }
    painter->setFont(font);
    painter->setPen(color);
    // Of a long topic the end tells which partition it is.
    const Qt::TextElideMode cut = index.column() == EventModel::Where ? Qt::ElideMiddle : Qt::ElideRight;
    const QString text = QFontMetricsF(font).elidedText(index.data().toString(), cut, cell.right() - left - 6);
    painter->drawText(QPointF(left, middle + 4.5), text);
    painter->restore();
  }

 private:
  const std::optional<uint64_t>& m_moment;
};

}  // namespace

/// Whether the newest rows are shown, or the table is held.
class EventPanel::LivePill : public QWidget {
 public:
  using QWidget::QWidget;
  void setPaused(bool paused, size_t held) {
    m_paused = paused;
    m_held = held;
    setAccessibleName(text());
    update();
  }
  /// Older rows are being read: the newest come in above.
  void setAbove(bool above) {
    if (above == m_above) return;
    m_above = above;
    setAccessibleName(text());
    update();
  }
  /// As wide as it ever gets: what stands beside it does not move.
  QSize sizeHint() const override {
    const QFontMetricsF metrics(Theme::body(11, QFont::DemiBold));
    const double widest = std::max(metrics.horizontalAdvance(EventPanel::tr("HELD · %1 new").arg(grouped(4000))),
                                   metrics.horizontalAdvance(EventPanel::tr("newest above")));
    return {qCeil(widest) + 34, 20};
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Palette& p = colors();
    painter.setPen(Qt::NoPen);
    painter.setBrush(m_paused ? p.warnSoft : p.okSoft);
    const double wide = QFontMetricsF(Theme::body(11, QFont::DemiBold)).horizontalAdvance(text()) + 34;
    painter.drawRoundedRect(QRectF(0, 0, std::min<double>(wide, width()), height()), 10, 10);
    drawShape(painter, m_paused ? StateShape::Bars : StateShape::Disc, {14, 10}, 8, m_paused ? p.warn : p.ok);
    painter.setFont(Theme::body(11, QFont::DemiBold));
    painter.setPen(m_paused ? p.warnText : p.okText);
    painter.drawText(QPointF(23, 14), text());
  }

 private:
  QString text() const {
    if (!m_paused) return m_above ? EventPanel::tr("newest above") : EventPanel::tr("newest first");
    return m_held == 0 ? EventPanel::tr("HELD")
                       : EventPanel::tr("HELD · %1 new").arg(grouped(static_cast<int64_t>(m_held)));
  }
  bool m_paused = false;
  bool m_above = false;
  size_t m_held = 0;
};

EventPanel::EventPanel(EngineBridge& bridge, QWidget* head, QWidget* owner)
    : QObject(owner),
      m_bridge(bridge),
      m_model(new EventModel(this)),
      m_filter(new EventFilterModel(this)),
      m_controls(new QWidget(head)),
      m_live(new LivePill(m_controls)),
      m_words(new QLineEdit(m_controls)),
      m_kinds(new QPushButton(tr("All kinds ▾"), m_controls)),
      m_pause(new QPushButton(tr("Pause"), m_controls)),
      m_copy(new QPushButton(tr("Copy"), m_controls)),
      m_export(new QPushButton(tr("Export…"), m_controls)),
      m_table(new QTableView(owner)) {
  m_filter->setSourceModel(m_model);
  m_live->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  m_live->setPaused(false, 0);
  m_words->setPlaceholderText(tr("Filter events"));
  m_words->setToolTip(tr("Words that a row must have, all of them (Ctrl+F)"));
  m_words->setClearButtonEnabled(true);
  // The button that clears it appears inside, and moves nothing.
  m_words->setFixedWidth(160);
  m_pause->setCheckable(true);
  m_pause->setToolTip(tr("Hold the table; what comes is counted and shown when you go on (Space)"));
  m_copy->setToolTip(tr("Copy the selected rows, or all that are shown"));
  m_export->setToolTip(tr("Write the rows that are shown to a CSV or JSON file"));

  auto* menu = new QMenu(m_kinds);
  QAction* all = menu->addAction(tr("All kinds"));
  all->setCheckable(true);
  all->setChecked(true);
  menu->addSeparator();
  for (const EventGroup group : {EventGroup::Replication, EventGroup::Log, EventGroup::Purgatory, EventGroup::Quorum,
                                 EventGroup::Brokers, EventGroup::Clients, EventGroup::Lab}) {
    QAction* action = menu->addAction(nameOf(group));
    action->setCheckable(true);
    connect(action, &QAction::toggled, this, [this, group](bool on) {
      std::set<EventGroup> groups = m_filter->groups();
      on ? static_cast<void>(groups.insert(group)) : static_cast<void>(groups.erase(group));
      m_filter->setGroups(std::move(groups));
      nameKinds();
    });
    m_groups.push_back(action);
  }
  connect(all, &QAction::triggered, this, [this, all] {
    for (QAction* group : m_groups) group->setChecked(false);
    all->setChecked(true);
  });
  connect(menu, &QMenu::aboutToShow, all, [this, all] { all->setChecked(m_filter->groups().empty()); });
  menu->addSeparator();
  QAction* chatty = menu->addAction(tr("Every one from now on: appends, fetches, index entries, each watermark"));
  chatty->setCheckable(true);
  connect(chatty, &QAction::toggled, this, [this](bool on) {
    m_model->setChatty(on);
    nameKinds();
  });
  m_kinds->setMenu(menu);
  reserve(m_kinds, {tr("All kinds ▾"), tr("Every one ▾"), tr("%n kinds ▾", nullptr, 7)});
  reserve(m_pause, {tr("Pause"), tr("Go on")});

  auto* row = new QHBoxLayout(m_controls);
  row->setContentsMargins(16, 12, 24, 10);
  row->setSpacing(8);
  row->addWidget(m_live, 0, Qt::AlignTop);
  row->setAlignment(m_live, Qt::AlignVCenter);
  row->addSpacing(4);
  row->addWidget(m_words);
  row->addWidget(m_kinds);
  row->addWidget(m_pause);
  row->addWidget(m_copy);
  row->addWidget(m_export);

  m_header = new EventHeader(m_table);
  m_table->setHorizontalHeader(m_header);
  // Before the table hears of it: it would go to a neighbour of the current row and show the oldest ones.
  connect(m_filter, &QAbstractItemModel::rowsAboutToBeRemoved, this, [this](const QModelIndex&, int first, int last) {
    const QModelIndex current = m_table->currentIndex();
    if (current.row() >= first && current.row() <= last) m_table->setCurrentIndex({});
  });
  m_table->setModel(m_filter);
  m_table->setItemDelegate(new EventDelegate(m_moment, m_table));
  m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
  m_table->setShowGrid(false);
  m_table->setWordWrap(false);
  m_table->setFrameShape(QFrame::NoFrame);
  m_table->verticalHeader()->hide();
  m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  m_table->verticalHeader()->setDefaultSectionSize(28);
  m_table->verticalHeader()->setMinimumSectionSize(20);
  m_table->horizontalHeader()->setFixedHeight(26);
  m_table->horizontalHeader()->setSectionsClickable(false);
  m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_table->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_table->setTabKeyNavigation(false);
  m_table->setAccessibleName(tr("Events"));
  const int widths[] = {122, 104, 190, 140};
  for (int column = 0; column < 4; ++column) m_table->setColumnWidth(column, widths[column]);

  connect(m_words, &QLineEdit::textChanged, m_filter, &EventFilterModel::setWords);
  connect(m_pause, &QPushButton::toggled, this, &EventPanel::setPaused);
  connect(m_copy, &QPushButton::clicked, this, &EventPanel::copySelection);
  connect(m_export, &QPushButton::clicked, this, &EventPanel::exportToFile);
  connect(m_model, &EventModel::countsChanged, this, &EventPanel::counts);
  connect(&bridge, &EngineBridge::live, this, &EventPanel::onFrame);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
    if (m_following || !now.isValid()) return;
    Q_EMIT eventPicked(now.data(EventModel::NumberRole).toULongLong(),
                       platform::WallTime(platform::milliseconds(now.data(EventModel::WallRole).toLongLong())));
  });
  connect(&Theme::instance(), &Theme::changed, m_table->viewport(), qOverload<>(&QWidget::update));
  const auto go = [this](Qt::Key key, auto&& where) {
    auto* shortcut = new QShortcut(QKeySequence(key), m_table);
    shortcut->setContext(Qt::WidgetShortcut);
    connect(shortcut, &QShortcut::activated, m_table, where);
  };
  go(Qt::Key_Home, [this] { m_table->scrollToTop(); });
  go(Qt::Key_End, [this] { m_table->scrollToBottom(); });
  connect(m_table->verticalScrollBar(), &QScrollBar::valueChanged, this,
          [this](int value) { m_live->setAbove(value > 0); });
  auto* copy = new QShortcut(QKeySequence::Copy, m_table);
  copy->setContext(Qt::WidgetShortcut);
  connect(copy, &QShortcut::activated, this, &EventPanel::copySelection);
}

void EventPanel::onFrame(const Frame& frame) {
  if (frame.anotherCluster) m_model->clear();
  if (frame.events.events.empty() && frame.events.missed == 0) return;
  // Whoever reads further down keeps what he reads in place, as long as it is there; then the newest are shown again.
  QScrollBar* bar = m_table->verticalScrollBar();
  const int height = m_table->verticalHeader()->defaultSectionSize();
  const int was = bar->value();
  const QPersistentModelIndex first = was == 0 ? QModelIndex() : m_filter->index(was / height, 0);
  m_model->append(frame.events, frame.snapshot);
  if (was == 0) return;
  // The bar does not know of the new rows before the layout.
  m_table->doItemsLayout();
  bar->setValue(first.isValid() ? first.row() * height + was % height : 0);
}

void EventPanel::nameKinds() {
  const std::set<EventGroup>& groups = m_filter->groups();
  const bool every = m_model->isChatty();
  m_kinds->setText(groups.empty()       ? every ? tr("Every one ▾") : tr("All kinds ▾")
                         : groups.size() == 1 ? tr("%1 ▾").arg(nameOf(*groups.begin()))
                                        : tr("%n kinds ▾", nullptr, static_cast<int>(groups.size())));
  QStringList names;
  for (const EventGroup group : groups) names << nameOf(group);
  const QString chosen = names.isEmpty() ? tr("All kinds") : names.join(QStringLiteral(", "));
  m_kinds->setToolTip(every ? tr("%1, every one").arg(chosen) : tr("%1; frequent ones thinned").arg(chosen));
}

void EventPanel::setPaused(bool paused) {
  m_model->setPaused(paused);
  m_pause->setChecked(paused);
  m_pause->setText(paused ? tr("Go on") : tr("Pause"));
}

void EventPanel::counts() {
  m_live->setPaused(m_model->isPaused(), m_model->heldBack());
  QStringList lines{m_model->isPaused() ? tr("The table is held; the cluster goes on.")
                                        : tr("The newest events stand above.")};
  QStringList notes;
  if (m_model->leftOut() > 0) {
    const auto count = static_cast<int64_t>(m_model->leftOut());
    notes << tr("%1 frequent left out", nullptr, pluralOf(count)).arg(grouped(count));
    lines
        << tr("%1 frequent event(s) left out: appends, fetches, most watermarks. The menu of kinds can show every one "
              "from then on.",
              nullptr, pluralOf(count))
               .arg(grouped(count));
  }
  if (m_model->forgotten() > 0) {
    const auto count = static_cast<int64_t>(m_model->forgotten());
    notes << tr("%1 older gone", nullptr, pluralOf(count)).arg(grouped(count));
    lines << tr("%1 older event(s) had to go for newer ones.", nullptr, pluralOf(count)).arg(grouped(count));
  }
  if (m_model->lost() > 0) notes << tr("%1 lost").arg(grouped(static_cast<int64_t>(m_model->lost())));
  m_header->setNote(notes.join(QStringLiteral(" · ")));
  if (m_model->lost() > 0)
    lines << tr("%1 event(s) lost.", nullptr, pluralOf(static_cast<int64_t>(m_model->lost())))
                 .arg(grouped(static_cast<int64_t>(m_model->lost())));
  m_live->setToolTip(lines.join(QLatin1Char('\n')));
}

void EventPanel::copySelection() {
  std::vector<int> rows;
  for (const QModelIndex& index : m_table->selectionModel()->selectedRows()) rows.push_back(index.row());
  std::ranges::sort(rows);
  if (rows.empty())
    for (int row = 0; row < m_filter->rowCount(); ++row) rows.push_back(row);
  QApplication::clipboard()->setText(m_filter->toText(rows));
}

void EventPanel::exportToFile() {
  QString name =
      QFileDialog::getSaveFileName(m_table, tr("Export the events that are shown"), QStringLiteral("events.csv"),
                                   tr("Comma-separated values (*.csv);;JSON, one object a line (*.json)"));
  if (name.isEmpty()) return;
  const bool json = name.endsWith(QStringLiteral(".json"), Qt::CaseInsensitive);
  QSaveFile file(name);
  if (!file.open(QIODevice::WriteOnly) || file.write((json ? m_filter->toJson() : m_filter->toCsv()).toUtf8()) < 0 ||
      !file.commit()) {
    QMessageBox::warning(m_table, tr("Not exported"), tr("%1 cannot be written: %2").arg(name, file.errorString()));
    return;
  }
  QString text = tr("%n event(s) written to %1", nullptr, m_filter->rowCount()).arg(name);
  if (m_model->leftOut() > 0)
    text +=
        QStringLiteral(" · ") + tr("%1 frequent left out", nullptr, pluralOf(static_cast<int64_t>(m_model->leftOut())))
                                    .arg(grouped(static_cast<int64_t>(m_model->leftOut())));
  Q_EMIT said(text);
}

void EventPanel::focusFilter() {
  m_words->setFocus(Qt::ShortcutFocusReason);
  m_words->selectAll();
}

int EventPanel::rowOf(uint64_t number) const {
  // Newest first.
  int from = 0;
  int to = m_model->rowCount();
  while (from < to) {
    const int middle = (from + to) / 2;
    if (m_model->index(middle, 0).data(EventModel::NumberRole).toULongLong() > number)
      from = middle + 1;
    else
      to = middle;
  }
  return from < m_model->rowCount() ? from : -1;
}

bool EventPanel::reveal(uint64_t number) {
  const int row = rowOf(number);
  if (row < 0 || m_model->index(row, 0).data(EventModel::NumberRole).toULongLong() != number) {
    Q_EMIT said(tr("Event %1 is not in the table any more").arg(number));
    return false;
  }
  const QModelIndex source = m_model->index(row, 0);
  if (!m_filter->mapFromSource(source).isValid()) {
    m_words->clear();
    for (QAction* group : m_groups) group->setChecked(false);
  }
  const QModelIndex shown = m_filter->mapFromSource(source);
  m_following = true;
  m_table->setCurrentIndex(shown);
  m_following = false;
  m_table->scrollTo(shown, QAbstractItemView::PositionAtCenter);
  return true;
}

void EventPanel::setMoment(std::optional<uint64_t> number) {
  if (number == m_moment) return;
  m_moment = number;
  m_table->viewport()->update();
  m_following = true;
  if (!number) {
    m_table->setCurrentIndex({});
    m_table->scrollToTop();
  } else {
    // The newest of the rows that are shown.
    int row = rowOf(*number);
    while (row >= 0 && row < m_model->rowCount() && !m_filter->mapFromSource(m_model->index(row, 0)).isValid()) ++row;
    if (row >= 0 && row < m_model->rowCount()) {
      const QModelIndex shown = m_filter->mapFromSource(m_model->index(row, 0));
      if (shown.row() != m_table->currentIndex().row()) {
        m_table->setCurrentIndex(shown.siblingAtColumn(0));
        m_table->scrollTo(shown, QAbstractItemView::PositionAtCenter);
      }
    }
  }
  m_following = false;
}

}  // namespace tidemark::widgets
