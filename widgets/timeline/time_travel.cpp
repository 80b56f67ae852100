#include "timeline/time_travel.h"

#include <algorithm>

#include "text/event_words.h"

namespace tidemark::widgets {

namespace {

using namespace std::chrono_literals;
using platform::WallTime;

/// While nobody looks closely the right edge goes on in steps of this: views that show minutes need no more.
constexpr auto kCoarse = 950ms;
/// An event's own clock counts unless it was moved on purpose; so does the present as it was guessed.
constexpr auto kTrusted = 500ms;

}  // namespace

TimeTravel::TimeTravel(EngineBridge& bridge, QObject* parent)
    : QObject(parent),
      m_bridge(bridge),
      m_past(bridge.isRecorded() ? TimelinePast::kAll : platform::WallClock::duration(TimelinePast::kKept)) {
  m_timer.setInterval(EngineBridge::kFrameMs);
  connect(&m_timer, &QTimer::timeout, this, &TimeTravel::tick);
  connect(&bridge, &EngineBridge::live, this, &TimeTravel::onLive);
  connect(&bridge, &EngineBridge::second, this, [this] { takeNow(false); });
}

WallTime TimeTravel::begin() const {
  return m_bridge.recording().empty() ? m_axis.now() : m_bridge.recording().begin();
}

std::optional<uint64_t> TimeTravel::eventNumber() const {
  return m_bridge.moment() ? std::optional(m_bridge.moment()->event) : std::nullopt;
}

void TimeTravel::takeNow(bool always) {
  const auto now = m_bridge.newest()->wall + m_bridge.liveAge();
  // A present that was guessed too far ahead is taken back.
  const auto gone = now - m_axis.now();
  if (!always && m_axis.follows() && gone > -kTrusted && gone < kCoarse) return;
  m_axis.setNow(now);
}

void TimeTravel::onLive(const Frame& frame) {
  if (frame.anotherCluster) {
    m_past.clear();
    pause();
    m_axis.follow();
  }
  m_past.add(*frame.snapshot, frame.events.events);
  takeNow(frame.anotherCluster);
  if (frame.anotherCluster) Q_EMIT changed();
}

void TimeTravel::lookAt(WallTime at) {
  if (m_bridge.recording().empty()) return;
  at = std::clamp(at, begin(), std::max(begin(), m_axis.now()));
  m_bridge.show(m_bridge.recording().at(at));
  m_axis.hold(at);
  Q_EMIT changed();
}

void TimeTravel::lookAtEvent(uint64_t number, WallTime at) {
  const auto moment = m_bridge.recording().after(number);
  if (!moment) {
    lookAt(at);
  } else {
    m_bridge.show(*moment);
    m_axis.hold(std::chrono::abs(at - moment->wall) < kTrusted ? at : moment->wall);
    Q_EMIT changed();
  }
  Q_EMIT eventShown(number);
}

bool TimeTravel::isStep(const observe::ObservedEvent& event) const {
  using namespace events;  // NOLINT(google-build-using-namespace)
  const Payload& payload = event.event.payload;
  // What waits and what indexes moves nothing that is seen.
  if (std::holds_alternative<IndexEntryAdded>(payload) || std::holds_alternative<FetchParked>(payload) ||
      std::holds_alternative<FetchCompleted>(payload) || std::holds_alternative<FetchExpired>(payload) ||
      std::holds_alternative<OffsetCommitted>(payload))
    return false;
  return event.topic.empty() ||
         (m_partition && event.topic == m_partition->topic && event.partition == m_partition->partition);
}

void TimeTravel::step(int by) {
  pause();
  const auto& events = m_bridge.recording().events();
  const uint64_t now = eventNumber().value_or(events.empty() ? 0 : events.back().number);
  if (by > 0) {
    const auto from = std::ranges::upper_bound(events, now, {}, &observe::ObservedEvent::number);
    const auto next = std::find_if(from, events.end(), [this](const auto& one) { return isStep(one); });
    if (next == events.end()) return isRecorded() ? void() : goLive();
    return lookAtEvent(next->number, next->event.wall);
  }
  auto from = std::make_reverse_iterator(std::ranges::lower_bound(events, now, {}, &observe::ObservedEvent::number));
  // From the present the newest event is the first step.
  if (isLive()) from = events.rbegin();
  const auto next = std::find_if(from, events.rend(), [this](const auto& one) { return isStep(one); });
  if (next != events.rend()) lookAtEvent(next->number, next->event.wall);
}

void TimeTravel::play() {
  if (isLive() || isPlaying()) return;
  // At its end a recording begins anew.
  if (isRecorded() && at() >= m_axis.now()) lookAt(begin());
  m_rest = 0;
  m_sinceTick.start();
  m_timer.start();
  Q_EMIT changed();
}

void TimeTravel::pause() {
  if (!isPlaying()) return;
  m_timer.stop();
  Q_EMIT changed();
}

void TimeTravel::tick() {
  const double gone = static_cast<double>(m_sinceTick.restart()) * m_speed + m_rest;
  const auto whole = static_cast<int64_t>(gone);
  m_rest = gone - static_cast<double>(whole);
  if (whole == 0) return;
  const WallTime next = at() + std::chrono::milliseconds(whole);
  takeNow(true);
  if (next >= m_axis.now()) {
    if (!isRecorded()) return goLive();
    pause();
  }
  lookAt(next);
  // The range goes along.
  if (next >= m_axis.end() - m_axis.span() / 20 && m_axis.end() < m_axis.now()) m_axis.pan(m_axis.span() / 4);
  m_axis.reveal(next);
}

void TimeTravel::goLive() {
  pause();
  if (isRecorded()) return lookAt(m_axis.now());
  m_bridge.showLive();
  takeNow(true);
  m_axis.follow();
  Q_EMIT changed();
}

}  // namespace tidemark::widgets
