#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "cluster/platform.h"
#include "platform/simulated/world.h"

namespace tidemark::sim {

/// The name of a broker's process, and of its machine.
std::string processOf(NodeId broker);

/// Where a simulated cluster's processes come from: each on a disk of its own name, all on one host. Of the world's
/// thread; the world outlives it.
class SimPlatform final : public cluster::ClusterPlatform {
 public:
  explicit SimPlatform(platform::World& world) : world_(world) {}

  std::shared_ptr<platform::Process> createProcess(const std::string& name) override;
  Result<std::vector<uint16_t>> pickPorts(const std::string& host, size_t count) override;
  Result<std::string> temporaryFolder() override;

  /// The process of that name that lives, or null: for power losses and crashes at file calls.
  std::shared_ptr<platform::SimulatedProcess> alive(const std::string& name) const;

 private:
  platform::World& world_;
  std::map<std::string, std::weak_ptr<platform::SimulatedProcess>> processes_;
  uint16_t nextPort_ = 19092;
  int folders_ = 0;
};

}  // namespace tidemark::sim
