#pragma once

#include <algorithm>
#include <utility>

#include "broker/requests.h"
#include "coordinator/request_info.h"

namespace tidemark::broker {

// What the handlers of the groups' APIs share, whichever kind of group theirs is.

/// Who asks.
inline coordinator::RequestInfo infoOf(const network::Request& request) {
  return {.apiVersion = request.apiVersion(),
          .clientId = request.context().clientId(),
          .clientHost = request.context().clientHost(),
          .mayDescribe = {},
          .body = {},
          .thread = request.thread()};
}

/// The same for a request whose texts stay where they are: its frame is let go of with what is asked.
inline coordinator::RequestInfo infoWithBody(network::Request& request) {
  coordinator::RequestInfo info = infoOf(request);
  info.body = request.frame();
  request.releaseFrame();
  return info;
}

/// Answers with what the coordinator says.
template <class Response>
coordinator::Reply<Response> answering(network::RequestPtr request) {
  return [held = std::move(request)](Response response) mutable { held->respond(response); };
}

/// Answers with one error for all that was asked.
template <class Response>
void refuseWith(network::Request& request, ErrorCode error) {
  Response response;
  response.errorCode = static_cast<int16_t>(error);
  request.respond(response);
}

/// GroupAuthorizationFailed, or None.
inline ErrorCode mayWithGroup(const BrokerContext& broker, const network::Request& request,
                              network::AclOperation operation, std::string_view groupId) {
  return broker.allows(request, operation, network::ResourceType::Group, groupId) ? ErrorCode::None
                                                                                  : ErrorCode::GroupAuthorizationFailed;
}

/// Takes those groups out of what is asked that `errorOf` has an error for; `refused` gets their answers.
template <class Groups, class Answers, class ErrorOf>
void takeRefusedGroups(Groups& groups, Answers& refused, ErrorOf errorOf) {
  std::erase_if(groups, [&](auto& group) {
    const ErrorCode error = errorOf(group);
    if (error == ErrorCode::None) return false;
    auto& answer = refused.emplace_back();
    if constexpr (requires { group.groupId; })
      answer.groupId = group.groupId;
    else
      answer.groupId = group;
    answer.errorCode = static_cast<int16_t>(error);
    return true;
  });
}

/// Says of each group that is described what whoever asks may do with it.
template <class Groups>
void addAuthorizedOperations(const BrokerContext& broker, const network::Request& request, Groups& groups) {
  for (auto& group : groups)
    if (group.errorCode == 0)
      group.authorizedOperations =
          broker.authorizer.allowedOperations(request.context(), network::ResourceType::Group, group.groupId.view());
}

}  // namespace tidemark::broker
