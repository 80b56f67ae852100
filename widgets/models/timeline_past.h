#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include <QString>

#include "observe/history.h"
#include "observe/snapshot.h"
#include "theme/shapes.h"

namespace tidemark::widgets {

/// A number over time: it holds from one point to the next.
class TimelineSeries {
 public:
  struct Point {
    platform::WallTime at;
    int64_t value = 0;
  };

  /// What changes more often than `step` is kept as its newest value.
  void add(platform::WallTime at, int64_t value, platform::WallClock::duration step);
  /// The greatest within a step is kept instead: of lags the peaks matter.
  void addPeak(platform::WallTime at, int64_t value, platform::WallClock::duration step);
  void forget(platform::WallTime before);
  /// Nothing before the first point.
  std::optional<int64_t> at(platform::WallTime time) const noexcept;
  const std::deque<Point>& points() const noexcept { return m_points; }

 private:
  std::deque<Point> m_points;
};

/// How a copy of a partition stood from `begin` until the next one.
struct TimelineStretch {
  /// Offline: its broker runs and its log directory failed.
  enum class State { InSync, Behind, Fenced, Offline, Down };
  platform::WallTime begin;
  State state = State::InSync;
  bool leader = false;
  LeaderEpoch epoch;
  /// Down or offline: it takes part in nothing.
  bool isAway() const noexcept { return state == State::Down || state == State::Offline; }
  bool sameAs(const TimelineStretch& other) const noexcept {
    return state == other.state && leader == other.leader && (!leader || epoch == other.epoch);
  }
};

struct TimelineCopy {
  std::deque<TimelineStretch> stretches;
  TimelineSeries logEnd;
  TimelineSeries lag;
  const TimelineStretch* at(platform::WallTime time) const noexcept;
  /// When it last left the ISR, by then; nothing if that is not remembered.
  std::optional<platform::WallTime> leftIsr(platform::WallTime by) const noexcept;
};

struct TimelinePartition {
  std::map<NodeId, TimelineCopy> copies;
  TimelineSeries highWatermark;
  /// What happened to it once, oldest first: elections, ISR, truncations, losses, where an epoch began.
  std::deque<observe::ObservedEvent> events;
};

/// A time during which something was broken on purpose.
struct TimelineFault {
  int id = 0;
  QString title;
  StateShape shape = StateShape::Triangle;
  bool severe = false;
  platform::WallTime begin;
  /// Nothing: it still is.
  std::optional<platform::WallTime> end;
  /// No event told its end: a snapshot did not list it. A later one may list it again, as those of a recording do,
  /// which are a second apart.
  bool endIsGuessed = false;
  /// Its time is over by itself then.
  std::optional<platform::WallTime> expected;
  /// Of the event that told of it, 0 if none was seen.
  uint64_t event = 0;
  /// A snapshot has listed it.
  bool listed = false;
};

/// What the window remembers for the timeline: of partitions that are not internal who led and who was in the ISR, log
/// ends, high watermark and lag, each change with the event that tells its cause; and what was broken meanwhile.
/// Bounded by time (a recording is remembered whole), by number, and by a step that grows with the number of
/// partitions. Fed with each frame.
class TimelinePast {
 public:
  static constexpr auto kKept = std::chrono::minutes(15);
  static constexpr size_t kEvents = 500;
  static constexpr size_t kFaults = 1000;
  /// Longer than anything that is recorded.
  static constexpr auto kAll = std::chrono::hours(24 * 365);
  /// Of a single partition; of many as much more.
  static constexpr auto kStep = std::chrono::milliseconds(50);
  /// So much later than an event its snapshot may be.
  static constexpr auto kSnapshotLag = std::chrono::milliseconds(300);
  static constexpr auto kStepOfEach = std::chrono::milliseconds(15);

  /// What is older than `kept` is forgotten.
  explicit TimelinePast(platform::WallClock::duration kept = kKept) : m_kept(kept) {}

  void add(const observe::ClusterSnapshot& cluster, const std::vector<observe::ObservedEvent>& events);
  void clear();

  const TimelinePartition* find(const TopicPartition& partition) const;
  /// Of brokers and the quorum, oldest first.
  const std::deque<observe::ObservedEvent>& events() const noexcept { return m_events; }
  const std::deque<TimelineFault>& faults() const noexcept { return m_faults; }
  /// How many samples are kept of all partitions: a test counts.
  size_t size() const noexcept;

 private:
  void addEvent(const observe::ObservedEvent& event);
  void addFaults(const observe::ClusterSnapshot& cluster);
  void addPartition(const observe::ClusterSnapshot& cluster, const observe::TopicSnapshot& topic,
                    const observe::PartitionSnapshot& partition, platform::WallClock::duration step);
  TimelineFault* fault(int id) noexcept;
  /// A snapshot tells a change later than its event, or a little before it: the event's time counts.
  void correct(TimelinePartition& past, const observe::ObservedEvent& event);

  platform::WallClock::duration m_kept;
  std::map<TopicPartition, TimelinePartition> m_partitions;
  std::deque<observe::ObservedEvent> m_events;
  std::deque<TimelineFault> m_faults;
};

/// Whether an event is one that the timeline marks.
bool isMarked(const events::Payload& payload) noexcept;

}  // namespace tidemark::widgets
