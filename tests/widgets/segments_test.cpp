#include "segments_fixture.h"

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
#include "segments/batch_panel.h"
#include "segments/field_flow.h"
#include "segments/folder_picker.h"
#include "segments/hex_view.h"
#include "segments/index_plot.h"
#include "segments/lookup_panel.h"
#include "segments/segment_tables.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;
using Kind = log::LookupStep::Kind;

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
