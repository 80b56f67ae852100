#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTcpServer>
#include <QTemporaryDir>
#include <QTest>

#include "launch/launch_page.h"
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

}  // namespace
}  // namespace tidemark::widgets
