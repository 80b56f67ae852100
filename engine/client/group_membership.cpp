#include "client/group_membership.h"

#include "client/coordinator_lookup.h"

namespace tidemark::client {

GroupMembership::GroupMembership(Client& client, std::string groupId, ErrorHandler onError)
    : client_(client), groupId_(std::move(groupId)), onError_(std::move(onError)) {}

void GroupMembership::findCoordinator() {
  client::findCoordinator(client_, CoordinatorKind::Group, groupId_, {},
                          whileRunning([this](Result<CoordinatorPlace> found) {
                            if (left_) return;
                            if (!found) return lose(found.error());
                            client_.retire(std::move(coordinator_));
                            coordinator_ = client_.newChannel(std::move(found->endpoint));
                            proceed();
                          }));
}

void GroupMembership::lose(const Error& error) {
  if (!isRetriable(error.code) && error.code != ErrorCode::BrokerNotAvailable) return tell(error);
  client_.retire(std::move(coordinator_));
  later(backoff(), &GroupMembership::findCoordinator);
}

std::optional<GroupMembership::Partitions> GroupMembership::named(const Target& target) const {
  Partitions partitions;
  for (const auto& [id, indexes] : target) {
    const std::string name(client_.metadata().nameOf(id));
    if (name.empty()) return std::nullopt;
    for (const int32_t index : indexes) partitions.insert({name, PartitionIndex(index)});
  }
  return partitions;
}

void GroupMembership::sendRaw(network::RawRequest request, network::SendOptions how, network::RawHandler then) {
  auto handler = whileRunning(std::move(then));
  if (coordinator_) return coordinator_->sendRaw(std::move(request), how, std::move(handler));
  client_.executor().post([handler = std::move(handler)]() mutable {
    handler(
        Result<network::RawResponse>(fail(ErrorCode::CoordinatorNotAvailable, "the coordinator is being looked for")));
  });
}

void GroupMembership::askRaw(network::RawRequest request, network::SendOptions how, network::RawHandler then) {
  sendRaw(std::move(request), how, [this, then = std::move(then)](Result<network::RawResponse> answer) mutable {
    if (!left_) then(std::move(answer));
  });
}

}  // namespace tidemark::client
