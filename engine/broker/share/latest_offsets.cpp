#include "broker/share/latest_offsets.h"

#include <fmt/format.h>

#include "log/log_types.h"
#include "protocol/generated/list_offsets_request.h"
#include "protocol/generated/list_offsets_response.h"

namespace tidemark::broker {

struct LatestOffsets::Impl : std::enable_shared_from_this<Impl> {
  Impl(platform::Process& process, std::shared_ptr<platform::Executor> on, replication::ReplicaManager& of, NodeId node,
       std::string listener)
      : executor(on),
        replicas(of),
        self(node),
        channels(
            process, std::move(on), [&of] { return of.image(); }, std::move(listener),
            fmt::format("broker-{}-offsets", node)) {}

  void ask(const TopicPartition& partition, coordinator::Reply<std::optional<Offset>> reply) {
    const metadata::ImagePtr image = replicas.image();
    const metadata::PartitionRegistration* registration = image->topics.partition(partition.topic, partition.partition);
    if (closed || registration == nullptr || !registration->hasLeader()) return reply(std::nullopt);
    if (registration->leader == self) {
      const std::shared_ptr<replication::Partition> replica = replicas.find(partition);
      return reply(replica ? std::optional(replica->log()->highWatermark()) : std::nullopt);
    }
    protocol::ListOffsetsRequest request;
    request.replicaId = -1;
    auto& topic = request.topics.emplace_back();
    topic.name = protocol::Text(partition.topic);
    auto& asked = topic.partitions.emplace_back();
    asked.partitionIndex = partition.partition.value();
    asked.currentLeaderEpoch = registration->leaderEpoch.value();
    asked.timestamp = log::kLatestTimestamp;
    channels.send(registration->leader, std::move(request),
                  [reply = std::move(reply)](Result<protocol::ListOffsetsResponse> response) mutable {
                    std::optional<Offset> end;
                    if (response && response->topics.size() == 1 && response->topics[0].partitions.size() == 1 &&
                        response->topics[0].partitions[0].errorCode == 0)
                      end = Offset(response->topics[0].partitions[0].offset);
                    reply(end);
                  });
  }

  const std::shared_ptr<platform::Executor> executor;
  replication::ReplicaManager& replicas;
  const NodeId self;
  BrokerChannels channels;
  bool closed = false;
};

LatestOffsets::LatestOffsets(platform::Process& process, std::shared_ptr<platform::Executor> executor,
                             replication::ReplicaManager& replicas, NodeId self, std::string listener)
    : impl_(std::make_shared<Impl>(process, std::move(executor), replicas, self, std::move(listener))) {}

LatestOffsets::~LatestOffsets() = default;

void LatestOffsets::ask(const TopicPartition& partition, coordinator::Reply<std::optional<Offset>> reply) {
  impl_->executor->post(
      [impl = impl_, partition, reply = std::move(reply)]() mutable { impl->ask(partition, std::move(reply)); });
}

void LatestOffsets::close() {
  impl_->executor->post([impl = impl_] {
    impl->closed = true;
    impl->channels.close();
  });
}

}  // namespace tidemark::broker
