#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"
#include "base/result.h"
#include "metadata/delta.h"
#include "metadata/image.h"
#include "metadata/publisher.h"
#include "metadata/records.h"
#include "raft/listener.h"

namespace tidemark::metadata {

/// Turns committed batches and snapshots of the metadata log into images, and tells publishers. One per node: its
/// broker and its controller share the images.
///
/// Serial: every call is made on one executor (the raft driver's, which is where raft::Listener is called), but image()
/// from any thread. Metadata transactions (KIP-868): what lies between BeginTransaction and EndTransaction becomes one
/// update; an abort drops it.
class Loader final : public raft::Listener {
 public:
  /// `onFault`: the log cannot be read or replayed; nothing is published from then on. The node cannot go on.
  explicit Loader(std::function<void(const std::string& reason)> onFault);

  /// Publishers are called in the order in which they were added. One that is added late is told at once who leads, and
  /// gets everything as one delta, as far as the others were told.
  void addPublisher(Publisher& publisher);
  void removePublisher(Publisher& publisher);

  // raft::Listener. At most one onUpdate a call, at its end.
  void onCommit(std::span<const raft::CommittedBatch> batches) override;
  void onLoadSnapshot(raft::SnapshotReader& reader) override;
  void onLeaderChange(raft::LeaderAndEpoch leader) override;

  /// The newest published image; any thread. Never null; empty (offset −1) at first.
  ImagePtr image() const EXCLUDES(mutex_);
  /// Everything committed.
  const CommittedState& committed() const noexcept { return committed_; }

 private:
  Result<void> replay(const raft::CommittedBatch& batch);
  Result<void> replayRecords(std::span<const ByteView> records, Offset base);
  Result<void> replayRecord(ByteView framed);
  Result<void> loadSnapshot(raft::SnapshotReader& reader);
  Result<void> loadBootstrap(raft::SnapshotReader& reader);
  /// Makes an image of what is pending and tells everybody.
  void step();
  void fault(const std::string& reason);

  std::function<void(const std::string&)> onFault_;
  bool faulty_ = false;
  std::vector<Publisher*> publishers_;

  /// On top of the last published image (or of nothing); without the records of an open transaction.
  Delta pending_;
  /// Records of the open transaction, owned.
  std::vector<Record> transaction_;
  /// Of what `pending_` will become: the last batch that ended outside a transaction.
  Provenance provenance_;
  CommittedState committed_;
  std::optional<raft::LeaderAndEpoch> leader_;
  bool published_ = false;

  mutable Mutex mutex_;
  ImagePtr image_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::metadata
