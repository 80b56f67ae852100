#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "client/share_consumer.h"
#include "protocol/generated/share_acknowledge_request.h"
#include "protocol/generated/share_fetch_request.h"
#include "protocol/generated/share_fetch_response.h"

namespace tidemark::client {

class FetchReader;

/// The epoch of a request that begins a share session, and of one that ends it.
inline constexpr int32_t kFirstSessionEpoch = 0;
inline constexpr int32_t kLastSessionEpoch = -1;

/// What is said of offsets of a partition, by the first of them.
struct Said {
  Offset last;
  AcknowledgeType type = AcknowledgeType::Gap;
  /// Nothing: by the consumer itself, nobody waits for what becomes of it.
  std::optional<Delivery> delivery;
};
using SaidOf = std::map<Offset, Said>;
using SaidAll = std::map<TopicPartition, SaidOf>;

/// A member's share session with one leader (KIP-932), without I/O: what the next request is to say. The ids of group
/// and member are for whoever sends it. On the consumer's executor.
struct ShareSession {
  using Partitions = std::set<TopicPartition>;
  /// The id of a topic, zero if it is unknown.
  using IdOf = std::function<Uuid(const std::string&)>;

  /// Of the next request.
  int32_t epoch = kFirstSessionEpoch;
  /// Of its own among the consumer's.
  uint64_t number = 0;
  /// What the leader believes is wanted.
  Partitions fetched;
  /// To be sent. As long as what is held there: the leader bounds that (share.partition.max.record.locks).
  SaidAll said;

  bool isOpen() const noexcept { return epoch != kFirstSessionEpoch; }
  /// A request of it was answered.
  void goOn() noexcept { epoch = epoch == INT32_MAX ? 1 : epoch + 1; }
  /// What was held in it may be given to others: what was still to be said of that.
  SaidAll end();

  /// Tells the leader what has changed of what is wanted, and what was said.
  protocol::ShareFetchRequest fetchRequest(const ShareOptions& options, const Partitions& wanted, const SaidAll& saying,
                                           const IdOf& idOf) const;
};

/// Without an epoch.
protocol::ShareAcknowledgeRequest acknowledgeRequest(const SaidAll& saying, const ShareSession::IdOf& idOf);

/// Gives the records that were acquired, one by one, as long as `give` returns true, and says itself where there is
/// none, or none that can be read. The result: why not. `delivery` holds what is the same for all.
std::optional<std::string> takeAcquired(FetchReader& reader, Delivery delivery,
                                        const protocol::ShareFetchResponse::PartitionData& data, SaidOf& said,
                                        const std::function<bool(const AcquiredRecord&)>& give);

}  // namespace tidemark::client
