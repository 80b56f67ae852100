// How the program that takes pictures waits.
#include <gmock/gmock.h>

#include <QStringList>

#include "shot_wait.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;

class ShotWaitTest : public ::testing::Test {
 protected:
  const ShotWait::Told late = [this](const QString& what) { told << QStringLiteral("late: ") + what; };
  const ShotWait::Told inVain = [this](const QString& what) { told << QStringLiteral("in vain: ") + what; };
  QStringList told;
};

TEST_F(ShotWaitTest, SaysOnceWhatItWaitsForAndGivesUpOnce) {
  ShotWait wait(late, inVain, {1ms, 20ms});
  wait.begin(QStringLiteral("full ISRs"));
  EXPECT_TRUE(told.isEmpty());
  ASSERT_TRUE(waitFor([this] { return told.size() == 2; }));
  wait.begin(QStringLiteral("a load"));
  ASSERT_TRUE(waitFor([this] { return told.size() == 4; }));
  EXPECT_EQ(told, QStringList({QStringLiteral("late: full ISRs"), QStringLiteral("in vain: full ISRs"),
                               QStringLiteral("late: a load"), QStringLiteral("in vain: a load")}));
}

TEST_F(ShotWaitTest, WhatIsThereInTimeIsNotToldOf) {
  ShotWait wait(late, inVain, {1ms, 1h});
  wait.begin(QStringLiteral("full ISRs"));
  wait.begin(QStringLiteral("a load"));
  ASSERT_TRUE(waitFor([this] { return !told.isEmpty(); }));
  EXPECT_EQ(told, QStringList{QStringLiteral("late: a load")});
  ShotWait other(late, inVain, {1h, 1ms});
  wait.begin(QStringLiteral("a consumer"));
  wait.end();
  other.begin(QStringLiteral("records"));
  ASSERT_TRUE(waitFor([this] { return told.size() == 2; }));
  EXPECT_EQ(told.back(), QStringLiteral("in vain: records")) << "whoever has ended says nothing";
}

}  // namespace
}  // namespace tidemark::widgets
