#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/lab.h"

/// launch() that says why it failed.
#define ASSERT_LAUNCHED(options)                               \
  do {                                                         \
    const auto launchedHere = launch(options);                 \
    ASSERT_TRUE(launchedHere) << launchedHere.error().message; \
  } while (false)

namespace tidemark::cluster {

/// A cluster in the simulator that a test launches, breaks and looks into.
class ClusterTest : public testing::Test {
 protected:
  static constexpr const char* kFolder = "/lab/cluster";

  observe::LaunchOptions options(int brokers, std::string folder = kFolder) {
    return {.brokers = brokers, .dataFolder = std::move(folder), .firstTopic = {}, .settings = {}};
  }
  Result<void> launch(observe::LaunchOptions options) {
    return lab_.perform([&](auto done) { lab_.cluster().launch(std::move(options), std::move(done)); });
  }
  Result<void> shutdown() {
    return lab_.perform([&](auto done) { lab_.cluster().shutdown(std::move(done)); });
  }
  Result<void> kill(int broker) {
    return lab_.perform([&](auto done) { lab_.cluster().killBroker(NodeId(broker), std::move(done)); });
  }
  Result<void> restart(int broker) {
    return lab_.perform([&](auto done) { lab_.cluster().restartBroker(NodeId(broker), std::move(done)); });
  }
  Result<void> createTopic(const std::string& name, int partitions = 1) {
    return lab_.perform([&](auto done) {
      lab_.cluster().createTopic({.name = name, .partitions = partitions, .configs = {}}, std::move(done));
    });
  }
  Ready ready() {
    std::optional<Ready> told;
    lab_.cluster().whenReady([&](const Ready& now) { lab_.change([&] { told = now; }); });
    EXPECT_TRUE(lab_.await([&] { return told.has_value(); }));
    return told.value_or(Ready());
  }
  /// Until it holds, looked at while time passes.
  bool await(const std::function<bool()>& holds) { return lab_.world().runUntil(holds, std::chrono::minutes(5)); }
  broker::Node& node(int id) { return *lab_.cluster().node(NodeId(id)); }
  /// The disk of that machine, whatever runs on it.
  platform::FileSystem& files(const std::string& machine) {
    looks_.push_back(lab_.world().createProcess({.name = "look-" + std::to_string(looks_.size()), .disk = machine}));
    return looks_.back()->files();
  }
  Result<void> removeMetadataLog(int broker) {
    return files(fmt::format("broker-{}", broker))
        .removeTree(fmt::format("{}/__cluster_metadata-0", nodeFolder(kFolder, NodeId(broker))));
  }
  std::vector<std::string> names(const std::string& machine, const std::string& folder) {
    std::vector<std::string> all;
    if (const auto entries = files(machine).list(folder))
      for (const auto& entry : *entries) all.push_back(entry.name);
    return all;
  }

  /// What the lab itself says, as somebody at a terminal sees it.
  std::vector<std::string> told_;
  sim::SimulatedLab lab_{{.seed = 5,
                          .level = platform::Logger::Level::Warning,
                          .log = [this](platform::MonotonicTime, platform::Logger::Level, std::string_view process,
                                        std::string_view, std::string_view text) {
                            if (process == "lab") told_.emplace_back(text);
                          }}};
  std::vector<std::shared_ptr<platform::SimulatedProcess>> looks_;
};

}  // namespace tidemark::cluster
