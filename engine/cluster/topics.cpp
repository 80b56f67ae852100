#include "cluster/cluster.h"

#include <algorithm>

#include <fmt/format.h>

#include "cluster/errands.h"
#include "cluster/slot.h"

namespace tidemark::cluster {
namespace {

using observe::BrokerState;

constexpr std::string_view kNobodyKnows = "no broker runs that knows the topics";
/// How long metadata may take to reach every broker.
constexpr platform::Duration kMetadataArrives = std::chrono::seconds(30);

}  // namespace

metadata::ImagePtr Cluster::newestImage() const {
  metadata::ImagePtr newest;
  for (const auto& [id, slot] : slots_) {
    if (!slot->isOpen || slot->state == BrokerState::Paused || !slot->place.isBroker) continue;
    metadata::ImagePtr image = slot->node->broker()->image();
    if (!newest || image->provenance.lastContainedOffset > newest->provenance.lastContainedOffset)
      newest = std::move(image);
  }
  return newest;
}

void Cluster::createTopic(observe::TopicOptions topic, Done done) {
  run([this, topic = std::move(topic), done = std::move(done)]() mutable {
    createTopicNow(topic, false, std::move(done));
  });
}

void Cluster::createTopicNow(const observe::TopicOptions& topic, bool inOrder, Handler done) {
  if (!errands_) {
    done(fail(ErrorCode::BrokerNotAvailable, "no cluster is running"));
    return;
  }
  client::NewTopic created{.name = topic.name,
                           .partitions = topic.partitions,
                           .replicationFactor = static_cast<int16_t>(
                               topic.replicationFactor > 0 ? topic.replicationFactor
                                                           : std::min<int>(3, static_cast<int>(topology_->brokers()))),
                           .configs = {},
                           .assignments = {}};
  for (const observe::Setting& setting : topic.configs) created.configs[setting.key] = setting.value;
  // Else where partitions begin is drawn by lot.
  if (inOrder) {
    std::vector<NodeId> nodes;
    nodes.reserve(slots_.size());
    for (const auto& [id, slot] : slots_)
      if (slot->place.isBroker) nodes.push_back(id);
    const auto copies = std::min<size_t>(static_cast<size_t>(created.replicationFactor), nodes.size());
    created.assignments.resize(static_cast<size_t>(std::max(topic.partitions, 0)));
    for (size_t partition = 0; partition < created.assignments.size(); ++partition)
      for (size_t copy = 0; copy < copies; ++copy)
        created.assignments[partition].push_back(nodes[(partition + copy) % nodes.size()]);
  }
  errands_->topics.createTopic(
      std::move(created), [this, name = topic.name, done = std::move(done)](Result<Uuid> id) mutable {
        if (!id) {
          done(fail(std::move(id).error()));
          return;
        }
        // The topic is committed; each broker takes it up a moment later.
        awaitMetadata([this, name] { return isEverywhere(name); },
                      [name, done = std::move(done)](Result<void> arrived) mutable {
                        if (arrived) return done({});
                        done(fail(ErrorCode::RequestTimedOut,
                                  fmt::format("topic {} is created, but not every broker has taken it up", name)));
                      });
      });
}

void Cluster::awaitMetadata(std::function<bool()> holds, Handler done) {
  const uint64_t number = ++metadataWaits_;
  platform::Timer timeout = executor_->schedule(kMetadataArrives, [this, number] {
    const auto late = std::ranges::find(metadataAwaited_, number, &MetadataWait::number);
    if (late == metadataAwaited_.end()) return;
    MetadataWait wait = std::move(*late);
    metadataAwaited_.erase(late);
    wait.done(fail(ErrorCode::RequestTimedOut, "not every broker has taken up the metadata"));
  });
  metadataAwaited_.push_back(
      {.number = number, .holds = std::move(holds), .timeout = std::move(timeout), .done = std::move(done)});
  metadataApplied();
}

bool Cluster::isSettled() const {
  const auto runs = [](const Slot& slot) {
    return slot.place.isBroker && slot.isOpen && slot.state == BrokerState::Running;
  };
  return std::ranges::all_of(slots_, [&](const auto& entry) {
    if (!runs(*entry.second)) return true;
    const metadata::ImagePtr image = entry.second->node->broker()->image();
    for (const auto& [id, slot] : slots_)
      if (runs(*slot) && !image->cluster.isActive(id)) return false;
    for (const auto& [id, topic] : image->topics.byId)
      for (const auto& [index, partition] : topic->partitions) {
        // The controller has yet to find out that it is not there.
        if (const auto leader = slots_.find(partition->leader); leader != slots_.end() && leader->second->isLeftOut())
          return false;
        const auto mayLead = [&](NodeId replica) { return image->cluster.isActive(replica); };
        if (partition->leader == kNoNode && std::ranges::any_of(partition->electable(), mayLead)) return false;
      }
    return true;
  });
}

bool Cluster::isEverywhere(const std::string& topic) const {
  return std::ranges::all_of(slots_, [&](const auto& entry) {
    const auto& [id, slot] = entry;
    if (!slot->place.isBroker || !slot->isOpen || slot->state != BrokerState::Running) return true;
    const metadata::ImagePtr image = slot->node->broker()->image();
    const metadata::TopicImage* known = image->topics.find(topic);
    if (known == nullptr) return false;
    for (const auto& [index, partition] : known->partitions)
      if (partition->isReplica(id) && slot->node->broker()->replicas().find(TopicPartition{topic, index}) == nullptr)
        return false;
    return true;
  });
}

void Cluster::metadataApplied() {
  for (auto wait = metadataAwaited_.begin(); wait != metadataAwaited_.end();) {
    if (!wait->holds()) {
      ++wait;
      continue;
    }
    Handler done = std::move(wait->done);
    metadataAwaited_.erase(wait);
    done({});
    // Who was told may have asked for more, or ended the cluster.
    wait = metadataAwaited_.begin();
  }
  changed();
}

void Cluster::findLeader(TopicPartition partition, std::move_only_function<void(Result<NodeId>)> done) {
  run([this, partition = std::move(partition), done = std::move(done)]() mutable {
    auto leader = leaderNow(partition);
    if (leader) {
      const auto slot = slots_.find(*leader);
      if (slot != slots_.end() && !isUp(slot->second->state))
        leader = fail(ErrorCode::LeaderNotAvailable,
                      fmt::format("{} has no leader: broker {} led it, which does not run, and {}", partition, *leader,
                                  hasMajority() ? "nobody else is elected yet"
                                                : "without a majority of the controllers nobody else can be elected"));
    }
    done(std::move(leader));
  });
}

Result<NodeId> Cluster::leaderNow(const TopicPartition& partition) const {
  const metadata::ImagePtr image = newestImage();
  if (!image) return fail(ErrorCode::BrokerNotAvailable, std::string(kNobodyKnows));
  const metadata::PartitionRegistration* registration = image->topics.partition(partition.topic, partition.partition);
  if (registration == nullptr)
    return fail(ErrorCode::UnknownTopicOrPartition, fmt::format("there is no partition {}", partition));
  if (registration->leader != kNoNode) return registration->leader;
  std::string last;
  for (const NodeId node : registration->electable()) last += fmt::format("{}{}", last.empty() ? "" : ", ", node);
  return fail(
      ErrorCode::LeaderNotAvailable,
      fmt::format("{} has no leader: nobody who may lead it runs, in sync last was broker {}", partition, last));
}

void Cluster::listTopics(std::move_only_function<void(Result<std::vector<std::string>>)> done) {
  run([this, done = std::move(done)]() mutable {
    const metadata::ImagePtr image = newestImage();
    if (!image) return done(fail(ErrorCode::BrokerNotAvailable, std::string(kNobodyKnows)));
    std::vector<std::string> names;
    for (const auto& [name, topic] : image->topics.byName) names.push_back(name);
    done(std::move(names));
  });
}

}  // namespace tidemark::cluster
