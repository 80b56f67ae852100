#include <algorithm>

#include "faults/fault_book.h"
#include "faults/refusals.h"

// What the faults of the list mean for a transfer, a file call, a request, a task.

namespace tidemark::faults {

uint64_t FaultBook::draw(Entry& entry) {
  uint64_t z = entry.random += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

bool FaultBook::takes(Entry& entry, Notices& notices) {
  ++entry.seen;
  const Trigger& trigger = entry.fault.trigger;
  switch (trigger.which) {
    case Trigger::Which::Each:
      break;
    case Trigger::Which::Nth:
      if (entry.seen != trigger.n) return false;
      entry.spent = true;
      break;
    case Trigger::Which::EveryNth:
      if (entry.seen % trigger.n != 0) return false;
      break;
    case Trigger::Which::Chance:
      // 53 bits are what a double holds.
      if (static_cast<double>(draw(entry) >> 11) * 0x1p-53 >= trigger.chance) return false;
      break;
  }
  ++entry.fired;
  if ((entry.fired & (entry.fired - 1)) == 0) notices.fired.emplace_back(entry.id, entry.fired);
  if (entry.spent) notices.events.emplace_back(healed(entry));
  return true;
}

Duration FaultBook::lateness(Entry& entry) {
  const Duration jitter = entry.fault.jitter;
  Duration late = entry.fault.delay;
  if (jitter > Duration{})
    late += Duration(static_cast<int64_t>(draw(entry) % static_cast<uint64_t>(2 * jitter.count() + 1))) - jitter;
  return std::max(late, Duration{});
}

void FaultBook::dropSpent() {
  bool any = false;
  for (auto at = entries_.begin(); at != entries_.end();) {
    any |= at->second.spent;
    at = at->second.spent ? close(at, Ending::FiredOut) : std::next(at);
  }
  if (any) updateSites();
}

LinkVerdict FaultBook::transfer(const Passage& passage, uint64_t bytes, uint64_t ticket,
                                const std::weak_ptr<LinkWaiter>& waiter) {
  LinkVerdict verdict;
  Notices notices;
  {
    const Lock lock(mutex_);
    for (auto& [id, entry] : entries_) {
      if (!entry.begun || areaOf(entry.fault.kind) != Area::Links) continue;
      if (std::ranges::none_of(entry.place.links, [&](const LinkRule& rule) { return matches(rule, passage); }))
        continue;
      // With a hold one can connect.
      if (keepsBack(entry.fault.kind) && (entry.fault.kind != Kind::Hold || bytes > 0)) {
        if (entry.passing.contains(ticket)) continue;
        // Asked again it is the same transfer.
        if (entry.held.insert(ticket).second) takes(entry, notices);
        verdict.held = true;
      }
    }
    // What is held meets the others when it passes.
    for (auto& [id, entry] : entries_) {
      if (verdict.held) break;
      if (!entry.begun || areaOf(entry.fault.kind) != Area::Links) continue;
      if (std::ranges::none_of(entry.place.links, [&](const LinkRule& rule) { return matches(rule, passage); }))
        continue;
      entry.passing.erase(ticket);
      if (entry.fault.kind == Kind::Delay && takes(entry, notices)) verdict.delay += lateness(entry);
      if (entry.fault.kind == Kind::Reset && takes(entry, notices)) verdict.reset = true;
      if (entry.fault.kind == Kind::Throttle && bytes > 0 && takes(entry, notices))
        verdict.bytesPerSecond = verdict.bytesPerSecond == 0
                                     ? entry.fault.bytesPerSecond
                                     : std::min(verdict.bytesPerSecond, entry.fault.bytesPerSecond);
    }
    if (verdict.held) waiters_.push_back(waiter);
    dropSpent();
  }
  tellAll(notices);
  return verdict;
}

uint64_t FaultBook::newTicket() {
  const Lock lock(mutex_);
  return nextTicket_++;
}

void FaultBook::forget(uint64_t ticket) {
  const Lock lock(mutex_);
  for (auto& [id, entry] : entries_) {
    entry.held.erase(ticket);
    entry.passing.erase(ticket);
  }
  std::erase_if(waiters_, [](const auto& weak) { return weak.expired(); });
}

FileVerdict FaultBook::fileCall(NodeId node, FileCall call, const std::string& path) {
  FileVerdict verdict;
  Notices notices;
  {
    const Lock lock(mutex_);
    for (auto& [id, entry] : entries_) {
      const Fault& fault = entry.fault;
      if (!entry.begun || areaOf(fault.kind) != Area::Disks || !entry.place.isAt(node)) continue;
      if (!(fault.fileCalls & call.kind) || !matchesPath(fault.path, path)) continue;
      const bool isAbout = fault.kind == Kind::SlowDisk || fault.kind == Kind::DiskError ||
                           (fault.kind == Kind::FullDisk && call.grows) ||
                           (fault.kind == Kind::TornWrite && call.hasBytes);
      if (!isAbout || !takes(entry, notices)) continue;
      if (fault.kind == Kind::SlowDisk) verdict.delay += lateness(entry);
      verdict.fails |= fault.kind == Kind::DiskError;
      verdict.isFull |= fault.kind == Kind::FullDisk;
      verdict.isTorn |= fault.kind == Kind::TornWrite;
      // The broker dies of it: there is no second one.
      if (verdict.isTorn && !entry.spent) {
        entry.spent = true;
        notices.events.emplace_back(healed(entry));
      }
      if (fault.kind == Kind::TornWrite) entry.lasting.add(path);
    }
    dropSpent();
  }
  tellAll(notices);
  return verdict;
}

bool FaultBook::isAbout(const Entry& entry, NodeId node, std::string_view api, std::string_view client) {
  const Fault& fault = entry.fault;
  return entry.begun && areaOf(fault.kind) == Area::Requests && entry.place.isAt(node) &&
         (fault.api.empty() || fault.api == api) && (entry.place.client.empty() || entry.place.client == client);
}

bool FaultBook::askWhatIsNamed(NodeId node, std::string_view api, std::string_view client) const {
  const Lock lock(mutex_);
  return std::ranges::any_of(entries_, [&](const auto& each) {
    return !each.second.fault.topic.empty() && isAbout(each.second, node, api, client);
  });
}

RequestVerdict FaultBook::request(NodeId node, std::string_view api, std::string_view client,
                                  const std::vector<TopicPartition>& named) {
  RequestVerdict verdict;
  Notices notices;
  {
    const Lock lock(mutex_);
    for (auto& [id, entry] : entries_) {
      const Fault& fault = entry.fault;
      if (!isAbout(entry, node, api, client)) continue;
      const auto isNamed = [&](const TopicPartition& each) {
        return each.topic == fault.topic && (!fault.partition || *fault.partition == each.partition);
      };
      if (!fault.topic.empty() && std::ranges::none_of(named, isNamed)) continue;
      if (fault.kind == Kind::RequestError && !canRefuse(api)) continue;
      if (!takes(entry, notices)) continue;
      if (fault.kind == Kind::RequestDelay) verdict.delay += lateness(entry);
      if (fault.kind == Kind::RequestDisconnect) verdict.disconnects = true;
      if (fault.kind == Kind::RequestDrop && verdict.droppedBy == 0) verdict.droppedBy = id;
      if (fault.kind == Kind::RequestError && verdict.error == ErrorCode::None) verdict.error = fault.error;
    }
    dropSpent();
  }
  tellAll(notices);
  return verdict;
}

bool FaultBook::acts(int id, const std::weak_ptr<LinkWaiter>& waiter) {
  const Lock lock(mutex_);
  waiters_.push_back(waiter);
  return entries_.contains(id);
}

Duration FaultBook::slowness(NodeId node) {
  Duration sum{};
  const Lock lock(mutex_);
  for (auto& [id, entry] : entries_) {
    if (!entry.begun || entry.fault.kind != Kind::Slow || !entry.place.isAt(node)) continue;
    ++entry.fired;
    sum += entry.fault.delay;
  }
  return sum;
}

}  // namespace tidemark::faults
