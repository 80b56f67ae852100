#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/transaction/marker_writer.h"
#include "coordinator/transaction/marker_sender.h"
#include "metadata/image.h"
#include "network/channel.h"
#include "platform/process.h"

namespace tidemark::broker {

/// Brings the markers of ended transactions to the leaders of partitions (WriteTxnMarkers), over connections of its
/// own; Kafka's TransactionMarkerChannelManager. Tries until each is written or its topic is gone: leaders move,
/// brokers restart. To each broker one request at a time is under way, with all that gathered meanwhile.
///
/// Of the transaction coordinator's executor, but for wake() and close(), which any thread may call.
class MarkerChannel final : public coordinator::MarkerSender {
 public:
  struct Setup {
    NodeId self;
    std::string listener;
    platform::Duration requestTimeout;
    std::function<metadata::ImagePtr()> image;
    /// These partitions need no marker any more.
    std::function<void(const coordinator::MarkerOrder&, const std::vector<TopicPartition>&)> written;
  };
  MarkerChannel(platform::Process& process, std::shared_ptr<platform::Executor> executor, MarkerWriter& local,
                Setup setup);
  ~MarkerChannel() override;

  void send(coordinator::MarkerOrder order) override;
  void forget(PartitionIndex coordinatorPartition) override;
  /// The metadata changed: what had no leader may have one.
  void wake();
  void close();

 private:
  struct Open {
    coordinator::MarkerOrder order;
    /// Partitions without a marker.
    size_t left = 0;
    bool cancelled = false;
  };
  using OpenPtr = std::shared_ptr<Open>;
  /// Partitions of one order.
  using Part = std::pair<OpenPtr, std::vector<TopicPartition>>;
  struct Destination {
    platform::Endpoint endpoint;
    std::unique_ptr<network::Channel> channel;
    std::vector<Part> waiting;
    std::vector<Part> underWay;
    bool busy = false;
  };

  void place(const OpenPtr& open, const std::vector<TopicPartition>& partitions);
  void flush(NodeId node);
  void sendTo(NodeId node, Destination& destination);
  void writeHere(Destination& destination);
  void answered(NodeId node);
  void settle(const OpenPtr& open, const MarkerWriter::Results& results);
  void later(const OpenPtr& open, std::vector<TopicPartition> partitions);
  void retry();

  platform::Process& process_;
  const std::shared_ptr<platform::Executor> executor_;
  MarkerWriter& local_;
  const Setup setup_;
  std::set<OpenPtr> open_;
  std::map<NodeId, Destination> destinations_;
  /// Without a leader, or tried in vain.
  std::vector<Part> later_;
  bool closed_ = false;
  platform::Timer retry_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace tidemark::broker
