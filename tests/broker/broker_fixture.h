#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "network/peer.h"
#include "network/stage.h"
#include "protocol/api.h"
#include "sim/lab.h"

namespace tidemark::broker {

/// A simulated cluster of three as somebody sees it who speaks each version of the protocol byte by byte.
class BrokerTest : public testing::Test {
 protected:
  explicit BrokerTest(int logDirectories = 1);
  ~BrokerTest() override;

  void createTopic(const std::string& name, int partitions = 1, int replicas = 3);
  /// Which broker leads the partition.
  int leaderOf(const std::string& topic, int partition = 0);
  int otherThan(int broker) const { return broker % 3 + 1; }
  Uuid topicId(const std::string& name);
  broker::Node& node(int id) { return *lab_.cluster().node(NodeId(id)); }
  bool await(const std::function<bool()>& holds) { return lab_.world().runUntil(holds, std::chrono::minutes(2)); }

  static platform::Endpoint brokerAt(int id) { return {"127.0.0.1", static_cast<uint16_t>(19091 + id)}; }
  static platform::Endpoint controllerAt(int id) { return {"127.0.0.1", static_cast<uint16_t>(19191 + id)}; }
  int activeController();

  /// From here on connections stay, each with the request that it was made for.
  void keepConnections() { keeps_ = true; }
  void closeConnections();
  std::vector<std::unique_ptr<test::Peer>> takeConnections() { return std::exchange(kept_, {}); }
  /// One request on a connection of its own; what came back, or nothing if the connection was closed instead.
  std::optional<ByteVector> exchange(platform::Endpoint at, ByteVector bytes);

  template <class Request>
  typename Request::Response askAt(platform::Endpoint at, const Request& request, int16_t version) {
    const auto frame = exchange(std::move(at), test::requestBytes(request, version, 7));
    EXPECT_TRUE(frame) << protocol::apiName(Request::kApiKey) << " " << version << ": the connection was closed";
    return frame ? test::answerOf<typename Request::Response>(*frame, version) : typename Request::Response();
  }
  template <class Request>
  typename Request::Response ask(int broker, const Request& request, int16_t version) {
    return askAt(brokerAt(broker), request, version);
  }
  template <class Request>
  typename Request::Response ask(int broker, const Request& request) {
    return ask(broker, request, lastVersion<Request>());
  }
  template <class Request>
  typename Request::Response askController(const Request& request, int16_t version = lastVersion<Request>()) {
    return askAt(controllerAt(activeController()), request, version);
  }

  template <class Request>
  static int16_t lastVersion() {
    return protocol::apiInfo(Request::kApiKey).maxStable;
  }
  /// From the first to the last that is served; failures say in which.
  template <class Request>
  static void inEachVersion(const std::function<void(int16_t version)>& check) {
    const protocol::ApiInfo& info = protocol::apiInfo(Request::kApiKey);
    for (int16_t version = info.versions.first; version <= info.maxStable; ++version) {
      SCOPED_TRACE(std::string(info.name) + " " + std::to_string(version));
      check(version);
      if (HasFatalFailure()) return;
    }
  }
  static ErrorCode code(int16_t error) { return static_cast<ErrorCode>(error); }

  /// A batch of these values.
  static ByteVector batch(std::initializer_list<std::string_view> values, int64_t timestampMs = 1'767'225'600'000);
  /// Appends it with acks=all at the leader; the offset it got.
  int64_t produce(const std::string& topic, int partition, std::initializer_list<std::string_view> values,
                  int64_t timestampMs = 1'767'225'600'000);

  sim::SimulatedLab lab_{{.seed = 11}};

 private:
  class LabStage;
  std::unique_ptr<test::Stage> stage_;
  std::shared_ptr<platform::Process> client_;
  bool keeps_ = false;
  std::vector<std::unique_ptr<test::Peer>> kept_;
};

}  // namespace tidemark::broker
