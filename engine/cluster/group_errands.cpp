#include <algorithm>

#include <fmt/format.h>

#include "cluster/cluster.h"
#include "cluster/errands.h"

// What is changed of groups and transactions: asked of the brokers, as any client would.

namespace tidemark::cluster {
namespace {

client::GroupType typeOf(events::GroupKind kind) {
  switch (kind) {
    case events::GroupKind::Classic:
      return client::GroupType::Classic;
    case events::GroupKind::Consumer:
      return client::GroupType::Consumer;
    case events::GroupKind::Share:
      return client::GroupType::Share;
    case events::GroupKind::Streams:
      return client::GroupType::Streams;
  }
  return client::GroupType::Unknown;
}

client::ResetTo resetOfRequest(const observe::OffsetResetRequest& request) {
  using From = observe::OffsetResetRequest::Kind;
  using To = client::ResetTo::Kind;
  switch (request.kind) {
    case From::Earliest:
      return {To::Earliest, 0};
    case From::Latest:
      return {To::Latest, 0};
    case From::Current:
      return {To::Current, 0};
    case From::Offset:
      return {To::Offset, request.value};
    case From::ShiftBy:
      return {To::ShiftBy, request.value};
    case From::Datetime:
      return {To::Datetime, request.value};
  }
  return {};
}

/// The first partition that was refused.
Result<void> outcomeOf(const std::string& group, const Result<std::vector<client::PartitionOutcome>>& outcomes) {
  if (!outcomes) return fail(outcomes.error());
  for (const client::PartitionOutcome& one : *outcomes) {
    if (one.code == ErrorCode::None) continue;
    const bool members = one.code == ErrorCode::UnknownMemberId || one.code == ErrorCode::NonEmptyGroup ||
                         one.code == ErrorCode::StaleMemberEpoch;
    return fail(one.code, members ? fmt::format("group {} has members: stop its clients first", group)
                          : one.code == ErrorCode::GroupSubscribedToTopic
                              ? fmt::format("a member is subscribed to {}: stop it first", one.partition.topic)
                              : fmt::format("{} was refused", one.partition));
  }
  return {};
}

const Error kNoCluster{ErrorCode::BrokerNotAvailable, "no cluster is running"};

}  // namespace

void Cluster::planOffsets(observe::OffsetResetRequest request, OffsetsPlanned done) {
  run([this, request = std::move(request), done = std::move(done)]() mutable {
    if (!errands_) return done(fail(kNoCluster));
    errands_->offsets.plan(
        request.group, typeOf(request.groupKind), {.topics = {}, .partitions = request.partitions},
        resetOfRequest(request), [done = std::move(done)](Result<client::ResetPlanner::Changes> changes) mutable {
          if (!changes) return done(fail(std::move(changes).error()));
          std::vector<observe::OffsetEdit> edits;
          for (const client::OffsetChange& change : *changes)
            edits.push_back(
                {.partition = change.partition, .from = change.from, .to = change.to, .clipped = change.clipped});
          done(std::move(edits));
        });
  });
}

void Cluster::editOffsets(std::string group, events::GroupKind kind, std::vector<observe::OffsetEdit> edits,
                          Done done) {
  run([this, group = std::move(group), kind, edits = std::move(edits), done = std::move(done)]() mutable {
    if (!errands_) return done(fail(kNoCluster));
    std::vector<client::CommittedOffset> committed;
    std::vector<TopicPartition> forgotten;
    for (const observe::OffsetEdit& edit : edits) {
      if (edit.to)
        committed.push_back(
            {.partition = edit.partition, .offset = *edit.to, .leaderEpoch = kNoLeaderEpoch, .metadata = {}});
      else
        forgotten.push_back(edit.partition);
    }
    auto forget = [this, group, kind, forgotten = std::move(forgotten)](Done then) mutable {
      if (forgotten.empty()) return then({});
      errands_->groups.deleteOffsets(
          group, typeOf(kind), std::move(forgotten),
          [group, then = std::move(then)](auto outcomes) mutable { then(outcomeOf(group, outcomes)); });
    };
    if (committed.empty()) return forget(std::move(done));
    errands_->groups.alterOffsets(group, typeOf(kind), std::move(committed),
                                  [group, forget = std::move(forget), done = std::move(done)](auto outcomes) mutable {
                                    auto result = outcomeOf(group, outcomes);
                                    if (!result) return done(std::move(result));
                                    forget(std::move(done));
                                  });
  });
}

void Cluster::deleteGroup(std::string group, Done done) {
  run([this, group = std::move(group), done = std::move(done)]() mutable {
    if (!errands_) return done(fail(kNoCluster));
    errands_->groups.deleteGroup(group, [group, done = std::move(done)](Result<void> result) mutable {
      if (!result && result.error().code == ErrorCode::NonEmptyGroup)
        return done(fail(ErrorCode::NonEmptyGroup, fmt::format("group {} has members: stop its clients first", group)));
      done(std::move(result));
    });
  });
}

void Cluster::abortTransaction(std::string transactionalId, Done done) {
  run([this, transactionalId = std::move(transactionalId), done = std::move(done)]() mutable {
    if (!errands_) return done(fail(kNoCluster));
    errands_->transactions.fenceProducer(transactionalId,
                                         [done = std::move(done)](Result<ProducerEpoch> epoch) mutable {
                                           if (!epoch) return done(fail(std::move(epoch).error()));
                                           done({});
                                         });
  });
}

}  // namespace tidemark::cluster
