#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/mutex.h"
#include "base/result.h"
#include "metadata/delta.h"
#include "metadata/image.h"
#include "records/batch.h"

namespace tidemark::metadata {

/// Told of every new image. Lives longer than the Loader it was given to.
class Publisher {
 public:
  virtual ~Publisher() = default;
  /// For messages.
  virtual std::string name() const = 0;
  /// On the loader's executor (the raft driver's), in the order of images. `delta` holds its base image and is valid
  /// inside the call only; `image` may be kept. The first call's delta has the empty image as its base.
  virtual void onUpdate(const Delta& delta, ImagePtr image) = 0;
};

/// Turns committed batches and snapshots of the metadata log into images. Serial: every call but image() is made on one
/// executor (the raft driver's listener).
///
/// Metadata transactions (KIP-868): what lies between BeginTransaction and EndTransaction becomes one update; an abort
/// drops it. Control batches move the offset only.
class Loader {
 public:
  Loader();

  /// Publishers are called in the order in which they were added. One added late first gets everything as one delta.
  void addPublisher(Publisher& publisher);
  void removePublisher(Publisher& publisher);

  /// The quorum's high watermark when the node started: publishing waits until the log was read up to there, so that
  /// nobody acts on an image of long ago. Not set: publish from the first batch on.
  void publishOnlyFrom(Offset highWatermark) { publishFrom_ = highWatermark; }

  /// Whole committed batches, back to back, following what came before. Publishes at most once, at the end.
  /// CorruptMessage: batches or records that cannot be read; the node cannot go on (the message says where).
  Result<void> onCommit(ByteView batches);

  /// A snapshot in the form of its file (control batch with header, data, control batch with footer). Replaces all.
  Result<void> onSnapshot(OffsetAndEpoch id, ByteView contents);

  /// The newest image; any thread. Never null; the empty image (offset −1) at first.
  ImagePtr image() const;
  /// The last offset given to onCommit, transactions that are still open included.
  Offset lastAppliedOffset() const noexcept { return lastApplied_.offset; }

 private:
  Result<void> replayBatch(const records::BatchView& batch, bool inSnapshot, bool& sawRecords);
  void publish(const Delta& delta);

  mutable Mutex mutex_;
  ImagePtr image_ GUARDED_BY(mutex_);

  ImagePtr current_;              ///< same as image_, for the loader's own executor
  std::optional<Delta> pending_;  ///< records since current_
  std::optional<Delta> beforeTransaction_;  ///< pending_ as it was when the open transaction began
  bool inTransaction_ = false;
  Provenance lastComplete_;       ///< of the last batch outside a transaction
  OffsetAndEpoch lastApplied_;
  int64_t lastAppliedTimeMs_ = -1;
  std::optional<Offset> publishFrom_;
  std::vector<Publisher*> publishers_;
  std::vector<Publisher*> newPublishers_;
};

}  // namespace tidemark::metadata
