#include <gtest/gtest.h>

#include "belts/belt_viewport.h"
#include "belts/growth_meter.h"

namespace tidemark::widgets {
namespace {

class ViewportTest : public ::testing::Test {
 protected:
  ViewportTest() {
    viewport.setWidth(960);
    viewport.setRange(0, 1000, 0, 0, 0);
  }
  BeltViewport viewport;
};

TEST_F(ViewportTest, TheTailIsFollowedWithRoomBehindIt) {
  EXPECT_NEAR(viewport.x(1000, 0), 960 - BeltViewport::kTailMargin, 1e-6);
  viewport.setRange(0, 1010, 0, 1000, 120);
  EXPECT_NEAR(viewport.x(1010, 2000), 960 - BeltViewport::kTailMargin, 1e-6);
}

TEST_F(ViewportTest, NewRecordsSlideInSmoothlyAndStop) {
  viewport.setRange(0, 1010, 0, 1000, 120);
  const double before = viewport.x(1010, 1000);
  const double during = viewport.x(1010, 1060);
  const double after = viewport.x(1010, 1120);
  EXPECT_GT(before, during);
  EXPECT_GT(during, after);
  EXPECT_TRUE(viewport.isMoving(1060));
  EXPECT_FALSE(viewport.isMoving(1120));
}

TEST_F(ViewportTest, ScrollingBackHoldsStillAndScrollingToTheEndFollowsAgain) {
  viewport.scrollBy(-500, 0, 0);
  EXPECT_FALSE(viewport.followsTail());
  const double held = viewport.first(0);
  viewport.setRange(0, 1500, 0, 10, 120);
  EXPECT_EQ(viewport.first(1000), held);
  viewport.scrollBy(1e9, 1000, 0);
  EXPECT_TRUE(viewport.followsTail());
}

TEST_F(ViewportTest, NothingBeforeTheFirstRecordCanBeScrolledTo) {
  viewport.scrollBy(-1e12, 0, 0);
  EXPECT_GT(viewport.x(0, 0), 0);
  EXPECT_LT(viewport.x(0, 0), 100);
}

TEST_F(ViewportTest, ZoomKeepsWhatIsUnderTheCursor) {
  viewport.scrollBy(-500, 0, 0);
  const double under = viewport.offsetAt(300, 0);
  viewport.zoomBy(2, 300, 0, 0);
  EXPECT_NEAR(viewport.offsetAt(300, 0), under, 1e-6);
  EXPECT_EQ(viewport.scale(0), 2 * BeltViewport::kDefaultScale);
  viewport.zoomBy(1e9, 300, 0, 0);
  EXPECT_EQ(viewport.scale(0), BeltViewport::kMaxScale);
}

TEST_F(ViewportTest, FastTopicsAreDrawnSmallerAndDoNotFlicker) {
  viewport.setRange(0, 100'000, 1'000, 0, 0);
  const double scale = viewport.scale(0);
  EXPECT_LT(scale, 1);
  EXPECT_GT(960 / scale, 3 * 1'000);
  for (const double growth : {900.0, 1'100.0, 950.0, 1'050.0}) {
    viewport.setRange(0, 100'000, growth, 0, 0);
    EXPECT_EQ(viewport.scale(0), scale);
  }
  viewport.setRange(0, 100'000, 0, 0, 0);
  EXPECT_EQ(viewport.scale(0), BeltViewport::kDefaultScale);
}

TEST(NiceStep, IsOneTwoOrFiveTimesAPowerOfTen) {
  EXPECT_EQ(niceStep(0.3), 1);
  EXPECT_EQ(niceStep(4.6), 5);
  EXPECT_EQ(niceStep(5.1), 10);
  EXPECT_EQ(niceStep(180), 200);
}

TEST(Motion, StartsFromWhereItIs) {
  Motion motion;
  motion.moveTo(100, 0, 120);
  EXPECT_EQ(motion.at(0), 100) << "the first value is not moved to";
  motion.moveTo(200, 0, 120);
  const double middle = motion.at(60);
  EXPECT_GT(middle, 150) << "ease-out: more than half of the way in half of the time";
  motion.moveTo(100, 60, 120);
  EXPECT_NEAR(motion.at(60), middle, 1e-9);
  EXPECT_EQ(motion.at(180), 100);
}

TEST(GrowthMeter, TellsTheRateOfTheLastSeconds) {
  GrowthMeter meter;
  for (int i = 0; i <= 40; ++i) meter.add(i * 100, i * 10.0);
  EXPECT_NEAR(meter.perSecond(4000), 100, 1);
  EXPECT_LT(meter.perSecond(20'000), 30) << "nothing came for a while";
  meter.add(20'000, 5);
  EXPECT_EQ(meter.perSecond(20'000), 0) << "another cluster counts from the beginning";
}

}  // namespace
}  // namespace tidemark::widgets
