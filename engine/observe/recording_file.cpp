#include "observe/recording_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "faults/fault_json.h"
#include "observe/recording_fields.h"

namespace tidemark::observe {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
/// Enumerators of events are found by their names.
constexpr int kMostEnumerators = 32;

template <class T>
concept Wrapped = requires(const T& v) { v.value(); } && !requires(const T& v) { v.has_value(); } &&
                  std::is_constructible_v<T, decltype(std::declval<const T&>().value())>;

// Of enumerators that are written as numbers the last one.
constexpr BrokerState lastOf(BrokerState) {
  return BrokerState::Killed;
}
constexpr ParkedKind lastOf(ParkedKind) {
  return ParkedKind::Other;
}
constexpr TaskRole lastOf(TaskRole) {
  return TaskRole::Warmup;
}
constexpr faults::Port lastOf(faults::Port) {
  return faults::Port::Controller;
}

constexpr faults::Unmatched::What lastOf(faults::Unmatched::What) {
  return faults::Unmatched::What::Path;
}

/// What went wrong, on its way to the line that is told.
struct Wrong {
  std::string what;
};

struct ToJson {
  json& into;

  static json of(const std::string& v) { return v; }
  static json of(std::string_view v) { return v; }
  static json of(const Uuid& v) { return v.toString(); }
  static json of(const faults::Fault& v) { return json::parse(faults::toJson(v)); }
  template <class Clock, class Span>
  static json of(std::chrono::time_point<Clock, Span> v) {
    return v.time_since_epoch().count();
  }
  template <class Count, class Unit>
  static json of(std::chrono::duration<Count, Unit> v) {
    return Duration(v).count();
  }
  template <size_t N>
  static json of(const events::ShortText<N>& v) {
    return v.view();
  }
  static json of(const events::NodeList& v) {
    json all = json::array();
    for (const NodeId node : v.view()) all.push_back(node.value());
    return all;
  }
  template <class T>
  static json of(const std::vector<T>& v) {
    json all = json::array();
    for (const T& each : v) {
      if constexpr (requires { isKept(each); })
        if (!isKept(each)) continue;
      all.push_back(of(each));
    }
    return all;
  }
  template <class T>
  static json of(const std::optional<T>& v) {
    return v ? of(*v) : json();
  }
  template <class T>
  static json of(const T& v) {
    if constexpr (std::is_enum_v<T>) {
      if constexpr (requires { nameOf(v); })
        return nameOf(v);
      else
        return static_cast<int>(v);
    } else if constexpr (std::is_arithmetic_v<T>) {
      return v;
    } else if constexpr (Wrapped<T>) {
      return v.value();
    } else {
      json object = json::object();
      ToJson visit{object};
      fieldsOf(visit, v);
      return object;
    }
  }

  // Where an event happened stands beside its fields.
  void operator()(std::string_view, const events::PartitionTag&) {}
  void operator()(std::string_view, events::TopicTag) {}
  template <class T>
  void operator()(std::string_view name, const T& v) {
    if constexpr (std::is_arithmetic_v<T> || Wrapped<T>) {
      if (v == T{}) return;
    } else if constexpr (requires { v.empty(); }) {
      if (v.empty()) return;
    } else if constexpr (requires { v.has_value(); }) {
      if (!v.has_value()) return;
    }
    into[std::string(name)] = of(v);
  }
};

struct FromJson {
  const json& from;

  template <class Number>
  static Number number(const json& j) {
    if constexpr (std::is_same_v<Number, bool>) {
      if (!j.is_boolean()) throw Wrong{fmt::format("{} is neither true nor false", j.dump())};
    } else if constexpr (std::is_floating_point_v<Number>) {
      if (!j.is_number()) throw Wrong{fmt::format("{} is no number", j.dump())};
    } else {
      if (!j.is_number_integer()) throw Wrong{fmt::format("{} is no whole number", j.dump())};
      if (!j.is_number_unsigned() && !std::in_range<Number>(j.get<int64_t>()))
        throw Wrong{fmt::format("{} is too much", j.dump())};
      if (j.is_number_unsigned() && !std::in_range<Number>(j.get<uint64_t>()))
        throw Wrong{fmt::format("{} is too much", j.dump())};
    }
    return j.get<Number>();
  }
  static std::string text(const json& j) {
    if (!j.is_string()) throw Wrong{fmt::format("{} is no text", j.dump())};
    return j.get<std::string>();
  }
  static void into(std::string& v, const json& j) { v = text(j); }
  static void into(Uuid& v, const json& j) {
    const auto parsed = Uuid::parse(text(j));
    if (!parsed) throw Wrong{fmt::format("{} is no id", j.dump())};
    v = *parsed;
  }
  static void into(faults::Fault& v, const json& j) {
    auto parsed = faults::parseFault(j.dump());
    if (!parsed) throw Wrong{parsed.error().message};
    v = *std::move(parsed);
  }
  template <class Clock, class Span>
  static void into(std::chrono::time_point<Clock, Span>& v, const json& j) {
    v = std::chrono::time_point<Clock, Span>(Span(number<int64_t>(j)));
  }
  template <class Count, class Unit>
  static void into(std::chrono::duration<Count, Unit>& v, const json& j) {
    v = std::chrono::duration_cast<std::chrono::duration<Count, Unit>>(Duration(number<int64_t>(j)));
  }
  template <size_t N>
  static void into(events::ShortText<N>& v, const json& j) {
    v = events::ShortText<N>(std::string_view(text(j)));
  }
  static void into(events::NodeList& v, const json& j) {
    std::vector<NodeId> nodes;
    into(nodes, j);
    v = events::NodeList(std::span<const NodeId>(nodes));
  }
  template <class T>
  static void into(std::vector<T>& v, const json& j) {
    if (!j.is_array()) throw Wrong{fmt::format("{} is no list", j.dump())};
    for (const json& each : j) into(v.emplace_back(), each);
  }
  template <class T>
  static void into(std::optional<T>& v, const json& j) {
    into(v.emplace(), j);
  }
  template <class T>
  static void into(T& v, const json& j) {
    if constexpr (std::is_enum_v<T>) {
      if constexpr (requires { nameOf(v); }) {
        const std::string name = text(j);
        for (int i = 0; i < kMostEnumerators; ++i)
          if (nameOf(static_cast<T>(i)) == name) {
            v = static_cast<T>(i);
            return;
          }
        throw Wrong{fmt::format("{} is not known", name)};
      } else {
        const auto index = number<uint8_t>(j);
        if (index > static_cast<uint8_t>(lastOf(T{}))) throw Wrong{fmt::format("{} is not known", j.dump())};
        v = static_cast<T>(index);
      }
    } else if constexpr (std::is_arithmetic_v<T>) {
      v = number<T>(j);
    } else if constexpr (Wrapped<T>) {
      v = T(number<std::remove_cvref_t<decltype(v.value())>>(j));
    } else {
      if (!j.is_object()) throw Wrong{fmt::format("{} is no object", j.dump())};
      FromJson visit{j};
      fieldsOf(visit, v);
    }
  }

  template <class T>
  void operator()(std::string_view name, T& v) {
    const auto found = from.find(std::string(name));
    if (found == from.end()) return;
    try {
      into(v, *found);
    } catch (const Wrong& wrong) {
      throw Wrong{fmt::format("\"{}\": {}", name, wrong.what)};
    }
  }
};

/// Events show their fields, and hide them from change: what is filled here is nobody else's yet.
struct FillEvent {
  FromJson fill;
  void operator()(std::string_view, const events::PartitionTag&) {}
  void operator()(std::string_view, events::TopicTag) {}
  template <class T>
  void operator()(std::string_view name, const T& v) {
    fill(name, const_cast<T&>(v));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
};

template <size_t I = 0>
events::Payload payloadOf(std::string_view kind, const json& fields) {
  if constexpr (I == std::variant_size_v<events::Payload>) {
    throw Wrong{fmt::format("an event {} is not known", kind)};
  } else {
    using Alternative = std::variant_alternative_t<I, events::Payload>;
    if (kind != Alternative::kName) return payloadOf<I + 1>(kind, fields);
    Alternative event;
    event.fields(FillEvent{{fields}});
    return event;
  }
}

std::string textOf(const json& line) {
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

json jsonOf(const ObservedEvent& observed) {
  json line = json::object();
  ToJson visit{line};
  const events::Event& event = observed.event;
  line["event"] = events::nameOf(event.payload);
  visit("at", event.at);
  visit("wall", event.wall);
  visit("broker", event.broker);
  visit("sequence", event.sequence);
  visit("topic", observed.topic);
  visit("partition", observed.partition);
  json fields = json::object();
  std::visit([&fields](const auto& kind) { kind.fields(ToJson{fields}); }, event.payload);
  if (!fields.empty()) line["fields"] = std::move(fields);
  return line;
}

ObservedEvent eventOf(const json& line) {
  static const json kNone = json::object();
  ObservedEvent observed;
  FromJson visit{line};
  visit("at", observed.event.at);
  visit("wall", observed.event.wall);
  visit("broker", observed.event.broker);
  visit("sequence", observed.event.sequence);
  visit("topic", observed.topic);
  visit("partition", observed.partition);
  const auto fields = line.find("fields");
  observed.event.payload = payloadOf(FromJson::text(line.at("event")), fields == line.end() ? kNone : *fields);
  return observed;
}

}  // namespace

RecordingWriter::RecordingWriter(std::function<void(std::string_view)> write) : write_(std::move(write)) {
  write_(textOf(json{{"recording", kVersion}}));
}

void RecordingWriter::add(const ObservedEvent& event) {
  write_(textOf(jsonOf(event)));
}

void RecordingWriter::add(const ClusterSnapshot& cluster) {
  if (cluster.clusterId.empty() || !wantsSnapshot(cluster.at)) return;
  last_ = cluster.at;
  write_(textOf(json{{"snapshot", ToJson::of(cluster)}}));
}

void RecordingWriter::add(const Recording& recording) {
  auto event = recording.events().begin();
  for (const Recording::Kept& kept : recording.snapshots()) {
    for (; event != recording.events().end() && event->number <= kept.event; ++event) add(*event);
    add(*kept.cluster);
  }
  for (; event != recording.events().end(); ++event) add(*event);
}

Result<void> RecordingReader::take(std::string_view line) {
  ++line_;
  const auto wrong = [this](std::string_view what) {
    return fail(ErrorCode::InvalidRequest, fmt::format("line {}: {}", line_, what));
  };
  if (line.empty()) return {};
  const json parsed = json::parse(line, nullptr, false);
  if (!parsed.is_object()) return wrong("this is no JSON object");
  try {
    if (line_ == 1) {
      const auto version = parsed.find("recording");
      if (version == parsed.end()) return wrong("this is no recording: its first line says {\"recording\":1}");
      if (FromJson::number<int>(*version) != kVersion)
        return wrong(fmt::format("it is of version {}, and version {} is understood", version->dump(), kVersion));
      return {};
    }
    if (parsed.contains("event")) {
      if (event_ == kMostEvents) return wrong(fmt::format("there are more than {} events", kMostEvents));
      ObservedEvent event = eventOf(parsed);
      event.number = ++event_;
      recording_.add(event);
    } else if (const auto snapshot = parsed.find("snapshot"); snapshot != parsed.end()) {
      ClusterSnapshot cluster;
      FromJson::into(cluster, *snapshot);
      recording_.add(cluster);
    }
  } catch (const Wrong& found) {
    return wrong(found.what);
  }
  return {};
}

Result<Recording> RecordingReader::finish() {
  if (recording_.empty())
    return fail(ErrorCode::InvalidRequest, "the recording has no snapshot of a cluster: there is nothing to show");
  return std::move(recording_);
}

}  // namespace tidemark::observe
