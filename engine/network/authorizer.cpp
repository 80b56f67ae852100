#include "network/authorizer.h"

#include <algorithm>
#include <array>

namespace tidemark::network {

namespace {

using enum AclOperation;

/// The operations that make sense for a resource, as Kafka's AclEntry.supportedOperations lists them.
std::span<const AclOperation> operationsOf(ResourceType resource) {
  static constexpr std::array kTopic = {Read, Write, Create, Describe, Delete, Alter, DescribeConfigs, AlterConfigs};
  static constexpr std::array kGroup = {Read, Describe, Delete, DescribeConfigs, AlterConfigs};
  static constexpr std::array kCluster = {Create,          ClusterAction, DescribeConfigs, AlterConfigs,
                                          IdempotentWrite, Alter,         Describe};
  static constexpr std::array kTransactionalId = {Describe, Write, TwoPhaseCommit};
  static constexpr std::array kDelegationToken = {Describe};
  static constexpr std::array kUser = {CreateTokens, DescribeTokens};
  switch (resource) {
    case ResourceType::Topic:
      return kTopic;
    case ResourceType::Group:
      return kGroup;
    case ResourceType::Cluster:
      return kCluster;
    case ResourceType::TransactionalId:
      return kTransactionalId;
    case ResourceType::DelegationToken:
      return kDelegationToken;
    case ResourceType::User:
      return kUser;
    case ResourceType::Unknown:
    case ResourceType::Any:
      break;
  }
  return {};
}

}  // namespace

bool Authorizer::allows(const RequestContext& context, AclOperation operation, ResourceType resource,
                        std::string_view name) {
  const Action action{operation, resource, name};
  bool allowed = false;
  authorize(context, std::span(&action, 1), std::span(&allowed, 1));
  return allowed;
}

int32_t Authorizer::allowedOperations(const RequestContext& context, ResourceType resource, std::string_view name) {
  std::array<Action, 16> actions;
  std::array<bool, 16> allowed{};
  size_t count = 0;
  for (AclOperation operation : operationsOf(resource)) actions[count++] = {operation, resource, name};
  authorize(context, std::span(actions).first(count), std::span(allowed).first(count));
  int32_t bits = 0;
  for (size_t i = 0; i < count; ++i) {
    if (allowed[i]) bits |= 1 << static_cast<int>(actions[i].operation);
  }
  return bits;
}

void AllowAll::authorize(const RequestContext& /*context*/, std::span<const Action> /*actions*/,
                         std::span<bool> allowed) {
  std::fill(allowed.begin(), allowed.end(), true);
}

}  // namespace tidemark::network
