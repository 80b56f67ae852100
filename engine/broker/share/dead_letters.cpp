#include "broker/share/dead_letters.h"

#include <deque>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "config/config_table.h"
#include "config/topic_config.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "records/batch_builder.h"
#include "records/record.h"

namespace tidemark::broker {
namespace {

constexpr int kMostLetterAttempts = 8;
constexpr platform::Duration kLetterPause = std::chrono::milliseconds(250);
constexpr platform::Duration kLetterTimeout = std::chrono::seconds(10);
/// What is read of the source at a time, beyond its first batch.
constexpr size_t kCopyBytes = 8 << 20;

bool isWorthAnotherLetter(ErrorCode code) {
  switch (code) {
    case ErrorCode::NotLeaderOrFollower:
    case ErrorCode::LeaderNotAvailable:
    case ErrorCode::BrokerNotAvailable:
    case ErrorCode::NetworkException:
    case ErrorCode::RequestTimedOut:
    case ErrorCode::NotEnoughReplicas:
    case ErrorCode::NotEnoughReplicasAfterAppend:
    case ErrorCode::UnknownTopicOrPartition:
      return true;
    default:
      return false;
  }
}

std::string_view messageOf(DeadLetters::Cause cause) {
  return cause == DeadLetters::Cause::Rejected ? "Offset rejected by client."
                                               : "Offset delivery count exceeded the threshold.";
}

}  // namespace

Result<void> checkDeadLetterTopic(std::string_view topic, std::string_view prefix) {
  if (topic.starts_with("__"))
    return fail(ErrorCode::InvalidConfig, fmt::format("the internal topic {} cannot be a dead letter queue", topic));
  if (!topic.starts_with(prefix))
    return fail(ErrorCode::InvalidConfig,
                fmt::format("the dead letter queue {} must begin with {} (errors.deadletterqueue.topic.name.prefix)",
                            topic, prefix));
  return {};
}

std::vector<ByteVector> deadLetterBatches(const DeadLetters& letters, std::optional<ByteView> source, size_t maxBytes,
                                          int64_t nowMs) {
  std::vector<ByteVector> batches;
  auto builder = std::make_unique<records::BatchBuilder>();
  const std::string partition = fmt::format("{}", letters.source.partition);
  const std::string count = fmt::format("{}", letters.deliveryCount);
  const auto add = [&](Offset offset, const records::RecordView* original) {
    const std::string number = fmt::format("{}", offset);
    std::vector<records::RecordHeader> headers;
    if (original != nullptr) {
      records::HeaderCursor cursor = original->headers();
      while (const auto header = cursor.next()) headers.push_back(*header);
    }
    const auto say = [&headers](std::string_view key, std::string_view value) {
      headers.push_back({.key = asBytes(key), .value = asBytes(value)});
    };
    say("__dlq.errors.topic", letters.source.topic);
    say("__dlq.errors.partition", partition);
    say("__dlq.errors.offset", number);
    say("__dlq.errors.group", letters.groupId);
    say("__dlq.errors.delivery.count", count);
    say("__dlq.errors.message", messageOf(letters.cause));
    const std::optional<ByteView> key = original != nullptr ? original->key : std::nullopt;
    const std::optional<ByteView> value = original != nullptr ? original->value : std::nullopt;
    if (!builder->empty() &&
        builder->uncompressedSize() + records::BatchBuilder::recordSizeLimit(key, value, headers) > maxBytes) {
      batches.push_back(builder->build());
      builder = std::make_unique<records::BatchBuilder>();
    }
    builder->append(nowMs, key, value, headers);
  };
  Offset next = letters.first;
  if (source) {
    records::BatchCursor cursor(*source);
    while (next <= letters.last && cursor.next() == records::Step::Next) {
      if (cursor.batch().header.lastOffset() < next || cursor.batch().header.isControl()) continue;
      (void)records::forEachRecord(cursor.batch(), [&](const records::RecordView& record) {
        if (record.offset < next || record.offset > letters.last) return;
        // Offsets that the log does not have any more are told of as well.
        for (; next < record.offset; next = next.next()) add(next, nullptr);
        add(next, &record);
        next = next.next();
      });
    }
  }
  for (; next <= letters.last; next = next.next()) add(next, nullptr);
  if (!builder->empty()) batches.push_back(builder->build());
  return batches;
}

struct DeadLetterWriter::Impl : std::enable_shared_from_this<Impl> {
  explicit Impl(Dependencies given)
      : dependencies(std::move(given)),
        channels(
            *dependencies.process, dependencies.executor,
            [replicas = dependencies.replicas] { return replicas->image(); }, dependencies.listener,
            fmt::format("broker-{}-dead-letters", dependencies.self)) {}

  struct Sending {
    DeadLetters letters;
    std::string topic;
    std::move_only_function<void(Error)> done;
    std::deque<ByteVector> batches;
    bool built = false;
    int attempts = 0;
  };
  using SendingPtr = std::shared_ptr<Sending>;

  std::string groupValue(const metadata::Image& image, std::string_view groupId, std::string_view key) const {
    const config::ConfigDefinition* definition = config::configTable(config::ConfigLevel::Group).find(key);
    return config::effectiveGroupConfig(*definition, image.configs.of(config::ResourceType::Group, groupId),
                                        dependencies.config()->layers())
        .value.value_or("");
  }

  void attempt(const SendingPtr& sending) {
    if (closed) return;
    const metadata::ImagePtr image = dependencies.replicas->image();
    const auto config = dependencies.config();
    const std::string topicName = groupValue(*image, sending->letters.groupId, "errors.deadletterqueue.topic.name");
    if (const Result<void> allowed =
            checkDeadLetterTopic(topicName, config->getString("errors.deadletterqueue.topic.name.prefix"));
        !allowed)
      return finish(sending, allowed.error());
    const metadata::TopicImage* topic = image->topics.find(topicName);
    if (topic == nullptr) {
      if (!config->getBool("errors.deadletterqueue.auto.create.topics.enable"))
        return finish(sending,
                      {ErrorCode::InvalidConfig, fmt::format("the dead letter queue {} does not exist", topicName)});
      create(topicName);
      return again(sending, {ErrorCode::UnknownTopicOrPartition,
                             fmt::format("the dead letter queue {} is being made", topicName)});
    }
    const config::ConfigDefinition* permission =
        config::configTable(config::ConfigLevel::Topic).find("errors.deadletterqueue.group.enable");
    if (config::effectiveTopicConfig(*permission, image->configs.topic(topicName), config->layers()).value != "true")
      return finish(sending,
                    {ErrorCode::InvalidConfig,
                     fmt::format("{} may not be a dead letter queue: errors.deadletterqueue.group.enable is not set",
                                 topicName)});
    if (!sending->built) build(*sending, *image, topicName);
    if (sending->batches.empty()) return finish(sending, {ErrorCode::None, {}});
    const TopicPartition target{topicName, PartitionIndex(sending->letters.source.partition.value() %
                                                          static_cast<int32_t>(topic->partitions.size()))};
    const metadata::PartitionRegistration* registration = topic->partition(target.partition);
    if (registration == nullptr || !registration->hasLeader())
      return again(sending, {ErrorCode::LeaderNotAvailable, fmt::format("{} has no leader", target)});
    produce(sending, target, registration->leader);
  }

  void build(Sending& sending, const metadata::Image& image, const std::string& topicName) const {
    std::optional<ByteVector> source;
    if (groupValue(image, sending.letters.groupId, "errors.deadletterqueue.copy.record.enable") == "true")
      if (const std::shared_ptr<replication::Partition> replica = dependencies.replicas->find(sending.letters.source))
        if (auto bytes =
                replica->log()->readBytes(sending.letters.first, kCopyBytes, log::FetchIsolation::HighWatermark))
          source = std::move(*bytes);
    const config::TopicConfig target =
        config::TopicConfig::resolve(image.configs.topic(topicName), dependencies.config()->layers());
    const auto limit = static_cast<size_t>(target.maxMessageBytes);
    for (ByteVector& batch :
         deadLetterBatches(sending.letters, source ? std::optional<ByteView>(*source) : std::nullopt, limit,
                           dependencies.process->clock().wallMs()))
      sending.batches.push_back(std::move(batch));
    sending.built = true;
  }

  void produce(const SendingPtr& sending, const TopicPartition& target, NodeId leader) {
    const auto taken = [weak = weak_from_this(), sending](ErrorCode code, const std::string& message) {
      const std::shared_ptr<Impl> self = weak.lock();
      if (!self || self->closed) return;
      if (code == ErrorCode::None) {
        sending->batches.pop_front();
        sending->attempts = 0;
        return self->attempt(sending);
      }
      self->again(sending, {code, message});
    };
    if (leader == dependencies.self) {
      // A copy: what is appended is stamped in place.
      auto batch = std::make_shared<ByteVector>(sending->batches.front());
      const replication::ProduceItem item{.partition = target, .records = *batch};
      dependencies.replicas->append(
          -1, kLetterTimeout, std::span(&item, 1), {.origin = records::Origin::Client},
          {.client = "dead-letters", .correlation = 0},
          [executor = dependencies.executor, taken, batch](std::vector<replication::ProduceResult> results) {
            executor->post([taken, result = results.at(0)] { taken(result.error, result.message); });
          });
      return;
    }
    protocol::ProduceRequest request{.acks = -1, .timeoutMs = 10000};
    auto& topic = request.topicData.emplace_back();
    topic.name = protocol::Text(target.topic);
    if (const metadata::TopicImage* known = dependencies.replicas->image()->topics.find(target.topic))
      topic.topicId = known->id;
    topic.partitionData.push_back(
        {.index = target.partition.value(), .records = protocol::Records(ByteVector(sending->batches.front()))});
    channels.send(leader, std::move(request), [taken](Result<protocol::ProduceResponse> response) {
      if (!response) return taken(response.error().code, response.error().message);
      if (response->responses.empty() || response->responses[0].partitionResponses.empty())
        return taken(ErrorCode::UnknownServerError, "the answer names no partition");
      const auto& answer = response->responses[0].partitionResponses[0];
      taken(static_cast<ErrorCode>(answer.errorCode), answer.errorMessage ? answer.errorMessage->str() : std::string());
    });
  }

  void create(const std::string& topic) {
    if (!creating.insert(topic).second) return;
    protocol::CreateTopicsRequest request;
    auto& wanted = request.topics.emplace_back();
    wanted.name = protocol::Text(topic);
    wanted.numPartitions = -1;
    wanted.replicationFactor = -1;
    wanted.configs.push_back({.name = "errors.deadletterqueue.group.enable", .value = "true"});
    request.timeoutMs = 30000;
    dependencies.forwarding->createTopics(std::move(request),
                                          [weak = weak_from_this(), executor = dependencies.executor,
                                           topic](const Result<protocol::CreateTopicsResponse>&) {
                                            // Made, there already, or refused: the next attempt shows which.
                                            executor->post([weak, topic] {
                                              if (const std::shared_ptr<Impl> self = weak.lock())
                                                self->creating.erase(topic);
                                            });
                                          });
  }

  void again(const SendingPtr& sending, const Error& why) {
    if (!isWorthAnotherLetter(why.code) || ++sending->attempts >= kMostLetterAttempts) return finish(sending, why);
    const uint64_t number = ++lastTimer;
    timers.emplace(number, dependencies.executor->schedule(kLetterPause * sending->attempts,
                                                           [weak = weak_from_this(), number, sending] {
                                                             const std::shared_ptr<Impl> self = weak.lock();
                                                             if (!self) return;
                                                             const auto own = self->timers.extract(number);
                                                             self->attempt(sending);
                                                           }));
  }

  void finish(const SendingPtr& sending, const Error& outcome) const {
    if (outcome.code != ErrorCode::None)
      dependencies.process->log().warning("share", "group {} loses offsets {} to {} of {} without a dead letter: {}",
                                          sending->letters.groupId, sending->letters.first, sending->letters.last,
                                          sending->letters.source, outcome.message);
    sending->done(outcome);
  }

  const Dependencies dependencies;
  BrokerChannels channels;
  std::set<std::string> creating;
  std::map<uint64_t, platform::Timer> timers;
  uint64_t lastTimer = 0;
  bool closed = false;
};

DeadLetterWriter::DeadLetterWriter(Dependencies dependencies)
    : impl_(std::make_shared<Impl>(std::move(dependencies))) {}

DeadLetterWriter::~DeadLetterWriter() = default;

void DeadLetterWriter::write(DeadLetters letters, std::move_only_function<void(Error)> done) {
  auto sending = std::make_shared<Impl::Sending>();
  sending->letters = std::move(letters);
  sending->done = std::move(done);
  impl_->dependencies.executor->post([impl = impl_, sending] { impl->attempt(sending); });
}

void DeadLetterWriter::close() {
  impl_->dependencies.executor->post([impl = impl_] {
    impl->closed = true;
    impl->channels.close();
    impl->timers.clear();
  });
}

}  // namespace tidemark::broker
