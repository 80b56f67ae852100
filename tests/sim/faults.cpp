#include "sim/faults.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace tidemark::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kKilled = "the scenario kills it";

}  // namespace

Faults::Faults(Setup setup)
    : setup_(std::move(setup)), choices_(platform::mix(setup_.seed, "faults")), habits_(draw(choices_)) {}

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
                .voteLoss = weight(40),
                .leaderKill = weight(60),
                .appendKill = weight(8),
                .appendReset = weight(20)};
  return habits;
}

bool Faults::explains(std::string_view reason) {
  return reason.find(kKilled) != reason.npos || reason.find("power lost") != reason.npos ||
         reason.find("crashed in file call") != reason.npos;
}

std::string Faults::name(NodeId broker) const {
  return fmt::format("broker-{}", broker);
}

std::shared_ptr<platform::SimulatedProcess> Faults::process(NodeId broker) const {
  return setup_.platform.alive(name(broker));
}

NodeId Faults::anyBroker() {
  return NodeId(static_cast<int32_t>(1 + choices_.below(static_cast<uint64_t>(setup_.brokers))));
}

void Faults::later(platform::Duration after, std::move_only_function<void()> action) {
  setup_.world.after(after, [active = std::weak_ptr(active_), action = std::move(action)]() mutable {
    if (active.lock()) action();
  });
}

void Faults::begin() {
  active_ = std::make_shared<Faults*>(this);
  striking_ = true;
  later(milliseconds(500), [this] { strike(); });
}

void Faults::end() {
  active_ = std::make_shared<Faults*>(this);
  striking_ = false;
  setup_.world.network().heal();
  for (int i = 1; i <= setup_.brokers; ++i) {
    const NodeId broker(i);
    for (int j = 1; j <= setup_.brokers; ++j) setup_.world.network().setLink(name(broker), name(NodeId(j)), {});
    for (const std::string& client : setup_.clients) {
      setup_.world.network().setLink(name(broker), client, {});
      setup_.world.network().setLink(client, name(broker), {});
    }
    if (const auto running = process(broker))
      running->crashAtFileCall(UINT32_MAX, platform::SimulatedProcess::Crash::Kill);
  }
  mend();
}

void Faults::mend() {
  later(milliseconds(200), [this] { mend(); });
  for (int i = 1; i <= setup_.brokers; ++i) {
    const auto running = process(NodeId(i));
    if (!running) {
      restart(NodeId(i));
    } else if (running->state() == platform::Process::State::Paused) {
      running->resume();
    }
  }
}

// --- what may be done
// ---------------------------------------------------------------------------------------------------

metadata::ImagePtr Faults::newestImage() const {
  metadata::ImagePtr newest;
  for (int i = 1; i <= setup_.brokers; ++i) {
    broker::Node* node = setup_.watch.node(NodeId(i));
    if (node == nullptr) continue;
    metadata::ImagePtr image = node->broker()->image();
    if (!newest || image->provenance.lastContainedOffset > newest->provenance.lastContainedOffset)
      newest = std::move(image);
  }
  return newest;
}

bool Faults::everyIsrIsFull(const metadata::Image& image) const {
  for (const auto& [name, topic] : image.topics.byName)
    for (const auto& [index, partition] : topic->partitions)
      if (partition->isr.size() < partition->replicas.size()) return false;
  return true;
}

void Faults::updateWindow() {
  if (!window_) return;
  const metadata::ImagePtr image = newestImage();
  const metadata::BrokerRegistration* victim = image ? image->cluster.broker(window_->victim) : nullptr;
  if (victim != nullptr && victim->epoch > window_->before && everyIsrIsFull(*image)) window_.reset();
}

void Faults::troubled(NodeId broker, platform::Duration length) {
  platform::MonotonicTime& calm = calmAt_[broker];
  calm = std::max(calm, setup_.world.now() + length + milliseconds(500));
}

bool Faults::mayHarm(NodeId broker) {
  updateWindow();
  if (!window_ || window_->victim == broker) return true;
  if (!window_->second) window_->second = broker;
  return window_->second == broker;
}

bool Faults::mayLosePower(NodeId broker) {
  updateWindow();
  if (window_) return false;
  const metadata::ImagePtr image = newestImage();
  const metadata::BrokerRegistration* victim = image ? image->cluster.broker(broker) : nullptr;
  if (victim == nullptr || !everyIsrIsFull(*image)) return false;
  // Nobody else is about to fall out for what was done to him before.
  for (int i = 1; i <= setup_.brokers; ++i) {
    const auto other = process(NodeId(i));
    const metadata::BrokerRegistration* registered = image->cluster.broker(NodeId(i));
    if (!other || other->state() != platform::Process::State::Running || registered == nullptr ||
        !registered->isActive())
      return false;
    // The registration may be that of its last life.
    broker::Node* node = setup_.watch.node(NodeId(i));
    if (node == nullptr || !node->broker()->isRunning() || node->broker()->epoch() != registered->epoch) return false;
    if (NodeId(i) != broker && calmAt_[NodeId(i)] > setup_.world.now()) return false;
  }
  window_ = Window{.victim = broker, .before = victim->epoch, .second = {}};
  return true;
}

// --- at random times
// ----------------------------------------------------------------------------------------------------

void Faults::strike() {
  later(choices_.between(milliseconds(30), habits_.pause), [this] { strike(); });
  const std::array<std::pair<unsigned, Harm>, 5> harms{{{habits_.kill, Harm::Kill},
                                                        {habits_.powerLoss, Harm::PowerLoss},
                                                        {habits_.paused, Harm::Pause},
                                                        {habits_.stop, Harm::Stop},
                                                        {habits_.crash, Harm::CrashInFile}}};
  uint64_t all = habits_.link;
  for (const auto& [weight, how] : harms) all += weight;
  uint64_t dice = choices_.below(all);
  for (const auto& [weight, how] : harms) {
    if (dice < weight) return harm(anyBroker(), how);
    dice -= weight;
  }
  hurtLink();
}

void Faults::harm(NodeId broker, Harm how) {
  const auto victim = process(broker);
  if (!victim) return;
  if (how != Harm::PowerLoss && !mayHarm(broker)) return;
  switch (how) {
    case Harm::PowerLoss:
      if (!mayLosePower(broker)) return;
      setup_.tally.count("power loss");
      setup_.world.note(fmt::format("broker {} loses power", broker));
      victim->losePower();
      later(choices_.between(milliseconds(100), seconds(4)), [this, broker] { restart(broker); });
      return;
    case Harm::Kill:
      setup_.tally.count("kill");
      setup_.world.note(fmt::format("broker {} is killed", broker));
      victim->kill(std::string(kKilled));
      later(choices_.between(milliseconds(50), seconds(4)), [this, broker] { restart(broker); });
      return;
    case Harm::CrashInFile:
      setup_.tally.count("crash in a file call");
      troubled(broker, seconds(4));
      victim->crashAtFileCall(1 + choices_.below(60), platform::SimulatedProcess::Crash::Kill);
      later(choices_.between(milliseconds(800), seconds(4)), [this, broker] { restart(broker); });
      return;
    case Harm::Pause:
      if (victim->state() != platform::Process::State::Running) return;
      setup_.tally.count("pause");
      setup_.world.note(fmt::format("broker {} is paused", broker));
      victim->pause();
      troubled(broker, seconds(5));
      later(choices_.between(milliseconds(20), seconds(5)), [this, broker] {
        if (const auto paused = process(broker); paused && paused->state() == platform::Process::State::Paused)
          paused->resume();
      });
      return;
    case Harm::Stop:
      setup_.tally.count("controlled stop");
      setup_.world.note(fmt::format("broker {} is stopped", broker));
      troubled(broker, seconds(10));
      setup_.cluster.stopBroker(broker, [this, active = std::weak_ptr(active_), broker](const Result<void>&) {
        if (active.lock()) later(choices_.between(milliseconds(20), seconds(2)), [this, broker] { restart(broker); });
      });
      return;
  }
}

void Faults::hurtLink() {
  platform::SimulatedNetwork& network = setup_.world.network();
  const NodeId one = anyBroker();
  const bool toClient = choices_.chance(30) && !setup_.clients.empty();
  const NodeId other = anyBroker();
  const std::string a = name(one);
  const std::string b = toClient ? setup_.clients[choices_.below(setup_.clients.size())] : name(other);
  if (a == b) return;
  const auto length = choices_.between(milliseconds(50), seconds(5));
  const uint64_t dice = choices_.below(100);
  if (dice < 30) {
    // Late, but all comes through.
    platform::LinkOptions slow{.minDelay = milliseconds(1),
                               .maxDelay = choices_.between(milliseconds(5), milliseconds(150))};
    setup_.tally.count("slow link");
    network.setLink(a, b, slow);
    later(length, [&network, a, b] { network.setLink(a, b, {}); });
    return;
  }
  if (dice < 50) {
    setup_.tally.count("connections reset");
    setup_.world.note(fmt::format("connections of {} and {} are reset", a, b));
    network.reset(a, b);
    return;
  }
  if (!mayHarm(one) || (!toClient && !mayHarm(other))) return;
  troubled(one, length);
  if (!toClient) troubled(other, length);
  if (dice < 65) {
    setup_.tally.count("broker cut off");
    setup_.world.note(fmt::format("{} is cut off", a));
    network.isolate(a);
    later(length, [&network, a] { network.heal(a); });
    return;
  }
  setup_.tally.count("link cut");
  setup_.world.note(fmt::format("{} and {} are cut", a, b));
  if (dice < 80) {
    network.cutOneWay(a, b);
  } else {
    network.cut(a, b);
  }
  later(length, [&network, a, b] { network.heal(a, b); });
}

// --- in the middle of something
// -------------------------------------------------------------------------------------------

void Faults::on(const Seen& seen) {
  if (!striking_ || seen.node == nullptr) return;
  if (const auto* granted = as<events::VoteGranted>(seen)) {
    if (!granted->preVote && choices_.chance(habits_.voteLoss))
      harm(seen.broker, choices_.chance(60) ? Harm::PowerLoss : Harm::Kill);
  } else if (as<events::BecameLeader>(seen)) {
    if (choices_.below(1000) < habits_.leaderKill) harm(seen.broker, Harm::Kill);
  } else if (const auto* appended = as<events::BatchAppended>(seen)) {
    if (!appended->asLeader) return;
    if (choices_.below(1000) < habits_.appendKill) harm(seen.broker, Harm::Kill);
    if (choices_.below(1000) >= habits_.appendReset) return;
    // The answer to what was just appended is lost.
    setup_.tally.count("connections reset");
    for (const std::string& client : setup_.clients) setup_.world.network().reset(name(seen.broker), client);
  }
}

// --- mending
// ------------------------------------------------------------------------------------------------------------

void Faults::restart(NodeId broker) {
  if (process(broker)) return;
  setup_.cluster.restartBroker(broker, [this, active = std::weak_ptr(active_), broker](const Result<void>& result) {
    if (!active.lock() || result) return;
    const ErrorCode code = result.error().code;
    if (code != ErrorCode::BrokerNotAvailable && code != ErrorCode::InvalidRequest)
      setup_.judge.breach("start", fmt::format("broker {} does not start: {}", broker, result.error().message));
    // It died again, or the cluster has not yet taken note of its death.
    if (!process(broker)) later(milliseconds(200), [this, broker] { restart(broker); });
  });
}

}  // namespace tidemark::sim
