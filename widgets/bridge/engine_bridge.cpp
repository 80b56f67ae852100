#include "bridge/engine_bridge.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include <QCoreApplication>
#include <QPointer>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "observe/recording_file.h"
#include "text/format.h"

namespace tidemark::widgets {

namespace {

void giveBackMemory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace

/// Lives as long as any command is under way; after the bridge is gone it swallows what comes.
struct EngineBridge::Gate {
  std::mutex mutex;
  EngineBridge* bridge = nullptr;

  template <class Call>
  void post(Call&& call) {
    const std::lock_guard lock(mutex);
    if (bridge != nullptr) QMetaObject::invokeMethod(bridge, std::forward<Call>(call), Qt::QueuedConnection);
  }
};

EngineBridge::EngineBridge(observe::ClusterSource& source, QObject* parent)
    : QObject(parent), m_source(source), m_gate(std::make_shared<Gate>()) {
  m_gate->bridge = this;
  m_timer.setInterval(kFrameMs);
  m_timer.setTimerType(Qt::PreciseTimer);
  connect(&m_timer, &QTimer::timeout, this, &EngineBridge::tick);
  m_secondTimer.setInterval(1000);
  m_secondTimer.setTimerType(Qt::VeryCoarseTimer);
  connect(&m_secondTimer, &QTimer::timeout, this, &EngineBridge::second);
  m_secondTimer.start();
  m_clock.start();
  m_sinceSnapshot.start();
  // Of a recording everything is wanted.
  if (isRecorded())
    m_recording = observe::Recording({.events = observe::RecordingReader::kMostEvents, .snapshots = SIZE_MAX});
  m_live.snapshot = m_source.snapshot();
  m_live.previous = m_live.snapshot;
  m_frame = m_live;
  m_source.onChange([gate = m_gate] {
    gate->post([gate] {
      if (gate->bridge != nullptr) gate->bridge->wake();
    });
  });
  wake();
}

EngineBridge::~EngineBridge() {
  m_source.onChange({});
  const std::lock_guard lock(m_gate->mutex);
  m_gate->bridge = nullptr;
}

void EngineBridge::wake() {
  if (!m_timer.isActive()) m_timer.start();
}

void EngineBridge::keepTicking(int ms) {
  m_tickUntil = std::max(m_tickUntil, m_clock.elapsed() + ms);
  wake();
}

void EngineBridge::refresh() {
  tick();
}

void EngineBridge::catchUp() {
  m_catchingUp = true;
  do tick();
  while (m_live.snapshot != m_live.previous || !m_live.events.events.empty());
  m_catchingUp = false;
  m_frame = {.snapshot = m_live.snapshot, .previous = m_frame.snapshot, .events = {}, .anotherCluster = true};
  Q_EMIT frame(m_frame);
}

void EngineBridge::tick() {
  observe::SnapshotPtr next = m_source.snapshot();
  m_live.events = m_source.drainEvents(m_lastEvent, kEventsPerFrame);
  m_lastEvent = m_live.events.last;
  m_live.previous = std::exchange(m_live.snapshot, std::move(next));
  const bool changed = m_live.snapshot != m_live.previous;
  m_live.anotherCluster = m_live.snapshot->clusterId != m_live.previous->clusterId;
  if (changed) m_sinceSnapshot.restart();
  const bool moving = m_clock.elapsed() < m_tickUntil;
  if (!changed && m_live.events.events.empty() && !moving) {
    m_timer.stop();
    return;
  }
  if (m_live.anotherCluster) {
    m_recording.clear();
    m_moment.reset();
    // What others remember of it is gone after this frame: then the system gets the memory back.
    QTimer::singleShot(0, this, &giveBackMemory);
  }
  for (const observe::ObservedEvent& event : m_live.events.events) m_recording.add(event);
  if (changed) m_recording.add(*m_live.snapshot);
  Q_EMIT live(m_live);
  if (m_catchingUp) return;
  if (m_moment) {
    m_frame = {.snapshot = m_frame.snapshot, .previous = m_frame.snapshot, .events = {}};
    if (moving) Q_EMIT frame(m_frame);
    return;
  }
  m_frame = m_live;
  Q_EMIT frame(m_frame);
}

void EngineBridge::show(const observe::Recording::Moment& moment) {
  observe::SnapshotPtr then = m_recording.show(moment, m_watched);
  if (then == nullptr) return;
  m_moment = moment;
  m_frame = {.snapshot = std::move(then), .previous = m_frame.snapshot, .events = {}};
  Q_EMIT frame(m_frame);
}

QString EngineBridge::hindrance() const {
  if (isRecorded()) return tr("A recording is shown: nothing in it can be changed.");
  return m_moment ? tr("A moment of the past is shown. Go back to the present to change something (L).") : QString();
}

void EngineBridge::showLive() {
  if (!m_moment) return;
  m_moment.reset();
  m_frame = {.snapshot = m_live.snapshot, .previous = m_frame.snapshot, .events = {}};
  Q_EMIT frame(m_frame);
  wake();
}

void EngineBridge::watch(const std::optional<TopicPartition>& partition) {
  if (partition == m_watched) return;
  m_watched = partition;
  m_source.watch(partition);
  if (m_moment) show(*m_moment);
  wake();
}

template <class Value>
std::move_only_function<void(Result<Value>)> EngineBridge::answer(QObject* context,
                                                                  std::function<void(const Result<Value>&)> handler) {
  // The guard is made and asked on the window's thread only; the engine's threads just carry it.
  struct Carried {
    QPointer<QObject> context;
    std::function<void(const Result<Value>&)> handler;
  };
  auto carried = std::make_shared<Carried>(Carried{context, std::move(handler)});
  return [gate = m_gate, carried](Result<Value> result) mutable {
    gate->post([gate, carried, result = std::move(result)] {
      if (carried->context && carried->handler) carried->handler(result);
      if (gate->bridge != nullptr) gate->bridge->wake();
    });
    carried.reset();
  };
}

observe::ClusterSource::Done EngineBridge::done(QObject* context, Handler handler) {
  return answer<void>(context, std::move(handler));
}

void EngineBridge::setFault(faults::Fault fault, QObject* context, std::function<void(const Result<int>&)> handler) {
  m_source.setFault(std::move(fault), answer<int>(context, std::move(handler)));
}

void EngineBridge::healFault(int id, QObject* context, HealedHandler handler) {
  m_source.healFault(id, answer<observe::Healed>(context, std::move(handler)));
}

void EngineBridge::healAll(QObject* context, HealedHandler handler) {
  m_source.healAll(answer<observe::Healed>(context, std::move(handler)));
}

void EngineBridge::stepFault(int id, size_t count, QObject* context,
                             std::function<void(const Result<size_t>&)> handler) {
  m_source.stepFault(id, count, answer<size_t>(context, std::move(handler)));
}

void EngineBridge::launch(observe::LaunchOptions options, QObject* context, Handler handler) {
  m_source.launch(std::move(options), done(context, std::move(handler)));
}

void EngineBridge::shutdown(QObject* context, Handler handler) {
  m_source.shutdown(done(context, std::move(handler)));
}

void EngineBridge::createTopic(observe::TopicOptions topic, QObject* context, Handler handler) {
  m_source.createTopic(std::move(topic), done(context, std::move(handler)));
}

void EngineBridge::planOffsets(observe::OffsetResetRequest request, QObject* context,
                               std::function<void(const Result<std::vector<observe::OffsetEdit>>&)> handler) {
  m_source.planOffsets(std::move(request), answer<std::vector<observe::OffsetEdit>>(context, std::move(handler)));
}

void EngineBridge::editOffsets(std::string group, events::GroupKind kind, std::vector<observe::OffsetEdit> edits,
                               QObject* context, Handler handler) {
  m_source.editOffsets(std::move(group), kind, std::move(edits), done(context, std::move(handler)));
}

void EngineBridge::deleteGroup(std::string group, QObject* context, Handler handler) {
  m_source.deleteGroup(std::move(group), done(context, std::move(handler)));
}

void EngineBridge::abortTransaction(std::string transactionalId, QObject* context, Handler handler) {
  m_source.abortTransaction(std::move(transactionalId), done(context, std::move(handler)));
}

void EngineBridge::command(BrokerCommand what, NodeId broker, QObject* context, Handler handler) {
  auto answer = done(context, std::move(handler));
  switch (what) {
    case BrokerCommand::Kill:
      m_source.killBroker(broker, std::move(answer));
      break;
    case BrokerCommand::Pause:
      m_source.pauseBroker(broker, std::move(answer));
      break;
    case BrokerCommand::Resume:
      m_source.resumeBroker(broker, std::move(answer));
      break;
    case BrokerCommand::Restart:
      m_source.restartBroker(broker, std::move(answer));
      break;
    case BrokerCommand::Stop:
      m_source.stopBroker(broker, std::move(answer));
      break;
  }
}

void EngineBridge::lookAt(observe::LookPlace place, QObject* context,
                          std::move_only_function<Landing(const Result<observe::LookAccess>&)> work) {
  // As in done(): the guard is asked on the window's thread only.
  auto guard = std::make_shared<QPointer<QObject>>(context);
  m_source.look(std::move(place),
                [gate = m_gate, guard, work = std::move(work)](const Result<observe::LookAccess>& access) mutable {
                  gate->post([guard, landing = work(access)] {
                    if (*guard) landing();
                  });
                  guard.reset();
                });
}

QString errorText(const Error& error) {
  const QString code = fromUtf8(errorName(error.code));
  return error.message.empty() ? code
                               : QCoreApplication::translate("Errors", "%1 (%2)").arg(fromUtf8(error.message), code);
}

}  // namespace tidemark::widgets
