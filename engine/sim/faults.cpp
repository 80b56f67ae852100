#include "sim/faults.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "faults/fault.h"
#include "faults/fault_book.h"
#include "observe/fault_check.h"
#include "sim/seam_faults.h"

namespace tidemark::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kKilled = "the scenario kills it";
constexpr auto kShareApis =
    std::to_array<std::string_view>({"ShareFetch", "ShareAcknowledge", "ShareGroupHeartbeat", "ReadShareGroupState",
                                     "WriteShareGroupState", "InitializeShareGroupState"});
constexpr auto kStreamsApis = std::to_array<std::string_view>({"StreamsGroupHeartbeat", "OffsetCommit"});

}  // namespace

FurtherClients furtherClientsOfShares(std::vector<std::vector<std::string>> processes) {
  return {.kind = "shares", .apis = kShareApis, .processes = std::move(processes)};
}

FurtherClients furtherClientsOfStreams(std::vector<std::vector<std::string>> processes) {
  return {.kind = "streams", .apis = kStreamsApis, .processes = std::move(processes)};
}

Faults::Faults(Setup setup)
    : setup_(std::move(setup)),
      choices_(platform::mix(setup_.seed, "faults")),
      moments_(platform::mix(setup_.seed, "moments")),
      habits_(draw(choices_)),
      budget_(setup_.world, setup_.platform, setup_.watch, setup_.brokers, nodes(), setup_.minInsyncReplicas) {}

Faults::Habits Faults::draw(platform::Generator& choices) {
  const auto weight = [&](unsigned most) {
    return choices.chance(25) ? 0U : static_cast<unsigned>(choices.below(most + 1));
  };
  Habits habits{.pause = choices.between(milliseconds(300), seconds(4)),
                .kill = weight(40),
                .powerLoss = weight(60),
                .paused = weight(30),
                .stop = weight(15),
                .crash = weight(20),
                .link = weight(60) + 1,
                .seam = weight(60),
                .voteLoss = weight(40),
                .leaderKill = weight(60),
                .appendKill = weight(8),
                .appendReset = weight(20),
                .lateLoss = weight(400),
                .damage = weight(20)};
  return habits;
}

bool Faults::explains(std::string_view process, std::string_view text) const {
  // Deaths by the hand of the scenario or of the lab, whenever they come.
  for (const std::string_view hand : {std::string_view(kKilled), std::string_view("power lost"),
                                      std::string_view("crashed in file call"), std::string_view("the lab tore")})
    if (text.contains(hand)) return true;
  if (invariantOf(text) != "error" || text.contains("a task failed")) return false;
  return std::ranges::any_of(illUntil_, [&](const auto& entry) {
    const auto& [broker, until] = entry;
    return setup_.world.now() < until && process == processOf(broker);
  });
}

bool Faults::flipped(NodeId broker, std::string_view path) const {
  return std::ranges::any_of(
      flips_, [&](const auto& flip) { return flip.first == broker && faults::matchesPath(flip.second, path); });
}

std::string Faults::nameOf(NodeId node) const {
  return observe::nodeText(node, setup_.members.at(static_cast<size_t>(node.value() - 1)).isBroker);
}

std::shared_ptr<platform::SimulatedProcess> Faults::process(NodeId broker) const {
  return setup_.platform.alive(processOf(broker));
}

NodeId Faults::anyNode(platform::Generator& dice) const {
  return NodeId(static_cast<int32_t>(1 + dice.below(static_cast<uint64_t>(nodes()))));
}

void Faults::later(platform::Duration after, std::move_only_function<void()> action) {
  setup_.world.after(after, [active = std::weak_ptr(active_), action = std::move(action)]() mutable {
    if (active.lock()) action();
  });
}

std::optional<Faults::Strike> Faults::strikeOf(size_t number) const {
  if (setup_.only && !setup_.only->contains(number)) return std::nullopt;
  return Strike{.number = number,
                .dice = platform::Generator(platform::mix(platform::mix(setup_.seed, "fault"), number))};
}

void Faults::happened(const Strike& strike, std::string_view what, const std::string& note) {
  setup_.tally.count(what);
  done_.push_back(strike.number);
  setup_.note(fmt::format("fault {}: {}", strike.number, note));
}

void Faults::begin() {
  active_ = std::make_shared<Faults*>(this);
  striking_ = true;
  later(milliseconds(500), [this] { strike(); });
}

void Faults::end() {
  active_ = std::make_shared<Faults*>(this);
  striking_ = false;
  setup_.cluster.healAll([](const Result<observe::Healed>&) {});
  mendLinks();
  mend();
}

void Faults::mendLinks() {
  setup_.world.network().heal();
  setup_.told.nobodyWillCrash();
  for (int i = 1; i <= nodes(); ++i) {
    const std::string broker = processOf(NodeId(i));
    for (int j = 1; j <= nodes(); ++j) setup_.world.network().setLink(broker, processOf(NodeId(j)), {});
    for (const std::string& client : allClients()) {
      setup_.world.network().setLink(broker, client, {});
      setup_.world.network().setLink(client, broker, {});
    }
    if (const auto running = process(NodeId(i)))
      running->crashAtFileCall(UINT32_MAX, platform::SimulatedProcess::Crash::Kill);
  }
}

void Faults::mend() {
  later(milliseconds(200), [this] { mend(); });
  for (int i = 1; i <= nodes(); ++i) {
    const auto running = process(NodeId(i));
    if (!running) {
      restart(NodeId(i));
    } else if (running->state() == platform::Process::State::Paused) {
      running->resume();
    }
  }
}

// --- at random times
// ----------------------------------------------------------------------------------------------------

void Faults::strike() {
  later(choices_.between(milliseconds(30), habits_.pause), [this] { strike(); });
  std::optional<Strike> strike = strikeOf(++strikes_);
  if (!strike) return;
  const std::array<std::pair<unsigned, Harm>, 6> harms{{{habits_.kill, Harm::Kill},
                                                        {habits_.powerLoss, Harm::PowerLoss},
                                                        {habits_.paused, Harm::Pause},
                                                        {habits_.stop, Harm::Stop},
                                                        {habits_.crash, Harm::CrashInFile},
                                                        {habits_.damage, Harm::Damage}}};
  uint64_t all = habits_.link + habits_.seam;
  for (const auto& [weight, how] : harms) all += weight;
  uint64_t dice = strike->dice.below(all);
  for (const auto& [weight, how] : harms) {
    if (dice < weight) return harm(*strike, anyNode(strike->dice), how);
    dice -= weight;
  }
  if (dice < habits_.link) return hurtLink(*strike);
  hurtSeam(*strike);
}

void Faults::harm(Strike& strike, NodeId broker, Harm how) {
  const auto victim = process(broker);
  if (!victim) return;
  if (how == Harm::Damage) return damage(strike, broker);
  if (how == Harm::PowerLoss ? !budget_.mayLosePower(broker) : !budget_.mayHarm(broker)) return;
  platform::Generator& dice = strike.dice;
  switch (how) {
    case Harm::PowerLoss:
      happened(strike, "power loss", fmt::format("{} loses power", nameOf(broker)));
      if (budget_.withoutPower() > 1) setup_.tally.count("power loss of two");
      losesData(broker);
      setup_.told.takesDown(broker, faults::Kind::PowerLoss);
      victim->losePower();
      later(dice.between(milliseconds(100), seconds(4)), [this, broker] { restart(broker); });
      return;
    case Harm::Kill:
      happened(strike, "kill", fmt::format("{} is killed", nameOf(broker)));
      setup_.told.takesDown(broker, faults::Kind::Kill);
      victim->kill(std::string(kKilled));
      later(dice.between(milliseconds(50), seconds(4)), [this, broker] { restart(broker); });
      return;
    case Harm::CrashInFile: {
      const uint64_t call = 1 + dice.below(60);
      happened(strike, "crash in a file call",
               fmt::format("{} dies in its file call {} from now", nameOf(broker), call));
      budget_.troubled(broker, seconds(4));
      setup_.told.willCrash(broker, call);
      victim->crashAtFileCall(call, platform::SimulatedProcess::Crash::Kill);
      later(dice.between(milliseconds(800), seconds(4)), [this, broker] { restart(broker); });
      return;
    }
    case Harm::Pause:
      if (victim->state() != platform::Process::State::Running) return;
      happened(strike, "pause", fmt::format("{} is paused", nameOf(broker)));
      setup_.told.pauses(broker);
      victim->pause();
      budget_.troubled(broker, seconds(5));
      later(dice.between(milliseconds(20), seconds(5)), [this, broker] {
        if (const auto paused = process(broker); paused && paused->state() == platform::Process::State::Paused)
          paused->resume();
      });
      return;
    case Harm::Stop: {
      happened(strike, "controlled stop", fmt::format("{} is stopped", nameOf(broker)));
      budget_.troubled(broker, seconds(10));
      const auto pause = dice.between(milliseconds(20), seconds(2));
      setup_.told.takesDown(broker, faults::Kind::Stop);
      setup_.cluster.stopBroker(broker,
                                [this, active = std::weak_ptr(active_), broker, pause](const Result<void>& stopped) {
                                  if (!stopped) setup_.told.doesNotStop(broker);
                                  if (active.lock()) later(pause, [this, broker] { restart(broker); });
                                });
      return;
    }
    case Harm::Damage:
      return;
  }
}

void Faults::damage(Strike& strike, NodeId broker) {
  const auto victim = process(broker);
  // To lose a folder is as bad as to lose what was not synced.
  if (!victim || !budget_.holdsReplicas(broker) || !budget_.mayLosePower(broker)) return;
  faults::Fault drawn = drawDamage(strike.dice, broker);
  const std::string text = faults::textOf(drawn);
  happened(strike, fmt::format("seam: {}", faults::nameOf(drawn.kind)), fmt::format("{}, which is killed first", text));
  // Under another topic id a log is set aside.
  if (drawn.kind == faults::Kind::Wipe || drawn.path.ends_with("partition.metadata")) losesData(broker);
  if (drawn.kind == faults::Kind::BitFlip) flips_.emplace_back(broker, drawn.path);
  setup_.told.takesDown(broker, faults::Kind::Kill);
  victim->kill(std::string(kKilled));
  const auto again = strike.dice.between(milliseconds(100), seconds(3));
  // Once the lab knows of its death.
  later(milliseconds(10), [this, broker, again, drawn = std::move(drawn)]() mutable {
    setup_.cluster.setFault(std::move(drawn),
                            [this, active = std::weak_ptr(active_), broker, again](const Result<int>& set) {
                              if (!active.lock()) return;
                              // It may have no such file yet.
                              if (!set) setup_.note(fmt::format("refused: {}", set.error().message));
                              later(again, [this, broker] { restart(broker); });
                            });
  });
}

void Faults::losesData(NodeId broker) {
  const metadata::ImagePtr image = setup_.watch.newestImage();
  const metadata::BrokerRegistration* registered = image ? image->cluster.broker(broker) : nullptr;
  if (registered != nullptr) setup_.losses.lostData(broker, registered->epoch);
}

std::vector<std::string> Faults::allClients() const {
  std::vector<std::string> all = setup_.clients;
  for (const FurtherClients& further : setup_.further)
    for (const auto& names : further.processes) all.insert(all.end(), names.begin(), names.end());
  return all;
}

std::vector<std::string> Faults::anyFurther(const Strike& strike) const {
  std::vector<std::string> any;
  for (const auto& [kind, apis, processes] : setup_.further) {
    if (processes.empty()) continue;
    platform::Generator dice(
        platform::mix(platform::mix(setup_.seed, fmt::format("faults of {}", kind)), strike.number));
    const auto& names = processes[dice.below(processes.size())];
    any.insert(any.end(), names.begin(), names.end());
  }
  return any;
}

void Faults::hurtLink(Strike& strike) {
  platform::SimulatedNetwork& network = setup_.world.network();
  platform::Generator& choices = strike.dice;
  const NodeId one = anyNode(choices);
  const bool toClient = choices.chance(30) && !setup_.clients.empty();
  const NodeId other = anyNode(choices);
  const std::string a = processOf(one);
  const std::string b = toClient ? setup_.clients[choices.below(setup_.clients.size())] : processOf(other);
  if (a == b) return;
  std::vector<std::string> ends = toClient ? anyFurther(strike) : std::vector<std::string>();
  ends.push_back(b);
  const auto length = choices.between(milliseconds(50), seconds(5));
  const uint64_t dice = choices.below(100);
  if (dice < 30) {
    // Late, but all comes through.
    platform::LinkOptions slow{.minDelay = milliseconds(1),
                               .maxDelay = choices.between(milliseconds(5), milliseconds(150))};
    happened(strike, "slow link", fmt::format("the link of {} and {} is slow", a, b));
    setup_.told.slows(a, ends, slow);
    for (const std::string& end : ends) network.setLink(a, end, slow);
    later(length, [&network, a, ends] {
      for (const std::string& end : ends) network.setLink(a, end, {});
    });
    return;
  }
  if (dice < 50) {
    happened(strike, "connections reset", fmt::format("connections of {} and {} are reset", a, b));
    setup_.told.resets(a, ends);
    for (const std::string& end : ends) network.reset(a, end);
    return;
  }
  if (!budget_.mayHarm(one) || (!toClient && !budget_.mayHarm(other))) return;
  budget_.troubled(one, length);
  if (!toClient) budget_.troubled(other, length);
  if (dice < 65) {
    happened(strike, "broker cut off", fmt::format("{} is cut off", a));
    setup_.told.cutsOff(one);
    network.isolate(a);
    later(length, [&network, a] { network.heal(a); });
    return;
  }
  happened(strike, "link cut", fmt::format("{} and {} are cut", a, b));
  setup_.told.cuts(a, ends, dice >= 80);
  for (const std::string& end : ends) {
    if (dice < 80) {
      network.cutOneWay(a, end);
    } else {
      network.cut(a, end);
    }
  }
  later(length, [&network, a, ends] {
    for (const std::string& end : ends) network.heal(a, end);
  });
}

void Faults::hurtSeam(Strike& strike) {
  SeamFault drawn = drawSeamFault(strike.dice, setup_.members);
  if (drawn.harms.size() > 2 ? !budget_.mayHarmAll() : !std::ranges::all_of(drawn.harms, [this](NodeId broker) {
        return budget_.mayHarm(broker);
      }))
    return;
  const auto length =
      drawn.fault.duration > platform::Duration{} ? drawn.fault.duration : platform::Duration(seconds(4));
  for (NodeId broker : drawn.harms) {
    budget_.troubled(broker, length + (drawn.brings ? seconds(6) : seconds(1)));
    if (!drawn.brings) continue;
    illUntil_[broker] = setup_.world.now() + length + seconds(6);
    later(length + strike.dice.between(milliseconds(100), seconds(2)), [this, broker] { restart(broker); });
  }
  happened(strike, fmt::format("seam: {}", faults::nameOf(drawn.fault.kind)), faults::textOf(drawn.fault));
  if (drawn.fault.kind != faults::Kind::RequestError && faults::areaOf(drawn.fault.kind) == faults::Area::Requests) {
    for (const auto& [kind, apis, processes] : setup_.further) {
      if (processes.empty()) continue;
      platform::Generator dice(
          platform::mix(platform::mix(setup_.seed, fmt::format("requests of {}", kind)), strike.number));
      faults::Fault also = drawn.fault;
      also.api = apis[dice.below(apis.size())];
      set(std::move(also));
    }
  }
  set(std::move(drawn.fault));
}

void Faults::set(faults::Fault fault) {
  setup_.cluster.setFault(std::move(fault), [this, active = std::weak_ptr(active_)](const Result<int>& set) {
    // The broker may be down just now; anything else is a plan that cannot be carried out.
    if (active.lock() && !set && set.error().code == ErrorCode::InvalidRequest)
      setup_.note(fmt::format("refused: {}", set.error().message));
  });
}

// --- mending
// ------------------------------------------------------------------------------------------------------------

void Faults::restart(NodeId broker) {
  if (process(broker)) return;
  setup_.cluster.restartBroker(broker, [this, active = std::weak_ptr(active_), broker](const Result<void>& result) {
    if (!active.lock() || result) return;
    const ErrorCode code = result.error().code;
    if (code != ErrorCode::BrokerNotAvailable && code != ErrorCode::InvalidRequest &&
        !explains(processOf(broker), result.error().message))
      setup_.judge.breach("start", fmt::format("{} does not start: {}", nameOf(broker), result.error().message));
    // It died again, or the cluster has not yet taken note of its death.
    if (!process(broker)) later(milliseconds(200), [this, broker] { restart(broker); });
  });
}

}  // namespace tidemark::sim
