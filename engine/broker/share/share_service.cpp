#include "broker/share/share_service.h"

#include <fmt/format.h>

#include "broker/share/share_service_impl.h"

namespace tidemark::broker {

ShareService::ShareService(Dependencies dependencies) : impl_(std::make_shared<Impl>(std::move(dependencies))) {}

ShareService::~ShareService() = default;

void ShareService::fetch(FetchRequest request, std::move_only_function<void(FetchAnswer)> done) {
  impl_->post([request = std::move(request), done = std::move(done)](Impl& impl) mutable {
    impl.fetch(std::move(request), std::move(done));
  });
}

void ShareService::acknowledge(FetchRequest request, std::move_only_function<void(FetchAnswer)> done) {
  impl_->post([request = std::move(request), done = std::move(done)](Impl& impl) mutable {
    const ShareMember member = request.session.member;
    FetchAnswer answer;
    answer.lockDuration =
        std::chrono::duration_cast<platform::milliseconds>(impl.settingsOf(member.groupId).partition.lockDuration);
    auto turn = impl.sessions.acknowledge(request.session);
    if (!turn) {
      answer.error = std::move(turn).error();
      return done(std::move(answer));
    }
    impl.acknowledgeAll(member, std::move(request.acknowledgements),
                        [answer = std::move(answer), done = std::move(done)](std::vector<Outcome> outcomes) mutable {
                          answer.acknowledged = std::move(outcomes);
                          done(std::move(answer));
                        });
    if (turn->isFinal) impl.endSession(member);
  });
}

void ShareService::apply(const replication::MetadataChange& change, NodeId self) {
  std::vector<std::pair<TopicIdPartition, LeaderEpoch>> led;
  for (const TopicIdPartition& id : change.partitions) {
    const metadata::PartitionRegistration* registration = change.after->topics.partition(id.topicId, id.partition);
    led.emplace_back(
        id, registration != nullptr && registration->leader == self ? registration->leaderEpoch : LeaderEpoch());
  }
  const bool reconfigured = change.brokerConfigChanged ||
                            !change.before->configs.resources.sharesAllWith(change.after->configs.resources) ||
                            change.before->features != change.after->features;
  if (led.empty() && !reconfigured) return;
  impl_->post([led = std::move(led), reconfigured](Impl& impl) {
    if (reconfigured) impl.settings.clear();
    for (const auto& [partition, epoch] : led) {
      std::vector<Impl::HeldPtr> gone;
      for (const auto& [id, one] : impl.held)
        if (id.partition == partition && one->share.leaderEpoch() != epoch) gone.push_back(one);
      for (const Impl::HeldPtr& one : gone)
        impl.fence(one, {ErrorCode::NotLeaderOrFollower, fmt::format("{} has another leader now", one->name)});
    }
  });
}

void ShareService::disconnected(const std::string& connectionId) {
  if (impl_->sessionCount.load() == 0) return;
  impl_->post([connectionId](Impl& impl) {
    for (const ShareMember& member : impl.sessions.membersOn(connectionId)) impl.endSession(member);
  });
}

void ShareService::onHighWatermark(const TopicIdPartition& partition) {
  if (impl_->sharedCount.load() == 0) return;
  {
    Lock lock(impl_->sharedMutex);
    if (!impl_->shared.contains(partition)) return;
  }
  impl_->post([partition](Impl& impl) { impl.fetches.checkAndComplete({"", partition}); });
}

void ShareService::stop() {
  impl_->post([](Impl& impl) {
    impl.stopped = true;
    const auto held = impl.held;
    for (const auto& [id, one] : held) impl.fence(one, {ErrorCode::NotLeaderOrFollower, "the broker stops"});
    for (const auto& operation : impl.fetches.operations()) operation->forceComplete();
  });
}

void ShareService::snapshot(std::move_only_function<void(std::vector<SharePartitionView>)> done) {
  impl_->post([done = std::move(done)](Impl& impl) mutable { done(impl.views()); });
}

std::vector<SharePartitionView> ShareService::snapshotNow() const {
  return impl_->views();
}

}  // namespace tidemark::broker
