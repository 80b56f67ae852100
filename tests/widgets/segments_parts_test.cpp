#include <QAbstractItemModelTester>
#include <QDateTime>
#include <QSignalSpy>

#include "models/rows_model.h"
#include "segments/decimate.h"
#include "segments/index_plot.h"
#include "segments/lookup_target.h"
#include "segments/record_delegate.h"
#include "segments/segment_strip.h"
#include "segments/strip_layout.h"
#include "text/format.h"
#include "window_fixture.h"

// What the Segments view is made of, each part alone.

namespace tidemark::widgets {
namespace {

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

}  // namespace
}  // namespace tidemark::widgets
