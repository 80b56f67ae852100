#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "broker/auto_topics.h"
#include "broker/requests.h"
#include "config/config_table.h"
#include "config/topic_config.h"
#include "protocol/generated/describe_configs_request.h"
#include "protocol/generated/describe_configs_response.h"
#include "protocol/generated/list_config_resources_request.h"
#include "protocol/generated/list_config_resources_response.h"

// DescribeConfigs 1–4: what is in force here, and where it comes from. ListConfigResources 0–1: what can be asked for.

namespace tidemark::broker {
namespace {

using protocol::DescribeConfigsRequest;
using protocol::DescribeConfigsResponse;
using Answer = DescribeConfigsResponse::DescribeConfigsResult;

struct AskedResource {
  const DescribeConfigsRequest& message;
  const std::optional<std::vector<protocol::Text>>& keys;

  bool wants(std::string_view key) const {
    return !keys || keys->empty() ||
           std::ranges::any_of(*keys, [&](const protocol::Text& name) { return name.view() == key; });
  }
};

/// What is known of a key, in a sentence.
std::string documentation(const config::ConfigDefinition& definition) {
  std::string text = fmt::format("{}: a value of type {}", definition.name, config::typeName(definition.type));
  if (!definition.validator.empty()) text += fmt::format(", valid are {}", definition.validator);
  text += definition.defaultValue
              ? fmt::format("; by default {}.", definition.defaultValue->empty() ? "empty" : *definition.defaultValue)
              : "; without a default.";
  if (!definition.topicSynonym.empty()) text += fmt::format(" A topic's {} overrides it.", definition.topicSynonym);
  return text;
}

void add(Answer& answer, const AskedResource& asked, const config::ConfigDefinition& definition,
         const config::EffectiveConfig& effective, bool readOnly) {
  auto& entry = answer.configs.emplace_back();
  entry.name = protocol::Text(std::string(definition.name));
  // What is secret is shown to nobody.
  const bool secret = definition.isSensitive();
  if (effective.value && !secret) entry.value = protocol::Text(*effective.value);
  if (!effective.value || secret) entry.value = std::nullopt;
  entry.readOnly = readOnly;
  entry.isSensitive = secret;
  entry.configSource = static_cast<int8_t>(effective.source);
  entry.configType = static_cast<int8_t>(definition.type);
  entry.documentation =
      asked.message.includeDocumentation ? std::optional(protocol::Text(documentation(definition))) : std::nullopt;
  if (!asked.message.includeSynonyms) return;
  for (const config::ConfigSynonym& synonym : effective.synonyms)
    entry.synonyms.push_back(
        {.name = protocol::Text(synonym.name),
         .value = synonym.value && !secret ? std::optional(protocol::Text(*synonym.value)) : std::nullopt,
         .source = static_cast<int8_t>(synonym.source)});
}

void refuse(Answer& answer, ErrorCode error, const std::string& message) {
  answer.errorCode = static_cast<int16_t>(error);
  answer.errorMessage = protocol::Text(message);
}

void describeTopic(const ConfigView& view, const AskedResource& asked, const std::string& name, Answer& answer) {
  const metadata::ImagePtr& image = view.image;
  if (!isValidTopicName(name))
    return refuse(answer, ErrorCode::InvalidTopicException, fmt::format("\"{}\" is no topic name", name));
  if (image->topics.find(name) == nullptr)
    return refuse(answer, ErrorCode::UnknownTopicOrPartition, fmt::format("there is no topic {}", name));
  const auto& config = view.config;
  for (const config::ConfigDefinition& definition : config::configTable(config::ConfigLevel::Topic).all())
    if (!definition.isInternal && asked.wants(definition.name))
      add(answer, asked, definition,
          config::effectiveTopicConfig(definition, image->configs.topic(name), config->layers()), false);
}

void describeBroker(const ConfigView& view, const AskedResource& asked, const std::string& name, Answer& answer) {
  const auto& config = view.config;
  const bool clusterDefault = name.empty();
  if (!clusterDefault && name != std::to_string(view.self.value()))
    return refuse(answer, ErrorCode::InvalidRequest,
                  fmt::format("unexpected broker id, expected {} or empty, but received {}", view.self, name));
  const metadata::ImagePtr& image = view.image;
  for (const config::ConfigDefinition& definition : config::configTable(config::ConfigLevel::Broker).all()) {
    if (definition.isInternal || !asked.wants(definition.name)) continue;
    if (clusterDefault) {
      // Only what was set for all brokers.
      const config::ConfigMap& set = image->configs.clusterDefault();
      const auto found = set.find(definition.name);
      if (found == set.end()) continue;
      config::EffectiveConfig effective{.definition = &definition,
                                        .value = found->second,
                                        .source = config::ConfigSource::DynamicDefaultBrokerConfig,
                                        .synonyms = {}};
      add(answer, asked, definition, effective, definition.updateMode == config::UpdateMode::ReadOnly);
      continue;
    }
    add(answer, asked, definition, config->effective(definition.name),
        definition.updateMode == config::UpdateMode::ReadOnly);
  }
}

void describeGroup(const ConfigView& view, const AskedResource& asked, const std::string& name, Answer& answer) {
  const metadata::ImagePtr& image = view.image;
  const auto& config = view.config;
  for (const config::ConfigDefinition& definition : config::configTable(config::ConfigLevel::Group).all())
    if (!definition.isInternal && asked.wants(definition.name))
      add(answer, asked, definition,
          config::effectiveGroupConfig(definition, image->configs.of(config::ResourceType::Group, name),
                                       config->layers()),
          false);
}

void describeClientMetrics(const ConfigView& view, const AskedResource& asked, const std::string& name,
                           Answer& answer) {
  if (name.empty())
    return refuse(answer, ErrorCode::InvalidRequest, "a client metrics subscription has a name that is not empty");
  const metadata::ImagePtr& image = view.image;
  const config::ConfigMap& set = image->configs.of(config::ResourceType::ClientMetrics, name);
  for (const config::ConfigDefinition& definition : config::configTable(config::ConfigLevel::ClientMetrics).all()) {
    if (definition.isInternal || !asked.wants(definition.name)) continue;
    config::EffectiveConfig effective{.definition = &definition,
                                      .value = std::string(definition.defaultValue.value_or("")),
                                      .source = config::ConfigSource::DefaultConfig,
                                      .synonyms = {}};
    if (const auto found = set.find(definition.name); found != set.end()) {
      effective.value = found->second;
      effective.source = config::ConfigSource::ClientMetricsConfig;
      effective.synonyms.push_back({std::string(definition.name), effective.value, effective.source});
    }
    add(answer, asked, definition, effective, false);
  }
}

}  // namespace

void describeConfigs(const ConfigView& view, network::RequestPtr request) {
  withDecoded<DescribeConfigsRequest>(std::move(request), [&view](network::RequestPtr held,
                                                                  const DescribeConfigsRequest& message) {
    DescribeConfigsResponse response;
    for (const auto& resource : message.resources) {
      Answer& answer = response.results.emplace_back();
      answer.errorMessage = std::nullopt;
      answer.resourceType = resource.resourceType;
      answer.resourceName = resource.resourceName;
      const std::string name = resource.resourceName.str();
      const AskedResource asked{message, resource.configurationKeys};
      const auto type = static_cast<config::ResourceType>(resource.resourceType);
      const auto allowed = [&](network::ResourceType kind, std::string_view of) {
        return view.authorizer.allows(held->context(), network::AclOperation::DescribeConfigs, kind, of);
      };
      switch (type) {
        case config::ResourceType::Topic:
          if (!allowed(network::ResourceType::Topic, name)) {
            refuse(answer, ErrorCode::TopicAuthorizationFailed, "not allowed to describe the topic's configuration");
          } else {
            describeTopic(view, asked, name, answer);
          }
          break;
        case config::ResourceType::Broker:
        case config::ResourceType::BrokerLogger:
          if (!allowed(network::ResourceType::Cluster, network::kClusterResource)) {
            refuse(answer, ErrorCode::ClusterAuthorizationFailed,
                   "not allowed to describe the cluster's configuration");
          } else if (type == config::ResourceType::Broker) {
            describeBroker(view, asked, name, answer);
          } else {
            refuse(answer, ErrorCode::InvalidRequest, "log levels are not kept per logger here");
          }
          break;
        case config::ResourceType::Group:
          if (!allowed(network::ResourceType::Group, name)) {
            refuse(answer, ErrorCode::GroupAuthorizationFailed, "not allowed to describe the group's configuration");
          } else {
            describeGroup(view, asked, name, answer);
          }
          break;
        case config::ResourceType::ClientMetrics:
          if (!allowed(network::ResourceType::Cluster, network::kClusterResource)) {
            refuse(answer, ErrorCode::ClusterAuthorizationFailed,
                   "not allowed to describe the cluster's configuration");
          } else {
            describeClientMetrics(view, asked, name, answer);
          }
          break;
        default:
          refuse(answer, ErrorCode::InvalidRequest, fmt::format("unsupported resource type {}", resource.resourceType));
      }
    }
    held->respond(response);
  });
}

void handleDescribeConfigs(BrokerContext& broker, network::RequestPtr request) {
  describeConfigs(
      {.self = broker.self, .image = broker.image(), .config = broker.config(), .authorizer = broker.authorizer},
      std::move(request));
}

void handleListConfigResources(BrokerContext& broker, network::RequestPtr request) {
  using config::ResourceType;
  using Response = protocol::ListConfigResourcesResponse;
  withDecoded<protocol::ListConfigResourcesRequest>(
      std::move(request), [&broker](network::RequestPtr held, const protocol::ListConfigResourcesRequest& message) {
        Response response;
        const auto refuse = [&](ErrorCode error) {
          response.errorCode = static_cast<int16_t>(error);
          held->respond(response);
        };
        if (!broker.allows(held->context(), network::AclOperation::DescribeConfigs, network::ResourceType::Cluster,
                           network::kClusterResource))
          return refuse(ErrorCode::ClusterAuthorizationFailed);
        // Version 0 was ListClientMetricsResources (KIP-1142).
        std::set<int8_t> known = {static_cast<int8_t>(ResourceType::ClientMetrics)};
        if (held->apiVersion() > 0)
          for (const ResourceType type :
               {ResourceType::Topic, ResourceType::Broker, ResourceType::BrokerLogger, ResourceType::Group})
            known.insert(static_cast<int8_t>(type));
        const std::set<int8_t> named(message.resourceTypes.begin(), message.resourceTypes.end());
        if (!std::ranges::includes(known, named)) return refuse(ErrorCode::UnsupportedVersion);
        const std::set<int8_t>& asked = named.empty() ? known : named;
        const auto list = [&](ResourceType type, std::string_view name) {
          if (asked.contains(static_cast<int8_t>(type)))
            response.configResources.push_back({.resourceName = name, .resourceType = static_cast<int8_t>(type)});
        };
        const metadata::ImagePtr image = broker.image();
        // Groups and subscriptions that have a configuration; whatever else there is could have one.
        for (const auto& [resource, set] : image->configs.resources)
          if (resource.type == ResourceType::Group || resource.type == ResourceType::ClientMetrics)
            list(resource.type, resource.name);
        for (const ResourceType type : {ResourceType::BrokerLogger, ResourceType::Broker})
          for (const auto& [id, one] : image->cluster.brokers)
            if (!one->fenced && one->endpoint(held->context().listener()) != nullptr)
              list(type, std::to_string(id.value()));
        for (const auto& [name, topic] : image->topics.byName) list(ResourceType::Topic, name);
        held->respond(response);
      });
}

}  // namespace tidemark::broker
