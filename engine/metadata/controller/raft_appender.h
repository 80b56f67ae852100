#pragma once

#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace tidemark::metadata {

struct Record;

/// How the controller writes to the metadata log; the raft driver implements it. Called on the controller's executor,
/// must not call back inside the call.
class RaftAppender {
 public:
  virtual ~RaftAppender() = default;

  /// Appends `records` as one batch (atomic: all of them are committed or none) if this node leads in `epoch`, and
  /// returns the offset of the last. NotController: it leads no more, or in another epoch. The batch becomes durable and
  /// committed later.
  virtual Result<Offset> append(LeaderEpoch epoch, const std::vector<Record>& records) = 0;

  /// The offset that the next appended record will get.
  virtual Offset logEndOffset() const = 0;

  /// Gives up leadership of `epoch`: the controller found that it cannot go on.
  virtual void resign(LeaderEpoch epoch) = 0;
};

}  // namespace tidemark::metadata
