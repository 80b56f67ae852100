#include "broker/lifecycle.h"

#include <gtest/gtest.h>

namespace tidemark::broker {
namespace {

protocol::ApiVersionsResponse clusterAt(std::initializer_list<std::pair<const char*, int16_t>> levels) {
  protocol::ApiVersionsResponse response;
  for (const auto& [name, level] : levels)
    response.finalizedFeatures.push_back(
        {.name = protocol::Text(name), .maxVersionLevel = level, .minVersionLevel = level});
  return response;
}

TEST(LifecycleTest, aRefusedBrokerSaysWhichFeaturesItLacks) {
  const metadata::FeatureDefinition ours[] = {{metadata::kMetadataVersionFeature, 7, 27, 27},
                                              {metadata::kGroupVersionFeature, 0, 1, 1}};
  EXPECT_EQ(
      unsupportedFeatures(clusterAt({{"metadata.version", 27}, {"group.version", 0}, {"share.version", 0}}), ours), "");
  EXPECT_EQ(
      unsupportedFeatures(clusterAt({{"metadata.version", 33}, {"group.version", 1}, {"share.version", 2}}), ours),
      "the cluster is at metadata.version 33, this broker supports 7 to 27; the cluster is at share.version 2, this "
      "broker supports no level of it");
}

}  // namespace
}  // namespace tidemark::broker
