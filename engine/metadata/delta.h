#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/uuid.h"
#include "metadata/image.h"

namespace tidemark::metadata {

struct Record;

/// What happened to one partition between the two images of a Delta. `before` or `after` is null if it did not exist.
struct PartitionChange {
  const TopicImage* topic = nullptr;  ///< as it is after, or was before if the topic is gone
  PartitionIndex index;
  const PartitionRegistration* before = nullptr;
  const PartitionRegistration* after = nullptr;
};

/// Collects records on top of an image. Not thread-safe; once applied and published it is read-only.
class Delta {
 public:
  explicit Delta(ImagePtr base);

  /// Applies one record. Error: the record has a type that Kafka 4.4 does not write, or names what does not exist; the
  /// delta is then of no further use.
  Result<void> replay(const Record& record);

  /// The end of a snapshot was reached whose records were replayed over a base that is not empty: what it did not name
  /// is gone. Call replay() only on a delta that was made by forSnapshot().
  static Delta forSnapshot(ImagePtr base);

  /// The image with all records so far, sharing what did not change.
  ImagePtr apply(const Provenance& provenance) const;

  const Image& base() const noexcept { return *base_; }
  /// The state so far (its provenance is that of the base).
  const Image& next() const noexcept { return next_; }

  // What changed (also what was changed and changed back).
  bool isEmpty() const noexcept;
  /// Every partition whose registration differs, by topic id and index; those of deleted topics with no `after`.
  /// Pointers are valid while this Delta and its base live.
  std::vector<PartitionChange> partitionChanges() const;
  const std::set<Uuid>& changedTopics() const noexcept { return topics_; }
  /// Topics of the base that are gone.
  std::vector<TopicPtr> deletedTopics() const;
  /// Topics that are new (one recreated under its old name appears here and in deletedTopics()).
  std::vector<TopicPtr> createdTopics() const;
  const std::set<NodeId>& changedBrokers() const noexcept { return brokers_; }
  const std::set<NodeId>& changedControllers() const noexcept { return controllers_; }
  const std::set<ConfigResource>& changedConfigs() const noexcept { return configs_; }
  const std::set<std::string>& changedFeatures() const noexcept { return features_; }
  bool securityChanged() const noexcept { return securityChanged_; }
  bool producerIdsChanged() const noexcept { return producerIdsChanged_; }
  /// Whether it came from a snapshot: everything may have changed.
  bool isSnapshot() const noexcept { return isSnapshot_; }

 private:
  struct Replayer;

  ImagePtr base_;
  Image next_;
  bool isSnapshot_ = false;
  std::set<Uuid> topics_;
  std::map<Uuid, std::set<PartitionIndex>> partitions_;
  std::set<NodeId> brokers_;
  std::set<NodeId> controllers_;
  std::set<ConfigResource> configs_;
  std::set<std::string> features_;
  bool securityChanged_ = false;
  bool producerIdsChanged_ = false;
};


}  // namespace tidemark::metadata
