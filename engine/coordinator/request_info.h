#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.h"
#include "platform/executor.h"

namespace tidemark::coordinator {

/// Takes an answer. Called exactly once, on the coordinator's executor, with no lock held; inside the call that asked
/// only where that says so. (If the Process dies it is dropped.)
template <class Response>
using Reply = std::move_only_function<void(Response)>;

/// Who asks, and in which version.
struct RequestInfo {
  int16_t apiVersion = 0;
  std::string clientId;
  /// The client's address without port, as Kafka shows it ("/127.0.0.1").
  std::string clientHost;
  /// Whether it may know of a topic, for subscriptions by expression. None: it may know of all.
  std::function<bool(std::string_view topic)> mayDescribe;
  /// Keeps alive what the request's texts refer to, where they are not its own. Whatever outlives the handler is
  /// copied.
  std::shared_ptr<const void> body;
  /// The thread that asks, if its answers go out there too; valid inside the call. Null: none in particular.
  platform::Executor* thread = nullptr;
};

/// A topic as the groups that read it see it.
struct TopicFacts {
  std::string name;
  Uuid id;
  /// For each partition, the racks of its replicas, sorted; a broker without a rack adds none.
  std::vector<std::vector<std::string>> racks;
  int32_t partitionCount() const noexcept { return static_cast<int32_t>(racks.size()); }
};

struct DeletedTopic {
  std::string name;
  Uuid id;
};

/// Topics as the broker's metadata has them. Any thread.
class TopicLookup {
 public:
  virtual ~TopicLookup() = default;
  virtual std::optional<std::string> topicName(const Uuid& id) const = 0;
  virtual std::optional<Uuid> topicId(std::string_view name) const = 0;
  virtual std::optional<TopicFacts> topic(std::string_view name) const = 0;
  /// Of all topics, sorted.
  virtual std::vector<std::string> topicNames() const = 0;
  /// Offset of the metadata that the answers come from.
  virtual int64_t version() const = 0;
};

}  // namespace tidemark::coordinator
