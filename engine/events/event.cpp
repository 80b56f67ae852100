#include "events/event.h"

#include <iterator>

#include <fmt/format.h>

namespace tidemark::events {
namespace {

/// How each type of field is written in a trace.
struct FieldWriter {
  std::string& out;

  void value(bool flag) { out += flag ? "true" : "false"; }
  void value(Duration duration) { out += fmt::format("{}ns", duration.count()); }
  void value(const NodeList& nodes) {
    out.push_back('{');
    bool first = true;
    for (const NodeId node : nodes.view()) {
      if (!first) out.push_back(',');
      first = false;
      out += fmt::format("{}", node);
    }
    if (nodes.total() > static_cast<int32_t>(nodes.view().size())) out += ",…";
    out.push_back('}');
  }
  template <size_t N>
  void value(const ShortText<N>& text) {
    out += fmt::format("\"{}{}\"", text.view(), text.cut() ? "…" : "");
  }
  template <class Name>
    requires std::is_enum_v<Name>
  void value(Name name) {
    out += nameOf(name);
  }
  template <class Number>
    requires(!std::is_enum_v<Number>)
  void value(const Number& number) {
    out += fmt::format("{}", number);
  }

  void operator()(std::string_view, const PartitionTag&) {}
  void operator()(std::string_view, TopicTag) {}
  template <class Value>
  void operator()(std::string_view name, const Value& what) {
    if (!out.empty()) out.push_back(' ');
    out += name;
    out += '=';
    value(what);
  }
};

template <class Kind>
concept OfPartition = requires(const Kind& kind) {
  { kind.partition } -> std::convertible_to<PartitionTag>;
};
template <class Kind>
concept OfTopic = requires(const Kind& kind) {
  { kind.topic } -> std::convertible_to<TopicTag>;
};

}  // namespace

std::string_view nameOf(ElectionCause value) noexcept {
  switch (value) {
    case ElectionCause::Created:
      return "Created";
    case ElectionCause::LeaderFenced:
      return "LeaderFenced";
    case ElectionCause::ControlledShutdown:
      return "ControlledShutdown";
    case ElectionCause::Preferred:
      return "Preferred";
    case ElectionCause::Unclean:
      return "Unclean";
    case ElectionCause::Returned:
      return "Returned";
    case ElectionCause::Reassigned:
      return "Reassigned";
    case ElectionCause::LastLeader:
      return "LastLeader";
  }
  return "?";
}

std::string_view nameOf(DownCause value) noexcept {
  switch (value) {
    case DownCause::Stopped:
      return "Stopped";
    case DownCause::Killed:
      return "Killed";
    case DownCause::InvariantBroken:
      return "InvariantBroken";
  }
  return "?";
}

std::string_view nameOf(TransactionState value) noexcept {
  switch (value) {
    case TransactionState::Empty:
      return "Empty";
    case TransactionState::Ongoing:
      return "Ongoing";
    case TransactionState::PrepareCommit:
      return "PrepareCommit";
    case TransactionState::PrepareAbort:
      return "PrepareAbort";
    case TransactionState::CompleteCommit:
      return "CompleteCommit";
    case TransactionState::CompleteAbort:
      return "CompleteAbort";
    case TransactionState::Dead:
      return "Dead";
    case TransactionState::PrepareEpochFence:
      return "PrepareEpochFence";
  }
  return "?";
}

std::string_view nameOf(TransactionCause value) noexcept {
  switch (value) {
    case TransactionCause::Initialized:
      return "Initialized";
    case TransactionCause::PartitionsAdded:
      return "PartitionsAdded";
    case TransactionCause::Ended:
      return "Ended";
    case TransactionCause::Fenced:
      return "Fenced";
    case TransactionCause::TimedOut:
      return "TimedOut";
    case TransactionCause::MarkersWritten:
      return "MarkersWritten";
    case TransactionCause::Expired:
      return "Expired";
  }
  return "?";
}

std::string_view nameOf(FaultKind value) noexcept {
  switch (value) {
    case FaultKind::Kill:
      return "Kill";
    case FaultKind::Pause:
      return "Pause";
    case FaultKind::Other:
      return "Other";
  }
  return "?";
}

std::string_view nameOf(const Payload& payload) noexcept {
  return std::visit([](const auto& kind) { return kind.kName; }, payload);
}

PartitionTag partitionOf(const Payload& payload) noexcept {
  return std::visit(
      []<class Kind>(const Kind& kind) -> PartitionTag {
        if constexpr (OfPartition<Kind>)
          return kind.partition;
        else if constexpr (OfTopic<Kind>)
          return {kind.topic, PartitionIndex()};
        else
          return {};
      },
      payload);
}

void retag(Payload& payload, TopicTag topic) noexcept {
  std::visit(
      [topic]<class Kind>(Kind& kind) {
        if constexpr (OfPartition<Kind>)
          kind.partition.topic = topic;
        else if constexpr (OfTopic<Kind>)
          kind.topic = topic;
      },
      payload);
}

std::string fieldsText(const Payload& payload) {
  std::string out;
  std::visit([&out](const auto& kind) { kind.fields(FieldWriter{out}); }, payload);
  return out;
}

std::string traceLine(const Event& event, std::string_view topic) {
  const PartitionTag tag = partitionOf(event.payload);
  std::string where;
  if (!topic.empty())
    where = tag.partition.value() < 0 ? fmt::format(" {}", topic) : fmt::format(" {}-{}", topic, tag.partition);
  const std::string fields = fieldsText(event.payload);
  return fmt::format("{} {} {} {}{}{}{}", event.sequence, event.at.time_since_epoch().count(), event.broker,
                     nameOf(event.payload), where, fields.empty() ? "" : " ", fields);
}

}  // namespace tidemark::events
