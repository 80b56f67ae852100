#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/request_info.h"
#include "coordinator/runtime.h"
#include "coordinator/transaction/marker_sender.h"
#include "coordinator/transaction/transaction_config.h"
#include "coordinator/transaction/transaction_metadata.h"
#include "coordinator/transaction/transaction_requests.h"
#include "coordinator/transaction/transaction_snapshot.h"
#include "platform/clock.h"
#include "protocol/generated/describe_transactions_response.h"
#include "protocol/generated/list_transactions_request.h"
#include "protocol/generated/list_transactions_response.h"

namespace tidemark::coordinator {

/// A producer id is needed that only the controller can give: the request is to be handled again with one.
using NeedProducerId = std::move_only_function<void()>;

/// One partition of `__transaction_state`: its transactional ids (Kafka's TransactionStateManager and the rules of its
/// TransactionCoordinator). Decided by the newest record, and nothing is decided for an id whose newest record is not
/// committed; told to others as of the high watermark. Markers go out when the end is committed, and again from a new
/// coordinator; the transaction is complete when all are written.
class TransactionShard final : public Shard {
 public:
  TransactionShard(PartitionIndex partition, const TransactionConfig& config, const platform::Clock& clock,
                   std::function<void(MarkerOrder)> send, std::function<void()> forget)
      : partition_(partition), config_(config), clock_(clock), send_(std::move(send)), forget_(std::move(forget)) {}

  Result<void> replay(Offset offset, ProducerId producerId, ByteView key, std::optional<ByteView> value) override;
  void replayEndTxn(Offset, ProducerId, bool) override {}
  void onHighWatermark(Offset highWatermark) override;
  Effects onLoaded() override;
  Effects onUnloaded() override;
  Effects onTimeout(const TimerKey& key) override;

  // transaction_handlers.cpp. `fresh`: a producer id to give out, if one was asked for.
  Effects beginProducer(const BeginProducer& request, std::optional<ProducerId> fresh, NeedProducerId need,
                        Reply<ProducerAnswer> reply);
  /// One error for all, as the transaction takes all or none.
  Effects addPartitions(const AddPartitions& request, Reply<ErrorCode> reply);
  PartitionErrors verify(const AddPartitions& request) const;
  Effects end(const EndTransaction& request, std::optional<ProducerId> fresh, NeedProducerId need,
              Reply<ProducerAnswer> reply);
  /// Those partitions have their marker; of another epoch: it does not matter any more.
  Effects markersWritten(std::string_view transactionalId, ProducerIdAndEpoch producer,
                         const std::vector<TopicPartition>& partitions);

  // transaction_looks.cpp
  protocol::DescribeTransactionsResponse::TransactionState describe(std::string_view transactionalId) const;
  struct Filter {
    std::set<TransactionState> states;
    /// A filter by states that names none known: nothing passes.
    bool byState = false;
    std::set<int64_t> producerIds;
    int64_t longerThanMs = -1;
    std::function<bool(std::string_view)> id;
  };
  void list(const Filter& filter, std::vector<protocol::ListTransactionsResponse::TransactionState>& into) const;
  void snapshot(std::vector<TransactionSnapshot>& into) const;

 private:
  using MetadataPtr = std::shared_ptr<const TransactionMetadata>;
  struct Entry {
    /// As of the log's end; null: a tombstone.
    MetadataPtr latest;
    /// As of the high watermark; null: not there yet.
    MetadataPtr committed;
    /// Of `latest`'s record.
    Offset recordOffset;
    /// When an open transaction was looked at first: it began no later, whatever another coordinator's clock said then.
    std::optional<int64_t> openSinceMs;
    /// `latest` is a prepared end whose markers were sent out; these have no answer yet.
    bool sentMarkers = false;
    std::set<TopicPartition> pendingMarkers;
  };
  struct Change {
    Offset offset;
    std::string id;
    MetadataPtr value;
  };
  /// What a record that is about to be written does not tell by itself.
  struct Written {
    events::TransactionCause cause{};
    ProducerEpoch lastProducerEpoch{-1};
  };

  Entry* find(std::string_view id);
  const Entry* find(std::string_view id) const;
  bool isPending(const Entry& entry) const { return entry.recordOffset >= highWatermark_; }
  /// CONCURRENT_TRANSACTIONS is the answer.
  bool isBusy(const Entry& entry) const { return isPending(entry) || (entry.latest && isEnding(entry.latest->state)); }
  /// Adds the record of `next` to `effects`.
  void write(Effects& effects, std::string_view id, const TransactionMetadata& next, events::TransactionCause cause);
  void tell(std::string_view id, const TransactionMetadata* from, const TransactionMetadata* to);

  /// What EndTxn is answered at once, without a record.
  struct Refused {
    ErrorCode error = ErrorCode::None;
    ProducerIdAndEpoch producer;
  };
  using EndDecision = std::expected<TransactionMetadata, Refused>;
  /// Of producers of version 2. `next`: the producer id that follows if epochs are exhausted.
  EndDecision decideEnd(const Entry& entry, const EndTransaction& request, ProducerId next) const;
  EndDecision decideEndOfOldClient(const Entry& entry, const EndTransaction& request) const;
  /// Brings prepared ends on: waits until they are committed, sends their markers, writes that they are complete.
  Effects sendMarkers(std::vector<std::string> ids);
  void sendMarkersOf(const std::string& id, Entry& entry, Effects& effects);
  void complete(const std::string& id, const Entry& entry, Effects& effects);
  Effects abortTimedOut();
  Effects expireIds();

  const PartitionIndex partition_;
  const TransactionConfig& config_;
  const platform::Clock& clock_;
  const std::function<void(MarkerOrder)> send_;
  const std::function<void()> forget_;
  std::map<std::string, Entry, std::less<>> entries_;
  Offset highWatermark_{0};
  /// Records that are not committed, in order.
  std::deque<Change> uncommitted_;
  /// Of records under way to replay().
  std::map<std::string, Written, std::less<>> written_;
};

}  // namespace tidemark::coordinator
