#include "timeline/timeline_page.h"

#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "text/format.h"
#include "theme/tables.h"
#include "theme/theme.h"
#include "timeline/cause_card.h"
#include "timeline/timeline_lanes.h"
#include "timeline/timeline_plot.h"
#include "views/elided_label.h"
#include "views/page_parts.h"

namespace tidemark::widgets {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kSpans[] = {30s, 2min, 5min, 15min};

}  // namespace

TimelinePage::TimelinePage(EngineBridge& bridge, TimeTravel& travel, QWidget* parent)
    : QWidget(parent),
      m_bridge(bridge),
      m_travel(travel),
      m_axis(travel.axis()),
      m_past(travel.past()),
      m_title(new QLabel),
      m_note(new ElidedLabel),
      m_spans(new QComboBox(this)),
      m_goLive(new QPushButton(tr("Follow ▸"), this)),
      m_stack(new QStackedWidget(this)),
      m_scroll(new QScrollArea(m_stack)),
      m_picture(new QWidget(m_scroll->viewport())),
      m_lanes(new TimelineLanes(m_axis, m_past, m_picture)),
      m_plot(new TimelinePlot(m_axis, m_past, m_picture)),
      m_card(new CauseCard(m_picture)),
      m_tables(new QWidget(m_stack)),
      m_table(new QTableView(m_tables)),
      m_foot(new ElidedLabel) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Timeline"));
  m_model = new RowsModel<TimelineRow>(
      {{tr("time"), [](const TimelineRow& row, int) { return timeText(row.mark.at); }},
       {tr("what"), [](const TimelineRow& row, int) { return row.words.title; }},
       {tr("cause"), [](const TimelineRow& row, int) { return row.words.lines.join(QStringLiteral(" · ")); }},
       {tr("event"),
        [](const TimelineRow& row, int) {
          return row.mark.event == 0 ? QString() : grouped(static_cast<int64_t>(row.mark.event));
        },
        true}},
      this);
  m_title->setProperty("kind", QStringLiteral("title"));
  m_note->setProperty("kind", QStringLiteral("muted"));
  for (const auto span : kSpans)
    m_spans->addItem(span < 1min ? tr("%1 seconds").arg(span / 1s) : tr("%1 minutes").arg(span / 1min),
                     static_cast<qlonglong>(span.count()));
  m_spans->addItem(tr("zoomed"));
  m_spans->setCurrentIndex(1);
  m_spans->setAccessibleName(tr("Span"));
  m_goLive->setProperty("kind", QStringLiteral("primary"));
  m_goLive->setToolTip(tr("Follow the present again (L)"));
  auto* head = new QHBoxLayout;
  head->setContentsMargins(24, 14, 24, 12);
  head->setSpacing(14);
  head->addWidget(m_title);
  // They give way.
  head->addWidget(m_note, 1);
  head->addWidget(m_spans);
  head->addWidget(m_goLive);
  auto* inside = new QVBoxLayout(m_picture);
  inside->setContentsMargins(24, 0, 24, 0);
  inside->setSpacing(10);
  inside->addWidget(m_lanes);
  inside->addWidget(m_plot, 1);
  frameTwin(*m_table, m_model, tr("Changes"));
  m_table->setColumnWidth(0, 120);
  m_table->setColumnWidth(1, 230);
  m_table->horizontalHeader()->setSectionResizeMode(2, QHeaderView::Stretch);
  auto* tablesDown = new QVBoxLayout(m_tables);
  tablesDown->setContentsMargins(24, 0, 24, 0);
  tablesDown->addWidget(m_table);
  // On a low window the lower half is scrolled to.
  m_picture->setProperty("kind", QStringLiteral("clear"));
  scrollDown(*m_scroll, m_picture);
  m_scroll->setFocusPolicy(Qt::NoFocus);
  m_stack->addWidget(m_scroll);
  m_stack->addWidget(m_tables);
  m_foot->setProperty("kind", QStringLiteral("note"));
  m_foot->setContentsMargins(26, 6, 24, 8);
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(0, 0, 0, 0);
  down->setSpacing(0);
  down->addLayout(head);
  down->addWidget(m_stack, 1);
  down->addWidget(m_foot);

  connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
    if (const uint64_t event = m_model->rows()[static_cast<size_t>(index.row())].mark.event; event != 0)
      Q_EMIT eventWanted(event);
  });
  connect(m_spans, &QComboBox::activated, this, [this](int index) {
    if (const QVariant span = m_spans->itemData(index); span.isValid())
      m_axis.setSpan(std::chrono::milliseconds(span.toLongLong()));
  });
  connect(m_goLive, &QPushButton::clicked, &travel, &TimeTravel::goLive);
  connect(&travel, &TimeTravel::changed, this, &TimelinePage::onMoment);
  connect(&m_axis, &TimeAxis::rangeChanged, this, [this] {
    takeHead();
    if (!m_card->isHidden()) m_card->showAt(std::nullopt, {});
  });
  connect(&m_axis, &TimeAxis::followChanged, this, &TimelinePage::takeHead);
  connect(m_lanes, &TimelineLanes::markHovered, this,
          [this](const std::optional<TimelineMark>& mark, const QPointF& at) {
            showCause(mark, m_lanes->mapTo(m_picture, at));
          });
  connect(m_plot, &TimelinePlot::hovered, this,
          [this](const QPointF& at) { showCause(m_lanes->markNear(at.x()), m_plot->mapTo(m_picture, at)); });
  connect(m_plot, &TimelinePlot::left, this, [this] { showCause(std::nullopt, {}); });
  connect(m_plot, &TimelinePlot::clicked, this, [this](const QPointF& at) {
    if (const auto mark = m_lanes->markNear(at.x()))
      Q_EMIT m_lanes->markClicked(*mark);
    else
      Q_EMIT m_lanes->timeClicked(m_lanes->timeAt(at.x()));
  });
  connect(m_lanes, &TimelineLanes::markClicked, this, [this](const TimelineMark& mark) {
    goTo(mark);
    if (mark.event != 0) Q_EMIT eventWanted(mark.event);
  });
  connect(m_lanes, &TimelineLanes::timeClicked, this, [this](platform::WallTime at) {
    m_travel.pause();
    m_travel.lookAt(at);
  });
  connect(&bridge, &EngineBridge::live, this, &TimelinePage::onLive);
  connect(&bridge, &EngineBridge::second, this, [this] {
    if (m_active) take();
  });
  takeHead();
}

void TimelinePage::onLive(const Frame& frame) {
  if (frame.anotherCluster) pick(std::nullopt);
  if (!m_active) return;
  const bool marked = std::ranges::any_of(frame.events.events, [](const observe::ObservedEvent& event) {
    return isMarked(event.event.payload) || std::holds_alternative<events::FaultInjected>(event.event.payload) ||
           std::holds_alternative<events::FaultHealed>(event.event.payload);
  });
  if (marked || frame.snapshot->faults.size() != frame.previous->faults.size()) takeMarks();
  if (frame.snapshot != frame.previous) take();
}

void TimelinePage::take() {
  const auto now = m_bridge.newest()->wall + m_bridge.liveAge();
  // Time alone moves the picture by a few pixels a second: small steps are not worth a painting.
  if (m_axis.follows() && std::chrono::abs(now - m_axis.now()) < m_axis.span() / 1000) return;
  m_axis.setNow(now);
  // What is past stays as it is.
  if (m_axis.follows()) m_plot->take();
}

void TimelinePage::takeMarks() {
  m_marks = m_partition ? marksOf(m_past, *m_partition) : std::vector<TimelineMark>();
  m_lanes->setMarks(m_marks);
  if (m_asTable) fillTable();
  m_foot->setText(tr("← → change by change · Enter the event · click: all views at that moment · wheel zooms, drag "
                     "moves · Z to a fault · L live     %1")
                      .arg(tr("%n change(s) remembered", nullptr, static_cast<int>(m_marks.size()))));
}

void TimelinePage::takeHead() {
  // In the past the bar above leads back.
  m_goLive->setVisible(m_travel.isLive());
  m_goLive->setEnabled(!m_axis.follows());
  int index = m_spans->count() - 1;
  for (int i = 0; i < index; ++i)
    if (m_spans->itemData(i).toLongLong() == m_axis.span().count()) index = i;
  if (m_spans->currentIndex() != index) m_spans->setCurrentIndex(index);
}

void TimelinePage::setPartition(const std::optional<TopicPartition>& partition) {
  if (partition == m_partition) return;
  m_partition = partition;
  pick(std::nullopt);
  m_title->setText(partition ? partitionText(*partition) : QString());
  const auto* topic = partition ? observe::findTopic(*m_bridge.snapshot(), partition->topic) : nullptr;
  const auto* found = partition ? observe::findPartition(*m_bridge.snapshot(), *partition) : nullptr;
  m_note->setText(topic == nullptr || found == nullptr
                      ? QString()
                      : tr("ISR, high watermark and lag · replicas %1 · min.insync.replicas %2")
                            .arg(nodeListText(found->replicas))
                            .arg(topic->minInSync));
  m_lanes->setPartition(partition);
  m_plot->setPartition(partition);
  takeMarks();
}

void TimelinePage::setActive(bool active) {
  if (active == m_active) return;
  m_active = active;
  if (!active) return;
  takeMarks();
  m_axis.setNow(m_bridge.newest()->wall + m_bridge.liveAge());
  m_plot->take();
  onMoment();
}

void TimelinePage::onMoment() {
  if (!m_active) return;
  const auto event = m_travel.eventNumber();
  const auto mark =
      std::ranges::find_if(m_marks, [&event](const TimelineMark& one) { return event && one.event == *event; });
  if (mark != m_marks.end())
    pick(*mark);
  else if (!m_current || m_axis.held() != m_current->at)
    pick(std::nullopt);
  takeHead();
}

void TimelinePage::goTo(const TimelineMark& mark) {
  m_travel.pause();
  if (mark.event != 0)
    m_travel.lookAtEvent(mark.event, mark.at);
  else
    m_travel.lookAt(mark.at);
  pick(mark);
}

void TimelinePage::showTable(bool table) {
  m_asTable = table;
  if (table) fillTable();
  m_stack->setCurrentIndex(table ? 1 : 0);
  if (table)
    m_table->setFocus();
  else
    setFocus();
}

void TimelinePage::fillTable() {
  std::vector<TimelineRow> rows;
  for (const TimelineMark& mark : m_marks)
    if (auto words = causeOf(mark, m_past, *m_partition, *m_bridge.snapshot()))
      rows.push_back({mark, std::move(*words)});
  m_model->setRows(std::move(rows));
}

void TimelinePage::pick(const std::optional<TimelineMark>& mark) {
  m_current = mark;
  m_lanes->setCurrent(mark);
  if (!mark) m_card->showAt(std::nullopt, {});
}

void TimelinePage::showCause(const std::optional<TimelineMark>& mark, const QPointF& inPicture) {
  if (!mark || !m_partition) {
    // What the keys have picked stays in sight.
    if (m_current && mark == std::nullopt && m_axis.cursor() == m_current->at) return;
    m_card->showAt(std::nullopt, {});
    return;
  }
  m_card->showAt(causeOf(*mark, m_past, *m_partition, *m_bridge.snapshot()), inPicture);
}

void TimelinePage::step(int by) {
  if (m_marks.empty()) return;
  auto next = m_marks.end();
  if (m_current) {
    const auto at = std::ranges::find(m_marks, *m_current);
    if (at != m_marks.end())
      next = by > 0                  ? (std::next(at) == m_marks.end() ? at : std::next(at))
             : at == m_marks.begin() ? at
                                     : std::prev(at);
  }
  // The first step goes to the nearest one before what is looked at, or to the first one in sight.
  if (next == m_marks.end()) {
    const auto edge = m_axis.cursor().value_or(by > 0 ? m_axis.begin() : m_axis.end());
    const auto after = std::ranges::upper_bound(m_marks, edge, {}, &TimelineMark::at);
    next = by > 0 ? (after == m_marks.end() ? std::prev(after) : after)
                  : (after == m_marks.begin() ? after : std::prev(after));
  }
  const TimelineMark mark = *next;
  m_axis.setCursor(std::nullopt);
  goTo(mark);
  m_axis.reveal(mark.at);
  showCause(mark, m_lanes->mapTo(m_picture, m_lanes->placeOf(mark)));
}

void TimelinePage::zoomToFault() {
  const auto& faults = m_past.faults();
  if (faults.empty()) return;
  // The one before that which fills the view now, or the newest.
  auto found = std::prev(faults.end());
  for (auto fault = faults.begin(); fault != faults.end(); ++fault)
    if (m_current && m_current->fault == fault->id) found = fault;
  const auto end = found->end.value_or(m_axis.now());
  const auto around = std::max<TimeAxis::Span>((end - found->begin) / 3, 2s);
  m_axis.show(found->begin - around, std::min(m_axis.now(), end + around));
  const auto mark = std::ranges::find_if(
      m_marks, [&](const TimelineMark& one) { return one.fault == found->id && one.at == found->begin; });
  if (mark != m_marks.end()) pick(*mark);
}

void TimelinePage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  m_card->showAt(std::nullopt, {});
}

void TimelinePage::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(m_card->isHidden() ? QString() : m_card->asText());
    return;
  }
  const auto middle = m_axis.cursor().value_or(m_axis.begin() + m_axis.span() / 2);
  switch (event->key()) {
    case Qt::Key_Left:
      return step(-1);
    case Qt::Key_Right:
      return step(1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (m_current && m_current->event != 0) Q_EMIT eventWanted(m_current->event);
      return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return m_axis.zoom(0.7, middle);
    case Qt::Key_Minus:
      return m_axis.zoom(1 / 0.7, middle);
    case Qt::Key_PageUp:
      return m_axis.pan(-m_axis.span() / 2);
    case Qt::Key_PageDown:
      return m_axis.pan(m_axis.span() / 2);
    case Qt::Key_Z:
      return zoomToFault();
    case Qt::Key_L:
    case Qt::Key_F:
    case Qt::Key_End:
    case Qt::Key_Escape:
      return m_travel.goLive();
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace tidemark::widgets
