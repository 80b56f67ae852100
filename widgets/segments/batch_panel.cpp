#include "segments/batch_panel.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QSplitter>
#include <QTableView>
#include <QTableWidget>
#include <QVBoxLayout>

#include "segments/field_flow.h"
#include "segments/hex_view.h"
#include "segments/partition_reader.h"
#include "segments/record_delegate.h"
#include "text/format.h"
#include "theme/tables.h"
#include "theme/theme.h"
#include "views/page_parts.h"

namespace tidemark::widgets {

namespace {

QTableWidget* tableOfHeaders(const BatchPicture& batch, const std::vector<HeaderEntry>& headers) {
  auto* table = new QTableWidget(static_cast<int>(headers.size()), 2);
  table->setObjectName(QStringLiteral("headers"));
  table->setHorizontalHeaderLabels({BatchPanel::tr("key"), BatchPanel::tr("value")});
  frameTable(*table, BatchPanel::tr("Headers of the record"));
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setTabKeyNavigation(false);
  table->horizontalHeader()->setHighlightSections(false);
  table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  table->horizontalHeader()->setStretchLastSection(true);
  table->setMinimumHeight(26 + 25 * std::clamp(static_cast<int>(headers.size()), 2, 4));
  for (int row = 0; row < table->rowCount(); ++row) {
    const HeaderEntry& header = headers[static_cast<size_t>(row)];
    const auto put = [&](int column, const Stretch& stretch) {
      const ShownValue shown = shownValue(batch.bytesOf(stretch), stretch.begin < 0, 2'000);
      auto* item = new QTableWidgetItem(shown.text);
      item->setToolTip(shown.text);
      if (stretch.begin < 0) item->setForeground(colors().muted);
      table->setItem(row, column, item);
    };
    put(0, header.key);
    put(1, header.value);
  }
  table->resizeColumnToContents(0);
  table->setColumnWidth(0, std::clamp(table->columnWidth(0) + 16, 120, 280));
  return table;
}

}  // namespace

BatchPanel::BatchPanel(SegmentsController& controller, QWidget* parent)
    : Card(parent),
      m_controller(controller),
      m_title(new QLabel(this)),
      m_note(new QLabel(this)),
      m_warning(new QLabel(this)),
      m_switch(new QPushButton(this)),
      m_before(new QPushButton(QStringLiteral("◂"), this)),
      m_after(new QPushButton(QStringLiteral("▸"), this)),
      m_splitter(new QSplitter(Qt::Horizontal, this)),
      m_left(new QWidget(m_splitter)),
      m_scroll(new QScrollArea(m_left)),
      m_fields(new FieldFlow(m_scroll->viewport())),
      m_table(new QTableView(m_left)),
      m_leftOut(new QLabel(m_left)),
      m_bytes(new HexView(m_splitter)) {
  m_model = new RowsModel<RecordRow>(
      {{tr("offset"), [](const RecordRow& row, int) { return grouped(row.entry().offset); }},
       {tr("timestamp"), [](const RecordRow& row, int) { return momentText(row.entry().timestampMs); }},
       {tr("key"),
        [](const RecordRow& row, int) {
          return shownValue(row.batch->bytesOf(row.entry().key), row.entry().key.begin < 0, 60).text;
        }},
       {tr("value"),
        [](const RecordRow& row, int) {
          const RecordEntry& record = row.entry();
          const QString value = shownValue(row.batch->bytesOf(record.value), record.value.begin < 0).text;
          QString text = record.meaning.isEmpty() ? value : QStringLiteral("%1: %2").arg(record.meaning, value);
          if (record.headers > 0) text += tr("   + %n header(s)", nullptr, record.headers);
          return text;
        }}},
      this);
  m_title->setProperty("kind", QStringLiteral("cardtitle"));
  m_note->setProperty("kind", QStringLiteral("muted"));
  m_warning->setProperty("kind", QStringLiteral("error"));
  m_leftOut->setProperty("kind", QStringLiteral("note"));
  m_leftOut->hide();
  for (QPushButton* button : {m_before, m_after, m_switch}) {
    button->setProperty("kind", QStringLiteral("quiet"));
    button->setFocusPolicy(Qt::TabFocus);
  }
  m_before->setToolTip(tr("The batch before this one (Page up)"));
  m_after->setToolTip(tr("The batch after this one (Page down)"));
  m_before->setAccessibleName(tr("Batch before"));
  m_after->setAccessibleName(tr("Batch after"));
  m_switch->setCheckable(true);
  m_switch->setToolTip(tr("The bytes of the file, or those of the records once decompressed"));
  auto* head = new QHBoxLayout;
  head->setSpacing(12);
  head->addWidget(m_title);
  head->addWidget(m_note);
  head->addWidget(m_warning);
  head->addStretch(1);
  head->addWidget(m_switch);
  auto* steps = new QHBoxLayout;
  steps->setSpacing(0);
  steps->addWidget(m_before);
  steps->addWidget(m_after);
  head->addLayout(steps);

  m_scroll->setProperty("kind", QStringLiteral("onpanel"));
  scrollDown(*m_scroll, m_fields);
  m_scroll->setFocusPolicy(Qt::NoFocus);
  // What is cut off is cut between two rows: of one that is in sight the names and values are as well.
  const auto fitFields = [this](int height) {
    // Of a record with many headers the rest is scrolled to: the list of records stays in sight.
    constexpr int kMost = 4 * FieldFlow::kRowHeight + 3 * FieldFlow::kRowGap + FieldFlow::kCaptionHeight;
    m_scroll->setMaximumHeight(std::max(FieldFlow::kRowHeight, height));
    m_scroll->setMinimumHeight(std::clamp(height, FieldFlow::kRowHeight, kMost));
  };
  fitFields(FieldFlow::kRowHeight);
  connect(m_fields, &FieldFlow::heightChanged, m_scroll, fitFields);

  layBare(*m_table, m_model, tr("Records of the batch"), 23);
  m_table->setItemDelegate(new RecordDelegate(controller, *m_model, [this](int row) { showAll(row); }, this));
  m_table->setMinimumHeight(26 + 2 * 23);
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_table->setColumnWidth(RecordDelegate::kOffset, 96);
  m_table->setColumnWidth(RecordDelegate::kTimestamp, 190);
  m_table->setColumnWidth(RecordDelegate::kKey, 150);
  m_table->viewport()->installEventFilter(this);
  copyRowsOnShortcut(*m_table);

  auto* leftDown = new QVBoxLayout(m_left);
  leftDown->setContentsMargins(0, 0, 10, 0);
  leftDown->setSpacing(8);
  // The fields take what they need, the records the rest.
  leftDown->addWidget(m_scroll, 100);
  leftDown->addWidget(m_table, 1);
  leftDown->addWidget(m_leftOut);
  m_splitter->addWidget(m_left);
  m_splitter->addWidget(m_bytes);
  m_splitter->setChildrenCollapsible(false);
  m_splitter->setStretchFactor(0, 1);
  m_splitter->setStretchFactor(1, 0);
  m_splitter->setHandleWidth(9);
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(16, 10, 12, 12);
  down->setSpacing(8);
  down->addLayout(head);
  down->addWidget(m_splitter, 1);

  connect(m_fields, &FieldFlow::fieldHovered, this, [this](int field) { hover(field, m_fields); });
  connect(m_bytes, &HexView::fieldHovered, this, [this](int field) { hover(field, m_bytes); });
  connect(m_before, &QPushButton::clicked, this, [this] { m_controller.stepBatch(-1); });
  connect(m_after, &QPushButton::clicked, this, [this] { m_controller.stepBatch(1); });
  connect(m_switch, &QPushButton::toggled, this, [this](bool payload) {
    m_switch->setText(payload ? tr("decompressed") : tr("as in the file"));
    m_bytes->setBatch(m_batch, payload);
  });
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
    if (index.isValid()) pickRecord(index.row());
  });
  connect(m_table, &QTableView::doubleClicked, this, [this](const QModelIndex& index) { showAll(index.row()); });
  auto* all = new QShortcut(QKeySequence(Qt::Key_Return), m_table);
  all->setContext(Qt::WidgetShortcut);
  connect(all, &QShortcut::activated, this, [this] {
    if (m_table->currentIndex().isValid()) showAll(m_table->currentIndex().row());
  });
  connect(&controller, &SegmentsController::batchRead, this, &BatchPanel::take);
  connect(&controller, &SegmentsController::opened, this, &BatchPanel::take);
  connect(&controller, &SegmentsController::lookupChanged, m_table->viewport(), qOverload<>(&QWidget::update));
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
  take();
}

void BatchPanel::take() {
  const BatchPicturePtr batch = m_controller.batch();
  if (batch == m_batch && batch) return;
  m_batch = batch;
  m_hovered = -1;
  m_record = -1;
  m_before->setEnabled(batch != nullptr && batch->position > 0);
  m_after->setEnabled(batch != nullptr && batch->next >= 0);
  std::vector<RecordRow> rows;
  QStringList notes;
  QString warning;
  if (batch) {
    for (size_t i = 0; i < batch->records.size(); ++i) rows.push_back({batch, static_cast<int32_t>(i)});
    const inspect::BatchAnatomy& anatomy = batch->anatomy;
    const records::BatchHeader& header = anatomy.header;
    m_title->setText(tr("Record batch at position %1").arg(grouped(batch->position)));
    notes << QStringLiteral("v%1").arg(header.magic);
    if (!anatomy.compressed)
      notes << tr("not compressed");
    else
      notes << batch->codec;
    if (header.isTransactional()) notes << tr("transactional");
    if (header.isControl()) notes << tr("control");
    notes << tr("%n record(s)", nullptr, pluralOf(std::max(0, header.recordCount)));
    if (anatomy.crcValid)
      notes << tr("CRC-32C ok");
    else
      warning = tr("CRC-32C is wrong: 0x%1 is written, the bytes give 0x%2")
                    .arg(header.crc, 8, 16, QLatin1Char('0'))
                    .arg(anatomy.computedCrc, 8, 16, QLatin1Char('0'));
    if (!anatomy.problem.empty())
      warning += (warning.isEmpty() ? QString() : QStringLiteral(" · ")) + fromUtf8(anatomy.problem);
  } else {
    m_title->setText(tr("Record batch"));
    notes << tr("none is taken apart yet");
  }
  m_note->setText(notes.join(QStringLiteral(" · ")));
  m_warning->setText(warning.isEmpty() ? QString() : QStringLiteral("✕ ") + warning);
  m_warning->setVisible(!warning.isEmpty());
  m_switch->setVisible(batch && batch->anatomy.compressed && !batch->anatomy.records.empty());
  // What is looked at is the records: compressed ones are of little use as bytes of a file.
  const bool payload = !m_switch->isHidden();
  m_switch->blockSignals(true);
  m_switch->setChecked(payload);
  m_switch->setText(payload ? tr("decompressed") : tr("as in the file"));
  m_switch->blockSignals(false);
  m_bytes->setBatch(batch, payload);
  m_leftOut->setVisible(batch && batch->recordsLeftOut() > 0);
  if (batch && batch->recordsLeftOut() > 0)
    m_leftOut->setText(tr("%n more record(s) are not shown", nullptr, pluralOf(batch->recordsLeftOut())));
  m_table->clearSelection();
  m_table->setCurrentIndex({});
  // The day is shown unless it is today.
  if (!rows.empty())
    m_table->setColumnWidth(RecordDelegate::kTimestamp,
                            momentText(rows.front().entry().timestampMs).size() > 14 ? 190 : 120);
  m_model->setRows(std::move(rows));
  // The record that was looked for, else the first.
  int wanted = batch && !batch->records.empty() ? 0 : -1;
  if (batch)
    for (size_t i = 0; i < batch->records.size(); ++i)
      if (batch->records[i].offset == m_controller.wantedOffset()) wanted = static_cast<int>(i);
  m_fields->setBatch(batch, wanted);
  m_record = wanted;
  if (wanted >= 0) {
    m_table->setCurrentIndex(m_model->index(wanted, 0));
    m_table->scrollTo(m_model->index(wanted, 0));
  }
  m_table->viewport()->update();
}

bool BatchPanel::eventFilter(QObject* watched, QEvent* event) {
  // The fields of a record take their room from the table: the record itself stays in sight.
  if (watched == m_table->viewport() && event->type() == QEvent::Resize && m_table->currentIndex().isValid())
    QMetaObject::invokeMethod(this, [this] { m_table->scrollTo(m_table->currentIndex()); }, Qt::QueuedConnection);
  return QWidget::eventFilter(watched, event);
}

void BatchPanel::pickRecord(int index) {
  if (!m_batch || index == m_record) return;
  m_record = index;
  m_fields->setBatch(m_batch, index);
  if (index >= 0 && index < static_cast<int>(m_batch->records.size())) {
    const RecordEntry& record = m_batch->records[static_cast<size_t>(index)];
    if (record.fieldCount > 0) m_bytes->ensureVisible(record.firstField);
  }
}

void BatchPanel::hover(int field, QObject* from) {
  if (field == m_hovered) return;
  m_hovered = field;
  if (m_batch && field >= 0 && from == m_bytes) {
    // The record that a byte belongs to comes into sight, so that its field can.
    const FieldEntry& entry = m_batch->fields[static_cast<size_t>(field)];
    if (entry.record >= 0 && entry.record != m_record) m_table->setCurrentIndex(m_model->index(entry.record, 0));
  }
  m_fields->setHovered(field);
  m_bytes->setHovered(field);
  if (from == m_fields) m_bytes->ensureVisible(field);
}

void BatchPanel::showAll(int index) {
  if (!m_batch || index < 0 || index >= static_cast<int>(m_batch->records.size())) return;
  const RecordEntry& record = m_batch->records[static_cast<size_t>(index)];
  auto* dialog = new QDialog(this);
  dialog->setObjectName(QStringLiteral("value"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Record %1").arg(grouped(record.offset)));
  dialog->resize(760, 520);
  auto* down = new QVBoxLayout(dialog);
  down->setContentsMargins(16, 14, 16, 14);
  const auto add = [&](const QString& name, const Stretch& stretch, int share) {
    auto* label = new QLabel(stretch.begin < 0 ? tr("%1: null").arg(name)
                                               : tr("%1, %n byte(s)", nullptr, stretch.length).arg(name));
    label->setProperty("kind", QStringLiteral("head"));
    down->addWidget(label);
    if (stretch.begin < 0) return;
    const ByteView bytes = m_batch->bytesOf(stretch);
    auto* text = new QPlainTextEdit;
    text->setReadOnly(true);
    text->setFont(Theme::mono(12));
    text->setAccessibleName(name);
    const QString whole =
        QString::fromUtf8(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size()));
    text->setPlainText(isReadable(whole) ? whole : hexOfValue(bytes, bytes.size()));
    text->setWordWrapMode(isReadable(whole) ? QTextOption::WrapAtWordBoundaryOrAnywhere : QTextOption::WordWrap);
    down->addWidget(text, share);
  };
  add(tr("key"), record.key, 1);
  add(tr("value"), record.value, 4);
  if (const std::vector<HeaderEntry> headers = headersOf(*m_batch, record); !headers.empty()) {
    auto* label = new QLabel(tr("headers: %1").arg(headers.size()));
    label->setProperty("kind", QStringLiteral("head"));
    down->addWidget(label);
    down->addWidget(tableOfHeaders(*m_batch, headers), 3);
  }
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  down->addWidget(buttons);
  dialog->show();
}

}  // namespace tidemark::widgets
