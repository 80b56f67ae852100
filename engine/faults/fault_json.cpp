#include "faults/fault_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/excerpt.h"
#include "events/event.h"
#include "faults/tellers.h"
#include "protocol/api.h"

namespace tidemark::faults {
namespace {

using nlohmann::json;

std::unexpected<Error> bad(std::string why) {
  return fail(ErrorCode::InvalidRequest, std::move(why));
}

/// A value as somebody wrote it.
std::string shown(const json& value) {
  return excerpt(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

/// Longer ones are no names: what is said of a fault stays short with them.
constexpr size_t kLongestText = 1000;

/// No fault nests deeper than its trigger; what goes far deeper would overflow the stack when it is copied or written.
constexpr int kDeepest = 8;

struct KeyInfo {
  std::string_view key;
  Parameter parameter;
};

constexpr std::array kKeys = {
    KeyInfo{"target", kTarget},
    KeyInfo{"durationMs", kDuration},
    KeyInfo{"delayMs", kDelay},
    KeyInfo{"jitterMs", kJitter},
    KeyInfo{"bytesPerSecond", kBytesPerSecond},
    KeyInfo{"left", kGroups},
    KeyInfo{"right", kGroups},
    KeyInfo{"clients", kWithClients},
    KeyInfo{"path", kPath},
    KeyInfo{"calls", kFileCalls},
    KeyInfo{"offsetMs", kOffset},
    KeyInfo{"clocks", kClocks},
    KeyInfo{"rate", kRate},
    KeyInfo{"api", kApi},
    KeyInfo{"topic", kTopic},
    KeyInfo{"partition", kPartition},
    KeyInfo{"error", kError},
};

struct Bit {
  std::string_view name;
  uint8_t bit;
};
constexpr std::array kCallNames = {Bit{"read", kReads}, Bit{"write", kWrites}, Bit{"sync", kSyncs}};
constexpr std::array kClockNames = {Bit{"wall", kWall}, Bit{"monotonic", kMonotonic}};

std::string keysOf(Kind kind) {
  std::string keys = "trigger";
  for (const KeyInfo& info : kKeys)
    if (parametersOf(kind) & info.parameter) keys += fmt::format(", {}", info.key);
  return keys;
}

Result<int64_t> integer(const std::string& key, const json& value) {
  // The parser makes a floating number of a whole one that has no place in 64 bits.
  if (value.is_number_float() && !(std::abs(value.get<double>()) < 0x1p63))
    return bad(fmt::format("\"{}\" is {}: that is too much", key, shown(value)));
  if (!value.is_number_integer()) return bad(fmt::format("\"{}\" is {}: it must be a whole number", key, shown(value)));
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
    return bad(fmt::format("\"{}\" is {}: that is too much", key, shown(value)));
  return value.get<int64_t>();
}

Result<milliseconds> time(const std::string& key, const json& value) {
  constexpr int64_t kMost = int64_t{365} * 24 * 3600 * 1000;
  TIDEMARK_ASSIGN(const int64_t ms, integer(key, value));
  if (ms > kMost || ms < -kMost)
    return bad(fmt::format("\"{}\" is {}: a time is at most {} ms, a year", key, ms, kMost));
  return milliseconds(ms);
}

Result<double> real(const std::string& key, const json& value) {
  if (!value.is_number()) return bad(fmt::format("\"{}\" is {}: it must be a number", key, shown(value)));
  return value.get<double>();
}

Result<std::string> text(const std::string& key, const json& value) {
  if (!value.is_string()) return bad(fmt::format("\"{}\" is {}: it must be a text", key, shown(value)));
  auto text = value.get<std::string>();
  if (text.size() > kLongestText)
    return bad(fmt::format("\"{}\" is a text of {} bytes, {} are the most: {}", key, text.size(), kLongestText,
                           excerpt(text)));
  return text;
}

Result<std::vector<NodeId>> nodes(const std::string& key, const json& value) {
  if (!value.is_array())
    return bad(fmt::format("\"{}\" is {}: it must be a list of brokers' numbers", key, shown(value)));
  std::vector<NodeId> all;
  for (const json& each : value) {
    TIDEMARK_ASSIGN(const int64_t id, integer(key, each));
    if (id < 0 || id > INT32_MAX) return bad(fmt::format("\"{}\": {} is no broker's number", key, id));
    all.emplace_back(static_cast<int32_t>(id));
  }
  return all;
}

template <size_t N>
Result<uint8_t> bits(const std::string& key, const json& value, const std::array<Bit, N>& names) {
  uint8_t all = 0;
  const json list = value.is_array() ? value : json::array({value});
  for (const json& each : list) {
    TIDEMARK_ASSIGN(const std::string name, text(key, each));
    const auto found = std::ranges::find(names, name, &Bit::name);
    if (found == names.end()) {
      std::string known;
      for (const Bit& bit : names) known += fmt::format("{}{}", known.empty() ? "" : ", ", bit.name);
      return bad(fmt::format("\"{}\": there is no \"{}\", there are {}", key, excerpt(name), known));
    }
    all |= found->bit;
  }
  return all;
}

template <size_t N>
json bitNames(uint8_t value, const std::array<Bit, N>& names) {
  json list = json::array();
  for (const Bit& bit : names)
    if (value & bit.bit) list.push_back(bit.name);
  return list;
}

Result<std::string> apiNamed(const std::string& name) {
  if (protocol::findApi(name) != nullptr) return name;
  return bad(fmt::format("\"api\": Kafka has no \"{}\"; names are those of its protocol, as Produce or ListOffsets",
                         excerpt(name)));
}

Result<ErrorCode> errorNamed(const std::string& name) {
  // A number without a name of its own is called UNKNOWN_SERVER_ERROR, as -1 is.
  if (name == errorName(ErrorCode::UnknownServerError)) return ErrorCode::UnknownServerError;
  for (int16_t code = 1; code < 512; ++code)
    if (errorName(static_cast<ErrorCode>(code)) == name) return static_cast<ErrorCode>(code);
  return bad(fmt::format("\"error\": Kafka has no \"{}\"; names are those of its protocol, as NOT_LEADER_OR_FOLLOWER",
                         excerpt(name)));
}

Result<void> take(Fault& fault, const std::string& key, const json& value, Parameter parameter) {
  switch (parameter) {
    case kTarget: {
      TIDEMARK_ASSIGN(const std::string name, text(key, value));
      TIDEMARK_ASSIGN(fault.target, parseTarget(name));
      return {};
    }
    case kDuration: {
      TIDEMARK_ASSIGN(fault.duration, time(key, value));
      if (fault.duration == Duration{})
        return bad("durationMs is at least 1; a fault without it stays until it is healed");
      return {};
    }
    case kDelay: {
      TIDEMARK_ASSIGN(fault.delay, time(key, value));
      return {};
    }
    case kJitter: {
      TIDEMARK_ASSIGN(fault.jitter, time(key, value));
      return {};
    }
    case kBytesPerSecond: {
      TIDEMARK_ASSIGN(fault.bytesPerSecond, integer(key, value));
      return {};
    }
    case kGroups: {
      TIDEMARK_ASSIGN((key == "left" ? fault.left : fault.right), nodes(key, value));
      return {};
    }
    case kWithClients:
      if (!value.is_boolean()) return bad(fmt::format("\"{}\" is {}: it must be true or false", key, shown(value)));
      fault.clients = value.get<bool>();
      return {};
    case kPath: {
      TIDEMARK_ASSIGN(fault.path, text(key, value));
      if (fault.path.empty()) return bad("\"path\" is empty: name a file, or leave it out where any will do");
      return {};
    }
    case kFileCalls: {
      TIDEMARK_ASSIGN(fault.fileCalls, bits(key, value, kCallNames));
      return {};
    }
    case kOffset: {
      TIDEMARK_ASSIGN(fault.offset, time(key, value));
      return {};
    }
    case kClocks: {
      TIDEMARK_ASSIGN(fault.clocks, bits(key, value, kClockNames));
      return {};
    }
    case kRate: {
      TIDEMARK_ASSIGN(fault.rate, real(key, value));
      return {};
    }
    case kApi: {
      TIDEMARK_ASSIGN(const std::string name, text(key, value));
      TIDEMARK_ASSIGN(fault.api, apiNamed(name));
      return {};
    }
    case kTopic: {
      TIDEMARK_ASSIGN(fault.topic, text(key, value));
      if (fault.topic.empty()) return bad("\"topic\" is empty: name one, or leave it out where any will do");
      return {};
    }
    case kPartition: {
      TIDEMARK_ASSIGN(const int64_t index, integer(key, value));
      if (index < 0 || index > INT32_MAX)
        return bad(fmt::format("\"partition\" is {}: there is no such partition", index));
      fault.partition = PartitionIndex(static_cast<int32_t>(index));
      return {};
    }
    case kError: {
      TIDEMARK_ASSIGN(const std::string name, text(key, value));
      TIDEMARK_ASSIGN(fault.error, errorNamed(name));
      return {};
    }
    case kOccasions:
      break;
  }
  return {};
}

template <size_t... I>
std::vector<std::string_view> eventNames(std::index_sequence<I...>) {
  return {std::variant_alternative_t<I, events::Payload>::kName...};
}

Result<std::string> eventNamed(const std::string& name) {
  auto names = eventNames(std::make_index_sequence<std::variant_size_v<events::Payload>>());
  if (std::ranges::find(names, name) != names.end()) return name;
  std::erase_if(names, [](std::string_view each) { return tellersOf(each) == kNobodyTells; });
  return bad(fmt::format("\"event\": there is no \"{}\", there are {}", excerpt(name), fmt::join(names, ", ")));
}

Result<TopicPartition> partitionNamed(const std::string& name) {
  const size_t dash = name.rfind('-');
  int32_t index = -1;
  if (dash != std::string::npos && dash > 0) {
    const auto [end, error] = std::from_chars(name.data() + dash + 1, name.data() + name.size(), index);
    if (error != std::errc{} || end != name.data() + name.size()) index = -1;
  }
  if (index < 0) return bad(fmt::format("\"partition\" is \"{}\": it must be TOPIC-PARTITION", excerpt(name)));
  return TopicPartition{name.substr(0, dash), PartitionIndex(index)};
}

Result<void> takeTrigger(Fault& fault, const json& trigger) {
  if (!trigger.is_object()) return bad(fmt::format("\"trigger\" is {}: it must be an object", shown(trigger)));
  int ways = 0;
  bool seeded = false;
  for (const auto& [key, value] : trigger.items()) {
    if (key == "afterMs") {
      TIDEMARK_ASSIGN(fault.trigger.after, time(key, value));
    } else if (key == "event") {
      TIDEMARK_ASSIGN(const std::string name, text(key, value));
      TIDEMARK_ASSIGN(fault.trigger.event, eventNamed(name));
    } else if (key == "broker") {
      TIDEMARK_ASSIGN(const int64_t id, integer(key, value));
      if (id < 0 || id > INT32_MAX) return bad(fmt::format("\"broker\" is {}: that is no broker's number", id));
      fault.trigger.teller = NodeId(static_cast<int32_t>(id));
    } else if (key == "partition") {
      TIDEMARK_ASSIGN(const std::string name, text(key, value));
      TIDEMARK_ASSIGN(fault.trigger.about, partitionNamed(name));
    } else if (key == "nth" || key == "every") {
      TIDEMARK_ASSIGN(const int64_t n, integer(key, value));
      if (n < 1) return bad(fmt::format("\"{}\" is {}: it is counted from 1", key, n));
      fault.trigger.n = static_cast<uint64_t>(n);
      fault.trigger.which = key == "nth" ? Trigger::Which::Nth : Trigger::Which::EveryNth;
      ++ways;
    } else if (key == "probability") {
      TIDEMARK_ASSIGN(fault.trigger.chance, real(key, value));
      fault.trigger.which = Trigger::Which::Chance;
      ++ways;
    } else if (key == "seed") {
      if (!value.is_number_unsigned())
        return bad(fmt::format("\"seed\" is {}: it must be a whole number, not negative", shown(value)));
      fault.trigger.seed = value.get<uint64_t>();
      seeded = true;
    } else {
      return bad(fmt::format(
          "\"trigger\" has no \"{}\"; it has afterMs, event, broker, partition, nth, every, probability, seed",
          excerpt(key)));
    }
  }
  if (fault.trigger.event.empty() && (fault.trigger.teller != kNoNode || !fault.trigger.about.topic.empty()))
    return bad("\"trigger\": broker and partition are of an event");
  if (ways > 1) return bad("\"trigger\": nth, every and probability exclude each other");
  if (seeded && fault.trigger.which != Trigger::Which::Chance) return bad("\"trigger\": a seed is for a probability");
  return {};
}

/// `byte`: how many the parser has read, with the one that it could not take.
std::string noJson(std::string_view source, size_t byte) {
  constexpr size_t kShown = 20;
  if (byte > source.size()) return "this is no JSON: it ends too early";
  const size_t at = byte == 0 ? 0 : byte - 1;
  std::string rest(source.substr(at, kShown));
  if (source.size() > at + kShown) rest += "…";
  return fmt::format("this is no JSON from byte {} on: {}", at + 1, rest);
}

}  // namespace

Result<Fault> parseFault(std::string_view source) {
  if (source.find_first_not_of(" \t\r") == std::string_view::npos)
    return bad(R"(write the fault as JSON: {"kind": "delay", "target": "link 1->3", "delayMs": 50})");
  // A parser that may throw says where it stopped.
  json object;
  bool tooDeep = false;
  std::optional<std::string> twice;
  std::vector<std::set<std::string>> keys;
  try {
    object = json::parse(source, [&](int depth, json::parse_event_t event, const json& parsed) {
      tooDeep |= depth > kDeepest;
      if (depth > kDeepest) return false;
      if (event == json::parse_event_t::object_start) keys.emplace_back();
      if (event == json::parse_event_t::object_end) keys.pop_back();
      if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
        twice = parsed.get<std::string>();
      return true;
    });
  } catch (const json::parse_error& error) {
    return bad(noJson(source, error.byte));
  } catch (const json::exception&) {
    return bad("this is no JSON: it holds a number that is too large for any use");
  }
  if (tooDeep) return bad("this is nested too deeply for a fault");
  if (twice) return bad(fmt::format("\"{}\" is said twice", excerpt(*twice)));
  if (!object.is_object()) return bad("a fault is a JSON object");
  const auto named = object.find("kind");
  if (named == object.end()) return bad("\"kind\" is missing");
  TIDEMARK_ASSIGN(const std::string name, text("kind", *named));
  const auto kind = kindOf(name);
  if (!kind) {
    std::string known;
    for (const Kind each : allKinds()) known += fmt::format("{}{}", known.empty() ? "" : ", ", nameOf(each));
    return bad(fmt::format("\"kind\": there is no \"{}\", there are {}", excerpt(name), known));
  }
  Fault fault;
  fault.kind = *kind;
  for (const auto& [key, value] : object.items()) {
    if (key == "kind") continue;
    if (key == "trigger") {
      TIDEMARK_TRY(takeTrigger(fault, value));
      continue;
    }
    const auto info = std::ranges::find(kKeys, key, &KeyInfo::key);
    if (info == kKeys.end() || !(parametersOf(*kind) & info->parameter))
      return bad(fmt::format("{} takes no \"{}\"; it takes {}", name, excerpt(key), keysOf(*kind)));
    TIDEMARK_TRY(take(fault, key, value, info->parameter));
  }
  for (const KeyInfo& info : kKeys)
    if ((requiredOf(*kind) & info.parameter) && !object.contains(info.key))
      return bad(fmt::format("{} needs \"{}\"", name, info.key));
  TIDEMARK_TRY(check(fault));
  return fault;
}

std::string toJson(const Fault& fault) {
  const auto ms = [](Duration duration) { return std::chrono::duration_cast<milliseconds>(duration).count(); };
  const auto group = [](const std::vector<NodeId>& members) {
    json list = json::array();
    for (const NodeId node : members) list.push_back(node.value());
    return list;
  };
  const Fault usual;
  json object{{"kind", nameOf(fault.kind)}};
  if (const std::string target = textOf(fault.target); !target.empty()) object["target"] = target;
  if (fault.duration != usual.duration) object["durationMs"] = ms(fault.duration);
  if (fault.delay != usual.delay) object["delayMs"] = fault.delay.count();
  if (fault.jitter != usual.jitter) object["jitterMs"] = fault.jitter.count();
  if (fault.bytesPerSecond != usual.bytesPerSecond) object["bytesPerSecond"] = fault.bytesPerSecond;
  if (!fault.left.empty()) object["left"] = group(fault.left);
  if (!fault.right.empty()) object["right"] = group(fault.right);
  if (fault.clients != usual.clients) object["clients"] = fault.clients;
  if (!fault.path.empty()) object["path"] = fault.path;
  if (fault.fileCalls != usual.fileCalls) object["calls"] = bitNames(fault.fileCalls, kCallNames);
  if (fault.offset != usual.offset) object["offsetMs"] = fault.offset.count();
  if (fault.clocks != usual.clocks) object["clocks"] = bitNames(fault.clocks, kClockNames);
  if (fault.rate != usual.rate) object["rate"] = fault.rate;
  if (!fault.api.empty()) object["api"] = fault.api;
  if (!fault.topic.empty()) object["topic"] = fault.topic;
  if (fault.partition) object["partition"] = fault.partition->value();
  if (fault.error != ErrorCode::None) object["error"] = errorName(fault.error);
  json trigger = json::object();
  if (fault.trigger.after != Duration{}) trigger["afterMs"] = ms(fault.trigger.after);
  if (!fault.trigger.event.empty()) trigger["event"] = fault.trigger.event;
  if (fault.trigger.teller != kNoNode) trigger["broker"] = fault.trigger.teller.value();
  if (!fault.trigger.about.topic.empty()) trigger["partition"] = fmt::format("{}", fault.trigger.about);
  if (fault.trigger.which == Trigger::Which::Nth) trigger["nth"] = fault.trigger.n;
  if (fault.trigger.which == Trigger::Which::EveryNth) trigger["every"] = fault.trigger.n;
  if (fault.trigger.which == Trigger::Which::Chance) {
    trigger["probability"] = fault.trigger.chance;
    trigger["seed"] = fault.trigger.seed;
  }
  if (!trigger.empty()) object["trigger"] = trigger;
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace tidemark::faults
