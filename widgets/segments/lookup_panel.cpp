#include "segments/lookup_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include "text/format.h"
#include "theme/draw.h"
#include "theme/shapes.h"
#include "theme/table_text.h"
#include "theme/tables.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

constexpr int kRowHeight = 25;
constexpr int kExplainedFrom = 310;

/// Paints a row: its mark, then figures; a step that is still to come is faint.
class StepDelegate : public QStyledItemDelegate {
 public:
  StepDelegate(const SegmentsController& controller, QObject* parent)
      : QStyledItemDelegate(parent), m_controller(controller) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const auto& rows = m_controller.rows();
    if (index.row() >= static_cast<int>(rows.size())) return;
    const Palette& p = colors();
    const LookupRow& row = rows[static_cast<size_t>(index.row())];
    const bool current = index.row() == m_controller.row();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (current) painter->fillRect(option.rect, p.selection);
    if (index.row() > m_controller.row()) painter->setOpacity(0.38);
    const QRectF box = option.rect;
    const double baseline = box.center().y() + 4.5;
    if (index.column() == 0) {
      paintMark(*painter, row, QPointF(box.left() + 20, box.center().y()));
    } else {
      const bool then = index.column() == 4;
      const QFont font = then ? Theme::body(12, row.mark == LookupRow::Mark::Found ? QFont::DemiBold : QFont::Normal)
                              : Theme::mono(12, index.column() == 2 ? QFont::DemiBold : QFont::Normal);
      const QColor color = row.mark == LookupRow::Mark::Found && index.column() > 1 ? p.highWatermark
                           : then                                                   ? p.muted
                                                                                    : p.ink;
      const QString text = QFontMetricsF(font).elidedText(index.data().toString(), Qt::ElideRight, box.width() - 6);
      drawLine(*painter, box.left() + 8, baseline, text, font, color);
    }
    painter->restore();
  }

 private:
  static void paintMark(QPainter& painter, const LookupRow& row, const QPointF& center) {
    const Palette& p = colors();
    switch (row.mark) {
      case LookupRow::Mark::Probe:
        painter.setPen(Qt::NoPen);
        painter.setBrush(p.violet);
        painter.drawEllipse(center, 9, 9);
        drawLine(painter, center.x(), center.y() + 4, QString::number(row.number), Theme::body(11, QFont::Bold),
                 p.onViolet, Qt::AlignHCenter);
        return;
      case LookupRow::Mark::Segment:
        drawShape(painter, StateShape::Square, center, 11, p.violet);
        return;
      case LookupRow::Mark::Floor:
        painter.setPen(QPen(p.highWatermark, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(center, 7.5, 7.5);
        return;
      case LookupRow::Mark::Scan: {
        const QRectF box(center.x() - 9, center.y() - 7, 18, 14);
        painter.setPen(QPen(p.highWatermark, 1.4));
        painter.setBrush(p.purgatory);
        painter.drawRoundedRect(box, 3, 3);
        drawLine(painter, center.x(), center.y() + 3.8, QString::number(row.number), Theme::body(10, QFont::DemiBold),
                 p.highWatermark, Qt::AlignHCenter);
        return;
      }
      case LookupRow::Mark::Found:
        drawShape(painter, StateShape::Disc, center, 13, p.highWatermark);
        return;
      case LookupRow::Mark::Miss:
        drawShape(painter, StateShape::Cross, center, 9, p.muted);
        return;
    }
  }

  const SegmentsController& m_controller;
};

}  // namespace

// LookupResult.

LookupResult::LookupResult(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

QSize LookupResult::sizeHint() const {
  return {300, static_cast<int>(12 + 24 * std::max<size_t>(4, m_lines.size()))};
}

void LookupResult::setLookup(LookupPicturePtr lookup, int step) {
  const size_t before = m_lines.size();
  m_lines.clear();
  m_problem.clear();
  if (lookup) {
    const LookupSums sums = sumUp(*lookup, step);
    const bool ended = step + 1 >= static_cast<int>(lookup->steps().size());
    const QString open = QStringLiteral("…");
    if (lookup->byTime)
      m_lines.push_back(
          {tr("Time index says"), sums.timeFloor ? tr("from %1 on").arg(offsetText(sums.timeFloor->offset)) : open});
    m_lines.push_back({tr("Floor entry"),
                       sums.floor     ? tr("%1 @ %2").arg(offsetText(sums.floor->offset), grouped(sums.floor->position))
                       : sums.noFloor ? tr("none: from byte 0")
                                      : open});
    m_lines.push_back({tr("Batches scanned"),
                       sums.batches > 0
                           ? tr("%1   (%n byte(s))", nullptr, pluralOf(sums.bytesScanned)).arg(grouped(sums.batches))
                           : open});
    m_lines.push_back({tr("Batch found"),
                       sums.found ? QStringLiteral("%1 … %2").arg(offsetText(sums.found->header.baseOffset),
                                                                  offsetText(sums.found->header.lastOffset()))
                                  : open,
                       sums.found.has_value()});
    m_lines.push_back({tr("at position"), sums.found ? grouped(sums.found->position) : open});
    if (lookup->byTime)
      m_lines.push_back({tr("Record"),
                         sums.record
                             ? tr("%1 at %2").arg(offsetText(sums.record->offset), momentText(sums.record->timestampMs))
                             : open,
                         sums.record.has_value()});
    if (ended) m_problem = lookup->problem;
  }
  if (m_lines.size() != before) updateGeometry();
  setAccessibleName(asText());
  update();
}

QString LookupResult::asText() const {
  QString text;
  for (const Line& line : m_lines) text += line.name + QLatin1Char('\t') + line.value + QLatin1Char('\n');
  if (!m_problem.isEmpty()) text += m_problem + QLatin1Char('\n');
  return text;
}

void LookupResult::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = colors();
  painter.setPen(QPen(m_problem.isEmpty() ? p.purgatoryLine : p.badLine, 1));
  painter.setBrush(m_problem.isEmpty() ? p.purgatory : p.badSoft);
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
  if (!m_problem.isEmpty()) {
    painter.setFont(Theme::body(12, QFont::Medium));
    painter.setPen(p.badText);
    painter.drawText(rect().adjusted(12, 10, -12, -10), Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, m_problem);
    return;
  }
  double y = 20;
  const QFont name = Theme::body(12);
  const QFont value = Theme::mono(12, QFont::DemiBold);
  const double at = std::min(138.0, width() * 0.42);
  for (const Line& line : m_lines) {
    drawLine(painter, 12, y + 2, line.name, name, p.muted);
    drawLine(painter, at, y + 2, QFontMetricsF(value).elidedText(line.value, Qt::ElideRight, width() - at - 8), value,
             line.strong ? p.highWatermark : p.ink);
    y += 24;
  }
}

// LookupPanel.

LookupPanel::LookupPanel(SegmentsController& controller, QWidget* parent)
    : Card(parent),
      m_controller(controller),
      m_title(new QLabel),
      m_note(new QLabel),
      m_empty(new QLabel),
      m_explained(
          new QLabel(tr("An entry names the last offset of a batch\nand the position where that batch starts."))),
      m_table(new QTableView(this)),
      m_result(new LookupResult(this)) {
  m_model = new RowsModel<LookupRow>(
      {{tr("probe"),
        [](const LookupRow& row, int) { return row.number > 0 ? QString::number(row.number) : QString(); }},
       {tr("slot"), [](const LookupRow& row, int) { return row.slot; }},
       {tr("entry offset"), [](const LookupRow& row, int) { return row.entry; }},
       {tr("position"), [](const LookupRow& row, int) { return row.leadsTo; }},
       {tr("then"), [](const LookupRow& row, int) { return row.then; }}},
      this);
  auto* head = new QHBoxLayout;
  m_title->setProperty("kind", QStringLiteral("cardtitle"));
  m_note->setProperty("kind", QStringLiteral("muted"));
  head->addWidget(m_title);
  head->addSpacing(12);
  head->addWidget(m_note, 1);
  layBare(*m_table, m_model, tr("Steps of the lookup"), kRowHeight);
  m_table->setItemDelegate(new StepDelegate(controller, m_table));
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  m_table->horizontalHeader()->setSectionResizeMode(2, QHeaderView::Stretch);
  m_table->setColumnWidth(0, 54);
  m_table->setColumnWidth(1, 46);
  m_table->setColumnWidth(3, 72);
  m_table->setColumnWidth(4, 86);
  m_table->setMinimumHeight(2 * kRowHeight + 20);
  copyOnShortcut(*m_table, [this] { return asText(); });
  m_empty->setWordWrap(true);
  m_empty->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  m_empty->setProperty("kind", QStringLiteral("muted"));
  m_explained->setProperty("kind", QStringLiteral("note"));
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(16, 12, 12, 12);
  down->setSpacing(6);
  down->addLayout(head);
  down->addSpacing(2);
  down->addWidget(m_empty, 1);
  down->addWidget(m_table, 1);
  down->addWidget(m_result);
  down->addWidget(m_explained);
  setMinimumWidth(340);

  connect(&controller, &SegmentsController::lookupChanged, this, &LookupPanel::takeLookup);
  connect(&controller, &SegmentsController::opened, this, &LookupPanel::takeLookup);
  connect(&controller, &SegmentsController::rowChanged, this, &LookupPanel::takeRow);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
    if (!m_taking && index.isValid()) m_controller.setRow(index.row());
  });
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
  takeLookup();
}

QString LookupPanel::asText() const {
  return tableText(*m_model) + m_result->asText();
}

QString LookupPanel::emptyText() const {
  if (!m_controller.isPast())
    return tr(
        "Type an offset or a time above and press Enter. Each probe of the search appears here, as the log itself "
        "made it; ↑ and ↓ go through them.");
  if (m_controller.wantedOffset() < 0)
    return tr(
        "A search reads files, and a recording has none. Type an offset: the segment that held it is opened, with "
        "what was told of its batch.");
  const QString offset = grouped(m_controller.wantedOffset());
  if (!m_controller.foundBatch())
    return tr("Offset %1: of its batch nothing is recorded, only which segment it is in.").arg(offset);
  const BatchPoint& batch = *m_controller.foundBatch();
  return tr("Offset %1 is in the batch %2 … %3, of %4 and %5 bytes, at position %6 of its segment. Leader epoch %7.")
      .arg(offset, grouped(batch.base), grouped(batch.last), tr("%n record(s)", nullptr, pluralOf(batch.records)),
           grouped(batch.bytes), grouped(batch.position))
      .arg(batch.epoch.value());
}

void LookupPanel::takeLookup() {
  m_taking = true;
  m_model->setRows(m_controller.rows());
  m_taking = false;
  const bool any = m_controller.lookup() != nullptr;
  m_empty->setVisible(!any);
  m_empty->setText(emptyText());
  m_title->setText(m_controller.isPast() ? tr("Find an offset") : tr("Binary search"));
  m_table->setVisible(any);
  m_result->setVisible(any);
  m_explained->setVisible(any && height() > kExplainedFrom);
  if (any && m_controller.lookup()->byTime)
    m_explained->setText(tr("A time index entry says: up to this offset\nno record is newer."));
  else
    m_explained->setText(tr("An entry names the last offset of a batch\nand the position where that batch starts."));
  takeRow();
}

void LookupPanel::takeRow() {
  const auto& lookup = m_controller.lookup();
  m_result->setLookup(lookup, m_controller.step());
  if (!lookup) {
    m_note->clear();
    return;
  }
  const LookupSums all = sumUp(*lookup, static_cast<int>(lookup->steps().size()) - 1);
  if (lookup->byTime)
    m_note->setText(tr("%n probe(s) in two indexes", nullptr, all.probes));
  else
    m_note->setText(tr("%n probe(s) of %1", nullptr, all.probes)
                        .arg(tr("%n entries", nullptr, pluralOf(static_cast<int64_t>(all.entries)))));
  m_taking = true;
  const QModelIndex index = m_model->index(std::max(0, m_controller.row()), 0);
  m_table->setCurrentIndex(index);
  m_table->scrollTo(index);
  m_taking = false;
  m_table->viewport()->update();
}

void LookupPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  // Steps and result first.
  m_explained->setVisible(m_controller.lookup() && height() > kExplainedFrom);
}

}  // namespace tidemark::widgets
