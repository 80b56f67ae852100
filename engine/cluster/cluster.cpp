#include "cluster/cluster.h"

#include <fmt/format.h>

#include "cluster/errands.h"
#include "cluster/slot.h"

namespace tidemark::cluster {

Cluster::Cluster(std::unique_ptr<ClusterPlatform> platform)
    : platform_(std::move(platform)),
      lab_(platform_->createProcess(std::string(kLab))),
      executor_(lab_->createExecutor({.name = "cluster", .threads = 1})),
      faults_(std::make_shared<faults::FaultBook>([this](const events::Payload& what) { tell(kNoNode, what); },
                                                  [this](int, uint64_t) { run([this] { changed(); }); },
                                                  [this] { return lab_->clock().monotonic(); })),
      newest_(std::make_shared<const observe::ClusterSnapshot>()) {
  collector_.onWake([this] {
    run([this] {
      hearEvents();
      changed();
    });
  });
}

Cluster::~Cluster() {
  // Nothing of ours runs any more, so that nobody takes the end of the brokers for news; then the brokers.
  lab_->kill("the cluster is closed");
  lab_->awaitStopped();
  for (auto& [id, slot] : slots_)
    if (slot->process) slot->process->kill("the cluster is closed");
  for (auto& [id, slot] : slots_)
    if (slot->process) slot->process->awaitStopped();
  for (auto& [id, slot] : slots_)
    if (slot->recorder) listenTo(*slot, {});
  slots_.clear();
  errands_.reset();
  client_.reset();
  if (!temporary_ || dataFolder_.empty()) return;
  folderLock_.reset();
  // A new one on the same machine: ours is dead. What cannot be removed now goes at the next launch.
  const auto remover = platform_->createProcess(std::string(kLab));
  static_cast<void>(remover->files().removeTree(dataFolder_));
}

void Cluster::run(std::move_only_function<void()> task) {
  executor_->post(std::move(task));
}

void Cluster::advertise(std::string host) {
  run([this, host = std::move(host)]() mutable { advertised_ = std::move(host); });
}

std::vector<observe::Setting> Cluster::profile(int brokers) const {
  std::vector<observe::Setting> settings;
  for (const auto& [key, value] : config::labProfile(brokers)) settings.push_back({key, value});
  return settings;
}

Result<Cluster::Slot*> Cluster::find(NodeId id) {
  const auto found = slots_.find(id);
  if (found == slots_.end()) return fail(ErrorCode::BrokerNotAvailable, fmt::format("there is no broker {}", id));
  return found->second.get();
}

void Cluster::tell(NodeId broker, const events::Payload& payload) {
  collector_.append({.sequence = 0,
                     .at = lab_->clock().monotonic(),
                     .wall = lab_->clock().wall(),
                     .broker = broker,
                     .payload = payload});
  run([this] { hearEvents(); });
}

void Cluster::whenReady(std::move_only_function<void(const Ready&)> done) {
  run([this, done = std::move(done)]() mutable {
    Ready ready;
    if (topology_) {
      ready.bootstrap = topology_->bootstrap();
      ready.host = topology_->host;
      ready.advertisedHost = topology_->advertisedHost;
      ready.logDirectories = topology_->logDirectories;
      ready.port = topology_->nodes.front().port;
      ready.clusterId = topology_->clusterId;
      bool first = true;
      for (const NodePlace& node : topology_->nodes) {
        if (node.isBroker)
          ready.brokers.push_back(node.id.value());
        else
          ++ready.separateControllers;
        const bool isMissing = slots_.at(node.id)->isLeftOut();
        if (isMissing) ready.missing.push_back(node.id.value());
        if (!isMissing && node.isBroker && std::exchange(first, false))
          ready.bootstrap = fmt::format("{}", platform::Endpoint{topology_->advertisedHost, node.port});
      }
    }
    ready.profile = settings_;
    done(ready);
  });
}

broker::Node* Cluster::node(NodeId id) {
  const auto found = slots_.find(id);
  return found != slots_.end() && found->second->isOpen ? found->second->node.get() : nullptr;
}

Cluster::Started Cluster::started(NodeId id) const {
  const auto found = slots_.find(id);
  if (found == slots_.end() || !found->second->process) return {};
  return {found->second->recorder, found->second->node.get()};
}

}  // namespace tidemark::cluster
