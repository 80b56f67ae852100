#include "segments_fixture.h"

#include <QHeaderView>
#include <QScrollArea>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QTest>

#include "segments/batch_panel.h"
#include "segments/check_line.h"
#include "segments/field_flow.h"
#include "segments/findings_bar.h"
#include "segments/hex_view.h"
#include "segments/index_plot.h"
#include "segments/partition_check.h"
#include "segments/segment_strip.h"
#include "segments/segment_tables.h"

namespace tidemark::widgets {
namespace {

// Damage, wherever it is.

class CheckTest : public SegmentsTest {
 protected:
  using State = PartitionCheck::State;

  /// A partition with damage in its first and its second segment.
  QString damaged() {
    const QString folder = copyOf(QStringLiteral("codec-none-0"));
    for (const char* name : {"/00000000000000000000.log", "/00000000000000000144.log"})
      flip(folder + QLatin1String(name), 70);
    return folder;
  }
  /// As segments of that many bytes, whatever their files hold.
  static SegmentEntries listed(std::initializer_list<int64_t> bases, int64_t bytes) {
    auto segments = std::make_shared<std::vector<SegmentEntry>>();
    for (const int64_t base : bases) segments->push_back({.base = Offset(base), .bytes = bytes});
    return segments;
  }
  /// A check of a folder, apart from the view.
  PartitionCheck& checkOf(const QString& folder) {
    makeWindow();
    m_check = std::make_unique<PartitionCheck>(window->bridge());
    m_check->open({.path = folder.toStdString()});
    m_check->setActive(true);
    return *m_check;
  }
  void TearDown() override { m_check.reset(); }

  std::unique_ptr<PartitionCheck> m_check;
};

TEST_F(CheckTest, DamageInSegmentsThatAreNotOpenedIsMarkedOnTheStrip) {
  open(damaged());
  settle();
  ASSERT_EQ(controller().segment()->base, Offset(276)) << "a whole one is opened";
  const auto& segments = *controller().partition()->segments;
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_GT(segments[0].findings, 0);
  EXPECT_EQ(segments[0].badAt, 0);
  EXPECT_GT(segments[1].findings, 0);
  EXPECT_EQ(segments[2].findings, 0);
  EXPECT_TRUE(controller().findingsShown().empty());
  EXPECT_EQ(page().checkLine().text(), QStringLiteral("✕ damage in 2 of 3 segments"));
  // The same as pixels: where a segment is damaged, its block has something of the colour of damage.
  const QImage strip = page().strip().grab().toImage();
  const auto hasBad = [&](size_t index) {
    const StripLayout& layout = page().strip().layoutOfSegments();
    const double ratio = strip.devicePixelRatio();
    const int from = static_cast<int>((16 + layout.left(index) - page().strip().scrolled()) * ratio);
    const int to = from + static_cast<int>(layout.width(index) * ratio);
    for (int x = std::max(0, from); x < std::min(to, strip.width()); ++x)
      for (int y = 0; y < strip.height(); ++y)
        if (strip.pixelColor(x, y).rgb() == colors().bad.rgb()) return true;
    return false;
  };
  EXPECT_TRUE(hasBad(0));
  EXPECT_TRUE(hasBad(1));
  EXPECT_FALSE(hasBad(2));
  keepPicture(*window, QStringLiteral("segments-damage-elsewhere"));
}

TEST_F(CheckTest, TheBarLeadsFromDamageToDamage) {
  open(damaged());
  settle();
  FindingsBar& bar = page().findingsBar();
  ASSERT_TRUE(bar.isVisible());
  EXPECT_TRUE(bar.text().contains(QStringLiteral("00000000000000000000.log")));
  bar.showNext();
  settle();
  EXPECT_EQ(controller().segment()->base, Offset(0));
  ASSERT_NE(controller().batch(), nullptr);
  EXPECT_FALSE(controller().batch()->anatomy.crcValid);
  EXPECT_FALSE(controller().findingsShown().empty());
  for (int i = 0; i < 100 && controller().segment()->base == Offset(0); ++i) {
    bar.showNext();
    settle();
  }
  EXPECT_EQ(controller().segment()->base, Offset(144));
  EXPECT_TRUE(bar.text().contains(QStringLiteral("00000000000000000144"))) << "what is told is what is shown";
}

TEST_F(CheckTest, AWholePartitionIsSaidToBeChecked) {
  open(golden() + QStringLiteral("/codec-none-0"));
  settle();
  EXPECT_EQ(page().checkLine().text(), QStringLiteral("✓ 3 segments checked"));
  EXPECT_FALSE(page().findingsBar().isVisible());
}

TEST_F(CheckTest, WhatWasCheckedIsNotReadAgainUntilSomebodyAsks) {
  const QString folder = copyOf(QStringLiteral("codec-none-0"));
  open(folder);
  settle();
  ASSERT_EQ(controller().check().state(), State::Done);
  flip(folder + QStringLiteral("/00000000000000000000.log"), 70);
  controller().pickSegment(Offset(0));
  settle();
  EXPECT_EQ((*controller().partition()->segments)[0].findings, 0);
  controller().reload();
  settle();
  EXPECT_GT((*controller().partition()->segments)[0].findings, 0);
}

TEST_F(CheckTest, ALargeLogIsCheckedOnlyWhenAsked) {
  PartitionCheck& check = checkOf(golden() + QStringLiteral("/codec-none-0"));
  const int before = cluster.looks;
  check.setSegments(listed({0, 144}, PartitionCheck::kUnaskedBytes), Offset(144));
  settle();
  EXPECT_EQ(check.state(), State::Waiting);
  EXPECT_EQ(cluster.looks, before);
  check.start();
  settle();
  EXPECT_EQ(check.state(), State::Done);
  EXPECT_EQ(check.segmentsChecked(), 2u);
}

TEST_F(CheckTest, ItGoesInSlicesAndEndsAtOnceWhenCancelled) {
  PartitionCheck& check = checkOf(golden() + QStringLiteral("/codec-none-0"));
  const int before = cluster.looks;
  check.setSegments(listed({0, 144, 276}, PartitionCheck::kSliceBytes), Offset(276));
  const auto slice = [this] {
    cluster.advance({});
    QCoreApplication::processEvents();
  };
  slice();
  EXPECT_EQ(check.segmentsChecked(), 1u);
  EXPECT_EQ(check.bytesChecked(), PartitionCheck::kSliceBytes);
  EXPECT_EQ(check.state(), State::Running);
  // The second slice is asked for already: it ends without reading.
  check.cancel();
  settle();
  EXPECT_EQ(check.state(), State::Cancelled);
  EXPECT_EQ(check.segmentsChecked(), 1u);
  EXPECT_EQ(cluster.looks, before + 2);
  check.start();
  settle();
  EXPECT_EQ(check.state(), State::Done);
  EXPECT_EQ(check.segmentsChecked(), 3u);
  EXPECT_EQ(cluster.looks, before + 4) << "what was checked is not checked again";
}

TEST_F(CheckTest, ItStandsBackForWhoeverWantsToSeeSomething) {
  PartitionCheck& check = checkOf(golden() + QStringLiteral("/codec-none-0"));
  check.setSegments(listed({0, 144}, 1000), Offset(0));
  check.standBack();
  cluster.advance({});
  QCoreApplication::processEvents();
  EXPECT_EQ(check.segmentsChecked(), 0u) << "the slice ended where it was";
  EXPECT_EQ(check.state(), State::Running);
  settle();
  EXPECT_EQ(check.state(), State::Done) << "and was begun anew";
  EXPECT_EQ(check.segmentsChecked(), 2u);
}

TEST_F(CheckTest, ASegmentThatCannotBeReadIsToldAndNotTriedForEver) {
  PartitionCheck& check = checkOf(golden() + QStringLiteral("/codec-none-0"));
  check.setSegments(listed({0, 77}, 1000), Offset(0));
  settle();
  EXPECT_EQ(check.state(), State::Done);
  EXPECT_EQ(check.segmentsChecked(), 1u);
  const CheckLine line(check);
  EXPECT_EQ(line.text(), QStringLiteral("1 of 2 segments could not be checked"));
}

TEST_F(CheckTest, ASegmentThatIsSealedIsCheckedAgain) {
  PartitionCheck& check = checkOf(golden() + QStringLiteral("/codec-none-0"));
  auto segments = std::make_shared<std::vector<SegmentEntry>>();
  segments->push_back({.base = Offset(276), .bytes = 1000, .state = SegmentEntry::State::Active});
  check.setSegments(segments, Offset(276));
  settle();
  ASSERT_EQ(check.state(), State::Done);
  const int before = cluster.looks;
  segments = std::make_shared<std::vector<SegmentEntry>>(*segments);
  segments->front().bytes = 1500;
  check.setSegments(segments, Offset(276));
  settle();
  EXPECT_EQ(cluster.looks, before) << "it grows with every batch";
  segments = std::make_shared<std::vector<SegmentEntry>>(*segments);
  segments->front().state = SegmentEntry::State::Sealed;
  check.setSegments(segments, Offset(276));
  settle();
  EXPECT_EQ(cluster.looks, before + 1);
}

// What was looked for is in sight.

TEST_F(CheckTest, TheRecordThatWasLookedForIsInSight) {
  open(golden() + QStringLiteral("/codec-none-0"));
  window->resize(1100, 720);
  QCoreApplication::processEvents();
  QTableView& records = page().batchPanel().records();
  for (const int64_t offset : {200, 143, 0, 275, 299}) {
    search(std::to_string(offset).c_str());
    QCoreApplication::processEvents();
    const QModelIndex current = records.currentIndex();
    ASSERT_TRUE(current.isValid());
    EXPECT_EQ(page().batchPanel().batch()->records[static_cast<size_t>(current.row())].offset, offset);
    const QRect row = records.visualRect(current);
    EXPECT_TRUE(records.viewport()->rect().contains(row))
        << offset << ": row " << row.top() << " to " << row.bottom() << " of " << records.viewport()->height();
  }
}

TEST_F(CheckTest, FieldsAreCutBetweenTwoRowsAndARecordStandsInOneIfItCan) {
  open(golden() + QStringLiteral("/codec-none-0"));
  for (const QSize size : {QSize(1100, 720), QSize(1280, 800), QSize(1680, 1020)}) {
    window->resize(size);
    search("200");
    QCoreApplication::processEvents();
    FieldFlow& fields = page().batchPanel().fields();
    const int shown = fields.parentWidget()->height();
    for (size_t i = 0; i < controller().batch()->fields.size(); ++i) {
      const QRectF box = fields.boxOf(static_cast<int>(i));
      if (box.isEmpty() || box.top() >= shown) continue;
      EXPECT_LE(box.bottom(), shown) << "field " << i << " is seen without its name at " << size.width();
    }
  }
  // The count of headers does not stand in a row of its own.
  FieldFlow& fields = page().batchPanel().fields();
  const BatchPicture& batch = *controller().batch();
  const RecordEntry& record = batch.records[static_cast<size_t>(page().batchPanel().records().currentIndex().row())];
  EXPECT_EQ(fields.boxOf(record.firstField).top(), fields.boxOf(record.firstField + record.fieldCount - 1).top());
}

TEST_F(CheckTest, HeadersOfARecordAreShownAsText) {
  open(golden() + QStringLiteral("/codec-none-0"));
  search("153");
  const BatchPicture& batch = *controller().batch();
  QStringList values;
  for (const FieldEntry& field : batch.fields)
    if (field.record == 0 && inspect::isOfHeader(field.kind)) values << field.value;
  EXPECT_EQ(values.join(QLatin1Char(' ')), QStringLiteral("1 h 3 153 4 null null"));
}

// What a frame takes: counts, not times.

TEST(FrameTest, DrawsABoundedNumberOfItemsWhereverOneScrollsInTenThousandSegments) {
  constexpr int kSegments = 10'000;
  SegmentStrip strip;
  strip.resize(1100, 102);
  auto segments = std::make_shared<std::vector<SegmentEntry>>();
  for (int i = 0; i < kSegments; ++i)
    segments->push_back({.base = Offset(i * 1000), .bytes = (1 << 20) - i % 7 * 100'000, .findings = i % 1000 == 5});
  strip.setSegments(segments, 1 << 20);
  auto* bar = strip.findChild<QScrollBar*>();
  ASSERT_NE(bar, nullptr);
  int zooms = 0;
  for (const double zoom : {1.0, 0.2, 0.01, 1e-9}) {
    strip.zoomBy(zoom / strip.layoutOfSegments().zoom(), 0);
    const double narrowest =
        std::max(StripLayout::kSeenAlone, StripLayout::kNarrowest * strip.layoutOfSegments().zoom());
    for (int frame = 0; frame <= 60; ++frame) {
      bar->setValue(static_cast<int>(int64_t{bar->maximum()} * frame / 60));
      strip.grab();
      EXPECT_GT(strip.blocksPainted(), 0);
      EXPECT_LE(strip.blocksPainted(), 1100 / narrowest + 3) << "zoom " << zoom << ", frame " << frame;
    }
    ++zooms;
  }
  EXPECT_EQ(zooms, 4);
}

TEST(FrameTest, DrawsABoundedNumberOfItemsWhereverOneScrollsInAHundredThousandEntries) {
  auto segment = std::make_shared<SegmentPicture>();
  segment->base = Offset(0);
  constexpr int64_t kEntries = 100'000;
  for (int64_t i = 0; i < kEntries; ++i) {
    segment->offsets.push_back({Offset(i * 10 + 9), i * 4096});
    segment->times.push_back({1'700'000'000'000 + i, Offset(i * 10 + 9)});
    if (i < static_cast<int64_t>(ReadRequest::kMostBatches))
      segment->batches.push_back({.base = i * 10, .last = i * 10 + 9, .position = i * 4096, .bytes = 4096});
  }
  segment->bytes = kEntries * 4096;
  IndexPlot plot;
  plot.resize(900, 320);
  plot.setSegment(segment);
  for (const IndexPlot::Which which : {IndexPlot::Which::Offsets, IndexPlot::Which::Times}) {
    plot.setWhich(which);
    plot.showAll();
    for (int zoom = 0; zoom < 12; ++zoom) {
      for (int frame = 0; frame < 12; ++frame) {
        plot.panBy(frame < 6 ? 0.3 : -0.3);
        plot.grab();
        EXPECT_LE(plot.dotsDrawn(), IndexPlot::kMostDots);
        // Headers that were read and, behind them, entries: each is thinned by itself.
        EXPECT_LE(plot.pointsDrawn(), 2 * IndexPlot::kMostPoints + 2);
      }
      plot.zoomBy(2);
    }
  }
}

/// Counts the cells that a table paints.
class CountingDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    ++cells;
    QStyledItemDelegate::paint(painter, option, index);
  }
  mutable int cells = 0;
};

TEST_F(CheckTest, ATableOfAHundredThousandRowsPaintsThoseInSight) {
  makeWindow();
  SegmentsController alone(window->bridge());
  SegmentTables tables(alone);
  tables.show(SegmentTables::Table::OffsetIndex);
  QTableView& table = tables.view(SegmentTables::Table::OffsetIndex);
  auto* delegate = new CountingDelegate(&table);
  table.setItemDelegate(delegate);
  std::vector<log::OffsetIndexEntry> entries;
  for (int64_t i = 0; i < 100'000; ++i) entries.push_back({Offset(i), i * 100});
  static_cast<RowsModel<log::OffsetIndexEntry>*>(table.model())->setRows(std::move(entries));
  tables.resize(700, 500);
  tables.grab();
  const int rows = table.viewport()->height() / table.rowHeight(0) + 2;
  ASSERT_LT(rows, 30);
  for (int frame = 0; frame <= 60; ++frame) {
    delegate->cells = 0;
    table.verticalScrollBar()->setValue(static_cast<int>(int64_t{table.verticalScrollBar()->maximum()} * frame / 60));
    tables.grab();
    EXPECT_GT(delegate->cells, 10);
    EXPECT_LE(delegate->cells, rows * table.model()->columnCount());
  }
}

TEST(FrameTest, ARecordOfTenThousandHeadersIsPaintedAsFarAsItIsInSight) {
  auto batch = std::make_shared<BatchPicture>();
  batch->anatomy.bytes = SharedBytes(ByteVector(100'000, 'x'));
  for (int i = 0; i < 10'000; ++i)
    batch->fields.push_back({.begin = i * 10, .length = 10, .name = QStringLiteral("header"), .record = 0});
  batch->records.push_back({.whole = {0, 100'000}, .fieldCount = 10'000});
  QScrollArea area;
  auto* fields = new FieldFlow;
  area.setWidget(fields);
  area.setWidgetResizable(true);
  area.resize(700, 200);
  fields->setBatch(batch, 0);
  area.show();
  QCoreApplication::processEvents();
  area.viewport()->repaint();
  EXPECT_GT(fields->fieldsPainted(), 0);
  EXPECT_LE(fields->fieldsPainted(), 4 * (700 / 40));
}

TEST(FrameTest, FieldsOfABatchAreMeasuredOnceForAllWidths) {
  auto batch = std::make_shared<BatchPicture>();
  batch->anatomy.bytes = SharedBytes(ByteVector(300, 'x'));
  batch->headerFields = 20;
  for (int i = 0; i < 30; ++i)
    batch->fields.push_back(
        {.begin = i * 10, .length = 10, .name = QStringLiteral("field"), .record = i < 20 ? -1 : 0});
  batch->records.push_back({.whole = {200, 100}, .firstField = 20, .fieldCount = 10});
  FieldFlow fields;
  fields.setBatch(batch, 0);
  // Wide enough for a record as it is, and too narrow for one that is cut.
  for (int width = 100; width < 3000; width += 100) fields.heightForWidth(width);
  EXPECT_LE(fields.boxesMeasured(), 20 + 4 * 10);
}

}  // namespace
}  // namespace tidemark::widgets
