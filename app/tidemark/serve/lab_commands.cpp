#include "tidemark/serve/lab_commands.h"

#include <charconv>
#include <limits>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/excerpt.h"
#include "faults/fault_json.h"
#include "tidemark/serve/lab_json.h"

namespace tidemark::app {
namespace {

using nlohmann::json;

constexpr const char* kLabCommands =
    "kill N, pause N, resume N, restart N (or start N), stop N, fault JSON, faults, heal FAULT|all, step FAULT "
    "[COUNT], "
    "leader TOPIC-PARTITION, topics, status, help, quit (blank lines are passed over)";

/// Kafka's limit.
constexpr size_t kLongestTopicName = 249;

/// If all of it is one.
std::optional<int32_t> number(std::string_view text) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<int32_t> positive(std::string_view text) {
  const auto value = number(text);
  return value && *value > 0 ? value : std::nullopt;
}

}  // namespace

/// Answers one line of standard input. Some take longer than what is asked after them, so each says which line it
/// answers.
struct LabCommands::Answer {
  std::string verb;
  uint64_t line = 0;

  void operator()(json what) const {
    what.emplace("command", verb);
    what["line"] = line;
    say(what);
  }
  void done(json what) const {
    what["ok"] = true;
    (*this)(std::move(what));
  }
  void failed(const Error& error) const { (*this)(failure(verb, error)); }
  void refuse(const std::string& why) const { failed({ErrorCode::InvalidRequest, why}); }
};

bool LabCommands::run(const std::string& line) {
  known_ = true;
  ++line_;
  take(line);
  return strangers_.heard(known_);
}

bool LabCommands::refuseLong() {
  ++line_;
  Answer{.verb = "", .line = line_}.refuse(tooLongText());
  return strangers_.heard(false);
}

void LabCommands::take(const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  std::string object;
  std::string more;
  words >> verb >> object >> more;
  // Blank lines set answers apart for whoever types.
  if (verb.empty()) return;
  const Answer answer{.verb = verb, .line = line_};
  // Its JSON may hold blanks.
  if (verb == "fault") return fault(answer, line.substr(line.find(verb) + verb.size()));
  if (verb == "step") return step(answer, object, more);
  if (!more.empty()) return answer.refuse(fmt::format("\"{}\" is one word too many", excerpt(more)));
  const bool alone = verb == "status" || verb == "topics" || verb == "faults" || verb == "help" || verb == "quit";
  if (alone && !object.empty()) return answer.refuse(fmt::format("\"{}\" is one word too many", excerpt(object)));
  if (verb == "leader") return leader(answer, object);
  if (verb == "topics") return topics(answer);
  if (verb == "status") return status(answer);
  if (verb == "faults") return faults(answer);
  if (verb == "heal") return heal(answer, object);
  if (verb == "help") return help(answer);
  if (verb == "quit") {
    answer.done({});
    return quit_();
  }
  if (verb == "kill") return broker(answer, object, &cluster::Cluster::killBroker);
  if (verb == "pause") return broker(answer, object, &cluster::Cluster::pauseBroker);
  if (verb == "resume") return broker(answer, object, &cluster::Cluster::resumeBroker);
  // The window calls it so.
  if (verb == "restart" || verb == "start") return broker(answer, object, &cluster::Cluster::restartBroker);
  if (verb == "stop") return broker(answer, object, &cluster::Cluster::stopBroker);
  known_ = false;
  answer.refuse(fmt::format("unknown command; there are {}", kLabCommands));
}

void LabCommands::help(const Answer& answer) {
  json kinds = json::array();
  for (const faults::Kind each : faults::allKinds()) kinds.push_back(faults::nameOf(each));
  answer.done(
      {{"commands", kLabCommands},
       {"faults", std::move(kinds)},
       {"example", R"(fault {"kind": "delay", "target": "link clients->1", "delayMs": 50, "durationMs": 10000})"}});
}

void LabCommands::broker(const Answer& answer, const std::string& text,
                         void (cluster::Cluster::*command)(NodeId, cluster::Cluster::Done)) {
  const auto id = number(text);
  if (text.empty()) return answer.refuse(fmt::format("write {0} N, the number of a broker: {0} 1", answer.verb));
  if (!id) return answer.refuse(fmt::format("\"{}\" is no broker's number", excerpt(text)));
  (cluster_.*command)(NodeId(*id), [answer, id = *id](const Result<void>& done) {
    done ? answer.done({{"broker", id}}) : answer.failed(done.error());
  });
}

void LabCommands::leader(const Answer& answer, const std::string& text) {
  const size_t dash = text.rfind('-');
  const auto index = dash == std::string::npos ? std::nullopt : number(std::string_view(text).substr(dash + 1));
  if (text.empty()) return answer.refuse("write leader TOPIC-PARTITION, as leader orders-0");
  if (!index || dash == 0 || *index < 0 || dash > kLongestTopicName)
    return answer.refuse(fmt::format("\"{}\" is no TOPIC-PARTITION", excerpt(text)));
  const TopicPartition partition{text.substr(0, dash), PartitionIndex(*index)};
  cluster_.findLeader(partition, [answer, partition](const Result<NodeId>& found) {
    found ? answer.done(
                {{"topic", partition.topic}, {"partition", partition.partition.value()}, {"leader", found->value()}})
          : answer.failed(found.error());
  });
}

void LabCommands::topics(const Answer& answer) {
  cluster_.listTopics([answer](const Result<std::vector<std::string>>& names) {
    names ? answer.done({{"topics", *names}}) : answer.failed(names.error());
  });
}

void LabCommands::status(const Answer& answer) {
  cluster_.describeNow([answer](const observe::SnapshotPtr& cluster) { answer.done(statusOf(*cluster)); });
}

void LabCommands::fault(const Answer& answer, const std::string& text) {
  auto parsed = faults::parseFault(text);
  if (!parsed) return answer.failed(parsed.error());
  cluster_.placeFault(*std::move(parsed), [answer](const Result<cluster::Cluster::PlacedFault>& placed) {
    placed ? answer.done(placedOf(*placed)) : answer.failed(placed.error());
  });
}

void LabCommands::heal(const Answer& answer, const std::string& which) {
  if (which == "all")
    return cluster_.healAll([answer](const Result<observe::Healed>& healed) {
      healed ? answer.done(healedOf(0, *healed)) : answer.failed(healed.error());
    });
  const auto id = positive(which);
  if (which.empty()) return answer.refuse("write heal FAULT, a number that `faults` shows, or heal all");
  if (!id) return answer.refuse(fmt::format("\"{}\" is neither a fault's number nor all", excerpt(which)));
  cluster_.healFault(*id, [answer, id = *id](const Result<observe::Healed>& healed) {
    healed ? answer.done(healedOf(id, *healed)) : answer.failed(healed.error());
  });
}

void LabCommands::step(const Answer& answer, const std::string& which, const std::string& many) {
  const auto id = positive(which);
  const auto count = many.empty() ? std::optional(1) : positive(many);
  if (which.empty()) return answer.refuse("write step FAULT or step FAULT COUNT");
  if (!id) return answer.refuse(fmt::format("\"{}\" is no fault's number", excerpt(which)));
  if (!count)
    return answer.refuse(fmt::format("\"{}\" is no COUNT: that is a whole number from 1 to {}", excerpt(many),
                                     std::numeric_limits<int32_t>::max()));
  cluster_.stepFault(*id, static_cast<size_t>(*count), [answer](const Result<size_t>& passed) {
    passed ? answer.done({{"passed", *passed}}) : answer.failed(passed.error());
  });
}

void LabCommands::faults(const Answer& answer) {
  cluster_.listFaults([answer](const faults::FaultBook::Lists& lists) { answer.done(faultsOf(lists)); });
}

}  // namespace tidemark::app
