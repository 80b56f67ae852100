#pragma once

#include <optional>

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "bridge/engine_bridge.h"
#include "models/timeline_past.h"
#include "timeline/time_axis.h"

namespace tidemark::widgets {

/// The time of the window: what is remembered, the stretch of it that all views look at, and which moment they show.
/// That is the present, or a moment of the past which stands still, is stepped from event to event, or is played. Of a
/// recording there is only the past.
class TimeTravel : public QObject {
  Q_OBJECT

 public:
  explicit TimeTravel(EngineBridge& bridge, QObject* parent = nullptr);

  TimeAxis& axis() noexcept { return m_axis; }
  const TimeAxis& axis() const noexcept { return m_axis; }
  const TimelinePast& past() const noexcept { return m_past; }
  bool isLive() const noexcept { return !m_bridge.moment().has_value(); }
  bool isRecorded() const { return m_bridge.isRecorded(); }
  /// The moment that is shown.
  platform::WallTime at() const { return m_bridge.snapshot()->wall; }
  /// From when on there is something to be shown.
  platform::WallTime begin() const;
  /// The newest event that has happened at the moment that is shown; nothing: the present.
  std::optional<uint64_t> eventNumber() const;

  void lookAt(platform::WallTime at);
  /// Right after an event; at its time, if it is not remembered any more.
  void lookAtEvent(uint64_t number, platform::WallTime at);
  /// Whose events are stepped through, beside those of the whole cluster.
  void setPartition(const std::optional<TopicPartition>& partition) { m_partition = partition; }
  void step(int by);
  void play();
  void pause();
  bool isPlaying() const noexcept { return m_timer.isActive(); }
  void setSpeed(double speed) { m_speed = speed; }
  double speed() const noexcept { return m_speed; }
  /// Back to the present; of a recording to its end.
  void goLive();

 Q_SIGNALS:
  /// Another moment is shown, or playing began or ended.
  void changed();
  /// The same, and somebody wants to see that event.
  void eventShown(quint64 number);

 private:
  void onLive(const Frame& frame);
  void takeNow(bool always);
  bool isStep(const observe::ObservedEvent& event) const;
  void tick();

  EngineBridge& m_bridge;
  TimeAxis m_axis;
  TimelinePast m_past;
  std::optional<TopicPartition> m_partition;
  QTimer m_timer;
  QElapsedTimer m_sinceTick;
  double m_speed = 1;
  /// What of a millisecond was not played yet.
  double m_rest = 0;
};

}  // namespace tidemark::widgets
