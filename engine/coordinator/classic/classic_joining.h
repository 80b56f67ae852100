#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coordinator/classic/classic_group.h"
#include "coordinator/classic/classic_groups.h"
#include "coordinator/effects.h"
#include "protocol/generated/join_group_request.h"

namespace tidemark::coordinator {

/// One JoinGroup while it is handled.
struct ClassicGroups::Joining {
  Joining(const RequestInfo& whoAsks, const protocol::JoinGroupRequest& asked, JoinReply takesAnswer)
      : info(whoAsks),
        request(asked),
        reply(std::move(takesAnswer)),
        // Version 0 knows one timeout for both.
        rebalanceTimeout(whoAsks.apiVersion == 0 ? asked.sessionTimeoutMs : asked.rebalanceTimeoutMs),
        sessionTimeout(asked.sessionTimeoutMs) {
    for (const auto& protocol : asked.protocols) {
      protocols.push_back({protocol.name.str(), protocol.metadata.bytes()});
    }
  }

  std::vector<std::string_view> protocolNames() const {
    std::vector<std::string_view> names;
    for (const auto& protocol : request.protocols) names.push_back(protocol.name);
    return names;
  }

  const RequestInfo& info;
  const protocol::JoinGroupRequest& request;
  JoinReply reply;
  std::vector<MemberProtocol> protocols;
  platform::milliseconds rebalanceTimeout;
  platform::milliseconds sessionTimeout;
};

/// A static member before another process took its place.
struct ClassicGroups::ReplacedMember {
  std::string memberId;
  std::string instanceId;
  std::vector<MemberProtocol> protocols;
  platform::milliseconds rebalanceTimeout;
  platform::milliseconds sessionTimeout;
  std::string leader;
};

void answerJoin(Effects& out, JoinReply reply, std::string_view memberId, ErrorCode error);
void answerJoin(Effects& out, JoinReply reply, protocol::JoinGroupResponse response);
/// The group's generation, to one of its members.
protocol::JoinGroupResponse joinedResponse(const ClassicGroup& group, const std::string& memberId, bool withMembers);

}  // namespace tidemark::coordinator
