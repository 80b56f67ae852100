#include "faults/fault.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "faults/named.h"
#include "faults/refusals.h"
#include "faults/tellers.h"
#include "protocol/api.h"

namespace tidemark::faults {
namespace {

struct KindInfo {
  Kind kind;
  std::string_view name;
  Area area;
  uint32_t required;
  uint32_t optional;
  bool momentary = false;
};

constexpr uint32_t kRequests = kTarget | kApi | kTopic | kPartition | kOccasions | kDuration;
constexpr uint32_t kDisk = kPath | kDuration;

// In the order of the enumeration.
constexpr std::array kKinds = {
    KindInfo{Kind::Cut, "cut", Area::Links, kTarget, kDuration},
    KindInfo{Kind::Delay, "delay", Area::Links, kTarget | kDelay, kJitter | kOccasions | kDuration},
    KindInfo{Kind::Reset, "reset", Area::Links, kTarget, kOccasions | kDuration},
    KindInfo{Kind::Throttle, "throttle", Area::Links, kTarget | kBytesPerSecond, kDuration},
    KindInfo{Kind::Hold, "hold", Area::Links, kTarget, kDuration},
    KindInfo{Kind::Isolate, "isolate", Area::Links, kTarget, kWithClients | kDuration},
    KindInfo{Kind::Halves, "halves", Area::Links, kGroups, kDuration},
    KindInfo{Kind::Bridge, "bridge", Area::Links, kTarget, kDuration},
    KindInfo{Kind::Ring, "ring", Area::Links, 0, kDuration},
    KindInfo{Kind::Kill, "kill", Area::Brokers, kTarget, kDuration},
    KindInfo{Kind::PowerLoss, "power-loss", Area::Brokers, kTarget, kDuration},
    KindInfo{Kind::Pause, "pause", Area::Brokers, kTarget, kDuration},
    KindInfo{Kind::Slow, "slow", Area::Brokers, kTarget | kDelay, kDuration},
    KindInfo{Kind::Stop, "stop", Area::Brokers, kTarget, kDuration},
    KindInfo{Kind::Restart, "restart", Area::Brokers, kTarget, 0, true},
    KindInfo{Kind::Wipe, "wipe", Area::Brokers, kTarget, kPath, true},
    KindInfo{Kind::SlowDisk, "slow-disk", Area::Disks, kTarget | kDelay, kDisk | kJitter | kFileCalls | kOccasions},
    KindInfo{Kind::DiskError, "disk-error", Area::Disks, kTarget, kDisk | kFileCalls | kOccasions},
    KindInfo{Kind::FullDisk, "full-disk", Area::Disks, kTarget, kDisk},
    KindInfo{Kind::TornWrite, "torn-write", Area::Disks, kTarget, kPath | kOccasions},
    KindInfo{Kind::BitFlip, "bit-flip", Area::Disks, kTarget | kPath, 0, true},
    KindInfo{Kind::ClockOffset, "clock-offset", Area::Clocks, kTarget | kOffset, kClocks | kDuration},
    KindInfo{Kind::ClockJump, "clock-jump", Area::Clocks, kTarget | kOffset, kClocks, true},
    KindInfo{Kind::ClockDrift, "clock-drift", Area::Clocks, kTarget | kRate, kClocks | kDuration},
    KindInfo{Kind::RequestError, "request-error", Area::Requests, kApi | kError, kRequests},
    KindInfo{Kind::RequestDelay, "request-delay", Area::Requests, kDelay, kRequests | kJitter},
    KindInfo{Kind::RequestDrop, "request-drop", Area::Requests, 0, kRequests},
    KindInfo{Kind::RequestDisconnect, "request-disconnect", Area::Requests, 0, kRequests},
};
static_assert(std::ranges::all_of(kKinds, [i = 0](const KindInfo& info) mutable {
  return static_cast<int>(info.kind) == i++;
}));

const KindInfo& infoOf(Kind kind) noexcept {
  return kKinds[static_cast<size_t>(kind)];
}

constexpr std::string_view kMetadataTopic = "__cluster_metadata";
constexpr milliseconds kLongest = std::chrono::hours(24 * 365);
constexpr double kSlowest = 0.01;
constexpr double kFastest = 100;

std::unexpected<Error> impossible(const Fault& fault, std::string_view why) {
  return fail(ErrorCode::InvalidRequest, fmt::format("{}: {}", nameOf(fault.kind), why));
}

/// Of the metadata log there is one.
Result<void> checkPartition(const Fault& fault, std::string_view topic, PartitionIndex partition) {
  if (topic == kMetadataTopic && partition != PartitionIndex(0))
    return impossible(fault, fmt::format("{} has one partition, 0", topic));
  return {};
}

/// Whom the quorum elects has a name of its own.
Result<void> checkNamed(const Fault& fault, const NodeName& node) {
  if (node.by == NodeName::By::LeaderOf && node.partition.topic == kMetadataTopic)
    return impossible(fault, fmt::format("who leads {} is called the active controller", node.partition.topic));
  return {};
}

Result<void> checkTarget(const Fault& fault) {
  const bool isLink = std::holds_alternative<LinkName>(fault.target);
  const bool isNode = std::holds_alternative<NodeName>(fault.target);
  const bool isNothing = std::holds_alternative<std::monostate>(fault.target);
  if (isNothing && (requiredOf(fault.kind) & kTarget)) return impossible(fault, "it needs a target");
  if (!isNothing && !(parametersOf(fault.kind) & kTarget)) return impossible(fault, "it takes no target");
  if (isNothing) return {};
  if (const auto* node = std::get_if<NodeName>(&fault.target)) TIDEMARK_TRY(checkNamed(fault, *node));
  if (const auto* link = std::get_if<LinkName>(&fault.target))
    for (const LinkEnd* end : {&link->from, &link->to}) TIDEMARK_TRY(checkNamed(fault, end->node));
  switch (areaOf(fault.kind)) {
    case Area::Links: {
      const bool wantsNode = fault.kind == Kind::Isolate || fault.kind == Kind::Bridge;
      if (wantsNode && !isNode) return impossible(fault, "its target is a broker");
      if (!wantsNode && !isLink) return impossible(fault, "its target is a link, as in \"link 1->3\"");
      return {};
    }
    case Area::Requests:
      if (isLink) return impossible(fault, "its target is a broker or clients, not a link");
      return {};
    default:
      if (!isNode) return impossible(fault, "its target is a broker");
      return {};
  }
}

Result<void> checkTimes(const Fault& fault) {
  if (fault.duration < Duration{} || fault.duration > kLongest)
    return impossible(fault, fmt::format("durationMs is from 1 to {}, a year", kLongest.count()));
  if (fault.trigger.after < Duration{} || fault.trigger.after > kLongest)
    return impossible(fault, fmt::format("afterMs is from 0 to {}, a year", kLongest.count()));
  if (fault.duration > Duration{} && !(parametersOf(fault.kind) & kDuration))
    return impossible(fault, "it is over at once and takes no durationMs");
  if (fault.trigger.which == Trigger::Which::Each) return {};
  if (!(parametersOf(fault.kind) & kOccasions))
    return impossible(fault, "it begins at a time, not at an occasion: nth, every and probability do not apply");
  if (fault.trigger.n == 0) return impossible(fault, "nth and every are counted from 1");
  if (!(fault.trigger.chance > 0 && fault.trigger.chance <= 1))
    return impossible(fault, "probability is more than 0 and at most 1");
  return {};
}

/// What no node will ever tell.
Result<void> checkEvent(const Fault& fault) {
  const Trigger& trigger = fault.trigger;
  if (trigger.event.empty()) return {};
  const Tellers tellers = tellersOf(trigger.event);
  if (tellers == kNobodyTells) return impossible(fault, fmt::format("nobody tells {}", trigger.event));
  if (tellers == kLabTells && trigger.teller != kNoNode)
    return impossible(fault, fmt::format("the lab tells {}, and no broker: leave \"broker\" out", trigger.event));
  if (trigger.about.topic.empty()) return {};
  if (!isAboutPartition(trigger.event))
    return impossible(fault, fmt::format("{} is about no partition: leave \"partition\" out", trigger.event));
  return checkPartition(fault, trigger.about.topic, trigger.about.partition);
}

/// What no request could ever be.
Result<void> checkRequests(const Fault& fault) {
  if (!fault.api.empty()) {
    const protocol::ApiInfo* api = protocol::findApi(fault.api);
    if (api == nullptr || (!api->onBroker && !api->onController) || api->versions.empty())
      return impossible(fault, fmt::format("no broker and no controller takes {} requests", fault.api));
    if (fault.api == "ApiVersions") return impossible(fault, "ApiVersions is answered before requests are handed out");
    if (!fault.topic.empty() && !namesTopics(fault.api))
      return impossible(fault, fmt::format("{} requests name no topic: leave \"topic\" out", fault.api));
    if (fault.partition && !namesPartitions(fault.api))
      return impossible(fault, fmt::format("{} requests name no partitions: leave \"partition\" out", fault.api));
  }
  if (fault.partition && fault.topic.empty()) return impossible(fault, "\"partition\" needs \"topic\"");
  if (fault.partition) return checkPartition(fault, fault.topic, *fault.partition);
  return {};
}

/// Files are named by the end of their path.
Result<void> checkPath(const Fault& fault) {
  if ((requiredOf(fault.kind) & kPath) && fault.path.empty()) return impossible(fault, "\"path\" says which file");
  if (fault.path.ends_with('/'))
    return impossible(fault, "\"path\" ends with a slash, which no file's or folder's does");
  const std::string framed = fmt::format("/{}/", fault.path);
  for (const std::string_view step : {"/../", "/./", "//"})
    if (!fault.path.empty() && framed.find(step, fault.path.starts_with('/') ? 1 : 0) != std::string::npos)
      return impossible(
          fault, fmt::format("\"path\" is {}: the path of a file has no empty part, no . and no ..", fault.path));
  return {};
}

Result<void> checkGroups(const Fault& fault) {
  if (fault.left.empty() || fault.right.empty())
    return impossible(fault, "\"left\" and \"right\" each name at least one broker");
  for (const auto* group : {&fault.left, &fault.right})
    for (auto at = group->begin(); at != group->end(); ++at)
      if (std::find(group->begin(), at, *at) != at)
        return impossible(fault, fmt::format("broker {} is named twice in one half", *at));
  for (const NodeId node : fault.left)
    if (std::ranges::find(fault.right, node) != fault.right.end())
      return impossible(fault, fmt::format("broker {} cannot be in both halves", node));
  return {};
}

}  // namespace

std::string_view nameOf(Kind kind) noexcept {
  return infoOf(kind).name;
}

std::optional<Kind> kindOf(std::string_view name) noexcept {
  const auto found = std::ranges::find(kKinds, name, &KindInfo::name);
  return found == kKinds.end() ? std::nullopt : std::optional(found->kind);
}

const std::vector<Kind>& allKinds() {
  static const std::vector<Kind> kinds = [] {
    std::vector<Kind> all;
    all.reserve(kKinds.size());
    for (const KindInfo& info : kKinds) all.push_back(info.kind);
    return all;
  }();
  return kinds;
}

Area areaOf(Kind kind) noexcept {
  return infoOf(kind).area;
}
uint32_t parametersOf(Kind kind) noexcept {
  return infoOf(kind).required | infoOf(kind).optional;
}
uint32_t requiredOf(Kind kind) noexcept {
  return infoOf(kind).required;
}
bool isMomentary(Kind kind) noexcept {
  return infoOf(kind).momentary;
}
bool keepsBack(Kind kind) noexcept {
  return kind == Kind::Hold || kind == Kind::Cut || kind == Kind::Isolate || kind == Kind::Halves ||
         kind == Kind::Bridge || kind == Kind::Ring;
}

Result<void> check(const Fault& fault) {
  TIDEMARK_TRY(checkTarget(fault));
  TIDEMARK_TRY(checkTimes(fault));
  TIDEMARK_TRY(checkEvent(fault));
  const uint32_t required = requiredOf(fault.kind);
  if ((required & kDelay) && fault.delay <= milliseconds{}) return impossible(fault, "delayMs is at least 1");
  for (const auto& [name, value] : {std::pair("delayMs", fault.delay), std::pair("jitterMs", fault.jitter)}) {
    if (value < milliseconds{}) return impossible(fault, fmt::format("{} is not negative", name));
    if (value > kLongest) return impossible(fault, fmt::format("{} is at most {}, a year", name, kLongest.count()));
  }
  if ((required & kBytesPerSecond) && fault.bytesPerSecond < 1)
    return impossible(fault, "bytesPerSecond is at least 1");
  if (required & kGroups) TIDEMARK_TRY(checkGroups(fault));
  TIDEMARK_TRY(checkPath(fault));
  if ((parametersOf(fault.kind) & kFileCalls) && fault.fileCalls == 0)
    return impossible(fault, "\"calls\" names at least one of read, write, sync");
  if ((required & kOffset) && fault.offset == milliseconds{}) return impossible(fault, "offsetMs is not 0");
  if (fault.offset > kLongest || fault.offset < -kLongest)
    return impossible(fault, fmt::format("offsetMs is at most {}, a year, also backwards", kLongest.count()));
  if ((parametersOf(fault.kind) & kClocks) && fault.clocks == 0)
    return impossible(fault, "\"clocks\" names wall, monotonic or both");
  if ((required & kOffset) && (fault.clocks & kMonotonic) && fault.offset < milliseconds{})
    return impossible(fault, "the monotonic clock never goes back: only the wall clock can");
  if ((required & kRate) && !(fault.rate >= kSlowest && fault.rate <= kFastest))
    return impossible(fault, fmt::format("rate is from {} to {}", kSlowest, kFastest));
  if ((required & kRate) && fault.rate == 1) return impossible(fault, "at a rate of 1 the clock is right");
  if ((required & kApi) && fault.api.empty()) return impossible(fault, "\"api\" says which requests");
  TIDEMARK_TRY(checkRequests(fault));
  if ((required & kError) && !canRefuse(fault.api))
    return impossible(
        fault,
        fmt::format("answers to {} have no place for an error of ours; delay, drop or disconnect them", fault.api));
  if ((required & kError) && fault.error == ErrorCode::None)
    return impossible(fault, "\"error\" is a name of Kafka's, as NOT_LEADER_OR_FOLLOWER");
  return {};
}

std::string textOf(const Fault& fault) {
  std::string text(nameOf(fault.kind));
  if (const std::string target = textOf(fault.target); !target.empty()) text += " " + target;
  const auto group = [](const std::vector<NodeId>& nodes) {
    std::string names;
    for (const NodeId node : nodes) names += fmt::format("{}{}", names.empty() ? "" : ",", node);
    return names;
  };
  if (!fault.left.empty()) text += fmt::format(" {}|{}", group(fault.left), group(fault.right));
  if (!fault.api.empty()) text += " " + fault.api;
  if (!fault.topic.empty()) text += " " + fault.topic;
  if (fault.partition) text += fmt::format("-{}", *fault.partition);
  if (!fault.path.empty()) text += " " + fault.path;
  return text;
}

}  // namespace tidemark::faults
