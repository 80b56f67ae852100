#pragma once

#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace tidemark::metadata {

/// How the controller writes to the metadata log: raft::RaftNode behind a few lines of glue. Any thread; must not call
/// back inside a call.
class RaftAppender {
 public:
  virtual ~RaftAppender() = default;

  /// Appends framed records, all in one batch (atomic: all of them are committed or none), if this node leads `epoch`.
  /// Returns the offset of the last. NotController: it does not lead that epoch (any more); other errors: nothing was
  /// appended. What was appended is committed later, or never.
  virtual Result<Offset> append(LeaderEpoch epoch, std::vector<ByteVector> records) = 0;

  /// Where the next append() of the leader of `epoch` will land.
  virtual Result<Offset> nextAppendOffset(LeaderEpoch epoch) const = 0;

  /// Gives up leading `epoch`: the controller cannot go on.
  virtual void resign(LeaderEpoch epoch) = 0;
};

}  // namespace tidemark::metadata
