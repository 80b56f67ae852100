#pragma once

#include <memory>
#include <string>
#include <utility>

#include "client/consumer.h"
#include "client/group_membership.h"
#include "client/member_consumer.h"

namespace tidemark::client {

/// A member of a consumer group as far as both protocols agree: how it reads and commits.
class MemberConsumer::Core : public GroupMembership {
 public:
  struct Handlers {
    Consumer::RecordHandler onRecord;
    AssignmentHandler onAssignment;
    ErrorHandler onError;
  };

  virtual void commit(Done done);

 protected:
  Core(Client& client, std::string groupId, std::string instanceId, const ConsumerOptions& reading, Handlers handlers);

  /// Whoever listens may stop it.
  void tellAssignment() {
    if (onAssignment_) onAssignment_(epoch_, assignment());
  }

  std::optional<protocol::Text> instanceId() const {
    return instanceId_.empty() ? std::nullopt : std::optional<protocol::Text>(instanceId_);
  }

  const std::string instanceId_;
  const AssignmentHandler onAssignment_;
  Consumer consumer_;
};

}  // namespace tidemark::client
