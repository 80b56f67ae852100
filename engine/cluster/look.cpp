#include <fmt/format.h>

#include "cluster/cluster.h"
#include "cluster/slot.h"
#include "raft/types.h"

// Lends the files of a broker, or of the machine, to whoever looks at them.

namespace tidemark::cluster {
namespace {

/// A look that is answered even if its broker ends before its turn comes: a queued task is dropped then, and with it
/// this.
class OwedLook {
 public:
  explicit OwedLook(observe::ClusterSource::Look look) : look_(std::move(look)) {}
  OwedLook(OwedLook&& other) noexcept : look_(std::exchange(other.look_, nullptr)) {}
  OwedLook& operator=(OwedLook&&) = delete;
  ~OwedLook() {
    if (look_) look_(fail(ErrorCode::BrokerNotAvailable, "the broker ended before its files were read"));
  }
  void answer(const Result<observe::LookAccess>& access) { std::exchange(look_, nullptr)(access); }

 private:
  observe::ClusterSource::Look look_;
};

}  // namespace

void Cluster::look(observe::LookPlace place, Look look) {
  run([this, place = std::move(place), owed = OwedLook(std::move(look))]() mutable {
    lookNow(place,
            [owed = std::move(owed)](const Result<observe::LookAccess>& access) mutable { owed.answer(access); });
  });
}

Result<std::string> Cluster::storedPartition(const Slot& slot, const TopicPartition& partition) const {
  TIDEMARK_ASSIGN(const config::BrokerConfig config, nodeConfig(*topology_, slot.place, dataFolder_, settings_));
  std::vector<std::string> folders = config.logDirs();
  folders.push_back(config.metadataLogDir());
  for (const std::string& folder : folders) {
    std::string path = fmt::format("{}/{}", folder, partition);
    if (lab_->files().exists(path)) return path;
  }
  return fail(ErrorCode::UnknownTopicOrPartition, fmt::format("broker {} has no {}", slot.place.id, partition));
}

void Cluster::lookNow(const observe::LookPlace& place, Look look) {
  const auto give = [&look](const std::shared_ptr<platform::Executor>& executor, Result<observe::LookAccess> access) {
    executor->post([look = std::move(look), access = std::move(access)]() mutable { look(access); });
  };
  if (!looker_) looker_ = lab_->createExecutor({.name = "look", .threads = 1});
  if (place.broker == kNoNode) {
    give(looker_, observe::LookAccess{.process = lab_.get(), .path = place.path, .log = nullptr});
    return;
  }
  auto found = find(place.broker);
  if (!found) {
    give(looker_, fail(std::move(found).error()));
    return;
  }
  Slot& slot = **found;
  const auto partition =
      slot.isOpen && slot.place.isBroker ? slot.node->broker()->replicas().find(place.partition) : nullptr;
  if (partition && slot.state != observe::BrokerState::Paused) {
    if (!slot.looker) slot.looker = slot.process->createExecutor({.name = "look", .threads = 1});
    const std::shared_ptr<const log::PartitionLog> held = partition->log();
    give(slot.looker, observe::LookAccess{.process = slot.process.get(), .path = held->directory(), .log = held});
    return;
  }
  auto path = storedPartition(slot, place.partition);
  if (!path)
    give(looker_, fail(std::move(path).error()));
  else
    give(looker_, observe::LookAccess{.process = lab_.get(), .path = *std::move(path), .log = nullptr});
}

}  // namespace tidemark::cluster
