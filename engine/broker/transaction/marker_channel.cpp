#include "broker/transaction/marker_channel.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "network/channel_codec.h"
#include "protocol/generated/write_txn_markers_request.h"
#include "protocol/generated/write_txn_markers_response.h"

namespace tidemark::broker {
namespace {

constexpr platform::Duration kRetryBackoff = std::chrono::milliseconds(50);

}  // namespace

MarkerChannel::MarkerChannel(platform::Process& process, std::shared_ptr<platform::Executor> executor,
                             MarkerWriter& local, Setup setup)
    : process_(process), executor_(std::move(executor)), local_(local), setup_(std::move(setup)) {}

MarkerChannel::~MarkerChannel() = default;

void MarkerChannel::send(coordinator::MarkerOrder order) {
  if (closed_) return;
  const auto open = std::make_shared<Open>();
  open->order = std::move(order);
  open->left = open->order.partitions.size();
  open_.insert(open);
  place(open, open->order.partitions);
}

void MarkerChannel::forget(PartitionIndex coordinatorPartition) {
  std::erase_if(open_, [&](const OpenPtr& open) {
    if (open->order.coordinatorPartition != coordinatorPartition) return false;
    open->cancelled = true;
    return true;
  });
}

void MarkerChannel::place(const OpenPtr& open, const std::vector<TopicPartition>& partitions) {
  if (open->cancelled || closed_) return;
  const metadata::ImagePtr image = setup_.image();
  std::vector<TopicPartition> gone;
  std::vector<TopicPartition> homeless;
  std::map<NodeId, std::vector<TopicPartition>> byLeader;
  for (const TopicPartition& partition : partitions) {
    const metadata::PartitionRegistration* registration = image->topics.partition(partition.topic, partition.partition);
    if (registration == nullptr) {
      // Deleted: what was written there is gone as well.
      gone.push_back(partition);
      continue;
    }
    const metadata::BrokerRegistration* leader = image->cluster.broker(registration->leader);
    const metadata::Endpoint* endpoint =
        leader != nullptr && !leader->fenced ? leader->endpoint(setup_.listener) : nullptr;
    if (endpoint == nullptr) {
      homeless.push_back(partition);
      continue;
    }
    Destination& destination = destinations_[leader->id];
    const platform::Endpoint at{endpoint->host, endpoint->port};
    if (destination.endpoint != at) {
      destination.endpoint = at;
      if (!destination.busy) destination.channel.reset();
    }
    byLeader[leader->id].push_back(partition);
  }
  for (auto& [node, its] : byLeader) destinations_[node].waiting.emplace_back(open, std::move(its));
  if (!homeless.empty()) later(open, std::move(homeless));
  for (const auto& [node, its] : byLeader) flush(node);
  if (!gone.empty()) {
    MarkerWriter::Results results;
    for (TopicPartition& partition : gone) results.emplace_back(std::move(partition), ErrorCode::None);
    // Never inside the call.
    executor_->post([this, alive = std::weak_ptr(alive_), open, results = std::move(results)] {
      if (!alive.expired()) settle(open, results);
    });
  }
}

void MarkerChannel::flush(NodeId node) {
  Destination& destination = destinations_[node];
  if (destination.busy || destination.waiting.empty()) return;
  destination.busy = true;
  destination.underWay = std::move(destination.waiting);
  destination.waiting.clear();
  std::erase_if(destination.underWay, [](const Part& part) { return part.first->cancelled; });
  if (node == setup_.self) {
    writeHere(destination);
  } else {
    sendTo(node, destination);
  }
}

void MarkerChannel::writeHere(Destination& destination) {
  // Answers come on any thread; the last one makes room for the next.
  const auto left = std::make_shared<size_t>(destination.underWay.size() + 1);
  const auto done = [this, left] {
    if (--*left == 0) answered(setup_.self);
  };
  for (const Part& part : destination.underWay) {
    const coordinator::MarkerOrder& order = part.first->order;
    local_.write({.producerId = order.producerId,
                  .producerEpoch = order.producerEpoch,
                  .commit = order.commit,
                  .coordinatorEpoch = order.coordinatorEpoch.value(),
                  .transactionVersion = order.transactionVersion},
                 part.second,
                 [this, executor = executor_, alive = std::weak_ptr(alive_), open = part.first,
                  done](MarkerWriter::Results results) {
                   executor->post([this, alive, open, done, results = std::move(results)] {
                     if (alive.expired()) return;
                     settle(open, results);
                     done();
                   });
                 });
  }
  executor_->post([alive = std::weak_ptr(alive_), done] {
    if (!alive.expired()) done();
  });
}

void MarkerChannel::sendTo(NodeId node, Destination& destination) {
  if (!destination.channel || destination.channel->endpoint() != destination.endpoint) {
    network::ChannelOptions options;
    options.clientId = fmt::format("broker-{}-txn-marker-sender", setup_.self);
    options.requestTimeout = setup_.requestTimeout;
    destination.channel =
        std::make_unique<network::Channel>(process_, executor_, destination.endpoint, std::move(options));
  }
  protocol::WriteTxnMarkersRequest request;
  for (const Part& part : destination.underWay) {
    const coordinator::MarkerOrder& order = part.first->order;
    auto& marker = request.markers.emplace_back();
    marker.producerId = order.producerId.value();
    marker.producerEpoch = order.producerEpoch.value();
    marker.transactionResult = order.commit;
    marker.coordinatorEpoch = order.coordinatorEpoch.value();
    marker.transactionVersion = static_cast<int8_t>(order.transactionVersion);
    for (const TopicPartition& partition : part.second) {
      if (marker.topics.empty() || marker.topics.back().name != partition.topic)
        marker.topics.push_back({.name = protocol::Text(partition.topic), .partitionIndexes = {}});
      marker.topics.back().partitionIndexes.push_back(partition.partition.value());
    }
  }
  destination.channel->send(std::move(request), {},
                            [this, node, alive = std::weak_ptr(alive_)](
                                Result<network::Received<protocol::WriteTxnMarkersResponse>> received) {
                              if (alive.expired()) return;
                              const std::vector<Part> parts = std::move(destinations_[node].underWay);
                              destinations_[node].underWay.clear();
                              for (const auto& [open, partitions] : parts) {
                                MarkerWriter::Results results;
                                for (const TopicPartition& partition : partitions) {
                                  ErrorCode error = ErrorCode::NetworkException;
                                  if (received)
                                    for (const auto& marker : received->message.markers)
                                      if (marker.producerId == open->order.producerId.value())
                                        for (const auto& topic : marker.topics)
                                          if (topic.name == partition.topic)
                                            for (const auto& answer : topic.partitions)
                                              if (answer.partitionIndex == partition.partition.value())
                                                error = static_cast<ErrorCode>(answer.errorCode);
                                  results.emplace_back(partition, error);
                                }
                                settle(open, results);
                              }
                              answered(node);
                            });
}

void MarkerChannel::answered(NodeId node) {
  Destination& destination = destinations_[node];
  destination.busy = false;
  destination.underWay.clear();
  flush(node);
}

void MarkerChannel::settle(const OpenPtr& open, const MarkerWriter::Results& results) {
  if (open->cancelled || closed_) return;
  std::vector<TopicPartition> written;
  std::vector<TopicPartition> again;
  for (const auto& [partition, error] : results) {
    switch (error) {
      case ErrorCode::None:
      case ErrorCode::UnsupportedForMessageFormat:
        written.push_back(partition);
        break;
      case ErrorCode::InvalidProducerEpoch:
        // A later epoch has been there, which only the end of this transaction could have let in.
        process_.log().warning("transaction-coordinator",
                               "{} has seen a later epoch than {} of producer {}: it needs no marker of {}", partition,
                               open->order.producerEpoch, open->order.producerId, open->order.transactionalId);
        written.push_back(partition);
        break;
      case ErrorCode::TransactionCoordinatorFenced:
        // Another coordinator has sent its own; we will hear of it.
        open->cancelled = true;
        open_.erase(open);
        return;
      default:
        again.push_back(partition);
    }
  }
  if (!again.empty()) later(open, std::move(again));
  if (written.empty()) return;
  open->left -= written.size();
  if (open->left == 0) open_.erase(open);
  setup_.written(open->order, written);
}

void MarkerChannel::later(const OpenPtr& open, std::vector<TopicPartition> partitions) {
  later_.emplace_back(open, std::move(partitions));
  if (later_.size() == 1) retry_ = executor_->schedule(kRetryBackoff, [this] { retry(); });
}

void MarkerChannel::retry() {
  retry_.cancel();
  const std::vector<Part> parts = std::exchange(later_, {});
  for (const auto& [open, partitions] : parts) place(open, partitions);
}

void MarkerChannel::wake() {
  executor_->post([this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    // Who was fenced may never answer; what was sent there goes to the leaders of now.
    const metadata::ImagePtr image = setup_.image();
    for (auto& [node, destination] : destinations_) {
      const metadata::BrokerRegistration* broker = image->cluster.broker(node);
      if (destination.busy && destination.channel && (broker == nullptr || broker->fenced))
        destination.channel->disconnect();
    }
    if (!later_.empty()) retry();
  });
}

void MarkerChannel::close() {
  executor_->post([this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    closed_ = true;
    retry_.cancel();
    later_.clear();
    open_.clear();
    destinations_.clear();
  });
}

}  // namespace tidemark::broker
