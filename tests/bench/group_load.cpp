#include "group_load.h"

#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/heartbeat_response.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"

namespace tidemark::bench {

using namespace protocol;

GroupLoad::GroupLoad(Links& links, GroupShape shape) : links_(links), shape_(std::move(shape)) {
  for (size_t g = 0; g < shape_.groups; ++g) names_.push_back(fmt::format("{}-{:05}", shape_.prefix, g));
}

void GroupLoad::awaitCoordinators() {
  findCoordinator(links_, CoordinatorOf::Group, names_.front());
  for (size_t g = 0; g < shape_.groups; ++g) awaitCoordinatorOf(g);
  links_.run();
}

void GroupLoad::awaitCoordinatorOf(size_t group) {
  constexpr int16_t kVersion = 4;
  constexpr std::chrono::milliseconds kAgain{20};
  HeartbeatRequest request;
  request.groupId = Text::borrowed(names_[group]);
  request.memberId = Text("nobody");
  links_.ask(shape_.link(group, 0), request, kVersion, [this, group](const HeartbeatResponse& response) {
    if (mayBeSentAgain(response.errorCode)) links_.later(kAgain, [this, group] { awaitCoordinatorOf(group); });
  });
}

void GroupLoad::heartbeat(size_t times) {
  forEach([&](size_t g, size_t m) { beat(g, m, times); });
  links_.run();
}

size_t GroupLoad::standBy(std::chrono::duration<double> interval, std::chrono::duration<double> span) {
  const double perSecond = static_cast<double>(shape_.groups * shape_.members) / interval.count();
  const auto total = static_cast<size_t>(perSecond * span.count());
  sendDue(Links::Clock::now(), perSecond, total, 0);
  links_.run();
  return total;
}

void GroupLoad::sendDue(Links::Clock::time_point began, double perSecond, size_t total, size_t sent) {
  constexpr std::chrono::milliseconds kTick{1};
  const double passed = std::chrono::duration<double>(Links::Clock::now() - began).count();
  const size_t due = std::min(total, static_cast<size_t>(passed * perSecond));
  // Those who send one after the other are not of one group, nor on one connection.
  for (; sent < due; ++sent) beat(sent % shape_.groups, sent / shape_.groups % shape_.members, 1);
  if (sent == total) return;
  links_.later(kTick, [this, began, perSecond, total, sent] { sendDue(began, perSecond, total, sent); });
}

void GroupLoad::commitOf(size_t group, size_t member, size_t times) {
  if (times == 0) return;
  constexpr int16_t kVersion = 9;
  const Identity who = identityOf(group, member);
  OffsetCommitRequest request;
  request.groupId = Text::borrowed(names_[group]);
  request.generationIdOrMemberEpoch = who.generationOrEpoch;
  request.memberId = Text::borrowed(who.id);
  auto& topic = request.topics.emplace_back();
  topic.name = Text::borrowed(shape_.topic);
  auto& partition = topic.partitions.emplace_back();
  partition.partitionIndex = static_cast<int32_t>(member) % shape_.partitions;
  partition.committedOffset = ++committed_;
  links_.ask(shape_.link(group, member), request, kVersion,
             [this, group, member, times](const OffsetCommitResponse& response) {
               expect(response.topics.at(0).partitions.at(0).errorCode, "OffsetCommit");
               commitOf(group, member, times - 1);
             });
}

void GroupLoad::commit(size_t times) {
  forEach([&](size_t g, size_t m) { commitOf(g, m, times); });
  links_.run();
}

}  // namespace tidemark::bench
