#include "faults/fault_book.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

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

events::Kinds FaultBook::awaited() const {
  const Lock lock(mutex_);
  events::Kinds kinds;
  for (const auto& [id, entry] : entries_)
    if (!entry.begun && !entry.beginAt) kinds |= events::Kinds::named(entry.fault.trigger.event);
  return kinds;
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

void FaultBook::begin(int id, Place place, MonotonicTime now, Lasting lasting) {
  Notices notices;
  Waiters waiters;
  {
    const Lock lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end() || found->second.begun) return;
    Entry& entry = found->second;
    entry.begun = true;
    entry.place = std::move(place);
    entry.lasting = std::move(lasting);
    entry.actsSince = now;
    if (entry.fault.duration > Duration{}) entry.endAt = now + entry.fault.duration;
    // What happens to a broker or a file once has happened with this; a clock is wrong from now on.
    const Area area = areaOf(entry.fault.kind);
    if (area == Area::Brokers || area == Area::Clocks || isMomentary(entry.fault.kind)) entry.fired = 1;
    notices.events.emplace_back(injected(entry));
    if (entry.fault.kind == Kind::ClockJump) {
      for (auto& [node, site] : sites_) {
        if (!entry.place.isAt(node)) continue;
        ClockSettings clocks = site->clocks();
        if (entry.fault.clocks & kWall) clocks.wallJumps += entry.fault.offset;
        if (entry.fault.clocks & kMonotonic) clocks.monotonicJumps += entry.fault.offset;
        ++clocks.version;
        site->setClocks(clocks);
      }
    }
    updateSites();
    if (isMomentary(entry.fault.kind)) close(found, Ending::FiredOut);
    waiters = linksChanged();
  }
  tellAll(notices);
  wake(waiters);
}

void FaultBook::leaves(int id, Lasting lasting) {
  const Lock lock(mutex_);
  if (const auto found = entries_.find(id); found != entries_.end()) found->second.lasting = std::move(lasting);
}

std::optional<FaultBook::Ended> FaultBook::end(int id, Ending how, std::string reason) {
  std::optional<Ended> ended;
  Notices notices;
  Waiters waiters;
  {
    const Lock lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return std::nullopt;
    const Entry& entry = found->second;
    if (how != Ending::Dropped) notices.events.emplace_back(healed(entry));
    ended = Ended{.fault = entry.fault, .place = entry.place, .begun = entry.begun};
    close(found, how, std::move(reason));
    updateSites();
    waiters = linksChanged();
  }
  tellAll(notices);
  wake(waiters);
  return ended;
}

void FaultBook::unset(int id) {
  Waiters waiters;
  {
    const Lock lock(mutex_);
    if (entries_.erase(id) == 0) return;
    updateSites();
    waiters = linksChanged();
  }
  wake(waiters);
}

void FaultBook::clear() {
  Waiters waiters;
  {
    const Lock lock(mutex_);
    over_.clear();
    living_.clear();
    if (entries_.empty()) return;
    entries_.clear();
    updateSites();
    waiters = linksChanged();
  }
  wake(waiters);
}

FaultBook::Entries::iterator FaultBook::close(Entries::iterator at, Ending how, std::string reason) {
  Entry& entry = at->second;
  const MonotonicTime now = now_ ? now_() : entry.setAt;
  if (over_.size() == kMostOver) over_.pop_front();
  over_.push_back({.what = {.id = entry.id,
                            .fault = std::move(entry.fault),
                            .node = entry.place.node,
                            .ending = how,
                            .reason = std::move(reason),
                            .fired = entry.fired,
                            .lasting = lastingOf(entry, now)},
                   .setAt = entry.setAt,
                   .endedAt = now});
  return entries_.erase(at);
}

std::vector<FaultStatus> FaultBook::list(MonotonicTime now) const {
  const Lock lock(mutex_);
  return listed(now);
}

FaultBook::Lists FaultBook::lists(MonotonicTime now) const {
  const Lock lock(mutex_);
  Lists both{.set = listed(now), .over = {}};
  for (const Over& each : over_) {
    FaultOver& over = both.over.emplace_back(each.what);
    over.since = now - each.setAt;
    over.ago = now - each.endedAt;
  }
  return both;
}

std::vector<FaultStatus> FaultBook::listed(MonotonicTime now) const {
  std::vector<FaultStatus> all;
  for (const auto& [id, entry] : entries_) {
    FaultStatus status{.id = id,
                       .fault = entry.fault,
                       .node = entry.place.node,
                       .links = entry.place.links,
                       .waits = !entry.begun,
                       .since = now - entry.setAt,
                       .left = {},
                       .fired = entry.fired,
                       .held = entry.held.size(),
                       .lasting = entry.lasting};
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

Error FaultBook::gone(int id) const {
  const Lock lock(mutex_);
  return goneNow(id);
}

Error FaultBook::goneNow(int id) const {
  const auto over = std::ranges::find(over_, id, [](const Over& each) { return each.what.id; });
  if (over != over_.end())
    return {ErrorCode::InvalidRequest, fmt::format("fault {} is over already: {}", id, nameOf(over->what.ending))};
  return {ErrorCode::InvalidRequest, fmt::format("there is no fault {}; `faults` lists those that there are", id)};
}

Result<size_t> FaultBook::step(int id, size_t count) {
  size_t stepped = 0;
  Waiters waiters;
  {
    const Lock lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return fail(goneNow(id));
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

void FaultBook::lives(NodeId node, bool does) {
  const Lock lock(mutex_);
  if (does)
    living_.insert(node);
  else
    living_.erase(node);
  for (auto& [id, entry] : entries_)
    if (entry.begun && entry.place.isAt(node) && now_) entry.actsSince = now_();
  for (Over& each : over_) {
    if (each.what.node != node) continue;
    each.what.lasting.wall = {};
    each.what.lasting.monotonic = {};
  }
}

Lasting FaultBook::lastingOf(Entry& entry, MonotonicTime now) const {
  Lasting lasting = std::move(entry.lasting);
  const Fault& fault = entry.fault;
  if (!entry.begun || areaOf(fault.kind) != Area::Clocks || !living_.contains(entry.place.node)) return lasting;
  const bool isJump = fault.kind == Kind::ClockJump;
  if (isJump && (fault.clocks & kWall)) lasting.wall = fault.offset;
  if (!(fault.clocks & kMonotonic)) return lasting;
  // The wall clock is right again; the monotonic one keeps what it has gained or lost.
  lasting.monotonic =
      fault.kind == Kind::ClockDrift
          ? Duration(static_cast<int64_t>(static_cast<double>((now - entry.actsSince).count()) * (fault.rate - 1)))
          : Duration(fault.offset);
  return lasting;
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
      if (!entry.begun || (areaOf(fault.kind) != Area::Links && !entry.place.isAt(node))) continue;
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

}  // namespace tidemark::faults
