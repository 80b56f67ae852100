#include "broker/settings_without_effect.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/config_table.h"

namespace tidemark::broker {
namespace {

struct WithoutEffect {
  std::string_view key;
  std::string_view why;
};

constexpr std::string_view kOneThread = "each coordinator works on one thread";
constexpr std::string_view kAtOnce = "what a coordinator decides is appended at once";
constexpr std::string_view kNoBuffers = "no write buffer is kept";
constexpr std::string_view kOnCoordinator = "assignors run on the coordinator's thread";
constexpr std::string_view kNoPlugins = "there are no plug-ins";

constexpr std::array kWithoutEffect = {
    WithoutEffect{"group.consumer.assignor.offload.enable", kOnCoordinator},
    WithoutEffect{"group.coordinator.append.linger.ms", kAtOnce},
    WithoutEffect{"group.coordinator.background.threads", kOneThread},
    WithoutEffect{"group.coordinator.cached.buffer.max.bytes", kNoBuffers},
    WithoutEffect{"group.coordinator.threads", kOneThread},
    WithoutEffect{"group.share.assignor.offload.enable", kOnCoordinator},
    WithoutEffect{"group.share.assignors", kNoPlugins},
    WithoutEffect{"group.share.dlq.manager.class.name", kNoPlugins},
    WithoutEffect{"group.share.persister.class.name", kNoPlugins},
    WithoutEffect{"group.streams.assignor.offload.enable", kOnCoordinator},
    WithoutEffect{"group.streams.assignors", kNoPlugins},
    WithoutEffect{"group.streams.num.warmup.replicas", "the sticky assignor makes no warm-up tasks"},
    WithoutEffect{"group.streams.topology.description.plugin.class", kNoPlugins},
    WithoutEffect{"producer.id.expiration.check.interval.ms",
                  "producers expire when retention is looked at (log.retention.check.interval.ms)"},
    WithoutEffect{"share.coordinator.append.linger.ms", kAtOnce},
    WithoutEffect{"share.coordinator.cached.buffer.max.bytes", kNoBuffers},
    WithoutEffect{"share.coordinator.threads", kOneThread},
    WithoutEffect{"transaction.two.phase.commit.enable", "transactions in two phases are not served"},
};

}  // namespace

std::vector<std::string> settingsWithoutEffect(const config::ConfigMap& set) {
  std::vector<std::string> said;
  const config::ConfigTable& table = config::configTable(config::ConfigLevel::Broker);
  for (const auto& [key, why] : kWithoutEffect) {
    const auto found = set.find(key);
    const config::ConfigDefinition* known = table.find(key);
    if (found == set.end() || known == nullptr || found->second == known->defaultValue.value_or("")) continue;
    said.push_back(fmt::format("{}={} has no effect: {}", key, found->second, why));
  }
  return said;
}

}  // namespace tidemark::broker
