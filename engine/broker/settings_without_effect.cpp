#include "broker/settings_without_effect.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "config/config_table.h"

namespace tidemark::broker {
namespace {

struct WithoutEffect {
  std::string_view key;
  std::string_view why;
};

constexpr std::string_view kOneThread = "each coordinator works on one thread";
constexpr std::string_view kAtOnce = "what a coordinator decides waits for nothing but what is queued already";
constexpr std::string_view kNoBuffers = "no write buffer is kept";
constexpr std::string_view kOnCoordinator = "assignors run on the coordinator's thread";
constexpr std::string_view kNoPlugins = "there are no plug-ins";
/// Nor does Kafka 4.4: StickyTaskAssignor gives none, and AssignmentRefiner.refine() gives back what it is given.
constexpr std::string_view kNoWarmups = "there are no warm-up tasks";

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
    WithoutEffect{"group.streams.num.warmup.replicas", kNoWarmups},
    WithoutEffect{"group.streams.topology.description.plugin.class", kNoPlugins},
    WithoutEffect{"producer.id.expiration.check.interval.ms",
                  "producers expire when retention is looked at (log.retention.check.interval.ms)"},
    WithoutEffect{"share.coordinator.append.linger.ms", kAtOnce},
    WithoutEffect{"share.coordinator.cached.buffer.max.bytes", kNoBuffers},
    WithoutEffect{"share.coordinator.threads", kOneThread},
    WithoutEffect{"transaction.two.phase.commit.enable", "transactions in two phases are not served"},
};

/// Of a group alone.
constexpr std::array kWithoutEffectOnGroups = {
    WithoutEffect{"consumer.assignor.offload.enable", kOnCoordinator},
    WithoutEffect{"share.assignor.offload.enable", kOnCoordinator},
    WithoutEffect{"streams.assignor.offload.enable", kOnCoordinator},
    WithoutEffect{"streams.num.warmup.replicas", kNoWarmups},
};

std::vector<std::string> saidOf(const config::ConfigMap& set, const config::ConfigTable& table,
                                std::span<const WithoutEffect> settings) {
  std::vector<std::string> said;
  for (const auto& [key, why] : settings) {
    const auto found = set.find(key);
    const config::ConfigDefinition* known = table.find(key);
    if (found == set.end() || known == nullptr || found->second == known->defaultValue.value_or("")) continue;
    said.push_back(fmt::format("{}={} has no effect: {}", key, found->second, why));
  }
  return said;
}

}  // namespace

std::vector<std::string> settingsWithoutEffect(const config::ConfigMap& set) {
  return saidOf(set, config::configTable(config::ConfigLevel::Broker), kWithoutEffect);
}

std::vector<std::string> groupSettingsWithoutEffect(const config::ConfigMap& set) {
  return saidOf(set, config::configTable(config::ConfigLevel::Group), kWithoutEffectOnGroups);
}

}  // namespace tidemark::broker
