#pragma once

#include <type_traits>

#include "base/result.h"
#include "protocol/fields.h"

namespace tidemark::metadata {

namespace detail {
template <class Answer>
void setError(Answer& answer, const Error& error) {
  answer.errorCode = static_cast<int16_t>(error.code);
  if constexpr (requires { answer.errorMessage; }) answer.errorMessage = protocol::Text(error.message);
}
}  // namespace detail

/// The answer that says `error` of the whole request: in the answer's own error code, or for each topic or resource
/// that the request names where the answer has none. Works for every request that a ControllerDriver serves; `version`
/// is the request's.
template <class Request>
typename Request::Response errorResponse(const Request& request, const Error& error, int16_t version) {
  typename Request::Response response;
  if constexpr (requires { response.replicaElectionResults; }) {
    // ElectLeaders: version 0 has no error of the whole, so each partition carries it, as Kafka does in every version.
    if (version >= 1) response.errorCode = static_cast<int16_t>(error.code);
    if (request.topicPartitions)
      for (const auto& topic : *request.topicPartitions) {
        auto& answer = response.replicaElectionResults.emplace_back();
        answer.topic = topic.topic;
        for (int32_t partition : topic.partitions) {
          auto& one = answer.partitionResult.emplace_back();
          one.partitionId = partition;
          detail::setError(one, error);
        }
      }
  } else if constexpr (requires { response.errorCode; }) {
    detail::setError(response, error);
  } else if constexpr (requires { request.resources; }) {  // AlterConfigs, IncrementalAlterConfigs
    for (const auto& resource : request.resources) {
      auto& answer = response.responses.emplace_back();
      answer.resourceType = resource.resourceType;
      answer.resourceName = resource.resourceName;
      detail::setError(answer, error);
    }
  } else if constexpr (requires { request.topicNames; }) {  // DeleteTopics
    for (const auto& name : request.topicNames) {
      auto& answer = response.responses.emplace_back();
      answer.name = name;
      detail::setError(answer, error);
    }
    for (const auto& topic : request.topics) {
      auto& answer = response.responses.emplace_back();
      answer.name = topic.name;
      answer.topicId = topic.topicId;
      detail::setError(answer, error);
    }
  } else if constexpr (requires { response.results; }) {  // CreatePartitions
    for (const auto& topic : request.topics) {
      auto& answer = response.results.emplace_back();
      answer.name = topic.name;
      detail::setError(answer, error);
    }
  } else {  // CreateTopics
    for (const auto& topic : request.topics) {
      auto& answer = response.topics.emplace_back();
      answer.name = topic.name;
      detail::setError(answer, error);
    }
  }
  return response;
}

}  // namespace tidemark::metadata
