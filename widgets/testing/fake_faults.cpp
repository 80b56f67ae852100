// What is broken on purpose in a cluster of numbers.
#include <algorithm>
#include <utility>

#include "faults/fault_json.h"
#include "observe/fault_check.h"
#include "testing/fake_cluster.h"

namespace tidemark::widgets::fake {

using namespace std::chrono_literals;
using observe::BrokerState;

namespace {

events::FaultKind tagOf(faults::Kind kind) {
  return kind == faults::Kind::Kill    ? events::FaultKind::Kill
         : kind == faults::Kind::Pause ? events::FaultKind::Pause
                                       : events::FaultKind::Other;
}

events::FaultInjected setEvent(const observe::FaultSnapshot& fault) {
  return {fault.id, tagOf(fault.fault.kind), fault.broker, std::string_view(faults::textOf(fault.fault)),
          fault.fault.duration};
}

events::FaultHealed endEvent(const observe::FaultSnapshot& fault) {
  return {fault.id, tagOf(fault.fault.kind), fault.broker, std::string_view(faults::textOf(fault.fault))};
}

}  // namespace

Result<void> FakeCluster::harm(NodeId id, faults::Kind kind) {
  Broker* broker = find(id);
  if (broker == nullptr) return fail(ErrorCode::BrokerNotAvailable, "there is no such broker");
  if (kind == faults::Kind::Pause && !broker->runs()) return fail(ErrorCode::BrokerNotAvailable, "it does not run");
  broker->shown.state = kind == faults::Kind::Pause ? BrokerState::Paused : BrokerState::Killed;
  broker->changed = m_now;
  // A dead process is not paused any more, and nobody is told of it.
  std::erase_if(m_faults, [this, id](const SetFault& fault) {
    if (fault.shown.broker != id || fault.shown.fault.kind != faults::Kind::Pause) return false;
    keepOver(fault, faults::Ending::Dropped);
    return true;
  });
  SetFault& fault = m_faults.emplace_back();
  fault.at = fault.begun = m_now;
  fault.shown.id = m_nextFault++;
  fault.shown.fault.kind = kind;
  fault.shown.fault.target =
      faults::NodeName{.by = {}, .id = id, .partition = {}, .isController = !broker->shown.isBroker};
  fault.shown.broker = id;
  emit(kNoNode, setEvent(fault.shown));
  if (kind == faults::Kind::Kill) emit(id, events::BrokerDown{id, events::DownCause::Killed});
  return {};
}

void FakeCluster::die(NodeId id) {
  Broker& broker = *find(id);
  broker.shown.state = BrokerState::Killed;
  broker.changed = m_now;
  emit(id, events::BrokerDown{id, events::DownCause::InvariantBroken});
  changed();
}

Result<void> FakeCluster::mend(NodeId id, faults::Ending ending) {
  Broker& broker = *find(id);
  for (const SetFault& fault : m_faults)
    if (fault.shown.broker == id && faults::areaOf(fault.shown.fault.kind) == faults::Area::Brokers) {
      emit(kNoNode, endEvent(fault.shown));
      keepOver(fault, ending);
    }
  std::erase_if(m_faults, [id](const SetFault& fault) {
    return fault.shown.broker == id && faults::areaOf(fault.shown.fault.kind) == faults::Area::Brokers;
  });
  const bool paused = broker.shown.state == BrokerState::Paused;
  broker.shown.state = BrokerState::Running;
  broker.changed = m_now;
  if (paused || !broker.shown.isBroker) return {};
  broker.shown.epoch = BrokerEpoch(m_nextEpoch++);
  emit(m_controller, events::BrokerRegistered{id, broker.shown.epoch});
  emit(id, events::BrokerStarted{id});
  returned(id);
  return {};
}

void FakeCluster::setFault(faults::Fault fault, std::move_only_function<void(Result<int>)> done) {
  commands.push_back("fault " + faults::toJson(fault));
  auto number = std::make_shared<int>(0);
  answer([number, done = std::move(done)](
             Result<void> result) mutable { done(result ? Result<int>(*number) : fail(std::move(result).error())); },
         [this, number, fault = std::move(fault)]() -> Result<void> {
           if (m_nextError) return fail(std::exchange(m_nextError, std::nullopt).value());
           const observe::ClusterSnapshot now = take();
           if (auto possible = observe::checkFault(fault, now); !possible) return possible;
           const auto place = observe::placeOf(fault, now);
           *number = m_nextFault;
           if (fault.kind == faults::Kind::Kill || fault.kind == faults::Kind::Pause) {
             const Result<void> harmed = harm(place->node, fault.kind);
             if (harmed) m_faults.back().shown.fault = fault;
             return harmed;
           }
           ++m_nextFault;
           SetFault set;
           set.at = set.begun = m_now;
           set.shown.id = *number;
           set.shown.fault = fault;
           set.shown.broker = place ? place->node : kNoNode;
           if (place) set.shown.links = place->links;
           set.shown.waits = fault.trigger.after > 0ns;
           set.shown.unmatched = std::exchange(unmatched, {});
           if (!set.shown.waits) emit(kNoNode, setEvent(set.shown));
           if (!faults::isMomentary(fault.kind)) {
             m_faults.push_back(std::move(set));
             return {};
           }
           set.shown.fired = 1;
           keepOver(set, faults::Ending::FiredOut);
           return {};
         });
}

void FakeCluster::keepOver(const SetFault& fault, faults::Ending ending) {
  const observe::FaultSnapshot& shown = fault.shown;
  m_faultsOver.push_back({.id = shown.id,
                          .fault = shown.fault,
                          .broker = shown.broker,
                          .ending = ending,
                          .setAt = observe::MonotonicTime(fault.at),
                          .endedAt = observe::MonotonicTime(m_now),
                          .fired = shown.fired,
                          .lasting = std::exchange(lasting, {}),
                          .unmatched = shown.unmatched});
  if (m_faultsOver.size() > 32) m_faultsOver.erase(m_faultsOver.begin());
}

Result<void> FakeCluster::endFault(int id, faults::Ending ending) {
  const auto found = std::ranges::find_if(m_faults, [id](const SetFault& fault) { return fault.shown.id == id; });
  if (found == m_faults.end()) return fail(ErrorCode::InvalidRequest, "there is no fault " + std::to_string(id));
  const SetFault ended = *found;
  const faults::Kind kind = ended.shown.fault.kind;
  if (kind == faults::Kind::Kill || kind == faults::Kind::Pause) return mend(ended.shown.broker, ending);
  m_faults.erase(found);
  emit(kNoNode, endEvent(ended.shown));
  keepOver(ended, ending);
  return {};
}

observe::ClusterSource::Done FakeCluster::answerHealed(std::shared_ptr<size_t> count, FaultsHealed done) {
  return [this, count = std::move(count), done = std::move(done)](Result<void> result) mutable {
    if (!result) return done(fail(std::move(result).error()));
    observe::Healed healed{.count = *count, .down = {}};
    for (const auto& [id, broker] : m_brokers)
      if (broker.shown.state == BrokerState::Killed && std::ranges::none_of(m_faults, [&](const SetFault& fault) {
            return fault.shown.broker == broker.shown.id && fault.shown.fault.kind == faults::Kind::Kill;
          }))
        healed.down.push_back(broker.shown.id);
    done(std::move(healed));
  };
}

void FakeCluster::healFault(int id, FaultsHealed done) {
  commands.push_back("heal " + std::to_string(id));
  answer(answerHealed(std::make_shared<size_t>(1), std::move(done)), [this, id]() -> Result<void> {
    const Result<void> ended = endFault(id);
    // It is over all the same.
    if (ended && m_nextError) return fail(std::exchange(m_nextError, std::nullopt).value());
    return ended;
  });
}

void FakeCluster::healAll(FaultsHealed done) {
  commands.emplace_back("heal all");
  const auto count = std::make_shared<size_t>(0);
  answer(answerHealed(count, std::move(done)), [this, count]() -> Result<void> {
    for (; !m_faults.empty(); ++*count)
      if (auto ended = endFault(m_faults.front().shown.id); !ended) return ended;
    return {};
  });
}

void FakeCluster::stepFault(int id, size_t count, std::move_only_function<void(Result<size_t>)> done) {
  commands.push_back("step " + std::to_string(id) + " " + std::to_string(count));
  auto stepped = std::make_shared<size_t>(0);
  answer(
      [stepped, done = std::move(done)](Result<void> result) mutable {
        done(result ? Result<size_t>(*stepped) : fail(std::move(result).error()));
      },
      [this, id, count, stepped]() -> Result<void> {
        for (SetFault& fault : m_faults) {
          if (fault.shown.id != id) continue;
          *stepped = std::min(count, fault.shown.held);
          fault.shown.held -= *stepped;
        }
        changed();
        return {};
      });
}

void FakeCluster::hold(int id, size_t transfers) {
  for (SetFault& fault : m_faults)
    if (fault.shown.id == id) fault.shown.held = transfers;
  changed();
}

void FakeCluster::fire(int id, uint64_t times) {
  for (SetFault& fault : m_faults)
    if (fault.shown.id == id) fault.shown.fired = times;
  changed();
}

void FakeCluster::expireFaults() {
  std::vector<int> over;
  for (SetFault& fault : m_faults) {
    if (fault.shown.waits && m_now - fault.at >= fault.shown.fault.trigger.after) {
      fault.shown.waits = false;
      fault.begun = m_now;
      emit(kNoNode, setEvent(fault.shown));
    }
    if (!fault.shown.waits && fault.shown.fault.duration > 0ns && m_now - fault.begun >= fault.shown.fault.duration)
      over.push_back(fault.shown.id);
  }
  for (const int id : over) static_cast<void>(endFault(id, faults::Ending::Expired));
}

}  // namespace tidemark::widgets::fake
