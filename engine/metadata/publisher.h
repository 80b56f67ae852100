#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/ids.h"
#include "metadata/delta.h"
#include "metadata/image.h"
#include "metadata/records.h"
#include "raft/types.h"

namespace tidemark::metadata {

/// What the log says up to its committed end, whether or not somebody was told yet.
struct CommittedState {
  /// Without the records of a metadata transaction that is open.
  ImagePtr image;
  /// The last committed offset, control batches and open transactions included.
  OffsetAndEpoch end;
  bool inTransaction = false;
  /// Bytes of the log's batches since the loader began; what a snapshot replaced does not count. Only grows.
  uint64_t bytesRead = 0;
  /// Records of the bootstrap snapshot (offset 0), which formatting wrote. They are not part of the image: the first
  /// active controller appends them to the log. Null: there was none.
  std::shared_ptr<const Records> bootstrap;
};

/// Told of what is committed. Lives longer than the Loader it was given to, or is removed from it. Every call comes on
/// the loader's executor (the raft driver's) and must not block.
class Publisher {
 public:
  virtual ~Publisher() = default;
  /// For messages.
  virtual std::string name() const = 0;
  /// In the order of images. `delta` holds its base and is valid inside the call only; `image` may be kept. The first
  /// call's delta has the empty image as its base, so it says everything.
  virtual void onUpdate(const Delta& delta, ImagePtr image) = 0;

  /// After each commit or snapshot and before onUpdate, also for what is not published yet. The controller lives on it.
  virtual void onCommitted(const CommittedState& /*state*/) {}
  /// The quorum has another leader or epoch (see raft::Listener).
  virtual void onLeaderChange(const raft::LeaderAndEpoch& /*leader*/, const CommittedState& /*state*/) {}
};

}  // namespace tidemark::metadata
