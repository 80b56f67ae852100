// The row of faults of the timeline: each stands where it acted, whatever stretch of time is looked at, also in a
// recording that is opened again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "faults/fault_json.h"
#include "timeline/timeline_lanes.h"
#include "timeline/timeline_page.h"
#include "views/cluster_page.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class TimelineFaultsTest : public WindowTest {
 protected:
  void SetUp() override {
    launch();
    makeWindow();
    window->clusterPage().showView(ClusterPage::View::Timeline);
    cluster.setLoad(40);
    pass(2s);
  }
  void inject(const char* json) {
    window->bridge().setFault(*faults::parseFault(json), window.get(), {});
    run(20ms);
  }
  /// A fault as its bar tells of it: title, and in seconds from `from` on where it begins and how long it is.
  static std::vector<std::string> barsOf(MainWindow& shown, platform::WallTime from) {
    TimelineLanes& lanes = shown.clusterPage().timeline().lanes();
    std::vector<std::string> told;
    for (const TimelineLanes::Bar& bar : lanes.bars()) {
      const double begin = std::chrono::duration<double>(lanes.timeAt(bar.rect.left()) - from).count();
      const double end = std::chrono::duration<double>(lanes.timeAt(bar.rect.right()) - from).count();
      told.push_back(fmt::format("{}: {:.0f} for {:.0f}", bar.fault->title.toStdString(), begin, end - begin));
    }
    return told;
  }
  platform::WallTime now() { return window->bridge().newest()->wall; }
  /// Two that are over, the second one by hand, and one that acts still.
  platform::WallTime breakThings() {
    const platform::WallTime begin = now();
    pass(400ms);
    inject(R"({"kind": "cut", "target": "link 1<->2", "durationMs": 4000})");
    pass(6s);
    inject(R"({"kind": "delay", "target": "link 2->3", "delayMs": 80})");
    pass(3s);
    window->bridge().healAll(window.get(), {});
    pass(31s);
    inject(R"({"kind": "pause", "target": "broker 3", "durationMs": 60000})");
    pass(5s);
    return begin;
  }
};

TEST_F(TimelineFaultsTest, InThePastTheFaultsOfThatTimeAreShownWithTheirSpans) {
  const platform::WallTime begin = breakThings();
  TimelinePage& page = window->clusterPage().timeline();
  page.axis().show(begin - 2s, begin + 18s);
  EXPECT_THAT(barsOf(*window, begin), ElementsAre("Link 1 ↔ 2 cut: 0 for 4", "Link 2 → 3 +80 ms: 6 for 3"));
  // A moment is held, the present goes on.
  window->travel().lookAt(begin + 2s);
  pass(1s);
  EXPECT_THAT(barsOf(*window, begin), ElementsAre("Link 1 ↔ 2 cut: 0 for 4", "Link 2 → 3 +80 ms: 6 for 3"));
  page.axis().show(begin + 20s, begin + 38s);
  EXPECT_THAT(barsOf(*window, begin), ElementsAre()) << "nothing was broken then";
  window->travel().goLive();
  page.axis().setSpan(2min);
  EXPECT_EQ(barsOf(*window, begin).size(), 3u);
}

TEST_F(TimelineFaultsTest, ARecordingShowsTheSameFaultsAsTheWindowThatMadeIt) {
  const platform::WallTime begin = breakThings();
  ASSERT_NO_FATAL_FAILURE(reopenRecording());
  replay->resize(1680, 1020);
  replay->show();
  replay->clusterPage().showView(ClusterPage::View::Timeline);
  QCoreApplication::processEvents();
  TimelinePage& page = replay->clusterPage().timeline();
  page.axis().show(begin - 2s, begin + 18s);
  EXPECT_THAT(barsOf(*replay, begin), ElementsAre("Link 1 ↔ 2 cut: 0 for 4", "Link 2 → 3 +80 ms: 6 for 3"));
  keepPicture(*replay, QStringLiteral("faults-replayed"));
  const std::deque<TimelineFault>& known = page.past().faults();
  ASSERT_EQ(known.size(), 3u);
  EXPECT_TRUE(known[0].severe);
  EXPECT_FALSE(known[2].end.has_value()) << "at the end of the recording it acted still";
}

TEST_F(TimelineFaultsTest, TheRightColumnTellsTheMomentThatIsPointedAt) {
  breakThings();
  TimelinePage& page = window->clusterPage().timeline();
  const TimelineFault& cut = page.past().faults().front();
  const TimelineFault& paused = page.past().faults().back();
  ASSERT_TRUE(cut.end.has_value());
  EXPECT_TRUE(TimelineLanes::stateOf(cut, cut.begin - 1s).startsWith(QStringLiteral("from ")));
  EXPECT_TRUE(TimelineLanes::stateOf(cut, cut.begin + 1s).startsWith(QStringLiteral("until ")));
  EXPECT_TRUE(TimelineLanes::stateOf(cut, *cut.end).startsWith(QStringLiteral("over · 4")));
  EXPECT_TRUE(TimelineLanes::stateOf(paused, now()).startsWith(QStringLiteral("until ")));
  EXPECT_EQ(page.lanes().momentText(), QStringLiteral("now"));
  page.axis().setCursor(cut.begin);
  EXPECT_EQ(page.lanes().moment(), cut.begin);
  EXPECT_TRUE(page.lanes().momentText().startsWith(QStringLiteral("at ")));
  page.axis().setCursor(std::nullopt);
  page.axis().pan(-10s);
  EXPECT_TRUE(page.lanes().momentText().startsWith(QStringLiteral("at "))) << "the right edge is not now";
}

TEST_F(TimelineFaultsTest, NoBarLiesOnATitle) {
  for (int i = 0; i < 14; ++i) {
    inject(R"({"kind": "delay", "target": "link 2->3", "delayMs": 80, "durationMs": 200})");
    pass(300ms);
  }
  // Titles stand at the right of their bars then.
  pass(40s);
  const std::vector<TimelineLanes::Bar> bars = window->clusterPage().timeline().lanes().bars();
  ASSERT_EQ(bars.size(), 14u);
  int named = 0;
  for (const TimelineLanes::Bar& bar : bars) {
    named += !bar.label.isEmpty();
    for (const TimelineLanes::Bar& other : bars) EXPECT_TRUE(&other == &bar || !other.rect.intersects(bar.label));
  }
  EXPECT_GT(named, 0);
}

}  // namespace
}  // namespace tidemark::widgets
