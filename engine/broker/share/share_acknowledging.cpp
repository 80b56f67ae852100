#include "broker/share/share_service_impl.h"

#include <fmt/format.h>

#include "base/mutation.h"

// What members say of the records that they hold, and what becomes of those when they leave.

namespace tidemark::broker {

void ShareService::Impl::acknowledgeAll(const ShareMember& member, std::vector<Acknowledgement> acknowledgements,
                                        std::move_only_function<void(std::vector<Outcome>)> done) {
  const auto gathered = std::make_shared<Gathered<std::vector<Outcome>>>(weak_from_this());
  gathered->answer.resize(acknowledgements.size());
  for (size_t i = 0; i < acknowledgements.size(); ++i) {
    Outcome& outcome = gathered->answer[i];
    outcome.partition = acknowledgements[i].partition;
    const auto& batches = acknowledgements[i].batches;
    if (!batches) {
      outcome.error = batches.error();
      continue;
    }
    const HeldPtr one = find({member.groupId, outcome.partition});
    if (!one || !one->active) {
      outcome.error = whyNotHeld(outcome.partition);
      continue;
    }
    auto ticket = one->share.acknowledge(member.memberId, *batches, now());
    if (!ticket) {
      outcome.error = std::move(ticket).error();
      continue;
    }
    if (*ticket && !isMutated(Mutation::AcknowledgementAnsweredAtOnce)) {
      // Until it is known.
      outcome.error = {ErrorCode::NotLeaderOrFollower, "the broker stops"};
      one->waiting.emplace(**ticket, [gathered, i](Error error) { gathered->answer[i].error = std::move(error); });
    }
    settle(one);
  }
  // What is done already goes out as well when the last has let go.
  gathered->done = std::move(done);
}

Error ShareService::Impl::whyNotHeld(const TopicIdPartition& partition) const {
  const metadata::ImagePtr image = dependencies.replicas->image();
  const metadata::TopicImage* topic = image->topics.find(partition.topicId);
  if (topic == nullptr) return {ErrorCode::UnknownTopicId, fmt::format("no topic has the id {}", partition.topicId)};
  const std::shared_ptr<replication::Partition> replica = dependencies.replicas->find(partition);
  if (!replica || !replica->isLeader())
    return {ErrorCode::NotLeaderOrFollower, fmt::format("{}-{} is not led here", topic->name, partition.partition)};
  // Led here since a while ago: its locks are gone with the leader before.
  return {ErrorCode::UnknownTopicOrPartition, fmt::format("nothing of {} was given out here", replica->name())};
}

void ShareService::Impl::endSession(const ShareMember& member) {
  const std::vector<TopicIdPartition> partitions = sessions.end(member);
  sessionCount.store(sessions.size());
  for (const TopicIdPartition& partition : partitions)
    if (const HeldPtr one = find({member.groupId, partition})) {
      one->share.release(member.memberId);
      settle(one);
    }
  if (sessions.hasGroup(member.groupId)) return;
  std::vector<HeldPtr> left;
  for (const auto& [id, one] : held)
    if (id.groupId == member.groupId) left.push_back(one);
  for (const HeldPtr& one : left) {
    one->leaving = true;
    settle(one);
  }
}

}  // namespace tidemark::broker
