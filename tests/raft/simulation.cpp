#include "simulation.h"

#include "base/invariant.h"

namespace tidemark::raft {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

VoterSet makeVoters(int count) {
  std::vector<Voter> voters;
  for (int i = 1; i <= count; ++i) {
    std::array<uint8_t, 16> id{};
    id[15] = static_cast<uint8_t>(0x10 + i);
    voters.push_back({{NodeId(i), Uuid(id)}, {{"CONTROLLER", "node", static_cast<uint16_t>(i)}}, 0, 1});
  }
  return VoterSet(std::move(voters));
}

}  // namespace

Simulation::Simulation(SimulationOptions options)
    : options_(options), voters_(makeVoters(options.voters)), random_(options.seed * 0x9e3779b97f4a7c15ULL + 1) {
  config_.electionTimeout = milliseconds(250);
  config_.electionBackoffMax = milliseconds(250);
  config_.fetchTimeout = milliseconds(1000);
  config_.requestTimeout = milliseconds(500);
  for (int i = 1; i <= options_.voters + options_.observers; ++i) {
    Node& node = nodes_[NodeId(i)];
    std::array<uint8_t, 16> id{};
    id[15] = static_cast<uint8_t>(0x10 + i);
    node.key = {NodeId(i), Uuid(id)};
    start(node);
  }
  schedule(milliseconds(50), ClientAppend{});
}

uint64_t Simulation::random() {
  uint64_t value = random_ += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

Moment Simulation::moment() {
  return {now_, now_.time_since_epoch().count() / 1000000, random()};
}

void Simulation::note(std::string_view what, int64_t a, int64_t b) {
  auto add = [this](uint64_t value) { trace_ = (trace_ ^ value) * 1099511628211ULL; };
  add(static_cast<uint64_t>(now_.time_since_epoch().count()));
  for (const char c : what) add(static_cast<uint8_t>(c));
  add(static_cast<uint64_t>(a));
  add(static_cast<uint64_t>(b));
}

void Simulation::schedule(Duration after, What what) {
  events_.push({now_ + after, serial_++, std::move(what)});
}

void Simulation::start(Node& node) {
  ++node.incarnation;
  const std::vector<VoterEndpoint> own = {{"CONTROLLER", "node", static_cast<uint16_t>(node.key.id.value())}};
  node.machine = std::make_unique<StateMachine>(StateMachine::Identity{node.key, "cluster", "CONTROLLER", own}, config_,
                                                node.log, options_.rules);
  Effects effects;
  const Moment now = moment();
  node.machine->setVoters(now, voters_, effects);
  node.machine->start(now, node.stored, effects);
  if (perform(node, std::move(effects))) poll(node);
}

void Simulation::crash(NodeId id, bool losePower) {
  Node& node = at(id);
  if (!node.machine) return;
  note("crash", id.value());
  ++counts_.crashes;
  node.machine.reset();
  node.parked.clear();
  node.history.restarted();
  ++node.incarnation;
  if (!losePower) return;
  counts_.lostUnsynced += static_cast<uint64_t>(node.log.endOffset() - node.log.syncedEndOffset());
  node.log.losePower();
  node.stored = node.storedSynced;
}

void Simulation::restart(NodeId id) {
  Node& node = at(id);
  if (node.machine) return;
  note("restart", id.value());
  // A node that was killed without a power loss still has its unsynced bytes; opening the log syncs them.
  node.log.sync();
  node.storedSynced = node.stored;
  start(node);
}

void Simulation::shutdown(NodeId id) {
  at(id).machine->beginShutdown();
  poll(at(id));
}

void Simulation::heal() {
  isolated_.clear();
}

bool Simulation::reachable(NodeId a, NodeId b) const {
  return isolated_.contains(a) == isolated_.contains(b);
}

void Simulation::send(Message message) {
  if (faults_ && below(1000) < options_.drop) return;
  const int copies = faults_ && below(1000) < options_.duplicate ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    Duration delay = microseconds(200 + below(2000));
    if (faults_ && below(20) == 0) delay += milliseconds(below(400));
    schedule(delay, message);
  }
}

void Simulation::on(Message& message) {
  if (!reachable(message.from, message.to)) return;
  Node& node = at(message.to);
  if (!node.machine) {
    // A refused connection is known at once.
    if (std::holds_alternative<Request>(message.body) && at(message.from).machine &&
        reachable(message.from, message.to)) {
      Node& sender = at(message.from);
      Effects effects;
      sender.machine->onResponse(moment(), message.to, message.correlation, fail(ErrorCode::NetworkException), effects);
      if (perform(sender, std::move(effects))) poll(sender);
    }
    return;
  }
  const Moment now = moment();
  Effects effects;
  if (auto* response = std::get_if<Response>(&message.body)) {
    if (message.incarnation != node.incarnation) return;
    node.machine->onResponse(now, message.from, message.correlation, *response, effects);
    if (perform(node, std::move(effects))) poll(node);
    return;
  }
  const uint64_t incarnation = node.incarnation;
  auto reply = [&](Response response) {
    if (node.machine && node.incarnation == incarnation)
      send({message.to, message.from, message.correlation, message.incarnation, std::move(response)});
  };
  auto& request = std::get<Request>(message.body);
  if (auto* vote = std::get_if<VoteRequest>(&request)) {
    const auto answer = node.machine->onVote(now, *vote, effects);
    if (!perform(node, std::move(effects))) return;
    if (answer.granted && !vote->preVote) voted(node.key.id, vote->epoch, vote->candidate);
    reply(answer);
  } else if (auto* begin = std::get_if<BeginQuorumEpochRequest>(&request)) {
    const auto answer = node.machine->onBeginQuorumEpoch(now, *begin, effects);
    if (!perform(node, std::move(effects))) return;
    reply(answer);
  } else if (auto* end = std::get_if<EndQuorumEpochRequest>(&request)) {
    const auto answer = node.machine->onEndQuorumEpoch(now, *end, effects);
    if (!perform(node, std::move(effects))) return;
    reply(answer);
  } else if (auto* fetch = std::get_if<FetchRequest>(&request)) {
    const auto verdict = node.machine->onFetch(now, *fetch, effects);
    const Parked parked{message.from, message.correlation, *fetch, now_ + fetch->maxWait, verdict};
    if (!perform(node, std::move(effects))) return;
    if (verdict.read && verdict.mayWait && fetch->fetchOffset >= node.log.endOffset()) {
      node.parked.push_back(parked);
      schedule(fetch->maxWait, Wake{node.key.id, node.incarnation, 0});
    } else {
      answerFetch(node, parked, verdict);
    }
  }
  poll(node);
}

void Simulation::answerFetch(Node& node, const Parked& parked, const StateMachine::FetchVerdict& verdict) {
  FetchResponse answer = verdict.answer;
  if (verdict.read) answer.records = node.log.read(parked.request.fetchOffset, 1 + below(20));
  send({node.key.id, parked.from, parked.correlation, at(parked.from).incarnation, Response(std::move(answer))});
}

void Simulation::serveParked(Node& node) {
  if (node.serving) return;
  node.serving = true;
  std::vector<Parked> waiting;
  waiting.swap(node.parked);
  const uint64_t incarnation = node.incarnation;
  for (const Parked& parked : waiting) {
    if (node.incarnation != incarnation) break;
    const StateMachine& machine = *node.machine;
    const bool ready = node.log.endOffset() > parked.request.fetchOffset || !machine.isLeader() ||
                       machine.epoch() != parked.request.currentLeaderEpoch ||
                       machine.highWatermark().value_or(kNoOffset) > parked.request.highWatermark;
    if (ready) {
      Effects effects;
      const auto verdict = node.machine->onFetch(moment(), parked.request, effects);
      if (perform(node, std::move(effects))) answerFetch(node, parked, verdict);
    } else if (now_ >= parked.deadline) {
      answerFetch(node, parked, parked.verdict);
    } else {
      node.parked.push_back(parked);
    }
  }
  node.serving = false;
}

void Simulation::on(Wake& wake) {
  Node& node = at(wake.node);
  if (!node.machine || node.incarnation != wake.incarnation) return;
  if (wake.serial == 0) return serveParked(node);
  if (wake.serial == node.timerSerial) poll(node);
}

void Simulation::poll(Node& node) {
  if (!node.machine) return;
  Effects effects;
  node.machine->poll(moment(), effects);
  if (!perform(node, std::move(effects)) || !node.machine) return;
  node.history.observe(*node.machine, *node.stored);
  const MonotonicTime deadline = node.machine->nextDeadline();
  ++node.timerSerial;
  if (deadline != MonotonicTime::max())
    schedule(std::max(deadline - now_, Duration(microseconds(10))),
             Wake{node.key.id, node.incarnation, node.timerSerial});
}

bool Simulation::perform(Node& node, Effects effects) {
  const uint64_t incarnation = node.incarnation;
  if (!node.stored) node.stored = ElectionState{};
  for (size_t i = 0; i < effects.size(); ++i) {
    // Every effect is a crash point.
    if (faults_ && options_.crashEvery > Duration(0) && below(2000) == 0) {
      ++counts_.crashesWithinEffects;
      crash(node.key.id);
      schedule(milliseconds(50 + below(1500)), Restart{node.key.id});
      return false;
    }
    Effects more;
    std::visit(
        [&](auto& effect) {
          using E = std::decay_t<decltype(effect)>;
          if constexpr (std::is_same_v<E, PersistElection>) {
            node.stored = effect.state;
            if (options_.voteSyncedBeforeAnswer)
              node.storedSynced = effect.state;
            else
              schedule(seconds(2), SyncVote{node.key.id, node.incarnation});
          } else if constexpr (std::is_same_v<E, Send>) {
            send({node.key.id, effect.to, effect.correlation, node.incarnation, effect.request});
          } else if constexpr (std::is_same_v<E, RoleChanged>) {
            note(raft::roleName(effect.to), node.key.id.value(), effect.leader.epoch.value());
            if (effect.from == RoleName::Leader) node.log.sync();
            if (effect.to == RoleName::Prospective) ++counts_.preVoteRounds;
            if (effect.to == RoleName::Resigned) ++counts_.resignations;
            if (effect.to == RoleName::Candidate) {
              candidates_[effect.leader.epoch].insert(node.key.id);
              voted(node.key.id, effect.leader.epoch, node.key);
            }
            if (effect.to == RoleName::Leader) {
              const auto [leader, isNew] = leaders_.emplace(effect.leader.epoch, node.key.id);
              TIDEMARK_INVARIANT(
                  isNew || leader->second == node.key.id,
                  fmt::format("K1: {} and {} lead epoch {}", leader->second, node.key.id, effect.leader.epoch));
              ++counts_.elections;
              for (size_t at = 0; at < committed_.size(); ++at)
                TIDEMARK_INVARIANT(
                    at < node.log.entries().size() && node.log.entries()[at] == committed_[at],
                    fmt::format("K5: leader {} of epoch {} lacks committed {}", node.key.id, effect.leader.epoch, at));
            }
          } else if constexpr (std::is_same_v<E, BeginLeaderEpoch>) {
            node.log.append({effect.epoch, -effect.epoch.value()});
            node.log.sync();
            node.machine->onLogSynced(moment(), more);
          } else if constexpr (std::is_same_v<E, AppendFetched>) {
            node.log.appendRead(effect.records.view());
            node.log.sync();
            node.machine->onFetched(moment(), effect.leaderHighWatermark, more);
          } else if constexpr (std::is_same_v<E, TruncateLog>) {
            if (effect.offset < node.log.endOffset()) ++counts_.truncations;
            note("truncate", node.key.id.value(), effect.offset.value());
            node.log.truncateTo(effect.offset);
          } else if constexpr (std::is_same_v<E, HighWatermarkAdvanced>) {
            onHighWatermark(node, effect.offset);
          }
        },
        effects[i]);
    if (node.incarnation != incarnation) return false;
    for (Effect& effect : more) effects.push_back(std::move(effect));
  }
  checkAll();
  if (!node.parked.empty()) serveParked(node);
  return node.machine && node.incarnation == incarnation;
}

void Simulation::voted(NodeId voter, LeaderEpoch epoch, ReplicaKey candidate) {
  const auto [vote, isNew] = votes_.emplace(std::pair(voter, epoch), candidate);
  TIDEMARK_INVARIANT(isNew || vote->second == candidate,
                     fmt::format("K2: {} votes for {} and {} in epoch {}", voter, vote->second, candidate, epoch));
}

void Simulation::onHighWatermark(Node& node, Offset offset) {
  note("hw", node.key.id.value(), offset.value());
  const auto& entries = node.log.entries();
  for (size_t i = node.checked; i < static_cast<size_t>(offset.value()); ++i) {
    if (i < committed_.size()) {
      TIDEMARK_INVARIANT(entries[i] == committed_[i],
                         fmt::format("K5: {} commits another record at {}", node.key.id, i));
    } else {
      committed_.push_back(entries[i]);
      if (entries[i].payload > 0) ++counts_.committed;
    }
  }
  node.checked = static_cast<size_t>(offset.value());
}

void Simulation::checkAll() {
  if (committed_.empty()) return;
  const size_t last = committed_.size() - 1;
  size_t holders = 0;
  for (const Voter& voter : voters_.all())
    if (at(voter.key.id).log.holdsSynced(last, committed_[last])) ++holders;
  TIDEMARK_INVARIANT(holders >= voters_.majority(),
                     fmt::format("K4: {} of {} voters hold committed {}", holders, voters_.size(), last));
}

void Simulation::on(SyncLog& sync) {
  Node& node = at(sync.node);
  if (!node.machine || node.incarnation != sync.incarnation) return;
  node.log.sync();
  Effects effects;
  node.machine->onLogSynced(moment(), effects);
  if (perform(node, std::move(effects))) poll(node);
}

void Simulation::on(SyncVote& sync) {
  Node& node = at(sync.node);
  if (node.incarnation == sync.incarnation) node.storedSynced = node.stored;
}

void Simulation::append() {
  for (auto& [id, node] : nodes_) {
    if (!node.machine || !node.machine->isLeader()) continue;
    node.log.append({node.machine->epoch(), nextPayload_++});
    // Followers may fetch it before it is synced here.
    schedule(microseconds(100 + below(faults_ ? 20000 : 500)), SyncLog{id, node.incarnation});
    serveParked(node);
    if (node.machine) poll(node);
  }
}

void Simulation::on(ClientAppend&) {
  append();
  schedule(milliseconds(20 + below(60)), ClientAppend{});
}

void Simulation::on(Crash&) {
  if (!faults_) return;
  const NodeId id(static_cast<int32_t>(1 + below(nodes_.size())));
  if (at(id).machine) {
    crash(id, below(4) != 0);
    schedule(milliseconds(50 + below(3000)), Restart{id});
  }
  schedule(Duration(static_cast<int64_t>(below(static_cast<uint64_t>(2 * options_.crashEvery.count())))), Crash{});
}

void Simulation::on(Restart& event) {
  restart(event.node);
}

void Simulation::on(Partition&) {
  if (!faults_) return;
  isolated_.clear();
  for (const auto& [id, node] : nodes_)
    if (below(3) == 0) isolated_.insert(id);
  schedule(milliseconds(200 + below(4000)), Heal{});
  schedule(Duration(static_cast<int64_t>(below(static_cast<uint64_t>(2 * options_.partitionEvery.count())))),
           Partition{});
}

void Simulation::on(Heal&) {
  isolated_.clear();
}

bool Simulation::step() {
  Event event = events_.top();
  events_.pop();
  now_ = event.at;
  ++counts_.steps;
  std::visit([this](auto& what) { on(what); }, event.what);
  return true;
}

void Simulation::runFor(Duration duration) {
  const MonotonicTime end = now_ + duration;
  while (!events_.empty() && events_.top().at <= end) step();
  now_ = end;
}

std::optional<NodeId> Simulation::leader() const {
  std::optional<NodeId> found;
  for (const auto& [id, node] : nodes_)
    if (node.machine && node.machine->isLeader() &&
        (!found || node.machine->epoch() > nodes_.at(*found).machine->epoch()))
      found = id;
  return found;
}

LeaderEpoch Simulation::epoch() const {
  LeaderEpoch highest{0};
  for (const auto& [id, node] : nodes_)
    if (node.machine) highest = std::max(highest, node.machine->epoch());
  return highest;
}

const StateMachine* Simulation::node(NodeId id) const {
  return nodes_.at(id).machine.get();
}

bool Simulation::settle(Duration limit) {
  const MonotonicTime end = now_ + limit;
  // Nothing is appended by clients once it is to settle, except what proves that it works.
  while (now_ < end) {
    runFor(milliseconds(50));
    const auto leads = leader();
    if (!leads) continue;
    const StateMachine& first = *nodes_.at(*leads).machine;
    bool all = first.highWatermark().has_value();
    for (const auto& [id, node] : nodes_) {
      if (!node.machine) continue;
      all = all && node.machine->epoch() == first.epoch() && node.machine->leaderAndEpoch().leader == *leads &&
            node.machine->highWatermark() && *node.machine->highWatermark() + 5 >= first.log().endOffset();
    }
    if (all) return true;
  }
  return false;
}

void Simulation::run() {
  faults_ = true;
  if (options_.crashEvery > Duration(0)) schedule(options_.crashEvery, Crash{});
  if (options_.partitionEvery > Duration(0)) schedule(options_.partitionEvery, Partition{});
  runFor(options_.faultsFor);
  faults_ = false;
  heal();
  for (auto& [id, node] : nodes_) restart(id);
  const uint64_t before = counts_.committed;
  TIDEMARK_INVARIANT(settle(seconds(20)), fmt::format("L1: no leader followed by all 20 s after the heal"));
  runFor(milliseconds(500));
  TIDEMARK_INVARIANT(counts_.committed > before, std::string("nothing is committed after the heal"));
  for (const auto& [epoch, standing] : candidates_)
    if (standing.size() > 1 && !leaders_.contains(epoch)) ++counts_.splitVotes;
}

}  // namespace tidemark::raft
