#include "timeline/timeline_marks.h"

#include <algorithm>

#include <QCoreApplication>

#include "text/format.h"

namespace tidemark::widgets {

namespace {

struct MarkNames {
  Q_DECLARE_TR_FUNCTIONS(Timeline)
};

NodeId nodeOfMark(const events::Payload& payload, NodeId emitter) {
  return std::visit(
      [emitter]<class Kind>(const Kind& kind) -> NodeId {
        if constexpr (requires { kind.node; })
          return kind.node;
        else if constexpr (requires { kind.removed; })
          return kind.removed;
        else if constexpr (requires { kind.added; })
          return kind.added;
        else
          return emitter;
      },
      payload);
}

TimelineMark markOfEvent(const observe::ObservedEvent& event, bool ofPartition) {
  TimelineMark mark{.at = event.event.wall,
                    .event = event.number,
                    .fault = 0,
                    .broker = kNoNode,
                    .epoch = {},
                    .elects = false,
                    .grave = false,
                    .ofPartition = ofPartition,
                    .note = {}};
  const events::Payload& payload = event.event.payload;
  mark.broker = nodeOfMark(payload, event.event.broker);
  if (const auto* shrunk = std::get_if<events::IsrShrunk>(&payload)) {
    mark.epoch = shrunk->epoch;
    mark.note = nodesText(shrunk->after.view());
  } else if (const auto* grown = std::get_if<events::IsrExpanded>(&payload)) {
    mark.epoch = grown->epoch;
    mark.note = nodesText(grown->after.view());
  } else if (const auto* elected = std::get_if<events::LeaderElected>(&payload)) {
    mark.broker = elected->to;
    mark.elects = true;
    mark.note =
        elected->to == kNoNode ? MarkNames::tr("no leader") : MarkNames::tr("leader %1").arg(elected->to.value());
  }
  if (const auto* lost = std::get_if<events::RecordsLost>(&payload)) {
    mark.broker = lost->leader;
    mark.grave = true;
    mark.note = lost->to == kNoOffset
                    ? MarkNames::tr("at risk from %1 on").arg(offsetText(lost->from))
                    : MarkNames::tr("%n record(s) lost", nullptr, static_cast<int>(lost->to - lost->from));
  } else if (const auto* cut = std::get_if<events::LogTruncated>(&payload)) {
    mark.note = MarkNames::tr("%1 truncated to %2").arg(event.event.broker.value()).arg(offsetText(cut->to));
  } else if (const auto* parted = std::get_if<events::LogDiverged>(&payload)) {
    mark.note = MarkNames::tr("%1 parts at %2").arg(event.event.broker.value()).arg(offsetText(parted->from));
  }
  return mark;
}

const observe::ObservedEvent* findEvent(const std::deque<observe::ObservedEvent>& events, uint64_t number) {
  const auto found = std::ranges::lower_bound(events, number, {}, &observe::ObservedEvent::number);
  return found == events.end() || found->number != number ? nullptr : &*found;
}

}  // namespace

std::vector<TimelineMark> marksOf(const TimelinePast& past, const TopicPartition& partition) {
  std::vector<TimelineMark> marks;
  const TimelinePartition* found = past.find(partition);
  if (found == nullptr) return marks;
  for (const observe::ObservedEvent& event : found->events)
    if (isMarked(event.event.payload)) marks.push_back(markOfEvent(event, true));
  for (const observe::ObservedEvent& event : past.events()) {
    TimelineMark mark = markOfEvent(event, false);
    if (found->copies.contains(mark.broker)) marks.push_back(std::move(mark));
  }
  for (const TimelineFault& fault : past.faults())
    marks.push_back({.at = fault.begin,
                     .event = fault.event,
                     .fault = fault.id,
                     .broker = kNoNode,
                     .epoch = {},
                     .elects = false,
                     .grave = false,
                     .ofPartition = false,
                     .note = fault.title});
  std::ranges::stable_sort(marks, {}, &TimelineMark::at);
  return marks;
}

std::optional<CauseWords> causeOf(const TimelineMark& mark, const TimelinePast& past, const TopicPartition& partition,
                                  const observe::ClusterSnapshot& cluster) {
  if (mark.fault != 0) {
    const auto fault = std::ranges::find_if(
        past.faults(), [&mark](const TimelineFault& one) { return one.id == mark.fault && one.begin == mark.at; });
    return fault == past.faults().end() ? std::nullopt : std::optional(causeOf(*fault));
  }
  const TimelinePartition* found = past.find(partition);
  if (found == nullptr) return std::nullopt;
  const observe::ObservedEvent* event = findEvent(mark.ofPartition ? found->events : past.events(), mark.event);
  return event == nullptr ? std::nullopt : std::optional(causeOf(*event, *found, cluster));
}

}  // namespace tidemark::widgets
