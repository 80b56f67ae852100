#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "metadata/image.h"
#include "metadata/replay.h"

namespace tidemark::metadata {

struct Record;

/// What happened to one partition between the two images of a Delta.
struct PartitionChange {
  /// As it is after; as it was before if it is gone. A topic recreated under its name has another id and so two
  /// changes.
  TopicPtr topic;
  PartitionIndex index;
  /// Null if it did not exist.
  PartitionPtr before;
  /// Null if it does not exist any more.
  PartitionPtr after;
};

/// Collects records on top of an image. Used on one thread until it is published; then it is read-only.
class Delta {
 public:
  explicit Delta(ImagePtr base);

  /// For the records of a snapshot, which replace everything: call finishSnapshot() after the last one.
  static Delta forSnapshot(ImagePtr base);
  void finishSnapshot();
  /// From the empty image to all of `image`.
  static Delta fromNothing(const Image& image);

  /// Applies one record. Error: see replayRecord(); the delta is as it was.
  Result<void> replay(const Record& record);

  /// The image with all records so far, sharing what did not change.
  ImagePtr apply(const Provenance& provenance) const;

  const Image& base() const noexcept { return *base_; }
  const ImagePtr& basePtr() const noexcept { return base_; }
  /// The state so far (its provenance is that of the base).
  const Image& next() const noexcept { return next_; }

  // What was touched, also if it was changed back.
  bool isEmpty() const noexcept { return changes_.empty(); }
  /// Whether it replaces everything.
  bool isSnapshot() const noexcept { return isSnapshot_; }
  /// Partitions whose registration differs, in the order of topic id and index; those of deleted topics come with no
  /// `after`.
  std::vector<PartitionChange> partitionChanges() const;
  /// Topics of the base that are gone, and topics that are new.
  std::vector<TopicPtr> deletedTopics() const;
  std::vector<TopicPtr> createdTopics() const;
  const std::set<NodeId>& changedBrokers() const noexcept { return changes_.brokers; }
  const std::set<NodeId>& changedControllers() const noexcept { return changes_.controllers; }
  const std::set<ConfigResource>& changedConfigs() const noexcept { return changes_.configs; }
  const std::set<std::string>& changedFeatures() const noexcept { return changes_.features; }
  bool securityChanged() const noexcept { return changes_.security; }
  bool producerIdsChanged() const noexcept { return changes_.producerIds; }

 private:
  ImagePtr base_;
  Image next_;
  Changes changes_;
  bool isSnapshot_ = false;
};

}  // namespace tidemark::metadata
