#include "faults/unmatched.h"

#include <algorithm>

#include <fmt/format.h>

#include "broker/auto_topics.h"
#include "cluster/cluster.h"
#include "cluster/file_listing.h"
#include "cluster/slot.h"
#include "raft/types.h"

// What a fault names and nobody is, as far as that is known: what can never be, and what is not there now.

namespace tidemark::cluster {
namespace {

using faults::Unmatched;

/// So many files and folders of a broker are looked through for a path: other commands wait meanwhile.
constexpr size_t kMostLookedAt = 10'000;

/// Whether neither a folder nor anything below it has the path, as far as that was seen.
bool isAbsent(platform::FileSystem& files, std::vector<std::string> directories, std::string_view pattern) {
  // What is not there holds nothing.
  std::erase_if(directories, [&](const std::string& directory) { return !files.exists(directory); });
  const auto has = [pattern](const std::string& path) { return faults::matchesPath(pattern, path); };
  if (std::ranges::any_of(directories, has)) return false;
  const auto below = listBelow(files, directories, kMostLookedAt);
  return below && !below->cut && std::ranges::none_of(below->entries, has, &FileListing::Entry::path);
}

/// The clients and the partitions that stand in a target.
struct NamesOfTarget {
  std::vector<std::string> clients;
  std::vector<TopicPartition> partitions;

  explicit NamesOfTarget(const faults::Target& target) {
    if (const auto* node = std::get_if<faults::NodeName>(&target)) {
      add(*node);
    } else if (const auto* named = std::get_if<faults::ClientsName>(&target)) {
      if (!named->client.empty()) clients.push_back(named->client);
    } else if (const auto* link = std::get_if<faults::LinkName>(&target)) {
      for (const faults::LinkEnd* end : {&link->from, &link->to})
        if (!end->isClients)
          add(end->node);
        else if (!end->client.empty())
          clients.push_back(end->client);
    }
  }

 private:
  void add(const faults::NodeName& node) {
    if (node.by == faults::NodeName::By::LeaderOf) partitions.push_back(node.partition);
  }
};

}  // namespace

Result<void> Cluster::checkNames(const faults::Fault& fault, NodeId node) const {
  const auto checkTopic = [](const std::string& topic) -> Result<void> {
    if (topic.empty() || broker::isValidTopicName(topic)) return {};
    return fail(
        ErrorCode::InvalidRequest,
        fmt::format("\"{}\" can be no topic's name: that is 1 to 249 letters, digits, '.', '_' and '-'", topic));
  };
  TIDEMARK_TRY(checkTopic(fault.topic));
  TIDEMARK_TRY(checkTopic(fault.trigger.about.topic));
  for (const TopicPartition& each : NamesOfTarget(fault.target).partitions) TIDEMARK_TRY(checkTopic(each.topic));
  if (!fault.path.starts_with('/')) return {};
  // Only its beginning is certain.
  const std::string_view sure = std::string_view(fault.path).substr(0, fault.path.find('*'));
  std::string all;
  for (const auto& [id, slot] : slots_) {
    if (node != kNoNode && node != id) continue;
    for (const std::string& directory : nodeDirectories(*topology_, dataFolder_, id)) {
      if (directory.starts_with(sure) || sure == directory || sure.starts_with(directory + "/")) return {};
      all += fmt::format("{}{}", all.empty() ? "" : ", ", directory);
    }
  }
  return fail(ErrorCode::InvalidRequest,
              fmt::format("{} is no path of the brokers': their files are in {}", fault.path, all));
}

bool Cluster::isConnected(std::string_view client) const {
  return std::ranges::any_of(slots_, [&](const auto& entry) {
    const Slot& slot = *entry.second;
    return slot.isOpen && slot.place.isBroker &&
           std::ranges::any_of(slot.node->broker()->server().connections(),
                               [&](const network::ConnectionInfo& each) { return each.client->clientId == client; });
  });
}

std::vector<Unmatched> Cluster::unmatched(const faults::Fault& fault, NodeId node) {
  using What = Unmatched::What;
  std::vector<Unmatched> none;
  NamesOfTarget names(fault.target);
  for (std::string& client : names.clients)
    if (!isConnected(client)) none.push_back({.what = What::Client, .name = std::move(client)});
  if (const metadata::ImagePtr image = newestImage()) {
    const auto look = [&](const std::string& topic, std::optional<PartitionIndex> partition) {
      // It is no topic of the image, and always there.
      if (topic == raft::kMetadataTopic) return;
      if (image->topics.find(topic) == nullptr)
        none.push_back({.what = What::Topic, .name = topic});
      else if (partition && image->topics.partition(topic, *partition) == nullptr)
        none.push_back({.what = What::Partition, .name = fmt::format("{}-{}", topic, *partition)});
    };
    if (!fault.topic.empty()) look(fault.topic, fault.partition);
    if (!fault.trigger.about.topic.empty()) look(fault.trigger.about.topic, fault.trigger.about.partition);
    for (const TopicPartition& each : names.partitions) look(each.topic, each.partition);
  }
  if (node == kNoNode) return none;
  const Slot& slot = *slots_.at(node);
  // Of what is over at once a path that is not there was refused.
  if (!fault.path.empty() && !faults::isMomentary(fault.kind)) {
    bool absent = false;
    const auto looked = withFiles(slot, [&](platform::FileSystem& files) -> Result<void> {
      absent = isAbsent(files, nodeDirectories(*topology_, dataFolder_, node), fault.path);
      return {};
    });
    if (looked && absent) none.push_back({.what = What::Path, .name = fault.path, .node = node});
  }
  return none;
}

}  // namespace tidemark::cluster
