#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "events/event.h"
#include "events/kinds.h"
#include "faults/fault.h"
#include "faults/fault_over.h"
#include "faults/place.h"
#include "faults/site.h"
#include "platform/network.h"

namespace tidemark::faults {

/// A fault of the list.
struct FaultStatus {
  int id = 0;
  Fault fault;
  /// Where it acts; none if it is not about one broker, or has not begun.
  NodeId node = kNoNode;
  /// What is said over which links it is about, names resolved; empty if it is not about links, or has not begun.
  std::vector<LinkRule> links;
  /// It has not begun yet.
  bool waits = false;
  /// Since it was set.
  Duration since{};
  /// Until it begins, or until it ends by itself; empty: until it is healed.
  std::optional<Duration> left;
  /// How many transfers, calls, requests or tasks it has met.
  uint64_t fired = 0;
  /// Of a link: how many transfers and connections it keeps back now.
  size_t held = 0;
  /// What it has done to files so far.
  Lasting lasting = {};
};

/// What becomes of one transfer over a link.
struct LinkVerdict {
  bool held = false;
  bool reset = false;
  Duration delay{};
  /// 0: no limit.
  int64_t bytesPerSecond = 0;
};

/// A call of a disk, as faults tell it from others.
struct FileCall {
  FileCalls kind{};
  /// A write that needs room.
  bool grows = false;
  /// Bytes go into a file. Opening, renaming, removing, cutting off count as writes too, but have none to tear.
  bool hasBytes = false;
};

/// What becomes of one file call.
struct FileVerdict {
  Duration delay{};
  bool fails = false;
  bool isFull = false;
  /// Part of it is written, then the broker dies.
  bool isTorn = false;
};

/// What becomes of one request.
struct RequestVerdict {
  Duration delay{};
  bool disconnects = false;
  /// The fault that drops it, or 0.
  int droppedBy = 0;
  /// None: it is handled.
  ErrorCode error = ErrorCode::None;
};

/// Somebody who holds a transfer or a request back until faults change.
class LinkWaiter {
 public:
  virtual ~LinkWaiter() = default;
  /// Any thread, once for each time it was held: look again, later and elsewhere.
  virtual void linksChanged() = 0;
};

/// The faults of one cluster: which there are, since when, how often each has fired, and what they mean for a transfer,
/// a file call or a request. It decides only; the decorators of faulty_process.h do what it says, and whoever runs the
/// cluster begins and ends faults when they are due, and kills and starts brokers.
///
/// Thread-safe; its lock is a leaf. `tell` and `fired` are called without it, on the thread on which a fault begins,
/// fires or ends, under whatever locks that holds: they must not block. Same faults, same occasions, same verdicts.
class FaultBook {
 public:
  using Tell = std::function<void(const events::Payload&)>;
  /// Told the first time and whenever the number has doubled; may be empty.
  using Fired = std::function<void(int fault, uint64_t times)>;
  /// What time it is; any thread, under the lock. Empty: what ends has ended as soon as it was set.
  using Now = std::function<MonotonicTime()>;
  explicit FaultBook(Tell tell, Fired fired = {}, Now now = {})
      : tell_(std::move(tell)), fired_(std::move(fired)), now_(std::move(now)) {}

  /// So many faults that are over are kept, the newest ones.
  static constexpr size_t kMostOver = 32;

  // --- the list: one thread at a time

  /// A checked fault; it is due at once or after its trigger's time, or so long after its event. Its number is its name
  /// from now on.
  int add(Fault fault, MonotonicTime now) EXCLUDES(mutex_);
  /// The kinds of events that faults wait for.
  events::Kinds awaited() const EXCLUDES(mutex_);
  /// A broker has told that: who waited for it is due.
  void occurred(NodeId teller, std::string_view event, const TopicPartition& about, MonotonicTime now) EXCLUDES(mutex_);
  /// The fault that has to begin or to end next, if its time has come. It stays due until begin() or end().
  struct Due {
    int id;
    Fault fault;
    bool begins;
  };
  std::optional<Due> due(MonotonicTime now) const EXCLUDES(mutex_);
  /// When due() has something; nothing: never by itself.
  std::optional<MonotonicTime> nextDue() const EXCLUDES(mutex_);
  /// It acts from now on. A momentary one is over with this, but for the event. `lasting`: what it has done to files.
  void begin(int id, Place place, MonotonicTime now, Lasting lasting = {}) EXCLUDES(mutex_);
  /// What one that acts has done to files since it began.
  void leaves(int id, Lasting lasting) EXCLUDES(mutex_);
  struct Ended {
    Fault fault;
    Place place;
    bool begun;
  };
  /// It is over; of one that was dropped, for that `reason`, nobody is told. What it was; nothing if there is none of
  /// that number.
  std::optional<Ended> end(int id, Ending how, std::string reason = {}) EXCLUDES(mutex_);
  /// As if it had never been set.
  void unset(int id) EXCLUDES(mutex_);
  /// As if none had.
  void clear() EXCLUDES(mutex_);
  /// By number.
  std::vector<FaultStatus> list(MonotonicTime now) const EXCLUDES(mutex_);
  /// The same, and those that are over, in the order in which they ended: each fault is in one of the two.
  struct Lists {
    std::vector<FaultStatus> set;
    std::vector<FaultOver> over;
  };
  Lists lists(MonotonicTime now) const EXCLUDES(mutex_);
  /// InvalidRequest: there is none of that number, or not any more.
  Error gone(int id) const EXCLUDES(mutex_);
  /// The fault of that kind that acts on the node, or 0.
  int find(Kind kind, NodeId node) const EXCLUDES(mutex_);
  /// Lets the next `count` transfers of those that a hold keeps back pass, in the order in which they came; how many
  /// there were. InvalidRequest if that is no hold.
  Result<size_t> step(int id, size_t count) EXCLUDES(mutex_);

  // --- who is where

  /// A broker's process lives from now on, or does not any more: how wrong its clocks are goes with it.
  void lives(NodeId node, bool does) EXCLUDES(mutex_);
  /// The seam of a broker; the same one for all its lives. Lives as long as anybody holds it.
  std::shared_ptr<const Site> site(NodeId node) EXCLUDES(mutex_);
  /// Which node listens on that port, at which listener.
  struct Listener {
    NodeId node;
    Port port;
  };
  void setListeners(std::map<uint16_t, Listener> listeners) EXCLUDES(mutex_);
  std::optional<Listener> listenerAt(uint16_t port) const EXCLUDES(mutex_);
  /// Connections that brokers opened: whoever accepts one leaves it to them.
  void opened(const platform::Endpoint& local) EXCLUDES(mutex_);
  void closed(const platform::Endpoint& local) EXCLUDES(mutex_);
  bool isBrokers(const platform::Endpoint& remote) const EXCLUDES(mutex_);

  // --- verdicts: any thread, asked only where a Site's flag is set

  /// Of a transfer of `bytes`, or (0) of an attempt to connect. If it is held `waiter` is told when to ask again, with
  /// the same `ticket` (one of newTicket()).
  LinkVerdict transfer(const Passage& passage, uint64_t bytes, uint64_t ticket, const std::weak_ptr<LinkWaiter>& waiter)
      EXCLUDES(mutex_);
  uint64_t newTicket() EXCLUDES(mutex_);
  /// Whoever had the ticket is gone.
  void forget(uint64_t ticket) EXCLUDES(mutex_);
  /// `path` as the call names it.
  FileVerdict fileCall(NodeId node, FileCall call, const std::string& path) EXCLUDES(mutex_);
  /// Whether a verdict on such a request depends on what it names: not all are read for the sake of a few.
  bool askWhatIsNamed(NodeId node, std::string_view api, std::string_view client) const EXCLUDES(mutex_);
  /// `named`: the topics and partitions that the request is about, where that is asked.
  RequestVerdict request(NodeId node, std::string_view api, std::string_view client,
                         const std::vector<TopicPartition>& named) EXCLUDES(mutex_);
  /// Whether that fault is there; `waiter` is told when to ask again.
  bool acts(int id, const std::weak_ptr<LinkWaiter>& waiter) EXCLUDES(mutex_);
  /// How much longer each task of a broker takes.
  Duration slowness(NodeId node) EXCLUDES(mutex_);

 private:
  struct Entry {
    int id = 0;
    Fault fault;
    Place place;
    bool begun = false;
    MonotonicTime setAt;
    /// None: it waits for its event.
    std::optional<MonotonicTime> beginAt;
    std::optional<MonotonicTime> endAt;
    /// Occasions it could have taken, and those it took.
    uint64_t seen = 0;
    uint64_t fired = 0;
    uint64_t random = 0;
    /// An nth that was: it is over.
    bool spent = false;
    Lasting lasting;
    /// When it began, or when the process did that it has been acting on.
    MonotonicTime actsSince;
    /// Of links: tickets of what is kept back, and (of a hold) of what may pass.
    std::set<uint64_t> held;
    std::set<uint64_t> passing;
  };
  struct Notices {
    std::vector<events::Payload> events;
    std::vector<std::pair<int, uint64_t>> fired;
  };
  struct Over {
    FaultOver what;
    MonotonicTime setAt;
    MonotonicTime endedAt;
  };
  using Entries = std::map<int, Entry>;
  using Waiters = std::vector<std::weak_ptr<LinkWaiter>>;

  /// When it has to begin or to end; none: never by itself.
  static std::optional<MonotonicTime> nextOf(const Entry& entry) { return entry.begun ? entry.endAt : entry.beginAt; }
  static events::FaultInjected injected(const Entry& entry);
  static events::FaultHealed healed(const Entry& entry);
  /// Whether it is about such requests, if they name its topic.
  static bool isAbout(const Entry& entry, NodeId node, std::string_view api, std::string_view client);
  /// Whether the fault takes this occasion; counted.
  static bool takes(Entry& entry, Notices& notices);
  static uint64_t draw(Entry& entry);
  static Duration lateness(Entry& entry);
  /// Takes it out of the list and keeps it among those that are over.
  Entries::iterator close(Entries::iterator at, Ending how, std::string reason = {}) REQUIRES(mutex_);
  /// With what its clocks keep.
  Lasting lastingOf(Entry& entry, MonotonicTime now) const REQUIRES(mutex_);
  std::vector<FaultStatus> listed(MonotonicTime now) const REQUIRES(mutex_);
  void dropSpent() REQUIRES(mutex_);
  void updateSites() REQUIRES(mutex_);
  Waiters linksChanged() REQUIRES(mutex_);
  static void wake(const Waiters& waiters);
  void tellAll(const Notices& notices) const;
  Site& siteOf(NodeId node) REQUIRES(mutex_);
  Error goneNow(int id) const REQUIRES(mutex_);

  const Tell tell_;
  const Fired fired_;
  const Now now_;
  mutable Mutex mutex_;
  int nextId_ GUARDED_BY(mutex_) = 1;
  uint64_t nextTicket_ GUARDED_BY(mutex_) = 1;
  Entries entries_ GUARDED_BY(mutex_);
  std::deque<Over> over_ GUARDED_BY(mutex_);
  /// Nodes whose process lives.
  std::set<NodeId> living_ GUARDED_BY(mutex_);
  std::map<NodeId, std::shared_ptr<Site>> sites_ GUARDED_BY(mutex_);
  std::map<uint16_t, Listener> listeners_ GUARDED_BY(mutex_);
  std::set<platform::Endpoint> opened_ GUARDED_BY(mutex_);
  Waiters waiters_ GUARDED_BY(mutex_);
};

/// Whether the end of `path` has the form of `pattern`, in which '*' stands for anything: "*.log", "orders-0/*". Empty:
/// any.
bool matchesPath(std::string_view pattern, std::string_view path) noexcept;

}  // namespace tidemark::faults
