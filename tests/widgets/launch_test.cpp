#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTcpServer>
#include <QTemporaryDir>
#include <QTest>

#include "launch/launch_page.h"
#include "launch/launch_picture.h"
#include "launch/setting_chips.h"
#include "views/elided_label.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

TEST(TopicName, FollowsKafkasRules) {
  EXPECT_TRUE(topicNameProblem(QStringLiteral("orders.v1_a-B")).isEmpty());
  EXPECT_TRUE(topicNameProblem(QString(249, QLatin1Char('a'))).isEmpty());
  for (const QString& name : {QString(), QStringLiteral("."), QStringLiteral(".."), QStringLiteral("a b"),
                              QStringLiteral("ä"), QStringLiteral("a/b"), QString(250, QLatin1Char('a'))})
    EXPECT_FALSE(topicNameProblem(name).isEmpty()) << name.toStdString();
}

class LaunchPageTest : public WindowTest {
 protected:
  void SetUp() override {
    makeWindow();
    // A port that is free now, with its neighbours and those of the controllers.
    for (uint16_t port = 24'000; port < 30'000; port += 210)
      if (checkPorts(QStringLiteral("127.0.0.1"), port, 5).fine()) {
        freePort = port;
        break;
      }
    ASSERT_NE(freePort, 0);
    set(3, "127.0.0.1", freePort, "orders");
  }
  void set(int brokers, const char* host, uint16_t port, const char* topic) {
    observe::LaunchOptions options;
    options.brokers = brokers;
    options.host = host;
    options.port = port;
    options.firstTopic = observe::TopicOptions{topic, 3, -1, {}};
    page().setOptions(options);
    page().check();
  }
  LaunchPage& page() { return window->launchPage(); }
  uint16_t freePort = 0;
};

TEST_F(LaunchPageTest, EnterStartsWhatIsChosen) {
  QSignalSpy started(&page(), &LaunchPage::startWanted);
  set(5, "127.0.0.1", freePort, "payments");
  QTest::keyClick(&page(), Qt::Key_Return);
  ASSERT_EQ(started.count(), 1);
  cluster.advance(std::chrono::milliseconds(10));
  ASSERT_TRUE(waitFor([this] { return window->showsCluster(); }));
  EXPECT_EQ(cluster.launched().brokers, 5);
  EXPECT_EQ(cluster.launched().port, freePort);
  EXPECT_EQ(cluster.launched().firstTopic->name, "payments");
  EXPECT_EQ(cluster.launched().firstTopic->partitions, 3);
}

TEST_F(LaunchPageTest, ATakenPortIsNamedAndNothingStarts) {
  QTcpServer taken;
  ASSERT_TRUE(taken.listen(QHostAddress(QStringLiteral("127.0.0.1")), static_cast<uint16_t>(freePort + 1)));
  page().check();
  EXPECT_TRUE(page().problem().contains(QString::number(freePort + 1))) << page().problem().toStdString();
  QSignalSpy started(&page(), &LaunchPage::startWanted);
  QTest::keyClick(&page(), Qt::Key_Return);
  EXPECT_EQ(started.count(), 0);
  taken.close();
  page().check();
  EXPECT_TRUE(page().problem().isEmpty()) << page().problem().toStdString();
}

TEST_F(LaunchPageTest, AControllersTakenPortCountsAsWell) {
  QTcpServer taken;
  ASSERT_TRUE(taken.listen(QHostAddress(QStringLiteral("127.0.0.1")), static_cast<uint16_t>(freePort + 102)));
  page().check();
  EXPECT_FALSE(page().problem().isEmpty());
}

TEST_F(LaunchPageTest, AnAddressOfAnotherMachineIsRefused) {
  set(3, "192.0.2.1", freePort, "orders");
  EXPECT_FALSE(page().problem().isEmpty());
  set(3, "not an address", freePort, "orders");
  EXPECT_FALSE(page().problem().isEmpty());
  set(3, "127.0.0.1", 0, "orders");
  EXPECT_TRUE(page().problem().isEmpty()) << "free ports are picked";
}

TEST_F(LaunchPageTest, AWrongTopicNameIsTold) {
  set(3, "127.0.0.1", freePort, "two words");
  EXPECT_FALSE(page().problem().isEmpty());
}

TEST_F(LaunchPageTest, AFolderThatCannotBeMadeIsRefused) {
  const QTemporaryDir folder;
  QFile file(folder.filePath(QStringLiteral("file")));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  observe::LaunchOptions options = page().options();
  options.dataFolder = file.fileName().toStdString();
  page().setOptions(options);
  page().check();
  EXPECT_FALSE(page().problem().isEmpty());
  options.dataFolder = folder.filePath(QStringLiteral("new/below")).toStdString();
  page().setOptions(options);
  page().check();
  EXPECT_TRUE(page().problem().isEmpty()) << page().problem().toStdString();
}

TEST_F(LaunchPageTest, TheFirstTopicWantsTwoReplicasForAcksAll) {
  const std::vector<observe::Setting> two{{"min.insync.replicas", "2"}};
  EXPECT_EQ(page().options().firstTopic->configs, two);
  set(1, "127.0.0.1", freePort, "orders");
  const std::vector<observe::Setting> one{{"min.insync.replicas", "1"}};
  EXPECT_EQ(page().options().firstTopic->configs, one) << "one replica is all there is";
}

TEST_F(LaunchPageTest, AClusterThatLiesInTheFolderDecidesBrokersAndPorts) {
  const QTemporaryDir folder;
  const auto port = freePort;
  cluster.folders[folder.path().toStdString()] =
      observe::StoredCluster{1, "127.0.0.1", {static_cast<uint16_t>(port + 3), static_cast<uint16_t>(port + 4)}};
  observe::LaunchOptions options = page().options();
  options.dataFolder = folder.path().toStdString();
  page().setOptions(options);
  page().check();
  EXPECT_EQ(page().options().brokers, 1);
  EXPECT_EQ(page().options().port, port + 3);
  EXPECT_TRUE(page().problem().isEmpty()) << page().problem().toStdString();
  QTcpServer taken;
  ASSERT_TRUE(taken.listen(QHostAddress(QStringLiteral("127.0.0.1")), static_cast<uint16_t>(port + 4)));
  page().check();
  EXPECT_TRUE(page().problem().contains(QString::number(port + 4))) << page().problem().toStdString();
}

TEST_F(LaunchPageTest, ControllersOfTheirOwnAreOfferedAndTakePorts) {
  page().resize(1100, 900);
  EXPECT_EQ(page().options().separateControllers, 0);
  const auto choose = [this](const QString& text) {
    for (QPushButton* button : page().findChildren<QPushButton*>())
      if (button->text() == text) {
        EXPECT_FALSE(button->toolTip().isEmpty()) << "what it does";
        return button->click();
      }
    ADD_FAILURE() << text.toStdString() << " is not offered";
  };
  const auto says = [this](const char* text) {
    return std::ranges::any_of(page().findChildren<QLabel*>(), [text](const QLabel* label) {
      return label->text() == QString::fromUtf8(text) || label->toolTip() == QString::fromUtf8(text);
    });
  };
  EXPECT_TRUE(says("survives the loss of 1"));
  for (const int count : {1, 5, 3}) {
    choose(QStringLiteral("%1 apart").arg(count));
    EXPECT_EQ(page().options().separateControllers, count);
  }
  choose(QStringLiteral("5 apart"));
  EXPECT_TRUE(says("survives the loss of 2"));
  const std::string command =
      "tidemark serve --brokers 3 --port " + std::to_string(freePort) + " --separate-controllers 5";
  EXPECT_TRUE(says(command.c_str()));
  // The controller of the last of eight nodes.
  QTcpServer taken;
  ASSERT_TRUE(taken.listen(QHostAddress(QStringLiteral("127.0.0.1")), static_cast<uint16_t>(freePort + 107)));
  page().check();
  EXPECT_TRUE(page().problem().contains(QString::number(freePort + 107))) << page().problem().toStdString();
  choose(QStringLiteral("in each broker"));
  page().check();
  EXPECT_TRUE(page().problem().isEmpty()) << page().problem().toStdString();
  taken.close();
  choose(QStringLiteral("3 apart"));
  QTest::keyClick(&page(), Qt::Key_Return);
  cluster.advance(std::chrono::milliseconds(10));
  ASSERT_TRUE(waitFor([this] { return window->showsCluster(); }));
  EXPECT_EQ(cluster.launched().separateControllers, 3);
  EXPECT_EQ(cluster.launched().brokers, 3);
}

TEST_F(LaunchPageTest, ControllersOfTheirOwnArePictured) {
  for (const int count : {0, 3, 5}) {
    observe::LaunchOptions options = page().options();
    options.separateControllers = count;
    page().setOptions(options);
    page().check();
    for (const int width : {1680, 1366}) {
      window->resize(width, 1020);
      QCoreApplication::processEvents();
      EXPECT_EQ(page().horizontalScrollBar()->maximum(), 0) << width;
      keepPicture(*window, QStringLiteral("launch-apart-%1-%2").arg(count).arg(width));
    }
  }
  LaunchPicture picture;
  observe::LaunchOptions options;
  const int before = picture.sizeHint().height();
  picture.setOptions(options, 5, false);
  const int each = picture.sizeHint().height();
  options.separateControllers = 3;
  picture.setOptions(options, 5, false);
  EXPECT_GT(picture.sizeHint().height(), each) << "they have cards of their own";
  EXPECT_EQ(each, before);
}

TEST_F(LaunchPageTest, ControllersThatLieInTheFolderAreTaken) {
  const QTemporaryDir folder;
  std::vector<uint16_t> ports;
  for (int i = 0; i < 8; ++i) ports.push_back(static_cast<uint16_t>(freePort + (i < 4 ? i : 96 + i)));
  cluster.folders[folder.path().toStdString()] = observe::StoredCluster{2, "127.0.0.1", ports, 2};
  observe::LaunchOptions options = page().options();
  options.separateControllers = 5;
  options.dataFolder = folder.path().toStdString();
  page().setOptions(options);
  page().check();
  EXPECT_EQ(page().options().brokers, 2) << "neither number is offered";
  EXPECT_EQ(page().options().separateControllers, 2);
  EXPECT_EQ(page().separateControllers(), 5) << "what was chosen is remembered";
}

TEST_F(LaunchPageTest, ControllersOfTheirOwnAreRememberedByTheNextWindow) {
  const QTemporaryDir folder;
  QSettings settings(folder.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
  makeWindow(&settings);
  EXPECT_EQ(page().separateControllers(), 0);
  page().setSeparateControllers(5);
  window->close();
  makeWindow(&settings);
  EXPECT_EQ(page().separateControllers(), 5);
  page().setSeparateControllers(4);
  EXPECT_EQ(page().separateControllers(), 5) << "that is not offered";
}

TEST_F(LaunchPageTest, AFolderThatHoldsSomethingElseIsRefusedWithTheReason) {
  const QTemporaryDir folder;
  cluster.folders[folder.path().toStdString()] = fail(ErrorCode::InvalidConfig, "it is neither empty nor a cluster");
  observe::LaunchOptions options = page().options();
  options.dataFolder = folder.path().toStdString();
  page().setOptions(options);
  page().check();
  EXPECT_EQ(page().problem(), QStringLiteral("it is neither empty nor a cluster"));
  QSignalSpy started(&page(), &LaunchPage::startWanted);
  QTest::keyClick(&page(), Qt::Key_Return);
  EXPECT_EQ(started.count(), 0);
}

TEST_F(LaunchPageTest, ALaunchShowsItsProgressAndCanBeCancelled) {
  const auto visible = [this](const QString& text) {
    for (const QPushButton* button : page().findChildren<QPushButton*>())
      if (button->isVisible() && button->text() == text) return true;
    return false;
  };
  EXPECT_FALSE(visible(QStringLiteral("Cancel")));
  QTest::keyClick(&page(), Qt::Key_Return);
  EXPECT_TRUE(page().isStarting());
  EXPECT_TRUE(visible(QStringLiteral("Cancel")));
  EXPECT_FALSE(window->showsCluster()) << "until all are up";
  QTest::keyClick(&page(), Qt::Key_Escape);
  EXPECT_EQ(cluster.commands.back(), "shutdown");
  cluster.advance(std::chrono::milliseconds(10));
  ASSERT_TRUE(waitFor([this] { return !page().isStarting(); }));
  EXPECT_FALSE(window->showsCluster());
  for (const QLabel* label : page().findChildren<QLabel*>())
    EXPECT_FALSE(label->isVisible() && label->text().contains(QStringLiteral("did not start"))) << "no error";
  QTest::keyClick(&page(), Qt::Key_Return);
  cluster.advance(std::chrono::milliseconds(10));
  EXPECT_TRUE(waitFor([this] { return window->showsCluster(); }));
}

TEST_F(LaunchPageTest, ItFitsASmallScreen) {
  window->resize(800, 500);
  QCoreApplication::processEvents();
  EXPECT_LE(window->width(), 800);
  EXPECT_LE(window->height(), 500);
  EXPECT_EQ(page().widget()->width(), page().viewport()->width()) << "nothing is cut off at the right";
}

TEST_F(LaunchPageTest, AnErrorOfTheEngineIsShownAndThePageCanBeUsedAgain) {
  cluster.failNext({ErrorCode::KafkaStorageError, "the folder is in use"});
  QTest::keyClick(&page(), Qt::Key_Return);
  cluster.advance(std::chrono::milliseconds(10));
  QCoreApplication::processEvents();
  EXPECT_FALSE(window->showsCluster());
  bool shown = false;
  for (const QLabel* label : page().findChildren<QLabel*>())
    shown = shown || label->text().contains(QStringLiteral("the folder is in use"));
  EXPECT_TRUE(shown);
  QTest::keyClick(&page(), Qt::Key_Return);
  cluster.advance(std::chrono::milliseconds(10));
  EXPECT_TRUE(waitFor([this] { return window->showsCluster(); }));
}

TEST(SettingChips, FillTwoRowsAndShowTheRestWhenAsked) {
  SettingChips chips;
  std::vector<observe::Setting> settings;
  for (int i = 0; i < 12; ++i) settings.push_back({"controller.quorum.fetch.timeout.ms", std::to_string(1000 + i)});
  chips.setSettings(settings);
  for (const int width : {280, 300, 330, 500, 800}) {
    const int two = chips.heightForWidth(width);
    EXPECT_LE(two, 47) << width;
    chips.setShowsAll(true);
    EXPECT_GT(chips.heightForWidth(width), two) << width;
    chips.setShowsAll(false);
  }
  settings.resize(2);
  chips.setSettings(settings);
  const int few = chips.heightForWidth(800);
  chips.setShowsAll(true);
  EXPECT_EQ(few, 21) << "what fits needs no switch";
}

TEST_F(LaunchPageTest, ALongFolderGivesWayAndNothingIsCutAtTheRight) {
  window->resize(1366, 768);
  page().setFolder(
      QDir::tempPath() + QStringLiteral("/a-rather-long-name-of-a-folder/") + QString(120, QLatin1Char('x')), true);
  page().check();
  QCoreApplication::processEvents();
  EXPECT_EQ(page().horizontalScrollBar()->maximum(), 0);
  keepPicture(*window, QStringLiteral("launch-folder-1366"));
}

TEST(LaunchPicture, OfAFolderThatHoldsAClusterNoTopicIsGuessed) {
  LaunchPicture picture;
  observe::LaunchOptions options;
  options.firstTopic = observe::TopicOptions{"orders", 3, -1, {}};
  picture.setOptions(options, 5, false);
  EXPECT_EQ(picture.partitionsShown(), 3);
  picture.setOptions(options, 5, true);
  EXPECT_EQ(picture.partitionsShown(), 0);
}

TEST(ElidedLabel, WhatHasNoRoomEndsWithAnEllipsis) {
  ElidedLabel label;
  label.setText(QStringLiteral("ISR, high watermark and lag"));
  label.resize(60, 20);
  EXPECT_TRUE(label.shownText().endsWith(QChar(0x2026))) << label.shownText().toStdString();
  label.resize(600, 20);
  EXPECT_EQ(label.shownText(), label.text());
}

}  // namespace
}  // namespace tidemark::widgets
