#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "coordinator/coordinator_log.h"
#include "coordinator/transaction/transaction_metadata.h"

namespace tidemark::coordinator {

// Records of `__transaction_state` as Kafka 4.4 writes them: TransactionLogKey 0; TransactionLogValue 1, or 0 while
// transaction.version is 0.
CoordinatorRecord transactionRecord(std::string_view transactionalId, const TransactionMetadata& metadata,
                                    int16_t transactionVersion);
CoordinatorRecord transactionTombstone(std::string_view transactionalId);

/// CorruptMessage if it cannot be read or names no state.
Result<TransactionMetadata> readTransactionValue(ByteView value);

}  // namespace tidemark::coordinator
