#include "metadata/image.h"

#include <algorithm>

namespace tidemark::metadata {
namespace {

/// Whether two maps of pointers point to equal things; shared subtrees compare at once.
template <class Map>
bool samePointees(const Map& a, const Map& b) {
  if (a.sharesAllWith(b)) return true;
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
           return x.first == y.first && (x.second == y.second || *x.second == *y.second);
         });
}

template <class T>
bool contains(const std::vector<T>& list, const T& value) noexcept {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

bool isReservedDirectory(const Uuid& id) noexcept {
  const auto& bytes = id.bytes();
  return std::all_of(bytes.begin(), bytes.end() - 1, [](uint8_t byte) { return byte == 0; }) && bytes.back() < 100;
}

const Endpoint* BrokerRegistration::endpoint(std::string_view listener) const noexcept {
  const auto at = std::ranges::find(endpoints, listener, &Endpoint::name);
  return at == endpoints.end() ? nullptr : &*at;
}

bool BrokerRegistration::hasOnlineDirectory(const Uuid& directory) const noexcept {
  if (directory == kUnassignedDirectory || directory == kMigratingDirectory) return true;
  if (directory == kLostDirectory) return false;
  return directories.empty() || std::ranges::binary_search(directories, directory);
}

bool BrokerRegistration::hasUncordonedDirectory() const noexcept {
  if (!cordonedDirectories || directories.empty()) return true;
  return std::ranges::any_of(directories, [this](const Uuid& directory) {
    return std::ranges::find(*cordonedDirectories, directory) == cordonedDirectories->end();
  });
}

bool PartitionRegistration::isReplica(NodeId node) const noexcept {
  return contains(replicas, node);
}
bool PartitionRegistration::isInIsr(NodeId node) const noexcept {
  return contains(isr, node);
}

Uuid PartitionRegistration::directoryOf(NodeId node) const noexcept {
  for (size_t i = 0; i < replicas.size() && i < directories.size(); ++i) {
    if (replicas[i] == node) return directories[i];
  }
  return kMigratingDirectory;
}

const PartitionRegistration* TopicImage::partition(PartitionIndex index) const noexcept {
  const PartitionPtr* found = partitions.find(index);
  return found ? found->get() : nullptr;
}

bool operator==(const TopicImage& a, const TopicImage& b) {
  return a.name == b.name && a.id == b.id && samePointees(a.partitions, b.partitions);
}

const TopicImage* TopicsImage::find(std::string_view name) const noexcept {
  const TopicPtr* found = byName.find(name);
  return found ? found->get() : nullptr;
}

const TopicImage* TopicsImage::find(const Uuid& id) const noexcept {
  const TopicPtr* found = byId.find(id);
  return found ? found->get() : nullptr;
}

const PartitionRegistration* TopicsImage::partition(std::string_view topic, PartitionIndex index) const noexcept {
  const TopicImage* found = find(topic);
  return found ? found->partition(index) : nullptr;
}

const PartitionRegistration* TopicsImage::partition(const Uuid& topic, PartitionIndex index) const noexcept {
  const TopicImage* found = find(topic);
  return found ? found->partition(index) : nullptr;
}

bool operator==(const TopicsImage& a, const TopicsImage& b) {
  return samePointees(a.byId, b.byId) && samePointees(a.byName, b.byName);
}

const BrokerRegistration* ClusterImage::broker(NodeId id) const noexcept {
  const BrokerPtr* found = brokers.find(id);
  return found ? found->get() : nullptr;
}

bool ClusterImage::isActive(NodeId id) const noexcept {
  const BrokerRegistration* found = broker(id);
  return found && found->isActive();
}

bool operator==(const ClusterImage& a, const ClusterImage& b) {
  return samePointees(a.brokers, b.brokers) && samePointees(a.controllers, b.controllers);
}

int16_t FeaturesImage::level(std::string_view feature) const noexcept {
  const auto at = finalized.find(feature);
  return at == finalized.end() ? int16_t{0} : at->second;
}

const config::ConfigMap& ConfigsImage::of(config::ResourceType type, std::string_view name) const {
  static const config::ConfigMap kNothing;
  const auto* found = resources.find(ConfigResource{type, std::string(name)});
  return found ? **found : kNothing;
}

const config::ConfigMap& ConfigsImage::broker(NodeId id) const {
  return of(config::ResourceType::Broker, std::to_string(id.value()));
}

bool operator==(const ConfigsImage& a, const ConfigsImage& b) {
  return samePointees(a.resources, b.resources);
}

bool Image::sameContents(const Image& other) const {
  return features == other.features && cluster == other.cluster && topics == other.topics && configs == other.configs &&
         nextProducerId == other.nextProducerId && security == other.security;
}

}  // namespace tidemark::metadata
