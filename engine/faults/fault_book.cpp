#include "faults/fault_book.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "faults/refusals.h"

namespace tidemark::faults {
namespace {

bool glob(std::string_view pattern, std::string_view text) noexcept {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

events::FaultKind eventKind(Kind kind) noexcept {
  return kind == Kind::Kill    ? events::FaultKind::Kill
         : kind == Kind::Pause ? events::FaultKind::Pause
                               : events::FaultKind::Other;
}

bool isCut(Kind kind) noexcept {
  return kind == Kind::Cut || kind == Kind::Isolate || kind == Kind::Halves || kind == Kind::Bridge ||
         kind == Kind::Ring;
}

uint32_t flagOf(Area area) noexcept {
  switch (area) {
    case Area::Links:
      return kLinkFaults;
    case Area::Disks:
      return kDiskFaults;
    case Area::Clocks:
      return kClockFaults;
    case Area::Requests:
      return kRequestFaults;
    case Area::Brokers:
      break;
  }
  return 0;
}

bool isAt(const Place& place, NodeId node) noexcept {
  return place.node == kNoNode || place.node == node;
}

}  // namespace

bool matchesPath(std::string_view pattern, std::string_view path) noexcept {
  if (pattern.empty()) return true;
  for (size_t from = 0; from != std::string_view::npos;) {
    if (glob(pattern, path.substr(from))) return true;
    const size_t slash = path.find('/', from);
    from = slash == std::string_view::npos ? slash : slash + 1;
  }
  return false;
}

// --- the list
// -------------------------------------------------------------------------------------------------------

int FaultBook::add(Fault fault, MonotonicTime now) {
  const Lock lock(mutex_);
  const int id = nextId_++;
  Entry& entry = entries_[id];
  entry.id = id;
  entry.setAt = now;
  if (fault.trigger.event.empty()) entry.beginAt = now + fault.trigger.after;
  entry.random = fault.trigger.seed;
  entry.fault = std::move(fault);
  return id;
}

bool FaultBook::awaitsEvents() const {
  const Lock lock(mutex_);
  return std::ranges::any_of(entries_, [](const auto& each) { return !each.second.begun && !each.second.beginAt; });
}

void FaultBook::occurred(NodeId teller, std::string_view event, const TopicPartition& about, MonotonicTime now) {
  const Lock lock(mutex_);
  for (auto& [id, entry] : entries_) {
    const Trigger& trigger = entry.fault.trigger;
    if (entry.begun || entry.beginAt || trigger.event != event) continue;
    if (trigger.teller != kNoNode && trigger.teller != teller) continue;
    if (!trigger.about.topic.empty() && trigger.about != about) continue;
    entry.beginAt = now + trigger.after;
  }
}

std::optional<FaultBook::Due> FaultBook::due(MonotonicTime now) const {
  const Lock lock(mutex_);
  const Entry* first = nullptr;
  MonotonicTime when{};
  for (const auto& [id, entry] : entries_) {
    const auto at = nextOf(entry);
    if (!at || *at > now || (first != nullptr && *at >= when)) continue;
    first = &entry;
    when = *at;
  }
  if (first == nullptr) return std::nullopt;
  return Due{.id = first->id, .fault = first->fault, .begins = !first->begun};
}

std::optional<MonotonicTime> FaultBook::nextDue() const {
  const Lock lock(mutex_);
  std::optional<MonotonicTime> next;
  for (const auto& [id, entry] : entries_)
    if (const auto at = nextOf(entry); at && (!next || *at < *next)) next = at;
  return next;
}

void FaultBook::begin(int id, Place place, MonotonicTime now) {
  Notices notices;
  Waiters waiters;
  {
    const Lock lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end() || found->second.begun) return;
    Entry& entry = found->second;
    entry.begun = true;
    entry.place = std::move(place);
    if (entry.fault.duration > Duration{}) entry.endAt = now + entry.fault.duration;
    // What happens to a broker or a file once has happened with this.
    if (areaOf(entry.fault.kind) == Area::Brokers || isMomentary(entry.fault.kind)) entry.fired = 1;
    notices.events.emplace_back(injected(entry));
    if (entry.fault.kind == Kind::ClockJump) {
      for (auto& [node, site] : sites_) {
        if (!isAt(entry.place, node)) continue;
        ClockSettings clocks = site->clocks();
        if (entry.fault.clocks & kWall) clocks.wallJumps += entry.fault.offset;
        if (entry.fault.clocks & kMonotonic) clocks.monotonicJumps += entry.fault.offset;
        ++clocks.version;
        site->setClocks(clocks);
      }
    }
    updateSites();
    if (isMomentary(entry.fault.kind)) entries_.erase(found);
    waiters = linksChanged();
  }
  tellAll(notices);
  wake(waiters);
}

std::optional<FaultBook::Ended> FaultBook::end(int id, Why why) {
  std::optional<Ended> ended;
  Notices notices;
  Waiters waiters;
  {
    const Lock lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return std::nullopt;
    Entry& entry = found->second;
    if (why != Why::Dropped) notices.events.emplace_back(healed(entry));
    ended = Ended{.fault = std::move(entry.fault), .place = std::move(entry.place), .begun = entry.begun};
    entries_.erase(found);
    updateSites();
    waiters = linksChanged();
  }
  tellAll(notices);
  wake(waiters);
  return ended;
}

std::vector<FaultStatus> FaultBook::list(MonotonicTime now) const {
  const Lock lock(mutex_);
  std::vector<FaultStatus> all;
  for (const auto& [id, entry] : entries_) {
    FaultStatus status{.id = id,
                       .fault = entry.fault,
                       .node = entry.place.node,
                       .links = entry.place.links,
                       .waits = !entry.begun,
                       .since = now - entry.setAt,
                       .left = {},
                       .fired = entry.fired};
    if (const auto next = nextOf(entry)) status.left = std::max(*next - now, Duration{});
    all.push_back(std::move(status));
  }
  return all;
}

int FaultBook::find(Kind kind, NodeId node) const {
  const Lock lock(mutex_);
  for (const auto& [id, entry] : entries_)
    if (entry.begun && entry.fault.kind == kind && entry.place.node == node) return id;
  return 0;
}

Result<size_t> FaultBook::step(int id, size_t count) {
  size_t stepped = 0;
  Waiters waiters;
  {
    const Lock lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return fail(ErrorCode::InvalidRequest, fmt::format("there is no fault {}", id));
    Entry& entry = found->second;
    if (entry.fault.kind != Kind::Hold)
      return fail(ErrorCode::InvalidRequest,
                  fmt::format("fault {} is a {}: only a hold can be stepped", id, nameOf(entry.fault.kind)));
    for (; stepped < count && !entry.held.empty(); ++stepped)
      entry.passing.insert(entry.held.extract(entry.held.begin()));
    waiters = linksChanged();
  }
  wake(waiters);
  return stepped;
}

// --- who is where
// ---------------------------------------------------------------------------------------------------

Site& FaultBook::siteOf(NodeId node) {
  auto& site = sites_[node];
  if (!site) site = std::make_shared<Site>(node);
  return *site;
}

std::shared_ptr<const Site> FaultBook::site(NodeId node) {
  const Lock lock(mutex_);
  siteOf(node);
  updateSites();
  return sites_[node];
}

void FaultBook::setListeners(std::map<uint16_t, Listener> listeners) {
  const Lock lock(mutex_);
  listeners_ = std::move(listeners);
}

std::optional<FaultBook::Listener> FaultBook::listenerAt(uint16_t port) const {
  const Lock lock(mutex_);
  const auto found = listeners_.find(port);
  return found == listeners_.end() ? std::nullopt : std::optional(found->second);
}

void FaultBook::opened(const platform::Endpoint& local) {
  const Lock lock(mutex_);
  opened_.insert(local);
}

void FaultBook::closed(const platform::Endpoint& local) {
  const Lock lock(mutex_);
  opened_.erase(local);
}

bool FaultBook::isBrokers(const platform::Endpoint& remote) const {
  const Lock lock(mutex_);
  return opened_.contains(remote);
}

void FaultBook::updateSites() {
  for (auto& [node, site] : sites_) {
    uint32_t flags = 0;
    ClockSettings clocks = site->clocks();
    const ClockSettings before = clocks;
    clocks.wallOffset = {};
    clocks.monotonicOffset = {};
    clocks.wallRate = clocks.monotonicRate = 1;
    for (const auto& [id, entry] : entries_) {
      const Fault& fault = entry.fault;
      // A link is faulted at the side that connected, which may be any other than the one that the fault names.
      if (!entry.begun || (areaOf(fault.kind) != Area::Links && !isAt(entry.place, node))) continue;
      flags |= fault.kind == Kind::Slow ? kSlowFaults : flagOf(areaOf(fault.kind));
      if (fault.kind == Kind::ClockOffset) {
        if (fault.clocks & kWall) clocks.wallOffset += fault.offset;
        if (fault.clocks & kMonotonic) clocks.monotonicOffset += fault.offset;
      } else if (fault.kind == Kind::ClockDrift) {
        if (fault.clocks & kWall) clocks.wallRate *= fault.rate;
        if (fault.clocks & kMonotonic) clocks.monotonicRate *= fault.rate;
      }
    }
    if (clocks.wallOffset != before.wallOffset || clocks.monotonicOffset != before.monotonicOffset ||
        clocks.wallRate != before.wallRate || clocks.monotonicRate != before.monotonicRate)
      ++clocks.version;
    // What a clock has gained stays: from its first fault on it is asked for always.
    if (clocks.version != 0) flags |= kClockFaults;
    site->setClocks(clocks);
    site->setFlags(flags);
  }
}

FaultBook::Waiters FaultBook::linksChanged() {
  return std::exchange(waiters_, {});
}

void FaultBook::wake(const Waiters& waiters) {
  for (const auto& weak : waiters)
    if (const auto waiter = weak.lock()) waiter->linksChanged();
}

void FaultBook::tellAll(const Notices& notices) const {
  for (const auto& [fault, times] : notices.fired)
    if (fired_) fired_(fault, times);
  for (const events::Payload& event : notices.events) tell_(event);
}

// --- verdicts
// -------------------------------------------------------------------------------------------------------

events::FaultInjected FaultBook::injected(const Entry& entry) {
  return {.fault = entry.id,
          .kind = eventKind(entry.fault.kind),
          .node = entry.place.node,
          .target = std::string_view(textOf(entry.fault)),
          .duration = entry.fault.duration};
}

events::FaultHealed FaultBook::healed(const Entry& entry) {
  return {.fault = entry.id,
          .kind = eventKind(entry.fault.kind),
          .node = entry.place.node,
          .target = std::string_view(textOf(entry.fault))};
}

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
  if (std::erase_if(entries_, [](const auto& each) { return each.second.spent; }) > 0) updateSites();
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
      if (isCut(entry.fault.kind) || (entry.fault.kind == Kind::Hold && bytes > 0)) {
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

FileVerdict FaultBook::fileCall(NodeId node, FileCalls call, const std::string& path, bool grows) {
  FileVerdict verdict;
  Notices notices;
  {
    const Lock lock(mutex_);
    for (auto& [id, entry] : entries_) {
      const Fault& fault = entry.fault;
      if (!entry.begun || areaOf(fault.kind) != Area::Disks || !isAt(entry.place, node)) continue;
      if (!(fault.fileCalls & call) || !matchesPath(fault.path, path)) continue;
      const bool isAbout = fault.kind == Kind::SlowDisk || fault.kind == Kind::DiskError ||
                           (fault.kind == Kind::FullDisk && grows) ||
                           (fault.kind == Kind::TornWrite && call == kWrites);
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
    }
    dropSpent();
  }
  tellAll(notices);
  return verdict;
}

RequestVerdict FaultBook::request(NodeId node, std::string_view api, std::string_view client,
                                  const std::vector<TopicPartition>& named) {
  RequestVerdict verdict;
  Notices notices;
  {
    const Lock lock(mutex_);
    for (auto& [id, entry] : entries_) {
      const Fault& fault = entry.fault;
      if (!entry.begun || areaOf(fault.kind) != Area::Requests || !isAt(entry.place, node)) continue;
      if (!fault.api.empty() && fault.api != api) continue;
      if (!entry.place.client.empty() && entry.place.client != client) continue;
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
    if (!entry.begun || entry.fault.kind != Kind::Slow || !isAt(entry.place, node)) continue;
    ++entry.fired;
    sum += entry.fault.delay;
  }
  return sum;
}

}  // namespace tidemark::faults
