#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>

#include "observe/cluster_source.h"
#include "observe/recording.h"

namespace tidemark::widgets {

/// What a tick of the frame timer brings to every view: one snapshot and one batch of events.
struct Frame {
  observe::SnapshotPtr snapshot;
  /// The one before; equal to `snapshot` if only time went on. Never null.
  observe::SnapshotPtr previous;
  observe::EventBatch events;
  /// Launched, shut down, or another cluster than before: models are reset only then.
  bool anotherCluster = false;
};

/// The one object of the window that touches the engine. It lives on the window's thread; the engine wakes it from any
/// thread by a posted message, at most one at a time.
///
/// The frame timer runs at most 60 times a second and only as long as something changes or moves: a tick that finds
/// neither a new snapshot nor events nor a motion stops it, the engine's next wake-up starts it again. Signals:
/// `live` on every tick, then `frame`, unless a moment of the past is shown: then `frame` comes when that changes or
/// something moves. `second` about once a second while the window is shown, for texts that tell an age.
///
/// What came is remembered, as much as a Recording keeps: the window can show the cluster as it was.
class EngineBridge : public QObject {
  Q_OBJECT

 public:
  static constexpr int kFrameMs = 16;
  static constexpr size_t kEventsPerFrame = 5'000;

  /// `source` must outlive the bridge.
  explicit EngineBridge(observe::ClusterSource& source, QObject* parent = nullptr);
  ~EngineBridge() override;

  /// What is shown: the newest, or a moment of the past.
  const observe::SnapshotPtr& snapshot() const noexcept { return m_frame.snapshot; }
  const observe::SnapshotPtr& newest() const noexcept { return m_live.snapshot; }
  bool hasCluster() const noexcept { return !m_live.snapshot->clusterId.empty(); }
  /// What is seen happened once: nothing can be done about it.
  bool isRecorded() const { return m_source.isRecorded(); }
  const observe::Recording& recording() const noexcept { return m_recording; }
  /// Nothing: the present.
  const std::optional<observe::Recording::Moment>& moment() const noexcept { return m_moment; }
  void show(const observe::Recording::Moment& moment);
  void showLive();
  /// Why nothing can be changed now, as a sentence: a moment of the past is shown. Empty if it can.
  QString hindrance() const;
  bool isTicking() const noexcept { return m_timer.isActive(); }
  /// Age of the snapshot: to be added to every "since" in it, taken from every "left". The past does not get older.
  platform::Duration age() const { return m_moment ? std::chrono::milliseconds(0) : liveAge(); }
  /// Of the newest one. A recording's last moment stays as it is.
  std::chrono::milliseconds liveAge() const {
    return std::chrono::milliseconds(isRecorded() ? 0 : m_sinceSnapshot.elapsed());
  }

  /// A view moves something: ticks go on for `ms` more.
  void keepTicking(int ms);
  /// Takes a frame at once, outside the timer.
  void refresh();
  /// Takes everything that a recording still has to tell, and shows the last of it.
  void catchUp();

  std::vector<observe::Setting> profile(int brokers) const { return m_source.profile(brokers); }
  /// What a data folder holds already, or why no cluster can be launched on it.
  Result<std::optional<observe::StoredCluster>> stored(const QString& folder) const {
    return m_source.stored(folder.toStdString());
  }
  void watch(const std::optional<TopicPartition>& partition);
  const std::optional<TopicPartition>& watched() const noexcept { return m_watched; }

  // Commands. They return at once; `handler` runs on the window's thread, unless the bridge or `context` is gone.
  using Handler = std::function<void(const Result<void>&)>;
  void launch(observe::LaunchOptions options, QObject* context, Handler handler);
  void shutdown(QObject* context, Handler handler);
  void createTopic(observe::TopicOptions topic, QObject* context, Handler handler);
  enum class BrokerCommand { Kill, Pause, Resume, Restart, Stop };
  void command(BrokerCommand what, NodeId broker, QObject* context, Handler handler);
  /// `handler` gets the fault's number, or why it is impossible.
  void setFault(faults::Fault fault, QObject* context, std::function<void(const Result<int>&)> handler);
  /// `handler` gets what healing has done, or why not all of it.
  using HealedHandler = std::function<void(const Result<observe::Healed>&)>;
  void healFault(int id, QObject* context, HealedHandler handler);
  void healAll(QObject* context, HealedHandler handler);
  /// Lets the next transfers of a hold pass; `handler` gets how many there were.
  void stepFault(int id, size_t count, QObject* context, std::function<void(const Result<size_t>&)> handler);

  /// What a reset would change; `handler` gets it by partition.
  void planOffsets(observe::OffsetResetRequest request, QObject* context,
                   std::function<void(const Result<std::vector<observe::OffsetEdit>>&)> handler);
  void editOffsets(std::string group, events::GroupKind kind, std::vector<observe::OffsetEdit> edits, QObject* context,
                   Handler handler);
  void deleteGroup(std::string group, QObject* context, Handler handler);
  /// Fences the producer of a transactional id, which aborts what it has open.
  void abortTransaction(std::string transactionalId, QObject* context, Handler handler);

  /// Reads files: `work` runs on a background thread of the engine (ClusterSource::look) and returns a value; `handler`
  /// gets it on the window's thread, unless the bridge or `context` is gone. `work` holds nothing of the window's.
  template <class Value>
  void look(observe::LookPlace place, QObject* context,
            std::move_only_function<Result<Value>(const observe::LookAccess&)> work,
            std::function<void(Result<Value>)> handler);

  /// What the snapshots that are remembered may take of memory; the events beside them are bounded by number.
  static constexpr size_t kRememberedBytes = 96'000'000;

 Q_SIGNALS:
  /// The newest, whatever moment is shown: for those who remember.
  void live(const tidemark::widgets::Frame& frame);
  void frame(const tidemark::widgets::Frame& frame);
  void second();

 private:
  struct Gate;
  void wake();
  void tick();
  /// What runs on the window's thread once the files are read.
  using Landing = std::function<void()>;
  void lookAt(observe::LookPlace place, QObject* context,
              std::move_only_function<Landing(const Result<observe::LookAccess>&)> work);
  /// What the engine calls, on any thread: the handler runs on the window's, unless `context` is gone by then.
  template <class Value>
  std::move_only_function<void(Result<Value>)> answer(QObject* context,
                                                      std::function<void(const Result<Value>&)> handler);
  observe::ClusterSource::Done done(QObject* context, Handler handler);

  observe::ClusterSource& m_source;
  /// What threads of the engine reach instead of the bridge itself.
  std::shared_ptr<Gate> m_gate;
  QTimer m_timer;
  QTimer m_secondTimer;
  QElapsedTimer m_sinceSnapshot;
  QElapsedTimer m_clock;
  qint64 m_tickUntil = 0;
  uint64_t m_lastEvent = 0;
  bool m_catchingUp = false;
  Frame m_live;
  Frame m_frame;
  observe::Recording m_recording{{.bytes = kRememberedBytes}};
  std::optional<observe::Recording::Moment> m_moment;
  std::optional<TopicPartition> m_watched;
};

template <class Value>
void EngineBridge::look(observe::LookPlace place, QObject* context,
                        std::move_only_function<Result<Value>(const observe::LookAccess&)> work,
                        std::function<void(Result<Value>)> handler) {
  lookAt(std::move(place), context,
         [work = std::move(work),
          handler = std::move(handler)](const Result<observe::LookAccess>& access) mutable -> Landing {
           auto value = std::make_shared<Result<Value>>(access ? work(*access) : Result<Value>(fail(access.error())));
           return [value, handler] { handler(std::move(*value)); };
         });
}

/// A sentence for the reader: what went wrong with which command, and the engine's own reason.
QString errorText(const Error& error);

}  // namespace tidemark::widgets
