#include "coordinator/effects.h"

namespace tidemark::coordinator {

ErrorCode clientErrorOfWrite(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::UnknownTopicOrPartition:
    case ErrorCode::NotEnoughReplicas:
    case ErrorCode::NotEnoughReplicasAfterAppend:
    case ErrorCode::RequestTimedOut:
      return ErrorCode::CoordinatorNotAvailable;
    case ErrorCode::NotLeaderOrFollower:
    case ErrorCode::KafkaStorageError:
      return ErrorCode::NotCoordinator;
    case ErrorCode::MessageTooLarge:
    case ErrorCode::RecordListTooLarge:
    case ErrorCode::InvalidFetchSize:
      return ErrorCode::UnknownServerError;
    default:
      return code;
  }
}

}  // namespace tidemark::coordinator
