#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "network/request_context.h"

namespace tidemark::network {

/// What is done to a resource. The numbers are Kafka's (AclOperation), also of the bits in `authorizedOperations`.
enum class AclOperation : int8_t {
  Unknown = 0,
  Any = 1,
  All = 2,
  Read = 3,
  Write = 4,
  Create = 5,
  Delete = 6,
  Alter = 7,
  Describe = 8,
  ClusterAction = 9,
  DescribeConfigs = 10,
  AlterConfigs = 11,
  IdempotentWrite = 12,
  CreateTokens = 13,
  DescribeTokens = 14,
  TwoPhaseCommit = 15,
};

/// What it is done to. The numbers are Kafka's (ResourceType).
enum class ResourceType : int8_t {
  Unknown = 0,
  Any = 1,
  Topic = 2,
  Group = 3,
  Cluster = 4,
  TransactionalId = 5,
  DelegationToken = 6,
  User = 7,
};

/// The name of the one Cluster resource.
inline constexpr std::string_view kClusterResource = "kafka-cluster";

/// One question to the Authorizer. The name must live as long as the question.
struct Action {
  AclOperation operation = AclOperation::Unknown;
  ResourceType resource = ResourceType::Unknown;
  std::string_view name;
};

/// Who may do what. Handlers ask it wherever Kafka does. Any thread, must not block.
class Authorizer {
 public:
  virtual ~Authorizer() = default;

  /// Sets allowed[i] for each actions[i]; both have the same size.
  virtual void authorize(const RequestContext& context, std::span<const Action> actions, std::span<bool> allowed) = 0;

  bool allows(const RequestContext& context, AclOperation operation, ResourceType resource, std::string_view name);

  /// The bit field of `authorizedOperations` in Metadata and the Describe answers: bit n is operation n.
  int32_t allowedOperations(const RequestContext& context, ResourceType resource, std::string_view name);
};

/// Without an authorizer configured, everything is allowed.
class AllowAll final : public Authorizer {
 public:
  void authorize(const RequestContext& context, std::span<const Action> actions, std::span<bool> allowed) override;
};

}  // namespace tidemark::network
