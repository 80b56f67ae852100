#pragma once

#include <memory>
#include <string>

#include "broker/shared.h"
#include "metadata/controller/controller_driver.h"
#include "metadata/controller/raft_appender.h"
#include "network/server.h"

namespace tidemark::broker {

/// The controller role of a node: a voter of the quorum that serves other voters, brokers and forwarded requests on
/// ports, processors, queue and handlers of its own; Kafka's ControllerServer.
class ControllerServer final : private network::RequestHandler, private metadata::RaftAppender {
 public:
  explicit ControllerServer(Shared& shared);
  ~ControllerServer() override;

  /// Before the quorum starts. An address in use is an error that names it.
  Result<void> listen();
  void start();
  /// Answers nobody any more; the quorum's own end is the node's. `done` runs on some executor of the server.
  void shutdown(platform::Task done);

  metadata::ControllerDriver& driver() noexcept { return *driver_; }
  network::Server& server() noexcept { return *server_; }

 private:
  class EnvelopeSink;

  void handle(network::RequestPtr request) override;
  /// Every other request is only decoded here and given to the quorum or to the controller's own executor.
  bool isQuick(protocol::ApiKey key) const override;
  /// `envelope`: where the answer goes if the request came in one, or null.
  void dispatch(network::RequestPtr request, std::shared_ptr<EnvelopeSink> envelope);
  void unwrap(network::RequestPtr request);
  Result<Offset> append(LeaderEpoch epoch, std::vector<ByteVector> records) override;
  Result<Offset> nextAppendOffset(LeaderEpoch epoch) const override;
  void resign(LeaderEpoch epoch) override;

  template <class Request>
  void askQuorum(network::RequestPtr request);
  template <class Message>
  void askController(network::RequestPtr request, std::shared_ptr<EnvelopeSink> envelope);
  void describeQuorum(network::RequestPtr request);
  void describeCluster(network::RequestPtr request);
  void describeOwnConfigs(network::RequestPtr request);

  Shared& shared_;
  const std::string listener_;
  std::unique_ptr<metadata::ControllerDriver> driver_;
  /// Null: requests come straight to us.
  std::unique_ptr<network::RequestHandler> between_;
  std::unique_ptr<network::Server> server_;
};

/// Which APIs a controller's listeners serve: the one list.
network::ApiTable controllerApis();

}  // namespace tidemark::broker
