#include <utility>

#include <fmt/format.h>

#include "faults/fault.h"
#include "sim/faults.h"

// Faults in the middle of something: what a broker has just told makes it interesting to break it now.

namespace tidemark::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

}  // namespace

void Faults::act() {
  for (auto& moment : std::exchange(moment_, {})) moment();
}

void Faults::on(const Seen& seen) {
  if (!striking_ || seen.node == nullptr) return;
  const auto soon = [this](NodeId broker, Harm how) {
    if (std::optional<Strike> strike = strikeOf(nextMoment_++))
      moment_.emplace_back([this, strike = *strike, broker, how]() mutable { harm(strike, broker, how); });
  };
  const auto harmNow = [&](Harm how) { soon(seen.broker, how); };
  if (const auto* granted = as<events::VoteGranted>(seen)) {
    if (!granted->preVote && moments_.chance(habits_.voteLoss))
      harmNow(moments_.chance(60) ? Harm::PowerLoss : Harm::Kill);
  } else if (as<events::BecameLeader>(seen)) {
    if (moments_.below(1000) < habits_.leaderKill) harmNow(Harm::Kill);
  } else if (const auto* appended = as<events::BatchAppended>(seen)) {
    if (!appended->asLeader) return;
    if (moments_.below(1000) < habits_.appendKill) harmNow(Harm::Kill);
    if (moments_.below(1000) >= habits_.appendReset) return;
    // The answer to what was just appended is lost.
    const std::optional<Strike> strike = strikeOf(nextMoment_++);
    if (!strike) return;
    moment_.emplace_back([this, strike = *strike, broker = seen.broker] {
      happened(strike, "connections reset", fmt::format("clients of broker {} are reset", broker));
      setup_.told.resets(processOf(broker), {});
      for (const std::string& client : allClients()) setup_.world.network().reset(processOf(broker), client);
    });
  } else if (const auto* fetched = as<events::FollowerFetched>(seen)) {
    // It is about to be asked into the ISR when it loses what it has fetched.
    if (fetched->fetchOffset != fetched->leaderLogEnd || moments_.below(1000) >= habits_.lateLoss) return;
    const auto partition =
        seen.node->broker() == nullptr ? nullptr : seen.node->broker()->replicas().find(seen.partition);
    if (!partition || partition->isInSync(fetched->follower)) return;
    if (std::optional<Strike> strike = strikeOf(nextMoment_++))
      moment_.emplace_back([this, strike = *strike, leader = seen.broker, follower = fetched->follower] {
        loseWhoJoins(strike, leader, follower);
      });
  }
}

void Faults::loseWhoJoins(const Strike& strike, NodeId leader, NodeId follower) {
  const auto victim = process(follower);
  if (!victim || !budget_.mayLosePower(follower)) return;
  happened(strike, "power loss of who joins",
           fmt::format("broker {} loses power while {} has it join an ISR; the two are cut", follower, leader));
  budget_.troubled(leader, seconds(9));
  // The controller hears of it when the follower has registered again.
  for (const faults::Member& node : setup_.members) {
    if (!node.isController) continue;
    faults::Fault late{.kind = faults::Kind::RequestDelay,
                       .target = faults::NodeName{.id = node.id, .partition = {}, .isController = !node.isBroker}};
    late.duration = seconds(5);
    late.delay = milliseconds(4000);
    late.api = "AlterPartition";
    set(std::move(late));
  }
  losesData(follower);
  setup_.told.takesDown(follower, faults::Kind::PowerLoss);
  victim->losePower();
  later(milliseconds(100), [this, follower] { restart(follower); });
  platform::SimulatedNetwork& network = setup_.world.network();
  const std::string a = processOf(leader);
  const std::string b = processOf(follower);
  setup_.told.cuts(a, {b}, true);
  network.cut(a, b);
  later(seconds(7), [&network, a, b] { network.heal(a, b); });
}

}  // namespace tidemark::sim
