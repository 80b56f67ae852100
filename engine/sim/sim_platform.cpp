#include "sim/sim_platform.h"

#include <fmt/format.h>

namespace tidemark::sim {

std::string processOf(NodeId broker) {
  return fmt::format("broker-{}", broker);
}

std::shared_ptr<platform::Process> SimPlatform::createProcess(const std::string& name) {
  auto process = world_.createProcess({.name = name});
  processes_[name] = process;
  return process;
}

Result<std::vector<uint16_t>> SimPlatform::pickPorts(const std::string& /*host*/, size_t count) {
  std::vector<uint16_t> ports;
  for (size_t i = 0; i < count; ++i) ports.push_back(nextPort_++);
  return ports;
}

Result<std::string> SimPlatform::temporaryFolder() {
  return fmt::format("/tmp/tidemark-{}", ++folders_);
}

std::shared_ptr<platform::SimulatedProcess> SimPlatform::alive(const std::string& name) const {
  const auto found = processes_.find(name);
  auto process = found == processes_.end() ? nullptr : found->second.lock();
  return process && process->state() != platform::Process::State::Dead ? process : nullptr;
}

}  // namespace tidemark::sim
