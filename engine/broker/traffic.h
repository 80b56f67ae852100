#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"
#include "network/request_context.h"
#include "platform/clock.h"

namespace tidemark::broker {

/// What clients write and read, for views. Any thread.
class Traffic {
 public:
  /// Where a consumer's newest fetch of a partition began.
  struct Reader {
    std::string client;
    /// Empty if the client did not tell.
    std::string software;
    TopicPartition partition;
    Offset fetchOffset;
    platform::MonotonicTime at;
  };
  /// More readers than anybody looks at are not noted.
  static constexpr size_t kMaxReaders = 1000;
  /// A consumer that has not fetched for so long reads no more.
  static constexpr platform::Duration kForgotten = std::chrono::seconds(30);

  void produced(int64_t bytes) noexcept { producedBytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void fetched(int64_t bytes) noexcept { fetchedBytes_.fetch_add(bytes, std::memory_order_relaxed); }
  /// Bytes of records since the start; only grow. Those of followers do not count.
  int64_t producedBytes() const noexcept { return producedBytes_.load(std::memory_order_relaxed); }
  int64_t fetchedBytes() const noexcept { return fetchedBytes_.load(std::memory_order_relaxed); }

  /// Worth calling only while somebody looks.
  void reads(const network::RequestContext& context, const TopicPartition& partition, Offset fetchOffset);
  /// Of the connections that are still there.
  std::vector<Reader> readers(platform::MonotonicTime now);

 private:
  struct Place {
    /// In the order in which they came: that of `places_` is one of addresses.
    uint64_t number = 0;
    /// Gone when the connection is.
    std::weak_ptr<const network::Peer> peer;
    Reader reader;
  };
  std::atomic<int64_t> producedBytes_{0};
  std::atomic<int64_t> fetchedBytes_{0};
  Mutex mutex_;
  std::map<std::pair<const network::Peer*, TopicPartition>, Place> places_ GUARDED_BY(mutex_);
  uint64_t numbered_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tidemark::broker
