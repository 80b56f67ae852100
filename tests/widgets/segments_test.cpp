#include "segments_fixture.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QDialog>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QLineEdit>
#include <QListView>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QSettings>
#include <QSignalSpy>
#include <QSplitter>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "belts/belts_view.h"
#include "models/rows_model.h"
#include "segments/batch_panel.h"
#include "segments/decimate.h"
#include "segments/field_flow.h"
#include "segments/folder_picker.h"
#include "segments/hex_view.h"
#include "segments/index_plot.h"
#include "segments/lookup_panel.h"
#include "segments/segment_strip.h"
#include "segments/segment_tables.h"
#include "segments/strip_layout.h"
#include "text/format.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;
using Kind = log::LookupStep::Kind;

// What is typed.

TEST(LookupTargetTest, ReadsOffsetsAsTheyAreShownAndTimesOfAnyDay) {
  const QDateTime now(QDate(2026, 11, 30), QTime(14, 2));
  const auto offset = [&](const char* text) { return readTarget(QString::fromUtf8(text), now); };
  EXPECT_EQ(offset("1177"), (LookupTarget{false, 1177}));
  EXPECT_EQ(offset(" 1 177 "), (LookupTarget{false, 1177}));
  EXPECT_EQ(readTarget(grouped(12'345'678), now), (LookupTarget{false, 12'345'678})) << "copied from the window";
  EXPECT_EQ(offset("0x499"), (LookupTarget{false, 1177}));
  EXPECT_EQ(offset("@1790604068970"), (LookupTarget{true, 1'790'604'068'970}));
  const auto moment = [&](int hour, int minute, int second, int ms, QDate day) {
    return LookupTarget{true, QDateTime(day, QTime(hour, minute, second, ms)).toMSecsSinceEpoch()};
  };
  EXPECT_EQ(offset("14:01"), moment(14, 1, 0, 0, now.date()));
  EXPECT_EQ(offset("14:01:08.970"), moment(14, 1, 8, 970, now.date()));
  EXPECT_EQ(offset("2023-11-14 22:13:20"), moment(22, 13, 20, 0, QDate(2023, 11, 14)));
  EXPECT_EQ(offset("2023-11-14T22:13:20.000Z"), (LookupTarget{true, 1'700'000'000'000}));
  EXPECT_EQ(offset("2023-11-14T23:13:20+01:00"), (LookupTarget{true, 1'700'000'000'000}));
  EXPECT_EQ(offset("latest"), (LookupTarget{true, log::kLatestTimestamp}));
  for (const char* wrong : {"", "-3", "orders", "12:99", "1.5", "2026-13-01 10:00", "@x", "12 3"})
    EXPECT_FALSE(offset(wrong)) << wrong;
}

// What is drawn, and how much of it.

TEST(StripLayoutTest, IsTrueToScaleAndLeavesRoomForNames) {
  StripLayout layout;
  const std::vector<int64_t> bytes{1000, 500, 10};
  layout.setSegments(bytes);
  EXPECT_DOUBLE_EQ(layout.width(0), StripLayout::kWidest);
  EXPECT_DOUBLE_EQ(layout.fill(1), StripLayout::kWidest / 2);
  EXPECT_DOUBLE_EQ(layout.fill(2), StripLayout::kWidest / 100);
  EXPECT_DOUBLE_EQ(layout.width(2), StripLayout::kNarrowest);
  EXPECT_EQ(layout.at(layout.left(1) + 1), 1u);
  EXPECT_EQ(layout.at(-50), 0u);
  EXPECT_EQ(layout.at(1e9), 2u);
  layout.setZoom(0.5);
  EXPECT_DOUBLE_EQ(layout.fill(1), StripLayout::kWidest / 4);
}

TEST(StripLayoutTest, TenThousandSegmentsAreDrawnAsFewBlocksAndNoneIsLeftOut) {
  StripLayout layout;
  layout.setSegments(std::vector<int64_t>(10'000, 1 << 20));
  EXPECT_LE(layout.runs(500'000, 501'000).size(), 5u);
  layout.setZoom(layout.zoomToFit(1000));
  const auto runs = layout.runs(0, 1000);
  EXPECT_LE(runs.size(), 1000 / StripLayout::kSeenAlone + 2);
  size_t next = 0;
  for (const StripLayout::Run& run : runs) {
    EXPECT_EQ(run.first, next);
    next = run.last;
  }
  EXPECT_EQ(next, 10'000u);
}

TEST(ThinnedTest, KeepsTheEndsAndNoMoreThanAskedFor) {
  std::vector<int> points(100'000);
  for (size_t i = 0; i < points.size(); ++i) points[i] = static_cast<int>(i) * 3;
  const auto key = [](int point) { return point; };
  const auto all = thinned(std::span<const int>(points), 0, 299'997, 200, key);
  ASSERT_EQ(all.size(), 200u);
  EXPECT_EQ(all.front(), 0u);
  EXPECT_EQ(all.back(), 99'999u);
  const auto few = thinned(std::span<const int>(points), 30, 60, 200, key);
  EXPECT_EQ(few.front(), 9u) << "one beyond the edge, so that the line goes on";
  EXPECT_EQ(few.back(), 21u);
  EXPECT_TRUE(thinned(std::span<const int>(), 0, 1, 200, key).empty());
}

SegmentPicturePtr hugeSegment(size_t entries) {
  auto segment = std::make_shared<SegmentPicture>();
  segment->base = Offset(0);
  for (size_t i = 0; i < entries; ++i) {
    const auto number = static_cast<int64_t>(i);
    segment->offsets.push_back({Offset(number * 10 + 9), number * 4096});
    segment->times.push_back({1'700'000'000'000 + number, Offset(number * 10 + 9)});
  }
  segment->bytes = static_cast<int64_t>(entries) * 4096;
  return segment;
}

TEST(IndexPlotTest, DrawsABoundedNumberOfAHundredThousandEntries) {
  IndexPlot plot;
  plot.resize(900, 320);
  plot.setSegment(hugeSegment(100'000));
  plot.grab();
  EXPECT_GT(plot.dotsDrawn(), 50u);
  EXPECT_LE(plot.dotsDrawn(), IndexPlot::kMostDots);
  EXPECT_LE(plot.pointsDrawn(), IndexPlot::kMostPoints + 2);
  keepPicture(plot, QStringLiteral("plot-hundred-thousand"));
  const auto [from, to] = plot.visible();
  for (int i = 0; i < 20; ++i) plot.zoomBy(1.5);
  plot.grab();
  EXPECT_LT(plot.visible().second - plot.visible().first, (to - from) / 1000);
  EXPECT_GE(plot.dotsDrawn(), 2u) << "what is in sight is all there";
  EXPECT_LE(plot.pointsDrawn(), 200u) << "and nothing else is looked at";
  for (int i = 0; i < 40; ++i) plot.panBy(-1);
  EXPECT_GE(plot.visible().first, from - (to - from) * 0.05) << "there is nothing to see before the first";
  plot.setWhich(IndexPlot::Which::Times);
  plot.grab();
  EXPECT_LE(plot.dotsDrawn(), IndexPlot::kMostDots);
}

TEST(SegmentStripTest, PaintsWhatIsInSightOfTenThousandSegments) {
  SegmentStrip strip;
  strip.resize(1100, 102);
  auto segments = std::make_shared<std::vector<SegmentEntry>>();
  for (int i = 0; i < 10'000; ++i) segments->push_back({.base = Offset(i * 1000), .bytes = 1 << 20});
  segments->back().state = SegmentEntry::State::Active;
  strip.setSegments(segments, 1 << 20);
  strip.grab();
  EXPECT_LE(strip.blocksPainted(), 6);
  EXPECT_GT(strip.blocksPainted(), 2);
  strip.fitAll();
  strip.grab();
  EXPECT_LE(strip.blocksPainted(), 1100 / StripLayout::kSeenAlone + 2);
  keepPicture(strip, QStringLiteral("strip-ten-thousand"));
  strip.zoomBy(1e9, 500);
  EXPECT_DOUBLE_EQ(strip.layoutOfSegments().zoom(), StripLayout::kMaxZoom);
  strip.ensureVisible(Offset(5'000'000));
  EXPECT_GT(strip.scrolled(), 0);
}

// Models.

TEST(RowsModelTest, TellsADifferenceInOneStretch) {
  RowsModel<int> model({{QStringLiteral("n"), [](const int& row, int) { return QString::number(row); }}});
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
  QSignalSpy removed(&model, &QAbstractItemModel::rowsRemoved);
  QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
  QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
  const auto shows = [&](const std::vector<int>& rows) {
    model.setRows(rows);
    if (model.rowCount() != static_cast<int>(rows.size())) return false;
    for (size_t i = 0; i < rows.size(); ++i)
      if (model.index(static_cast<int>(i), 0).data().toString() != QString::number(rows[i])) return false;
    return true;
  };
  EXPECT_TRUE(shows({1, 2, 3}));
  EXPECT_EQ(inserted.count(), 1);
  EXPECT_TRUE(shows({1, 2, 3, 4, 5})) << "a log grows at its end";
  EXPECT_EQ(inserted.last().at(1).toInt(), 3);
  EXPECT_TRUE(shows({3, 4, 5})) << "and loses its head";
  EXPECT_EQ(removed.last().at(1).toInt(), 0);
  EXPECT_EQ(removed.last().at(2).toInt(), 1);
  EXPECT_EQ(changed.count(), 0) << "what stays is not touched";
  EXPECT_TRUE(shows({3, 9, 5}));
  EXPECT_EQ(changed.count(), 1);
  EXPECT_EQ(changed.last().at(0).toModelIndex().row(), 1);
  EXPECT_TRUE(shows({3, 7, 8, 6, 5}));
  EXPECT_TRUE(shows({}));
  EXPECT_TRUE(shows({5, 5, 5}));
  EXPECT_TRUE(shows({5, 5}));
  EXPECT_EQ(reset.count(), 0);
}

TEST(ShownValueTest, CutsWhatIsLongAndTellsBytesFromText) {
  const auto show = [](const std::string& text) { return shownValue(asBytes(text), false); };
  EXPECT_EQ(show("abc").text, QStringLiteral("abc"));
  EXPECT_FALSE(show("abc").cut);
  EXPECT_TRUE(show(std::string(5'000'000, 'x')).cut);
  EXPECT_LE(show(std::string(5'000'000, 'x')).text.size(), ShownValue::kShown + 2);
  EXPECT_EQ(show(std::string("\x00\x01", 2)).text, QStringLiteral("0x 00 01"));
  EXPECT_EQ(shownValue({}, true).text, QStringLiteral("null"));
  EXPECT_FALSE(shownValue({}, false).cut) << "empty is not null";
  // Each letter has two bytes, and the cut may fall into one.
  std::string umlauts;
  for (int i = 0; i < 400; ++i) umlauts += "ä";
  EXPECT_TRUE(show(umlauts).text.startsWith(QStringLiteral("ää")));
}

// Files that Apache Kafka wrote.

class GoldenTest : public SegmentsTest {
 protected:
  void SetUp() override { open(golden() + QStringLiteral("/codec-none-0")); }
};

TEST_F(GoldenTest, AFolderOfKafkasIsShownWithItsSegmentsAndIndexes) {
  ASSERT_TRUE(window->showsFiles());
  ASSERT_NE(controller().partition(), nullptr) << controller().problem().toStdString();
  const auto& segments = *controller().partition()->segments;
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_EQ(segments[1].base, Offset(144));
  EXPECT_EQ(segments[2].state, SegmentEntry::State::Active);
  EXPECT_GE(segments[1].sideBytes[static_cast<size_t>(SideFile::Snapshot)], 0);
  EXPECT_EQ(segments[1].sideBytes[static_cast<size_t>(SideFile::TxnIndex)], -1);
  EXPECT_EQ(segments[0].findings, 0);
  EXPECT_EQ(controller().segment()->base, Offset(276)) << "the newest one is opened";
  EXPECT_NE(controller().batch(), nullptr);
  EXPECT_GT(coloursIn(page().grab().toImage()), 30);
}

TEST_F(GoldenTest, EveryOffsetIsFoundByTheStepsThatAreShown) {
  for (const int64_t target : {0, 1, 143, 144, 145, 200, 275, 276, 299}) {
    search(std::to_string(target).c_str());
    ASSERT_NE(controller().lookup(), nullptr);
    const LookupSums sums = sumUp(*controller().lookup(), static_cast<int>(controller().lookup()->steps().size()) - 1);
    ASSERT_TRUE(sums.found) << target;
    EXPECT_LE(sums.found->header.baseOffset, Offset(target));
    EXPECT_GE(sums.found->header.lastOffset(), Offset(target));
    ASSERT_NE(controller().segment(), nullptr);
    EXPECT_EQ(controller().segment()->base, sums.found->segmentBase);
    // The floor entry is the last one of the index at or below the target.
    int64_t floor = -1;
    for (const auto& entry : controller().segment()->offsets)
      if (entry.offset <= Offset(target)) floor = entry.offset.value();
    EXPECT_EQ(sums.floor ? sums.floor->offset.value() : -1, floor) << target;
    for (const auto& step : controller().lookup()->steps())
      if (step.kind == Kind::Probe) {
        EXPECT_EQ(step.offset, controller().segment()->offsets[step.entry].offset) << "a probe is an entry of the file";
      }
    ASSERT_NE(controller().batch(), nullptr);
    EXPECT_EQ(controller().batch()->position, sums.found->position);
    EXPECT_EQ(controller().wantedOffset(), target);
  }
}

TEST_F(GoldenTest, ATimeIsLookedUpInTheTimeIndexFirst) {
  const int64_t wanted = controller().segment()->batches.front().maxTimestampMs;
  search(("@" + std::to_string(wanted)).c_str());
  ASSERT_NE(controller().lookup(), nullptr);
  EXPECT_TRUE(controller().lookup()->byTime);
  ASSERT_TRUE(controller().lookup()->lookup.record);
  EXPECT_GE(controller().lookup()->lookup.record->timestampMs, wanted);
  QTest::keyClick(&page(), Qt::Key_Home);
  for (int i = 0; i < 3; ++i) QTest::keyClick(&page(), Qt::Key_Down);
  keepPicture(*window, QStringLiteral("segments-by-time"));
  EXPECT_EQ(controller().wantedOffset(), controller().lookup()->lookup.record->offset.value());
  search("@9999999999999");
  EXPECT_FALSE(controller().lookup()->problem.isEmpty()) << "nothing is that young";
}

TEST_F(GoldenTest, ArrowsStepThroughTheLookup) {
  search("200");
  const int last = static_cast<int>(controller().rows().size()) - 1;
  ASSERT_GT(last, 2);
  EXPECT_TRUE(controller().isPlaying()) << "it plays by itself";
  page().setFocus();
  QTest::keyClick(&page(), Qt::Key_End);
  EXPECT_FALSE(controller().isPlaying());
  EXPECT_EQ(controller().row(), last);
  QTest::keyClick(&page(), Qt::Key_Down);
  EXPECT_EQ(controller().row(), last) << "there is nothing after the end";
  QTest::keyClick(&page(), Qt::Key_Home);
  EXPECT_EQ(controller().row(), 0);
  for (int i = 1; i <= last; ++i) {
    QTest::keyClick(&page(), i % 2 == 0 ? Qt::Key_Down : Qt::Key_Period);
    EXPECT_EQ(controller().row(), i);
    EXPECT_EQ(page().lookupPanel().table().currentIndex().row(), i);
  }
  QTest::keyClick(&page(), Qt::Key_Up);
  EXPECT_EQ(controller().row(), last - 1);
  // Where one types, the arrows step as well.
  QTest::keyClick(&page().searchField(), Qt::Key_Up);
  EXPECT_EQ(controller().row(), last - 2);
}

TEST_F(GoldenTest, WhatIsNeitherOffsetNorTimeIsSaidSo) {
  QSignalSpy told(&page(), &SegmentsPage::told);
  search("soon");
  EXPECT_EQ(told.count(), 1);
  EXPECT_TRUE(page().searchField().property("wrong").toBool());
  search("100000");
  EXPECT_FALSE(controller().lookup()->problem.isEmpty()) << "beyond the end";
}

TEST_F(SegmentsTest, AFolderOpensOnAUsersTopicAndItsListIsNarrowedByTyping) {
  QTemporaryDir folder;
  const char* partitions[] = {"broker-1/__cluster_metadata-0", "broker-1/orders-10", "broker-1/orders-2",
                              "broker-2/orders-2", "broker-1/audit-0"};
  for (const char* name : partitions) {
    const QString path = folder.filePath(QLatin1String(name));
    QDir().mkpath(path);
    QFile file(path + QStringLiteral("/00000000000000000000.log"));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  }
  open(folder.path());
  ASSERT_NE(controller().place(), std::nullopt);
  EXPECT_EQ(QString::fromStdString(controller().place()->path), folder.filePath(QStringLiteral("broker-1/audit-0")));
  FolderPicker& picker = *page().folderPicker();
  const auto names = [&picker] {
    QStringList all;
    const QAbstractItemModel& model = *picker.list().model();
    for (int row = 0; row < model.rowCount(); ++row) all << model.index(row, 0).data().toString();
    return all;
  };
  EXPECT_EQ(names(), (QStringList{QStringLiteral("audit-0   in broker-1"), QStringLiteral("orders-2   in broker-1"),
                                  QStringLiteral("orders-2   in broker-2"), QStringLiteral("orders-10   in broker-1"),
                                  QStringLiteral("__cluster_metadata-0   in broker-1")}));
  QTest::keyClicks(&picker.filter(), QStringLiteral("ders-2"));
  EXPECT_EQ(names().size(), 2);
  QTest::keyClick(&picker.filter(), Qt::Key_Down);
  QTest::keyClick(&picker.filter(), Qt::Key_Return);
  settle();
  EXPECT_EQ(QString::fromStdString(controller().place()->path), folder.filePath(QStringLiteral("broker-2/orders-2")));
}

TEST_F(GoldenTest, PagesGoBatchByBatchAndAltArrowsSegmentBySegment) {
  search("144");
  const int64_t first = controller().batch()->position;
  QTest::keyClick(&page(), Qt::Key_PageDown);
  settle();
  EXPECT_GT(controller().batch()->position, first);
  QTest::keyClick(&page(), Qt::Key_PageUp);
  settle();
  EXPECT_EQ(controller().batch()->position, first);
  QTest::keyClick(&page(), Qt::Key_Left, Qt::AltModifier);
  settle();
  EXPECT_EQ(controller().segment()->base, Offset(0));
  QTest::keyClick(&page(), Qt::Key_Right, Qt::AltModifier);
  settle();
  EXPECT_EQ(controller().segment()->base, Offset(144));
}

TEST_F(GoldenTest, EveryByteOfABatchBelongsToOneFieldAndLightsItUp) {
  search("200");
  const BatchPicturePtr batch = controller().batch();
  ASSERT_NE(batch, nullptr);
  EXPECT_TRUE(batch->anatomy.crcValid);
  ASSERT_EQ(batch->headerFields, 13);
  EXPECT_EQ(batch->fields[0].name, QStringLiteral("base offset"));
  EXPECT_EQ(batch->fields[4].name, QStringLiteral("crc"));
  ASSERT_EQ(static_cast<int>(batch->records.size()), batch->anatomy.header.recordCount);
  HexView& bytes = page().batchPanel().bytes();
  FieldFlow& fields = page().batchPanel().fields();
  int64_t covered = 0;
  for (size_t i = 0; i < batch->fields.size(); ++i) {
    EXPECT_EQ(batch->fields[i].begin, covered) << "no gap before " << batch->fields[i].name.toStdString();
    covered = batch->fields[i].begin + batch->fields[i].length;
    EXPECT_EQ(bytes.fieldAt(batch->fields[i].begin), static_cast<int>(i));
    EXPECT_EQ(bytes.fieldAt(covered - 1), static_cast<int>(i));
  }
  EXPECT_EQ(covered, static_cast<int64_t>(batch->anatomy.bytes.size()));
  // A byte's field, then a field's bytes.
  const auto move = [](QWidget* widget, const QPointF& to) { QTest::mouseMove(widget, to.toPoint()); };
  move(bytes.viewport(), bytes.rectOf(17).center());
  EXPECT_EQ(page().batchPanel().hoveredField(), 4) << "byte 17 is the CRC's first";
  QSignalSpy lit(&fields, &FieldFlow::fieldHovered);
  move(&fields, fields.boxOf(0).center());
  EXPECT_EQ(page().batchPanel().hoveredField(), 0);
  EXPECT_EQ(lit.count(), 1);
  // The same with keys.
  bytes.setFocus();
  QTest::keyClick(&bytes, Qt::Key_Home);
  QTest::keyClick(&bytes, Qt::Key_Down);
  EXPECT_EQ(page().batchPanel().hoveredField(), 3) << "byte 16 is the magic";
  QTest::keyClick(&bytes, Qt::Key_C, Qt::ControlModifier);
  EXPECT_EQ(QGuiApplication::clipboard()->text(), QStringLiteral("02"));
  QTest::keyClick(&bytes, Qt::Key_End);
  const FieldEntry& last = batch->fields[static_cast<size_t>(page().batchPanel().hoveredField())];
  EXPECT_EQ(last.record, static_cast<int>(batch->records.size()) - 1) << "its record is brought into sight";
  EXPECT_FALSE(fields.boxOf(page().batchPanel().hoveredField()).isEmpty());
}

TEST_F(GoldenTest, TheTableTwinHasItAllAndCopiesAsText) {
  search("200");
  QTest::keyClick(window.get(), Qt::Key_T);
  ASSERT_TRUE(page().showsTable());
  SegmentTables& tables = page().tables();
  const auto rows = [&](SegmentTables::Table table) {
    tables.show(table);
    return tables.view(table).model()->rowCount();
  };
  EXPECT_EQ(rows(SegmentTables::Table::Segments), 3);
  EXPECT_EQ(rows(SegmentTables::Table::OffsetIndex), static_cast<int>(controller().segment()->offsets.size()));
  EXPECT_EQ(rows(SegmentTables::Table::TimeIndex), static_cast<int>(controller().segment()->times.size()));
  EXPECT_EQ(rows(SegmentTables::Table::Lookup), static_cast<int>(controller().rows().size()));
  EXPECT_EQ(rows(SegmentTables::Table::Batches), static_cast<int>(controller().segment()->batches.size()));
  EXPECT_EQ(rows(SegmentTables::Table::Fields), static_cast<int>(controller().batch()->fields.size()));
  EXPECT_EQ(rows(SegmentTables::Table::Records), controller().batch()->anatomy.header.recordCount);
  EXPECT_EQ(rows(SegmentTables::Table::Findings), 0);
  tables.show(SegmentTables::Table::Segments);
  tables.view(SegmentTables::Table::Segments).setFocus();
  QTest::keyClick(&tables.view(SegmentTables::Table::Segments), Qt::Key_C, Qt::ControlModifier);
  EXPECT_EQ(QGuiApplication::clipboard()->text().count(QLatin1Char('\n')), 4) << "heads and three segments";
  QTest::keyClick(window.get(), Qt::Key_T);
  EXPECT_FALSE(page().showsTable());
  QTest::keyClick(&page(), Qt::Key_C, Qt::ControlModifier);
  const QString text = QGuiApplication::clipboard()->text();
  EXPECT_TRUE(text.contains(QStringLiteral("00000000000000000144.log")));
  EXPECT_TRUE(text.contains(QStringLiteral("base offset")));
  EXPECT_TRUE(text.contains(QStringLiteral("Floor entry")));
}

TEST_F(GoldenTest, EscapeGoesBackToWhereOneCameFrom) {
  QTest::keyClick(&page(), Qt::Key_Escape);
  EXPECT_FALSE(window->showsFiles());
  EXPECT_FALSE(window->showsCluster());
}

TEST_F(SegmentsTest, CompressedRecordsAreShownDecompressed) {
  open(golden() + QStringLiteral("/codec-zstd-0"));
  search("0");
  const BatchPicturePtr batch = controller().batch();
  ASSERT_NE(batch, nullptr);
  ASSERT_TRUE(batch->anatomy.compressed);
  EXPECT_EQ(batch->headerFields, 14) << "the compressed records are one field of the file";
  EXPECT_TRUE(page().batchPanel().bytes().showsPayload());
  window->resize(1100, 720);
  QCoreApplication::processEvents();
  keepPicture(*window, QStringLiteral("segments-compressed-small"));
  EXPECT_FALSE(batch->records.empty());
  EXPECT_TRUE(batch->fields.back().payload);
}

TEST_F(SegmentsTest, AFolderOfManyPartitionsOffersThem) {
  open(golden());
  ASSERT_NE(controller().partition(), nullptr);
  EXPECT_FALSE(controller().partition()->segments->empty());
  open(golden() + QStringLiteral("/nowhere"));
  EXPECT_EQ(controller().partition(), nullptr);
}

TEST_F(SegmentsTest, OneFileIsEnough) {
  open(golden() + QStringLiteral("/codec-none-0/00000000000000000144.log"));
  ASSERT_NE(controller().partition(), nullptr) << controller().problem().toStdString();
  search("200");
  ASSERT_TRUE(controller().lookup()->lookup.batch);
}

TEST_F(SegmentsTest, ADroppedFolderIsOpened) {
  makeWindow();
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(golden() + QStringLiteral("/codec-none-0"))});
  QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, {});
  QApplication::sendEvent(window.get(), &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, {});
  QApplication::sendEvent(window.get(), &drop);
  settle();
  ASSERT_TRUE(window->showsFiles());
  EXPECT_NE(controller().partition(), nullptr);
}

TEST_F(SegmentsTest, DamageIsShownWhereItIs) {
  const QString folder = copyOf(QStringLiteral("codec-none-0"));
  // In the second batch of the second segment, among its records.
  open(folder);
  search("144");
  const int64_t second = controller().batch()->next;
  ASSERT_GT(second, 0);
  flip(folder + QStringLiteral("/00000000000000000144.log"), second + 80);
  controller().reload();
  settle();
  const auto& findings = controller().partition()->findings;
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().file, QStringLiteral("00000000000000000144.log"));
  EXPECT_EQ(findings.front().position, second);
  const SegmentEntry& entry = (*controller().partition()->segments)[1];
  EXPECT_EQ(entry.badAt, second);
  EXPECT_GT(entry.findings, 0);
  controller().goTo(findings.front());
  settle();
  ASSERT_NE(controller().batch(), nullptr);
  EXPECT_EQ(controller().batch()->position, second);
  EXPECT_FALSE(controller().batch()->anatomy.crcValid);
  EXPECT_TRUE(controller().batch()->fields[4].bad) << "the CRC is what is wrong";
  keepPicture(*window, QStringLiteral("segments-damaged-light"));
  Theme::instance().setChoice(ThemeChoice::Dark);
  QCoreApplication::processEvents();
  keepPicture(*window, QStringLiteral("segments-damaged-dark"));
  Theme::instance().setChoice(ThemeChoice::Automatic);
  EXPECT_GT(coloursIn(page().grab().toImage()), 30);
}

TEST_F(SegmentsTest, ASegmentThatIsRenamedForItsRemovalIsShownAsDeleted) {
  const QString folder = copyOf(QStringLiteral("codec-none-0"));
  open(folder);
  for (const char* suffix : {".log", ".index", ".timeindex"}) {
    const QString file = folder + QStringLiteral("/00000000000000000000") + QLatin1String(suffix);
    ASSERT_TRUE(QFile::rename(file, file + QStringLiteral(".deleted")));
  }
  controller().reload();
  settle();
  const auto& segments = *controller().partition()->segments;
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_EQ(segments[0].state, SegmentEntry::State::Deleted);
  EXPECT_GT(segments[0].bytes, 0) << "its bytes still lie on the disk";
  EXPECT_EQ(segments[1].state, SegmentEntry::State::Sealed);
  search("10");
  EXPECT_FALSE(controller().lookup()->problem.isEmpty()) << "readers get nothing of it any more";
  EXPECT_TRUE(QDir(folder).removeRecursively());
}

TEST_F(SegmentsTest, ALargeValueIsCutUntilAllIsAskedFor) {
  // A batch of one record of three megabytes.
  auto batch = std::make_shared<BatchPicture>();
  const size_t length = 3'000'000;
  batch->anatomy.bytes = SharedBytes(ByteVector(length, 'x'));
  batch->records.push_back({.offset = 7, .whole = {0, 3'000'000}, .key = {}, .value = {0, 3'000'000}});
  HexView bytes;
  bytes.resize(520, 300);
  bytes.setBatch(batch, false);
  bytes.grab();
  EXPECT_LE(bytes.rowsPainted(), 18) << "of 187 500";
  EXPECT_TRUE(shownValue(batch->bytesOf(batch->records[0].value), false).cut);
}

TEST_F(GoldenTest, ShowAllOpensTheWholeValue) {
  search("200");
  page().batchPanel().showAll(0);
  auto* dialog = page().batchPanel().findChild<QDialog*>(QStringLiteral("value"));
  ASSERT_NE(dialog, nullptr);
  const auto texts = dialog->findChildren<QPlainTextEdit*>();
  ASSERT_FALSE(texts.isEmpty());
  const BatchPicture& batch = *controller().batch();
  EXPECT_EQ(texts.last()->toPlainText().size(), batch.records[0].value.length);
  dialog->close();
}

// Of a broker.

class LiveSegmentsTest : public SegmentsTest {
 protected:
  void SetUp() override {
    launch();
    cluster.copyFolders[{NodeId(1), {"orders", PartitionIndex(0)}}] =
        (golden() + QStringLiteral("/codec-none-0")).toStdString();
    makeWindow();
    cluster.setLoad(40);
    for (int i = 0; i < 20; ++i) run(100ms);
    cluster.setLoad(0);
    for (int i = 0; i < 20; ++i) run(100ms);
  }
};

TEST_F(LiveSegmentsTest, AClickOnABatchOpensItsSegment) {
  BeltsView& belts = window->clusterPage().belts();
  Q_EMIT belts.batchPicked(NodeId(1), Offset(200));
  settle();
  EXPECT_EQ(window->clusterPage().view(), ClusterPage::View::Segments);
  ASSERT_NE(controller().lookup(), nullptr);
  EXPECT_EQ(controller().lookup()->target, 200);
  EXPECT_FALSE(controller().isPlaying()) << "the batch is wanted, not the way to it";
  ASSERT_NE(controller().batch(), nullptr);
  EXPECT_EQ(controller().place()->broker, NodeId(1));
}

TEST_F(LiveSegmentsTest, DigitsChooseTheViewAndEachHasDocksOfItsOwn) {
  const auto dock = [&](const char* name) { return window->findChild<QDockWidget*>(QLatin1String(name)); };
  QTest::keyClick(window.get(), Qt::Key_2);
  EXPECT_EQ(window->clusterPage().view(), ClusterPage::View::Segments);
  EXPECT_FALSE(dock("inspector")->isVisible()) << "the segments need the room";
  EXPECT_TRUE(dock("cluster")->isVisible());
  QTest::keyClick(window.get(), Qt::Key_1);
  EXPECT_EQ(window->clusterPage().view(), ClusterPage::View::Belts);
  EXPECT_TRUE(dock("inspector")->isVisible());
  EXPECT_TRUE(dock("events")->isVisible());
}

TEST_F(LiveSegmentsTest, NothingIsReadWhileNothingChangesOrNobodyLooks) {
  const int before = cluster.looks;
  for (int i = 0; i < 5; ++i) run(100ms);
  EXPECT_EQ(cluster.looks, before) << "the belts are shown";
  window->clusterPage().showView(ClusterPage::View::Segments);
  settle();
  const int opened = cluster.looks;
  EXPECT_GT(opened, before);
  for (int i = 0; i < 10; ++i) settle();
  EXPECT_EQ(cluster.looks, opened);
  EXPECT_TRUE(waitFor([&] { return !window->bridge().isTicking(); })) << "the frame timer stops";
}

TEST_F(LiveSegmentsTest, ACopyThatCannotBeReadSaysWhy) {
  window->clusterPage().showView(ClusterPage::View::Segments);
  settle();
  window->clusterPage().segments().setPartition(TopicPartition{"orders", PartitionIndex(1)});
  settle();
  EXPECT_EQ(controller().partition(), nullptr);
  EXPECT_TRUE(controller().problem().contains(QStringLiteral("no such copy")));
}

TEST_F(SegmentsTest, ViewSearchAndSplittersSurviveARestart) {
  QTemporaryDir folder;
  QSettings settings(folder.filePath(QStringLiteral("window.ini")), QSettings::IniFormat);
  makeWindow(&settings);
  open(golden() + QStringLiteral("/codec-none-0"));
  search("200");
  QTest::keyClick(&page(), Qt::Key_I);
  window->close();
  window = std::make_unique<MainWindow>(cluster, &settings);
  window->show();
  EXPECT_EQ(window->files().searchField().text(), QStringLiteral("200"));
  EXPECT_EQ(window->files().plot().which(), IndexPlot::Which::Times);
  EXPECT_EQ(settings.value(QStringLiteral("files")).toStringList().value(0), golden() + QStringLiteral("/codec-none-0"))
      << "offered again";
}

}  // namespace
}  // namespace tidemark::widgets
