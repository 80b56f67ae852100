#include "sim/chronicle.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::sim {
namespace {

/// Lines that are kept.
constexpr size_t kMostLines = 400;

/// Those that say little of how replicas came to hold what they hold.
bool isNoise(const events::Payload& payload) {
  return std::visit(
      []<class Kind>(const Kind&) {
        return std::is_same_v<Kind, events::IndexEntryAdded> || std::is_same_v<Kind, events::FollowerFetched> ||
               std::is_same_v<Kind, events::ProduceParked> || std::is_same_v<Kind, events::ProduceCompleted> ||
               std::is_same_v<Kind, events::FetchParked> || std::is_same_v<Kind, events::FetchCompleted> ||
               std::is_same_v<Kind, events::FetchExpired> || std::is_same_v<Kind, events::ConnectionOpened> ||
               std::is_same_v<Kind, events::ConnectionIdentified> || std::is_same_v<Kind, events::ConnectionClosed>;
      },
      payload);
}

}  // namespace

double secondsOf(platform::MonotonicTime at) {
  // A simulated machine has run for an hour when its world begins.
  return std::chrono::duration<double>(at.time_since_epoch()).count() - 3600;
}

void Chronicle::started(NodeId broker) {
  keep({.at = now_(), .broker = broker, .partition = {}, .payload = {}, .text = "a new process begins"});
}

void Chronicle::on(const Seen& seen) {
  ++events_;
  if (isNoise(seen.event.payload)) return;
  keep({.at = seen.event.at,
        .broker = seen.broker,
        .partition = seen.partition,
        .payload = seen.event.payload,
        .text = {}});
}

void Chronicle::note(std::string text) {
  keep({.at = now_(), .broker = kNoNode, .partition = {}, .payload = {}, .text = std::move(text)});
}

void Chronicle::keep(Line line) {
  if (lines_.size() == kMostLines) lines_.pop_front();
  lines_.push_back(std::move(line));
}

std::string Chronicle::excerpt(size_t lines) const {
  std::string text = fmt::format("{:>11}", "s");
  for (int i = 1; i <= nodes_; ++i) text += fmt::format(" {}", i);
  text += '\n';
  for (size_t i = lines_.size() - std::min(lines, lines_.size()); i < lines_.size(); ++i) {
    const Line& line = lines_[i];
    text += fmt::format("{:>11.6f}", secondsOf(line.at));
    for (int broker = 1; broker <= nodes_; ++broker)
      text += line.broker == kNoNode ? " -" : line.broker == NodeId(broker) ? " o" : " |";
    if (!line.payload) {
      text += fmt::format("  {}\n", line.text);
      continue;
    }
    text += fmt::format("  {}", events::nameOf(*line.payload));
    if (!line.partition.topic.empty()) text += fmt::format(" {}", line.partition);
    text += fmt::format(" {}\n", events::fieldsText(*line.payload));
  }
  return text;
}

}  // namespace tidemark::sim
