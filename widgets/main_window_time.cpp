// Which moment the window shows, and recordings.
#include <algorithm>

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QSaveFile>
#include <QShortcut>

#include "belts/belts_view.h"
#include "main_window.h"
#include "observe/recorded_cluster.h"
#include "observe/recording_file.h"
#include "text/duration_input.h"
#include "text/format.h"
#include "timeline/timeline_page.h"
#include "views/event_panel.h"
#include "views/status_line.h"
#include "views/top_bar.h"

namespace tidemark::widgets {

namespace {

/// A line holds a snapshot of the largest cluster there is; more is no recording.
constexpr qint64 kLongestLine = 64 * 1024 * 1024;

}  // namespace

void MainWindow::makeTime() {
  connect(&m_travel, &TimeTravel::changed, this, [this] { m_events->setMoment(m_travel.eventNumber()); });
  connect(m_events, &EventPanel::eventPicked, this, [this](quint64 number, platform::WallTime at) {
    m_travel.pause();
    m_travel.lookAtEvent(number, at);
  });
  connect(&m_clusterPage->belts(), &BeltsView::eventWanted, this, [this](quint64 number, platform::WallTime at) {
    m_travel.lookAtEvent(number, at);
    revealEvent(number);
  });
  const auto on = [this](const QKeySequence& keys, auto&& call) {
    auto* shortcut = new QShortcut(keys, this);
    connect(shortcut, &QShortcut::activated, this, [this, call] {
      if (showsCluster()) call();
    });
  };
  on(QKeySequence(Qt::Key_Comma), [this] { m_travel.step(-1); });
  on(QKeySequence(Qt::Key_Period), [this] {
    // There is nothing behind the present.
    if (!m_travel.isLive()) m_travel.step(1);
  });
  on(QKeySequence(Qt::Key_L), [this] { m_travel.goLive(); });
}

void MainWindow::enterRecording() {
  m_bridge.catchUp();
  m_topBar->setRecorded();
  TimeAxis& axis = m_travel.axis();
  axis.setNow(m_bridge.newest()->wall);
  axis.show(m_travel.begin(), axis.now());
  // Before there was a topic there is little to be seen.
  const auto& snapshots = m_bridge.recording().snapshots();
  const auto first = std::ranges::find_if(
      snapshots, [](const observe::Recording::Kept& kept) { return firstPartition(*kept.cluster).has_value(); });
  m_travel.lookAt(first == snapshots.end() ? m_travel.begin() : first->cluster->wall);
  // What there is at its end need not be there yet.
  const auto& shown = m_clusterPage->partition();
  if (first == snapshots.end() || (shown && observe::findPartition(*m_bridge.snapshot(), *shown) != nullptr)) return;
  m_picked = {};
  showPartition(*firstPartition(*first->cluster));
  pickFirst();
}

MainWindow* MainWindow::openRecording(const QString& path, QString* error) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) {
    *error = tr("%1 cannot be read: %2").arg(path, file.errorString());
    return nullptr;
  }
  observe::RecordingReader reader;
  bool breaksOff = false;
  while (!file.atEnd()) {
    const QByteArray line = file.readLine(kLongestLine);
    const bool whole = line.endsWith('\n');
    const auto taken =
        reader.take(std::string_view(line.constData(), static_cast<size_t>(whole ? line.size() - 1 : line.size())));
    // Whoever wrote it had no time, or no space, for more.
    breaksOff = !taken && !whole && file.atEnd();
    if (!taken && !breaksOff) {
      *error = tr("%1: %2").arg(path, fromUtf8(taken.error().message));
      return nullptr;
    }
  }
  auto recording = reader.finish();
  if (!recording) {
    *error = tr("%1: %2").arg(path, fromUtf8(recording.error().message));
    return nullptr;
  }
  auto source = std::make_shared<observe::RecordedCluster>(std::move(*recording));
  auto* window = new MainWindow(*source, nullptr);
  window->m_shown = std::move(source);
  window->setAttribute(Qt::WA_DeleteOnClose);
  const QString name = QFileInfo(path).fileName();
  window->setWindowTitle(breaksOff ? tr("%1 (breaks off in its last line) – Tidemark").arg(name)
                                   : tr("%1 – Tidemark").arg(name));
  return window;
}

void MainWindow::chooseRecording() {
  const QString path =
      QFileDialog::getOpenFileName(this, tr("Open a recording"), {}, tr("Recordings (*.jsonl);;All files (*)"));
  if (path.isEmpty()) return;
  QString error;
  if (MainWindow* window = openRecording(path, &error))
    window->show();
  else
    QMessageBox::warning(this, tr("Not opened"), error);
}

QString MainWindow::saveRecording(const QString& path) const {
  if (m_bridge.recording().empty()) return tr("there is nothing to be saved yet");
  QSaveFile file(path);
  bool whole = file.open(QIODevice::WriteOnly);
  observe::RecordingWriter writer([&](std::string_view line) {
    whole = whole && file.write(line.data(), static_cast<qint64>(line.size())) >= 0 && file.write("\n", 1) == 1;
  });
  writer.add(m_bridge.recording());
  if (!whole || !file.commit()) return tr("%1 cannot be written: %2").arg(path, file.errorString());
  return {};
}

QString MainWindow::lookAt(const QString& sinceBegin) {
  const auto since = parseDuration(sinceBegin);
  if (!since && sinceBegin.startsWith(QLatin1Char('-')) && parseDuration(sinceBegin.mid(1)))
    return tr("%1 is before the beginning of the recording").arg(sinceBegin);
  if (!since) return tr("“%1” is no time since the beginning, like 12.5s, 800ms or 1m08s").arg(sinceBegin);
  const auto lasts = m_bridge.newest()->wall - m_travel.begin();
  if (*since > lasts)
    return tr("%1 is after the end of the recording, which lasts %2")
        .arg(sinceBegin, QStringLiteral("%1s").arg(std::chrono::duration<double>(lasts).count()));
  m_travel.lookAt(m_travel.begin() + *since);
  return {};
}

void MainWindow::chooseWhereToRecord() {
  const QString path =
      QFileDialog::getSaveFileName(this, tr("Save what is remembered"), QStringLiteral("recording.jsonl"),
                                   tr("Recordings (*.jsonl);;All files (*)"));
  if (path.isEmpty()) return;
  const QString error = saveRecording(path);
  m_status->say(error.isEmpty() ? tr("Saved as %1").arg(path) : tr("Not saved: %1").arg(error));
}

}  // namespace tidemark::widgets
