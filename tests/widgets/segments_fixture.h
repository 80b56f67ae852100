#pragma once

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>

#include "segments/segments_page.h"
#include "views/cluster_page.h"
#include "window_fixture.h"

namespace tidemark::widgets {

/// A window, and folders that Apache Kafka wrote.
class SegmentsTest : public WindowTest {
 protected:
  /// The data directories of tests/data, unpacked once for all tests.
  static const QString& golden() {
    static QTemporaryDir folder;
    static const QString path = [] {
      QProcess tar;
      tar.setWorkingDirectory(folder.path());
      tar.start(QStringLiteral(TIDEMARK_CMAKE), {QStringLiteral("-E"), QStringLiteral("tar"), QStringLiteral("xf"),
                                                 QStringLiteral(TIDEMARK_TEST_DATA "/data-dirs/single-clean.tar.zst")});
      EXPECT_TRUE(tar.waitForFinished(60'000));
      EXPECT_EQ(tar.exitCode(), 0);
      return folder.path() + QStringLiteral("/d0");
    }();
    return path;
  }
  /// A copy of a golden partition that a test may damage.
  QString copyOf(const QString& partition) {
    const QString to = m_copies.filePath(partition);
    QDir().mkpath(to);
    const QDir from(golden() + QLatin1Char('/') + partition);
    for (const QString& name : from.entryList(QDir::Files))
      EXPECT_TRUE(QFile::copy(from.filePath(name), to + QLatin1Char('/') + name));
    return to;
  }
  static void flip(const QString& path, qint64 position) {
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::ReadWrite));
    file.seek(position);
    char byte = 0;
    ASSERT_TRUE(file.getChar(&byte));
    file.seek(position);
    file.putChar(static_cast<char>(byte ^ 1));
  }
  /// Lets looks run and their answers arrive.
  void settle() {
    for (int i = 0; i < 8; ++i) {
      cluster.advance({});
      QCoreApplication::processEvents();
    }
  }
  void open(const QString& path) {
    if (!window) makeWindow();
    window->openFiles(path);
    settle();
  }
  SegmentsPage& page() { return window->showsFiles() ? window->files() : window->clusterPage().segments(); }
  SegmentsController& controller() { return page().controller(); }
  void search(const char* text) {
    page().search(QLatin1String(text));
    settle();
  }

  QTemporaryDir m_copies;
};

}  // namespace tidemark::widgets
