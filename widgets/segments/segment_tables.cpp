#include "segments/segment_tables.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "text/format.h"
#include "theme/tables.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

template <class Row>
std::shared_ptr<const std::vector<Row>> part(const std::shared_ptr<const SegmentPicture>& whole,
                                             const std::vector<Row> SegmentPicture::* rows) {
  if (!whole) return std::make_shared<const std::vector<Row>>();
  return {whole, &((*whole).*rows)};
}

QString sizeOrNone(int64_t bytes) {
  return bytes < 0 ? QStringLiteral("–") : grouped(bytes);
}

}  // namespace

SegmentTables::SegmentTables(SegmentsController& controller, QWidget* parent)
    : QWidget(parent), m_controller(controller), m_choice(new QButtonGroup(this)), m_stack(new QStackedWidget(this)) {
  const auto bad = [](const SegmentEntry& row) { return row.findings > 0 ? QVariant(colors().badText) : QVariant(); };
  const auto side = [](SideFile which) {
    return [which](const SegmentEntry& row, int) { return sizeOrNone(row.sideBytes[static_cast<size_t>(which)]); };
  };
  m_segments = new RowsModel<SegmentEntry>(
      {{tr("segment"), [](const SegmentEntry& row, int) { return segmentFileName(row.base); }, false, bad},
       {tr("base offset"), [](const SegmentEntry& row, int) { return offsetText(row.base); }, true},
       {tr("bytes"), [](const SegmentEntry& row, int) { return grouped(row.bytes); }, true},
       {tr("state"),
        [](const SegmentEntry& row, int) {
          return row.state == SegmentEntry::State::Active    ? tr("active")
                 : row.state == SegmentEntry::State::Deleted ? tr("deleted")
                                                             : tr("sealed");
        }},
       {tr("epoch"), [](const SegmentEntry& row, int) { return grouped(row.epoch.value()); }, true},
       {QStringLiteral(".index"), side(SideFile::Index), true},
       {QStringLiteral(".timeindex"), side(SideFile::TimeIndex), true},
       {QStringLiteral(".txnindex"), side(SideFile::TxnIndex), true},
       {QStringLiteral(".snapshot"), side(SideFile::Snapshot), true},
       {tr("findings"), [](const SegmentEntry& row, int) { return QString::number(row.findings); }, true, bad}},
      this);
  m_offsets = new RowsModel<log::OffsetIndexEntry>(
      {{tr("slot"), [](const log::OffsetIndexEntry&, int index) { return grouped(index); }, true},
       {tr("last offset of the batch"), [](const log::OffsetIndexEntry& row, int) { return offsetText(row.offset); },
        true},
       {tr("position of the batch"), [](const log::OffsetIndexEntry& row, int) { return grouped(row.position); },
        true}},
      this);
  m_times = new RowsModel<log::TimeIndexEntry>(
      {{tr("slot"), [](const log::TimeIndexEntry&, int index) { return grouped(index); }, true},
       {tr("timestamp"), [](const log::TimeIndexEntry& row, int) { return momentText(row.timestampMs); }},
       {tr("milliseconds"), [](const log::TimeIndexEntry& row, int) { return QString::number(row.timestampMs); }, true},
       {tr("nothing newer up to offset"), [](const log::TimeIndexEntry& row, int) { return offsetText(row.offset); },
        true}},
      this);
  m_lookup = new RowsModel<LookupRow>(
      {{tr("step"), [](const LookupRow&, int index) { return QString::number(index + 1); }, true},
       {tr("what"),
        [](const LookupRow& row, int) {
          switch (row.mark) {
            case LookupRow::Mark::Segment:
              return tr("segment");
            case LookupRow::Mark::Probe:
              return row.index == log::LookupStep::Index::Time ? tr("probe of the time index")
                                                               : tr("probe of the offset index");
            case LookupRow::Mark::Floor:
              return tr("floor entry");
            case LookupRow::Mark::Scan:
              return tr("batch header");
            case LookupRow::Mark::Found:
              return tr("found");
            case LookupRow::Mark::Miss:
              return tr("passed over");
          }
          return QString();
        }},
       {tr("slot"), [](const LookupRow& row, int) { return row.slot; }, true},
       {tr("entry"), [](const LookupRow& row, int) { return row.entry; }, true},
       {tr("leads to"), [](const LookupRow& row, int) { return row.leadsTo; }, true},
       {tr("then"), [](const LookupRow& row, int) { return row.then; }}},
      this);
  m_batches = new RowsModel<BatchPoint>(
      {{tr("base offset"), [](const BatchPoint& row, int) { return grouped(row.base); }, true},
       {tr("last offset"), [](const BatchPoint& row, int) { return grouped(row.last); }, true},
       {tr("records"), [](const BatchPoint& row, int) { return grouped(row.records); }, true},
       {tr("position"), [](const BatchPoint& row, int) { return grouped(row.position); }, true},
       {tr("bytes"), [](const BatchPoint& row, int) { return grouped(row.bytes); }, true},
       {tr("epoch"), [](const BatchPoint& row, int) { return grouped(row.epoch.value()); }, true},
       {tr("newest timestamp"), [](const BatchPoint& row, int) { return momentText(row.maxTimestampMs); }}},
      this);
  const auto field = [](const RecordRow& row) -> const FieldEntry& {
    return row.batch->fields[static_cast<size_t>(row.index)];
  };
  m_fields = new RowsModel<RecordRow>(
      {{tr("begins"), [field](const RecordRow& row, int) { return grouped(field(row).begin); }, true},
       {tr("bytes"), [field](const RecordRow& row, int) { return grouped(field(row).length); }, true},
       {tr("of"),
        [field](const RecordRow& row, int) {
          const int32_t record = field(row).record;
          return record < 0 ? tr("header")
                            : tr("record %1").arg(grouped(row.batch->records[static_cast<size_t>(record)].offset));
        }},
       {tr("field"), [field](const RecordRow& row, int) { return field(row).name; }, false,
        [field](const RecordRow& row) { return field(row).bad ? QVariant(colors().badText) : QVariant(); }},
       {tr("value"), [field](const RecordRow& row, int) { return field(row).value; }},
       {tr("note"), [field](const RecordRow& row, int) { return field(row).note; }}},
      this);
  const auto value = [](const RecordRow& row, const Stretch& stretch) {
    return shownValue(row.batch->bytesOf(stretch), stretch.begin < 0).text;
  };
  m_records = new RowsModel<RecordRow>(
      {{tr("offset"), [](const RecordRow& row, int) { return grouped(row.entry().offset); }, true},
       {tr("timestamp"), [](const RecordRow& row, int) { return momentText(row.entry().timestampMs); }},
       {tr("key"), [value](const RecordRow& row, int) { return value(row, row.entry().key); }},
       {tr("value"), [value](const RecordRow& row, int) { return value(row, row.entry().value); }},
       {tr("bytes"), [](const RecordRow& row, int) { return grouped(row.entry().whole.length); }, true},
       {tr("headers"), [](const RecordRow& row, int) { return QString::number(row.entry().headers); }, true}},
      this);
  m_findings = new RowsModel<FindingEntry>(
      {{tr("file"), [](const FindingEntry& row, int) { return row.file; }, false,
        [](const FindingEntry& row) { return row.severe ? QVariant(colors().badText) : QVariant(); }},
       {tr("position"),
        [](const FindingEntry& row, int) { return row.position < 0 ? QStringLiteral("–") : grouped(row.position); },
        true},
       {tr("bytes"),
        [](const FindingEntry& row, int) { return row.length <= 0 ? QStringLiteral("–") : grouped(row.length); }, true},
       {tr("what"), [](const FindingEntry& row, int) { return row.what; }}},
      this);

  auto* choice = new QHBoxLayout;
  choice->setSpacing(8);
  const std::pair<QString, QAbstractItemModel*> tables[] = {
      {tr("Segments"), m_segments}, {tr("Offset index"), m_offsets}, {tr("Time index"), m_times},
      {tr("Lookup"), m_lookup},     {tr("Batches"), m_batches},      {tr("Fields"), m_fields},
      {tr("Records"), m_records},   {tr("Findings"), m_findings}};
  int id = 0;
  for (const auto& one : tables) {
    auto* button = new QPushButton(one.first, this);
    button->setProperty("kind", QStringLiteral("pill"));
    button->setCheckable(true);
    button->setMinimumWidth(28);
    button->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    m_choice->addButton(button, id++);
    choice->addWidget(button);
  }
  for (const auto& [name, model] : tables) m_views.push_back(add(name, model));
  choice->addStretch(1);
  m_choice->button(0)->setChecked(true);
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(0, 0, 0, 0);
  down->setSpacing(10);
  down->addLayout(choice);
  down->addWidget(m_stack, 1);
  connect(m_choice, &QButtonGroup::idClicked, this, [this](int which) {
    m_stack->setCurrentIndex(which);
    fill();
  });
  for (const auto signal :
       {&SegmentsController::opened, &SegmentsController::partitionRead, &SegmentsController::segmentRead,
        &SegmentsController::lookupChanged, &SegmentsController::batchRead, &SegmentsController::findingsChanged})
    connect(&controller, signal, this, &SegmentTables::fill);
  connect(&view(Table::Segments), &QTableView::activated, this, [this](const QModelIndex& index) {
    m_controller.pickSegment(m_segments->rows()[static_cast<size_t>(index.row())].base);
  });
  connect(&view(Table::Batches), &QTableView::activated, this, [this](const QModelIndex& index) {
    if (m_controller.segment())
      m_controller.pickBatch(m_controller.segment()->base,
                             m_batches->rows()[static_cast<size_t>(index.row())].position);
  });
  connect(&view(Table::Findings), &QTableView::activated, this, [this](const QModelIndex& index) {
    m_controller.goTo(m_findings->rows()[static_cast<size_t>(index.row())]);
  });
}

QTableView* SegmentTables::add(const QString& name, QAbstractItemModel* model) {
  auto* table = new QTableView(m_stack);
  frameTwin(*table, model, name);
  table->horizontalHeader()->setSectionResizeMode(QHeaderView::Interactive);
  table->horizontalHeader()->setStretchLastSection(true);
  table->horizontalHeader()->setDefaultSectionSize(124);
  if (model == m_segments) table->setColumnWidth(0, 220);
  m_stack->addWidget(table);
  return table;
}

void SegmentTables::show(Table table) {
  m_choice->button(static_cast<int>(table))->setChecked(true);
  m_stack->setCurrentIndex(static_cast<int>(table));
  fill();
}

SegmentTables::Table SegmentTables::shown() const {
  return static_cast<Table>(m_stack->currentIndex());
}

std::vector<QWidget*> SegmentTables::inTabOrder() const {
  std::vector<QWidget*> all;
  for (QAbstractButton* button : m_choice->buttons()) all.push_back(button);
  all.insert(all.end(), m_views.begin(), m_views.end());
  return all;
}

void SegmentTables::setActive(bool active) {
  m_active = active;
  fill();
}

void SegmentTables::fill() {
  if (!m_active) return;
  const auto& partition = m_controller.partition();
  const auto& segment = m_controller.segment();
  const auto& batch = m_controller.batch();
  switch (shown()) {
    case Table::Segments:
      m_segments->setRows(partition ? partition->segments : std::make_shared<const std::vector<SegmentEntry>>());
      break;
    case Table::OffsetIndex:
      m_offsets->setRows(part(segment, &SegmentPicture::offsets));
      break;
    case Table::TimeIndex:
      m_times->setRows(part(segment, &SegmentPicture::times));
      break;
    case Table::Lookup:
      m_lookup->setRows(m_controller.rows());
      break;
    case Table::Batches:
      m_batches->setRows(part(segment, &SegmentPicture::batches));
      break;
    case Table::Fields: {
      std::vector<RecordRow> rows;
      for (size_t i = 0; batch && i < batch->fields.size(); ++i) rows.push_back({batch, static_cast<int32_t>(i)});
      m_fields->setRows(std::move(rows));
      break;
    }
    case Table::Records: {
      std::vector<RecordRow> rows;
      for (size_t i = 0; batch && i < batch->records.size(); ++i) rows.push_back({batch, static_cast<int32_t>(i)});
      m_records->setRows(std::move(rows));
      break;
    }
    case Table::Findings:
      m_findings->setRows(partition ? partition->findings : std::vector<FindingEntry>());
      break;
  }
}

}  // namespace tidemark::widgets
