#include "metadata/controller/config_control.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/config_table.h"
#include "config/group_config.h"
#include "config/topic_config.h"
#include "metadata/controller/topic_control.h"

namespace tidemark::metadata {
namespace {

using config::ConfigLevel;
using config::ConfigMap;
using config::ResourceType;

/// AlterConfigOp.OpType
enum class Operation : int8_t { Set = 0, Delete = 1, Append = 2, Subtract = 3 };

std::optional<ConfigLevel> levelOf(ResourceType type) {
  switch (type) {
    case ResourceType::Topic:
      return ConfigLevel::Topic;
    case ResourceType::Broker:
      return ConfigLevel::Broker;
    case ResourceType::ClientMetrics:
      return ConfigLevel::ClientMetrics;
    case ResourceType::Group:
      return ConfigLevel::Group;
    case ResourceType::Unknown:
    case ResourceType::BrokerLogger:
      break;
  }
  return std::nullopt;
}

Result<void> checkName(const ControllerView& view, const ConfigResource& resource) {
  switch (resource.type) {
    case ResourceType::Topic:
      if (resource.name.empty()) return fail(ErrorCode::InvalidRequest, "Default topic resources are not allowed.");
      TIDEMARK_TRY(validateTopicName(resource.name));
      if (!view.image.topics.find(resource.name)) {
        return fail(ErrorCode::UnknownTopicOrPartition, fmt::format("The topic '{}' does not exist.", resource.name));
      }
      return {};
    case ResourceType::Broker: {
      if (resource.name.empty()) return {};
      int32_t id = -1;
      const char* end = resource.name.data() + resource.name.size();
      const auto [stop, error] = std::from_chars(resource.name.data(), end, id);
      if (error != std::errc() || stop != end) {
        return fail(ErrorCode::InvalidRequest, "Unable to parse broker name as a base 10 number.");
      }
      if (id < 0) return fail(ErrorCode::InvalidRequest, "Invalid negative broker ID.");
      if (!view.image.cluster.broker(NodeId(id)) && !view.image.cluster.controllers.contains(NodeId(id))) {
        return fail(ErrorCode::BrokerIdNotRegistered, fmt::format("No node with id {} found.", id));
      }
      return {};
    }
    case ResourceType::Group:
      if (resource.name.empty()) return fail(ErrorCode::InvalidRequest, "Default group resources are not allowed.");
      return {};
    case ResourceType::ClientMetrics:
      if (resource.name.empty()) return fail(ErrorCode::InvalidRequest, "Subscription name can't be empty");
      return {};
    case ResourceType::Unknown:
    case ResourceType::BrokerLogger:
      break;
  }
  return fail(ErrorCode::InvalidRequest, fmt::format("Unknown resource type {}", static_cast<int>(resource.type)));
}

constexpr std::string_view kMinInsyncReplicas = "min.insync.replicas";

/// New values of a resource's keys; none: deleted.
using Alterations = std::map<std::string, std::optional<std::string>>;

Result<void> checkMinInsyncReplicas(const ControllerView& view, const ConfigResource& resource,
                                    const Alterations& alterations) {
  const auto altered = alterations.find(std::string(kMinInsyncReplicas));
  if (!view.elrEnabled() || resource.type != ResourceType::Broker || altered == alterations.end()) return {};
  if (!resource.name.empty()) {
    return fail(ErrorCode::InvalidConfig,
                fmt::format("Broker-level {} cannot be altered while ELR is enabled.", kMinInsyncReplicas));
  }
  if (!altered->second) {
    return fail(ErrorCode::InvalidConfig,
                fmt::format("Cluster-level {} cannot be removed while ELR is enabled.", kMinInsyncReplicas));
  }
  return {};
}

/// Who is eligible was worked out with the minimum of before.
Records clearedElrs(const ControllerView& view, const Records& records) {
  Records cleared;
  if (!view.elrEnabled()) return cleared;
  for (const Record& record : records) {
    const auto* config = record.as<protocol::ConfigRecord>();
    if (!config || config->name != kMinInsyncReplicas) continue;
    protocol::ClearElrRecord clear;
    if (config->resourceType == static_cast<int8_t>(ResourceType::Topic)) clear.topicName = config->resourceName;
    cleared.push_back({std::move(clear)});
  }
  return cleared;
}

/// A broker's dynamic keys: known, changeable at that level, valid.
Result<void> checkBrokerValues(const ControllerView& view, const ConfigResource& resource, const ConfigMap& altered) {
  for (const auto& [name, text] : altered) {
    const config::ConfigDefinition* key = config::configTable(ConfigLevel::Broker).find(name);
    if (!key) continue;  // a plug-in's, or one of a single listener
    if (key->updateMode == config::UpdateMode::ReadOnly) {
      return fail(ErrorCode::InvalidRequest, fmt::format("Cannot update these configs dynamically: Set({})", name));
    }
    if (key->updateMode == config::UpdateMode::PerBroker && resource.name.empty()) {
      return fail(ErrorCode::InvalidRequest,
                  fmt::format("Cannot update these configs at default cluster level: Set({})", name));
    }
    if (name == "cordoned.log.dirs" && !view.version().supportsCordonedDirectories())
      return fail(ErrorCode::InvalidConfig,
                  "cordoned.log.dirs has no effect at the cluster's metadata.version: at least 30 (4.3-IV0) is needed");
    TIDEMARK_TRY(config::parseValue(*key, text));
  }
  return {};
}

Result<void> checkValues(const ControllerView& view, const ConfigResource& resource, const ConfigMap& all,
                         const ConfigMap& altered) {
  switch (resource.type) {
    case ResourceType::Topic:
      return config::validateTopicConfig(all);
    case ResourceType::Broker:
      return checkBrokerValues(view, resource, altered);
    case ResourceType::Group:
      return config::validateGroupConfig(all, view.layers());
    case ResourceType::ClientMetrics:
      return config::validateClientMetricsConfig(all);
    case ResourceType::Unknown:
    case ResourceType::BrokerLogger:
      break;
  }
  return {};
}

/// Checks the resource as it would become, and adds the records that make it so.
Result<void> alter(const ControllerView& view, const ConfigResource& resource, const Alterations& alterations,
                   Records& records) {
  TIDEMARK_TRY(checkName(view, resource));
  TIDEMARK_TRY(checkMinInsyncReplicas(view, resource, alterations));
  const ConfigMap& before = view.image.configs.of(resource.type, resource.name);
  ConfigMap after = before;
  ConfigMap altered;
  for (const auto& [name, value] : alterations) {
    if (value) {
      after.insert_or_assign(name, *value);
      altered.insert_or_assign(name, *value);
    } else {
      after.erase(name);
    }
  }
  TIDEMARK_TRY(checkValues(view, resource, after, altered));
  for (const auto& [name, value] : alterations) {
    const auto old = before.find(name);
    const bool same = value ? old != before.end() && old->second == *value : old == before.end();
    // A broker reloads a value that is set again (a key store's file may have changed).
    if (same && resource.type != ResourceType::Broker) continue;
    protocol::ConfigRecord record{
        .resourceType = static_cast<int8_t>(resource.type), .resourceName = resource.name, .name = name};
    record.value.reset();
    if (value) record.value = protocol::Text(*value);
    records.push_back({std::move(record)});
  }
  return {};
}

/// A list with elements added or taken away. Starts from what is set, or from the key's default.
Result<std::string> alterList(const ControllerView& view, const ConfigResource& resource, const std::string& name,
                              Operation operation, std::string_view value) {
  const std::optional<ConfigLevel> level = levelOf(resource.type);
  const config::ConfigDefinition* key = level ? config::configTable(*level).find(name) : nullptr;
  if (!key || key->type != config::ConfigType::List) {
    return fail(ErrorCode::InvalidConfig, fmt::format("Can't {} to key {} because its type is not LIST.",
                                                      operation == Operation::Append ? "APPEND" : "SUBTRACT", name));
  }
  const ConfigMap& current = view.image.configs.of(resource.type, resource.name);
  const auto at = current.find(name);
  std::vector<std::string> elements =
      config::splitList(at != current.end() ? at->second : key->defaultValue.value_or(""));
  for (const std::string& element : config::splitList(value)) {
    if (operation == Operation::Subtract) {
      std::erase(elements, element);
    } else if (std::ranges::find(elements, element) == elements.end()) {
      elements.push_back(element);
    }
  }
  return fmt::format("{}", fmt::join(elements, ","));
}

template <class Config>
Result<Alterations> incremental(const ControllerView& view, const ConfigResource& resource,
                                const std::vector<Config>& configs) {
  Alterations alterations;
  for (const Config& config : configs) {
    const std::string name = config.name.str();
    if (alterations.contains(name)) {
      return fail(ErrorCode::InvalidRequest, fmt::format("Error due to duplicate config keys: {}", name));
    }
    const auto operation = static_cast<Operation>(config.configOperation);
    if (operation == Operation::Delete) {
      alterations[name] = std::nullopt;
      continue;
    }
    if (!config.value) {
      return fail(ErrorCode::InvalidRequest, fmt::format("Null value not supported for : {}", name));
    }
    switch (operation) {
      case Operation::Set:
        alterations[name] = config.value->str();
        break;
      case Operation::Append:
      case Operation::Subtract: {
        TIDEMARK_ASSIGN(alterations[name], alterList(view, resource, name, operation, config.value->view()));
        break;
      }
      default:
        return fail(ErrorCode::InvalidRequest,
                    fmt::format("Unknown operation {} for configuration {}", config.configOperation, name));
    }
  }
  return alterations;
}

template <class Config>
Result<Alterations> replacement(const ControllerView& view, const ConfigResource& resource,
                                const std::vector<Config>& configs) {
  Alterations alterations;
  for (const auto& [name, value] : view.image.configs.of(resource.type, resource.name))
    alterations[name] = std::nullopt;
  std::set<std::string> seen;
  for (const Config& config : configs) {
    if (!seen.insert(config.name.str()).second) {
      return fail(ErrorCode::InvalidRequest, fmt::format("Error due to duplicate config keys: {}", config.name));
    }
    if (!config.value) {
      return fail(ErrorCode::InvalidRequest, fmt::format("Null value not supported for : {}", config.name));
    }
    alterations[config.name.str()] = config.value->str();
  }
  return alterations;
}

/// Both requests look alike but for how alterations are read.
template <class Response, class Request, class Read>
Outcome<Response> alterAll(const ControllerView& view, const Request& request, const Read& read) {
  Outcome<Response> outcome;
  std::set<ConfigResource> seen;
  std::set<ConfigResource> twice;
  for (const auto& one : request.resources) {
    ConfigResource resource{static_cast<ResourceType>(one.resourceType), one.resourceName.str()};
    if (!seen.insert(resource).second) twice.insert(std::move(resource));
  }
  const auto answer = [&](const ConfigResource& resource, const Result<void>& result) {
    typename Response::AlterConfigsResourceResponse response;
    response.resourceType = static_cast<int8_t>(resource.type);
    response.resourceName = resource.name;
    response.errorMessage.reset();
    if (!result) {
      response.errorCode = static_cast<int16_t>(result.error().code);
      response.errorMessage = protocol::Text(result.error().message);
    }
    outcome.response.responses.push_back(std::move(response));
  };
  for (const auto& one : request.resources) {
    const ConfigResource resource{static_cast<ResourceType>(one.resourceType), one.resourceName.str()};
    if (twice.contains(resource)) continue;
    Records records;
    Result<void> result;
    if (const Result<Alterations> alterations = read(resource, one.configs); !alterations) {
      result = fail(alterations.error());
    } else {
      result = alter(view, resource, *alterations, records);
    }
    answer(resource, result);
    if (result) std::ranges::move(records, std::back_inserter(outcome.records));
  }
  for (const ConfigResource& resource : twice) answer(resource, fail(ErrorCode::InvalidRequest, "Duplicate resource."));
  std::ranges::move(clearedElrs(view, outcome.records), std::back_inserter(outcome.records));
  if (request.validateOnly) outcome.records.clear();
  return outcome;
}

}  // namespace

HandlerResult<protocol::IncrementalAlterConfigsResponse> handle(
    const ControllerView& view, const protocol::IncrementalAlterConfigsRequest& request) {
  return alterAll<protocol::IncrementalAlterConfigsResponse>(
      view, request,
      [&](const ConfigResource& resource, const auto& configs) { return incremental(view, resource, configs); });
}

HandlerResult<protocol::AlterConfigsResponse> handle(const ControllerView& view,
                                                     const protocol::AlterConfigsRequest& request) {
  return alterAll<protocol::AlterConfigsResponse>(
      view, request,
      [&](const ConfigResource& resource, const auto& configs) { return replacement(view, resource, configs); });
}

Record minInsyncReplicasRecord(int32_t value) {
  protocol::ConfigRecord record{.resourceType = static_cast<int8_t>(ResourceType::Broker), .name = kMinInsyncReplicas};
  record.value = protocol::Text(std::to_string(value));
  return {std::move(record)};
}

int32_t staticMinInsyncReplicas(const ControllerSettings& settings) {
  const config::ConfigMap none;
  return config::TopicConfig::resolve(none, {none, none, settings.properties}).minInsyncReplicas;
}

Records elrSafetyRecords(const ControllerView& view) {
  Records records;
  if (!view.image.configs.clusterDefault().contains(std::string(kMinInsyncReplicas)))
    records.push_back(minInsyncReplicasRecord(staticMinInsyncReplicas(view.settings)));
  for (const auto& [resource, values] : view.image.configs.resources) {
    if (resource.type != ResourceType::Broker || resource.name.empty() ||
        !values->contains(std::string(kMinInsyncReplicas)))
      continue;
    protocol::ConfigRecord record{.resourceType = static_cast<int8_t>(ResourceType::Broker),
                                  .resourceName = resource.name,
                                  .name = kMinInsyncReplicas};
    record.value.reset();
    records.push_back({std::move(record)});
  }
  return records;
}

bool enablesUncleanElection(const Records& records) {
  return std::ranges::any_of(records, [](const Record& record) {
    const auto* config = record.as<protocol::ConfigRecord>();
    return config && config->name == "unclean.leader.election.enable" && config->value && *config->value == "true";
  });
}

}  // namespace tidemark::metadata
