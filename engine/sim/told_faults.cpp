#include "sim/told_faults.h"

#include <algorithm>
#include <charconv>

namespace tidemark::sim {
namespace {

using faults::Kind;
using platform::Process;

/// From one process to another, by their names.
using Ways = std::vector<std::pair<std::string, std::string>>;

Ways waysOf(const std::string& one, const std::vector<std::string>& ends, bool bothWays) {
  Ways ways;
  for (const std::string& end : ends) {
    ways.emplace_back(one, end);
    if (bothWays) ways.emplace_back(end, one);
  }
  return ways;
}

/// A broker by its number, anybody else is a client of that name.
faults::LinkEnd linkEndOf(std::string_view process) {
  constexpr std::string_view kBroker = "broker-";
  faults::LinkEnd end;
  int32_t number = 0;
  if (process.starts_with(kBroker) &&
      std::from_chars(process.data() + kBroker.size(), process.data() + process.size(), number).ec == std::errc{}) {
    end.node.id = NodeId(number);
    return end;
  }
  end.isClients = true;
  end.client = process;
  return end;
}

faults::Target linkOf(const std::string& one, const std::string& other, bool bothWays) {
  return faults::LinkName{.from = linkEndOf(one), .to = linkEndOf(other), .bothWays = bothWays};
}

faults::Place placeOf(const Ways& ways) {
  const auto end = [](const std::string& process) {
    const faults::LinkEnd named = linkEndOf(process);
    return faults::End{.node = named.isClients ? kNoNode : named.node.id, .port = named.port, .client = named.client};
  };
  faults::Place place;
  for (const auto& [from, to] : ways) place.links.push_back({.from = end(from), .to = end(to)});
  return place;
}

faults::Fault faultOf(Kind kind, faults::Target target) {
  faults::Fault fault;
  fault.kind = kind;
  fault.target = std::move(target);
  return fault;
}

}  // namespace

// --- what begins
// ----------------------------------------------------------------------------------------------------

void ToldFaults::takesDown(NodeId broker, Kind how) {
  begins(how, broker, "", isUpAgain(broker, platform_.alive(processOf(broker))));
}

void ToldFaults::doesNotStop(NodeId broker) {
  // It may have died meanwhile: then it is not up yet.
  if (!platform_.alive(processOf(broker))) return;
  const auto found = std::ranges::find_if(
      faults_, [broker](const Fault& fault) { return fault.place.node == broker && fault.what.kind == Kind::Stop; });
  if (found != faults_.end()) found->isOver = [] { return true; };
}

void ToldFaults::pauses(NodeId broker) {
  begins(Kind::Pause, broker, "", [process = std::weak_ptr(platform_.alive(processOf(broker)))] {
    const auto paused = process.lock();
    return !paused || paused->state() != Process::State::Paused;
  });
  if (wanted_) tell(broker, events::BrokerPaused{broker});
}

void ToldFaults::willCrash(NodeId broker, uint64_t call) {
  if (!wanted_) return;
  const auto process = platform_.alive(processOf(broker));
  armed_[broker] = {.process = process, .fileCall = process->fileCalls() + call};
}

void ToldFaults::cutsOff(NodeId broker) {
  std::vector<NodeId> nodes;
  for (const faults::Member& each : nodes_) nodes.push_back(each.id);
  begins(faultOf(Kind::Isolate, nameOf(broker)),
         {.node = broker, .client = {}, .links = faults::isolated(broker, nodes, true)}, "",
         [this, name = processOf(broker)] { return !world_.network().isIsolated(name); });
}

void ToldFaults::cuts(const std::string& one, const std::vector<std::string>& ends, bool bothWays) {
  const Ways ways = waysOf(one, ends, bothWays);
  begins(faultOf(Kind::Cut, linkOf(one, ends.back(), bothWays)), placeOf(ways), "", [this, ways] {
    return std::ranges::none_of(ways,
                                [this](const auto& way) { return world_.network().isCut(way.first, way.second); });
  });
}

void ToldFaults::slows(const std::string& one, const std::vector<std::string>& ends,
                       const platform::LinkOptions& link) {
  using std::chrono::milliseconds;
  const Ways ways = waysOf(one, ends, false);
  faults::Fault slow = faultOf(Kind::Delay, linkOf(one, ends.back(), false));
  slow.delay = std::max(milliseconds(1), std::chrono::round<milliseconds>((link.minDelay + link.maxDelay) / 2));
  slow.jitter = std::chrono::round<milliseconds>((link.maxDelay - link.minDelay) / 2);
  begins(std::move(slow), placeOf(ways), "", [this, ways, link] {
    return std::ranges::none_of(ways,
                                [&](const auto& way) { return world_.network().link(way.first, way.second) == link; });
  });
}

void ToldFaults::resets(const std::string& one, const std::vector<std::string>& ends) {
  faults::LinkName link{.from = linkEndOf(one), .to = {}, .bothWays = true};
  link.to.isClients = true;
  if (!ends.empty()) link.to = linkEndOf(ends.back());
  begins(faultOf(Kind::Reset, std::move(link)), placeOf(waysOf(one, ends, true)), "", [] { return true; });
  look();
}

// --- what ends
// ------------------------------------------------------------------------------------------------------

void ToldFaults::look() {
  for (auto each = armed_.begin(); each != armed_.end();) {
    const auto process = each->second.process.lock();
    if (process && process->state() != Process::State::Dead) {
      ++each;
      continue;
    }
    // Else it has died of something else.
    if (process && process->fileCalls() >= each->second.fileCall)
      begins(Kind::Kill, each->first, " in a file call", isUpAgain(each->first, process));
    each = armed_.erase(each);
  }
  std::erase_if(faults_, [this](const Fault& fault) {
    if (!fault.isOver()) return false;
    ends(fault);
    return true;
  });
}

std::function<bool()> ToldFaults::isUpAgain(NodeId broker, std::weak_ptr<platform::SimulatedProcess> before) const {
  return [this, name = processOf(broker), before = std::move(before)] {
    const auto now = platform_.alive(name);
    return now && now != before.lock();
  };
}

faults::NodeName ToldFaults::nameOf(NodeId node) const {
  const auto found = std::ranges::find(nodes_, node, &faults::Member::id);
  return {.by = {}, .id = node, .partition = {}, .isController = found != nodes_.end() && !found->isBroker};
}

void ToldFaults::begins(Kind kind, NodeId broker, std::string_view more, std::function<bool()> isOver) {
  begins(faultOf(kind, nameOf(broker)), {.node = broker, .client = {}, .links = {}}, more, std::move(isOver));
}

void ToldFaults::begins(faults::Fault what, faults::Place place, std::string_view more, std::function<bool()> isOver) {
  if (!wanted_) return;
  std::string text = faults::textOf(what).append(more);
  const Fault& fault = faults_.emplace_back(Fault{.number = next_++,
                                                  .what = std::move(what),
                                                  .place = std::move(place),
                                                  .text = std::move(text),
                                                  .since = world_.now(),
                                                  .isOver = std::move(isOver)});
  // FaultKind::Kill and Pause are the hand's of whoever looks.
  tell(kNoNode, events::FaultInjected{.fault = fault.number,
                                      .kind = events::FaultKind::Other,
                                      .node = fault.place.node,
                                      .target = std::string_view(fault.text),
                                      .duration = {}});
}

void ToldFaults::ends(const Fault& fault) {
  const auto process = fault.what.kind == Kind::Pause ? platform_.alive(processOf(fault.place.node)) : nullptr;
  if (process && process->state() == Process::State::Running)
    tell(fault.place.node, events::BrokerResumed{fault.place.node});
  tell(kNoNode, events::FaultHealed{.fault = fault.number,
                                    .kind = events::FaultKind::Other,
                                    .node = fault.place.node,
                                    .target = std::string_view(fault.text)});
}

void ToldFaults::tell(NodeId broker, const events::Payload& payload) {
  events_.push_back({.sequence = 0, .at = world_.now(), .wall = world_.wall(), .broker = broker, .payload = payload});
}

void ToldFaults::describe(observe::ClusterSnapshot& into) const {
  for (const Fault& fault : faults_) {
    const platform::Duration since = into.at - fault.since;
    into.faults.push_back({.id = fault.number,
                           .fault = fault.what,
                           .broker = fault.place.node,
                           .links = fault.place.links,
                           .waits = false,
                           .since = since,
                           .left = {},
                           .fired = 1});
    if (fault.what.kind != Kind::Pause) continue;
    const auto broker = std::ranges::find(into.brokers, fault.place.node, &observe::BrokerSnapshot::id);
    if (broker == into.brokers.end()) continue;
    broker->state = observe::BrokerState::Paused;
    broker->inState = since;
  }
}

}  // namespace tidemark::sim
