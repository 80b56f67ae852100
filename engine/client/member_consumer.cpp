#include "client/member_consumer.h"

#include "client/member_consumer_core.h"

namespace tidemark::client {

MemberConsumer::Core::Core(Client& client, std::string groupId, std::string instanceId, const ConsumerOptions& reading,
                           Handlers handlers)
    : GroupMembership(client, std::move(groupId), std::move(handlers.onError)),
      instanceId_(std::move(instanceId)),
      onAssignment_(std::move(handlers.onAssignment)),
      consumer_(client, reading, std::move(handlers.onRecord),
                [this](const TopicPartition&, const Error& error) { tell(error); }) {}

void MemberConsumer::Core::commit(Done done) {
  std::map<TopicPartition, LogPosition> positions;
  for (const auto& where : owned_)
    if (const auto position = consumer_.position(where)) positions.emplace(where, *position);
  commitOffsets(positions, instanceId(), std::move(done));
}

MemberConsumer::MemberConsumer(std::shared_ptr<Core> core) : core_(std::move(core)) {
  core_->begin();
}

MemberConsumer::~MemberConsumer() {
  core_->stop();
}

void MemberConsumer::commit(Done done) {
  core_->commit(std::move(done));
}

void MemberConsumer::leave(platform::Task done) {
  core_->leave(std::move(done));
}

std::string MemberConsumer::memberId() const {
  return core_->memberId();
}

std::vector<TopicPartition> MemberConsumer::assignment() const {
  return core_->assignment();
}

int32_t MemberConsumer::epoch() const noexcept {
  return core_->epoch();
}

}  // namespace tidemark::client
