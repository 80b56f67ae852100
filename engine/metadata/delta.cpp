#include "metadata/delta.h"

#include "metadata/records.h"

namespace tidemark::metadata {
namespace {

/// Adds to `changed` every key of either map whose values are not the same object or equal.
template <class Map, class Set>
void addDifferences(const Map& before, const Map& after, Set& changed) {
  for (const auto& [key, value] : before) {
    const auto* other = after.find(key);
    if (!other || (*other != value && !(**other == *value))) changed.insert(key);
  }
  for (const auto& [key, value] : after) {
    if (!before.contains(key)) changed.insert(key);
  }
}

}  // namespace

Delta::Delta(ImagePtr base) : base_(std::move(base)), next_(*base_) {}

Delta Delta::forSnapshot(ImagePtr base) {
  Delta delta(std::move(base));
  delta.next_ = Image{.provenance = delta.base_->provenance};
  delta.isSnapshot_ = true;
  return delta;
}

Delta Delta::fromNothing(const Image& image) {
  Delta delta(std::make_shared<const Image>());
  delta.next_ = image;
  delta.isSnapshot_ = true;
  delta.finishSnapshot();
  return delta;
}

void Delta::finishSnapshot() {
  changes_ = {};
  addDifferences(base_->topics.byId, next_.topics.byId, changes_.topics);
  for (const Uuid& id : changes_.topics) {
    const TopicImage* before = base_->topics.find(id);
    const TopicImage* after = next_.topics.find(id);
    const TopicImage none;
    std::set<PartitionIndex> partitions;
    addDifferences((before ? *before : none).partitions, (after ? *after : none).partitions, partitions);
    if (!partitions.empty()) changes_.partitions.emplace(id, std::move(partitions));
  }
  addDifferences(base_->cluster.brokers, next_.cluster.brokers, changes_.brokers);
  addDifferences(base_->cluster.controllers, next_.cluster.controllers, changes_.controllers);
  addDifferences(base_->configs.resources, next_.configs.resources, changes_.configs);
  for (const Image* image : {base_.get(), static_cast<const Image*>(&next_)}) {
    for (const auto& [name, level] : image->features.finalized) {
      if (base_->features.level(name) != next_.features.level(name)) changes_.features.insert(name);
    }
  }
  changes_.security = !(base_->security == next_.security);
  changes_.producerIds = base_->nextProducerId != next_.nextProducerId;
}

Result<void> Delta::replay(const Record& record) {
  return replayRecord(next_, record, changes_);
}

ImagePtr Delta::apply(const Provenance& provenance) const {
  auto image = std::make_shared<Image>(next_);
  image->provenance = provenance;
  return image;
}

std::vector<PartitionChange> Delta::partitionChanges() const {
  std::vector<PartitionChange> result;
  const auto add = [&](const TopicPtr& topic, PartitionIndex index, const TopicPtr* before, const TopicPtr* after) {
    const PartitionPtr* old = before ? (*before)->partitions.find(index) : nullptr;
    const PartitionPtr* now = after ? (*after)->partitions.find(index) : nullptr;
    if (!old && !now) return;
    if (old && now && (*old == *now || **old == **now)) return;
    result.push_back({topic, index, old ? *old : nullptr, now ? *now : nullptr});
  };
  for (const Uuid& id : changes_.topics) {
    const TopicPtr* before = base_->topics.byId.find(id);
    const TopicPtr* after = next_.topics.byId.find(id);
    if (!after) {
      if (!before) continue;
      for (const auto& [index, partition] : (*before)->partitions) add(*before, index, before, nullptr);
      continue;
    }
    const auto touched = changes_.partitions.find(id);
    if (touched == changes_.partitions.end()) continue;
    for (PartitionIndex index : touched->second) add(*after, index, before, after);
  }
  return result;
}

std::vector<TopicPtr> Delta::deletedTopics() const {
  std::vector<TopicPtr> result;
  for (const Uuid& id : changes_.topics) {
    const TopicPtr* before = base_->topics.byId.find(id);
    if (before && !next_.topics.byId.contains(id)) result.push_back(*before);
  }
  return result;
}

std::vector<TopicPtr> Delta::createdTopics() const {
  std::vector<TopicPtr> result;
  for (const Uuid& id : changes_.topics) {
    const TopicPtr* after = next_.topics.byId.find(id);
    if (after && !base_->topics.byId.contains(id)) result.push_back(*after);
  }
  return result;
}

}  // namespace tidemark::metadata
