#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.h"

namespace tidemark::coordinator {

/// Takes an answer. Called exactly once, on the coordinator's executor, with no lock held; never inside the call that
/// asked. (If the Process dies it is dropped.)
template <class Response>
using Reply = std::move_only_function<void(Response)>;

/// Who asks, and in which version.
struct RequestInfo {
  int16_t apiVersion = 0;
  std::string clientId;
  /// The client's address without port ("127.0.0.1").
  std::string clientHost;
};

/// Topics as the broker's metadata has them. Any thread.
class TopicLookup {
 public:
  virtual ~TopicLookup() = default;
  virtual std::optional<std::string> topicName(const Uuid& id) const = 0;
  virtual std::optional<Uuid> topicId(std::string_view name) const = 0;
};

}  // namespace tidemark::coordinator
