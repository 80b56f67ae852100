#pragma once

#include <chrono>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include <QApplication>
#include <QCoreApplication>
#include <QDir>
#include <QEventLoop>
#include <QImage>
#include <QPixmap>
#include <QTemporaryDir>
#include <QTimer>

#include "main_window.h"
#include "testing/fake_cluster.h"
#include "testing/mock_scene.h"

namespace tidemark::widgets {

/// Runs the event loop until `reached` is true; false after a limit that is far too long.
inline bool waitFor(const std::function<bool()>& reached) {
  QElapsedTimer clock;
  clock.start();
  while (!reached()) {
    if (clock.elapsed() > 60'000) return false;
    QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 10);
  }
  return true;
}

/// A window over a cluster of numbers.
class WindowTest : public testing::Test {
 protected:
  void launch(int brokers = 3, int partitions = 3, int separateControllers = 0) {
    observe::LaunchOptions options;
    options.brokers = brokers;
    options.separateControllers = separateControllers;
    observe::TopicOptions topic;
    topic.name = "orders";
    topic.partitions = partitions;
    options.firstTopic = topic;
    cluster.launchNow(options);
  }
  void makeWindow(QSettings* settings = nullptr) {
    window = std::make_unique<MainWindow>(cluster, settings);
    window->setLoadStarter([this](const ProduceOptions& options) { cluster.setLoad(options.rate); });
    window->resize(1680, 1020);
    window->show();
    // Shortcuts reach the active window only.
    QApplication::setActiveWindow(window.get());
  }
  void run(std::chrono::milliseconds time) {
    cluster.advance(time);
    window->bridge().refresh();
  }
  /// The same in tenths of a second, as frames come.
  void pass(std::chrono::milliseconds time) {
    constexpr std::chrono::milliseconds kFrame{100};
    for (; time > time.zero(); time -= kFrame) run(kFrame);
  }
  /// The picture of the design, with the two minutes that led to it.
  void playMock() {
    for (int i = 240; i >= 0; --i) {
      cluster.show(fake::mockMoment(i * 0.5));
      if (i == 0) fake::appendMockEvents(cluster);
      window->bridge().refresh();
    }
  }

  /// What happened so far as a file.
  void saveRecording() { ASSERT_EQ(window->saveRecording(recordingPath()), QString()); }
  /// A window that replays that file.
  void openRecording() {
    QString error;
    replay.reset(MainWindow::openRecording(recordingPath(), &error));
    ASSERT_NE(replay, nullptr) << error.toStdString();
    replay->setAttribute(Qt::WA_DeleteOnClose, false);
  }
  void reopenRecording() {
    ASSERT_NO_FATAL_FAILURE(saveRecording());
    openRecording();
  }
  QString recordingPath() const { return recordings.filePath(QStringLiteral("recording.jsonl")); }

  QTemporaryDir recordings;
  fake::FakeCluster cluster;
  std::unique_ptr<MainWindow> window;
  std::unique_ptr<MainWindow> replay;
};

/// Keeps a picture in $TIDEMARK_SHOTS, if that is set, to be looked at.
inline void keepPicture(QWidget& widget, const QString& name) {
  const QString folder = qEnvironmentVariable("TIDEMARK_SHOTS");
  if (folder.isEmpty()) return;
  QDir().mkpath(folder);
  EXPECT_TRUE(widget.grab().save(QStringLiteral("%1/%2.png").arg(folder, name)));
}

/// How many different colours there are: a view that draws nothing has one or two.
inline int coloursIn(const QImage& image) {
  std::set<QRgb> seen;
  for (int y = 0; y < image.height(); y += 2)
    for (int x = 0; x < image.width(); x += 2) seen.insert(image.pixel(x, y));
  return static_cast<int>(seen.size());
}

}  // namespace tidemark::widgets
