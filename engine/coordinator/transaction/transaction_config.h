#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "events/recorder.h"
#include "platform/clock.h"

namespace tidemark::coordinator {

/// Kafka's settings of the transaction coordinator, under their names and with their defaults; and where its events go.
struct TransactionConfig {
  /// `transaction.max.timeout.ms`
  platform::milliseconds maxTimeout{900000};
  /// `transactional.id.expiration.ms`, `transaction.remove.expired.transaction.cleanup.interval.ms`
  platform::milliseconds idExpiration{604800000};
  platform::milliseconds expiryInterval{3600000};
  /// `transaction.abort.timed.out.transaction.cleanup.interval.ms`
  platform::milliseconds abortInterval{10000};
  /// How long a write may take to be committed (no setting: as long as its replicas' requests, 30 s, in Kafka as well).
  platform::milliseconds commitTimeout{30000};
  /// `transaction.state.log.load.buffer.size`
  size_t loadBufferSize = 5242880;
  /// The finalized `transaction.version`. Any thread.
  std::function<int16_t()> transactionVersion = [] { return int16_t{2}; };

  /// What becomes of transactions is told there. May be null; outlives the coordinator.
  events::Recorder* recorder = nullptr;
};

}  // namespace tidemark::coordinator
