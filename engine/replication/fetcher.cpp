#include "replication/fetcher.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/mutation.h"
#include "network/channel_codec.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/list_offsets_request.h"

namespace tidemark::replication {

namespace {

/// Most errors are over with the next metadata, which one of the two brokers has already: the first wait is a 32nd of
/// replica.fetch.backoff.ms, each further one twice as long, up to that. To wait a second at once, as Kafka's followers
/// do, leaves a new topic or a new leader without its followers for that long.
constexpr int kShorterWaits = 5;

}  // namespace

Fetcher::Fetcher(platform::Process& process, std::shared_ptr<platform::Executor> executor, FetcherOptions options)
    : process_(process), executor_(std::move(executor)), options_(std::move(options)) {}

Fetcher::~Fetcher() = default;

void Fetcher::add(std::shared_ptr<Partition> partition, LeaderEpoch epoch) {
  executor_->post([self = shared_from_this(), partition = std::move(partition), epoch]() mutable {
    if (self->stopped_) return;
    const Key key = partition->id();
    Followed followed{.partition = std::move(partition), .epoch = epoch, .fetchOffset = {}, .lastFetchedEpoch = {}};
    if (isMutated(Mutation::TruncateToHighWatermark))
      (void)followed.partition->truncateAsFollower(followed.partition->log()->highWatermark(), epoch);
    self->positionAt(followed, followed.partition->log()->logEndOffset());
    self->followed_.insert_or_assign(key, std::move(followed));
    self->fetch();
  });
}

void Fetcher::remove(const TopicIdPartition& partition) {
  executor_->post([self = shared_from_this(), partition] { self->followed_.erase(partition); });
}

void Fetcher::stop() {
  executor_->post([self = shared_from_this()] {
    self->stopped_ = true;
    self->followed_.clear();
    self->wakeUp_.cancel();
    self->channel_.reset();
  });
}

void Fetcher::positionAt(Followed& followed, Offset offset) {
  followed.fetchOffset = offset;
  followed.lastFetchedEpoch = followed.partition->log()->latestEpoch();
}

void Fetcher::delay(Followed& followed) {
  const auto wait = options_.backoff / (1 << (kShorterWaits - followed.failures));
  followed.failures = std::min(followed.failures + 1, kShorterWaits);
  followed.notBefore = process_.clock().monotonic() + wait;
}

void Fetcher::holdBack(Followed& followed) {
  followed.notBefore = process_.clock().monotonic() + options_.backoff;
}

bool Fetcher::isHeldBack(const Followed& followed) const {
  return options_.quota != nullptr && !followed.inSync && followed.partition->isFollowerThrottled() &&
         options_.quota->isExceeded();
}

void Fetcher::fetchLater(platform::MonotonicTime at) {
  const auto now = process_.clock().monotonic();
  wakeUp_ = executor_->schedule(std::max(at - now, platform::Duration(0)), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->fetch();
  });
}

void Fetcher::fetch() {
  if (underWay_ || stopped_ || followed_.empty()) return;
  const auto now = process_.clock().monotonic();
  std::vector<FetchItem> wanted;
  std::map<Key, LeaderEpoch> asked;
  std::optional<platform::MonotonicTime> earliest;
  for (auto& [key, followed] : followed_) {
    if (followed.askingOffsets) continue;
    if (isHeldBack(followed)) holdBack(followed);
    if (followed.notBefore > now) {
      earliest = std::min(earliest.value_or(followed.notBefore), followed.notBefore);
      continue;
    }
    asked.emplace(key, followed.epoch);
    wanted.push_back(
        {.key = {.topicId = key.topicId, .topic = followed.partition->name().topic, .partition = key.partition},
         .ask = {.fetchOffset = followed.fetchOffset,
                 .logStartOffset = followed.partition->log()->logStartOffset(),
                 .maxBytes = options_.partitionMaxBytes,
                 .currentLeaderEpoch = followed.epoch,
                 .lastFetchedEpoch = followed.lastFetchedEpoch}});
  }
  if (wanted.empty()) {
    if (earliest) fetchLater(*earliest);
    return;
  }
  if (!channel_) {
    network::ChannelOptions options;
    options.clientId = fmt::format("broker-{}-fetcher-{}", options_.self, options_.id);
    options.requestTimeout = options_.requestTimeout;
    channel_ = std::make_unique<network::Channel>(process_, executor_, options_.endpoint, std::move(options));
  }
  FetchSessionClient::Plan plan = session_.next(wanted);
  protocol::FetchRequest request;
  request.replicaState.replicaId = options_.self.value();
  request.replicaState.replicaEpoch = options_.brokerEpoch().value();
  // A delayed partition is waited for no longer than its delay.
  const auto maxWait = earliest ? std::min<platform::Duration>(options_.maxWait, *earliest - now) : options_.maxWait;
  request.maxWaitMs = static_cast<int32_t>(std::chrono::ceil<std::chrono::milliseconds>(maxWait).count());
  request.minBytes = options_.minBytes;
  request.maxBytes = options_.maxBytes;
  request.sessionId = plan.sessionId;
  request.sessionEpoch = plan.sessionEpoch;
  for (const FetchItem& item : plan.items) {
    if (request.topics.empty() || request.topics.back().topicId != item.key.topicId)
      request.topics.push_back({.topicId = item.key.topicId});
    auto& partition = request.topics.back().partitions.emplace_back();
    partition.partition = item.key.partition.value();
    partition.currentLeaderEpoch = item.ask.currentLeaderEpoch->value();
    partition.fetchOffset = item.ask.fetchOffset.value();
    partition.lastFetchedEpoch = item.ask.lastFetchedEpoch.value_or(kNoLeaderEpoch).value();
    partition.logStartOffset = item.ask.logStartOffset.value();
    partition.partitionMaxBytes = item.ask.maxBytes;
  }
  for (const FetchKey& key : plan.forgotten) {
    if (request.forgottenTopicsData.empty() || request.forgottenTopicsData.back().topicId != key.topicId)
      request.forgottenTopicsData.push_back({.topicId = key.topicId});
    request.forgottenTopicsData.back().partitions.push_back(key.partition.value());
  }
  underWay_ = true;
  // The channel is ours: what waits in it must not hold us, or neither would ever go when the process dies.
  channel_->send(
      std::move(request), {},
      [weak = weak_from_this(), asked = std::move(asked)](Result<network::Received<protocol::FetchResponse>> response) {
        if (const auto self = weak.lock()) self->answered(std::move(response), asked);
      });
}

void Fetcher::answered(Result<network::Received<protocol::FetchResponse>> response,
                       const std::map<Key, LeaderEpoch>& asked) {
  underWay_ = false;
  if (stopped_) return;
  if (!response) {
    process_.log().debug("fetcher", "broker {}: fetch from broker {} failed: {}", options_.self, options_.leader,
                         response.error().message);
    session_.failed();
    for (auto& [key, followed] : followed_) delay(followed);
    fetch();
    return;
  }
  protocol::FetchResponse& message = response->message;
  const auto error = static_cast<ErrorCode>(message.errorCode);
  session_.answered(error, message.sessionId);
  if (error != ErrorCode::None) {
    // A session that is unknown or out of step is begun anew at once; anything else may last.
    if (error != ErrorCode::FetchSessionIdNotFound && error != ErrorCode::InvalidFetchSessionEpoch)
      for (auto& [key, followed] : followed_) delay(followed);
    fetch();
    return;
  }
  for (auto& topic : message.responses) {
    for (auto& data : topic.partitions) {
      const Key key{topic.topicId, PartitionIndex(data.partitionIndex)};
      const auto found = followed_.find(key);
      const auto wasAsked = asked.find(key);
      // It may have been removed, or taken up again in another epoch, since the request went out.
      if (found == followed_.end() || wasAsked == asked.end() || wasAsked->second != found->second.epoch) continue;
      partitionAnswered(found->second, data);
    }
  }
  fetch();
}

void Fetcher::partitionAnswered(Followed& followed, protocol::FetchResponse::PartitionData& data) {
  const auto error = static_cast<ErrorCode>(data.errorCode);
  switch (error) {
    case ErrorCode::None:
      if (data.divergingEpoch.epoch >= 0 || data.divergingEpoch.endOffset >= 0) {
        diverged(followed, LeaderEpoch(data.divergingEpoch.epoch), Offset(data.divergingEpoch.endOffset));
      } else {
        records(followed, data);
      }
      break;
    case ErrorCode::OffsetOutOfRange:
      outOfRange(followed.partition->id());
      break;
    default:
      // The leader has another epoch, or no such partition yet: the metadata brings the news to both of us.
      delay(followed);
  }
}

void Fetcher::records(Followed& followed, protocol::FetchResponse::PartitionData& data) {
  Partition& partition = *followed.partition;
  const ByteView batches = data.records.isNull() ? ByteView() : data.records.view();
  if (!batches.empty() && followed.fetchOffset != partition.log()->logEndOffset()) {
    // Somebody else moved the log's end (a truncation by another epoch): what came does not fit behind it.
    positionAt(followed, partition.log()->logEndOffset());
    return;
  }
  auto appended =
      partition.appendAsFollower(batches, followed.epoch, Offset(data.highWatermark), Offset(data.logStartOffset));
  if (!appended) {
    if (appended.error().code == ErrorCode::NotLeaderOrFollower) {
      // Another role was taken up meanwhile; whoever did so tells us.
      delay(followed);
      return;
    }
    process_.log().warning("fetcher", "broker {}: appending what broker {} sent for {} failed: {}", options_.self,
                           options_.leader, partition.name(), appended.error().message);
    if (appended.error().code == ErrorCode::KafkaStorageError) {
      giveUp(partition.id(), appended.error());
      return;
    }
    positionAt(followed, partition.log()->logEndOffset());
    delay(followed);
    return;
  }
  if (!batches.empty()) positionAt(followed, appended->logEndOffset);
  followed.failures = 0;
  followed.inSync = appended->logEndOffset >= Offset(data.highWatermark);
  if (options_.quota != nullptr && partition.isFollowerThrottled())
    options_.quota->record(static_cast<int64_t>(batches.size()));
  if (!batches.empty() || appended->highWatermarkMoved) options_.appended(partition, appended->highWatermarkMoved);
}

void Fetcher::diverged(Followed& followed, LeaderEpoch leaderEpoch, Offset leaderEnd) {
  Partition& partition = *followed.partition;
  // Cut at the end of the last epoch that both know; if we do not know it, at the end of the one below it, and ask
  // again.
  Offset cut = std::min(leaderEnd, partition.log()->logEndOffset());
  if (leaderEpoch != kNoLeaderEpoch) {
    const log::EpochEndOffset own = partition.log()->endOffsetForEpoch(leaderEpoch);
    if (own.endOffset != kNoOffset) cut = std::min(cut, own.endOffset);
  }
  process_.log().info(
      "fetcher", "broker {}: {} parts from broker {} in epoch {} at offset {}: truncating from {} to {}", options_.self,
      partition.name(), options_.leader, leaderEpoch, leaderEnd, partition.log()->logEndOffset(), cut);
  partition.tellDivergence(followed.epoch, leaderEpoch, leaderEnd, cut);
  if (auto truncated = partition.truncateAsFollower(cut, followed.epoch); !truncated) {
    if (truncated.error().code == ErrorCode::KafkaStorageError) {
      giveUp(partition.id(), truncated.error());
      return;
    }
    delay(followed);
    return;
  }
  positionAt(followed, partition.log()->logEndOffset());
}

// --- the leader's log does not hold our end
// ---------------------------------------------------------------------------

void Fetcher::outOfRange(const Key& key) {
  Followed& followed = followed_.at(key);
  followed.askingOffsets = true;
  askOffset(key, followed.epoch, log::kLatestTimestamp);
}

void Fetcher::askOffset(const Key& key, LeaderEpoch epoch, int64_t timestamp) {
  protocol::ListOffsetsRequest request;
  request.replicaId = options_.self.value();
  auto& topic = request.topics.emplace_back();
  topic.name = protocol::Text(followed_.at(key).partition->name().topic);
  topic.partitions.push_back(
      {.partitionIndex = key.partition.value(), .currentLeaderEpoch = epoch.value(), .timestamp = timestamp});
  channel_->send(
      std::move(request), {},
      [weak = weak_from_this(), key, epoch,
       timestamp](Result<network::Received<protocol::ListOffsetsResponse>> response) {
        const auto self = weak.lock();
        if (!self) return;
        ErrorCode error = ErrorCode::NetworkException;
        Offset offset;
        if (response && !response->message.topics.empty() && !response->message.topics[0].partitions.empty()) {
          const auto& answer = response->message.topics[0].partitions[0];
          error = static_cast<ErrorCode>(answer.errorCode);
          offset = Offset(answer.offset);
        }
        self->offsetAnswered(key, epoch, timestamp, error, offset);
      });
}

void Fetcher::offsetAnswered(const Key& key, LeaderEpoch epoch, int64_t timestamp, ErrorCode error, Offset offset) {
  const auto found = followed_.find(key);
  if (stopped_ || found == followed_.end() || found->second.epoch != epoch) return;
  Followed& followed = found->second;
  Partition& partition = *followed.partition;
  const Offset end = partition.log()->logEndOffset();
  if (error != ErrorCode::None) {
    followed.askingOffsets = false;
    delay(followed);
  } else if (timestamp == log::kLatestTimestamp && offset >= end) {
    // We are not ahead, so we are behind all that the leader still keeps.
    askOffset(key, epoch, log::kEarliestLocalTimestamp);
    return;
  } else {
    followed.askingOffsets = false;
    const bool ahead = timestamp == log::kLatestTimestamp;
    Result<void> done;
    if (ahead) {
      done = partition.truncateAsFollower(offset, epoch);
    } else if (offset > end) {
      done = partition.restartAsFollower(offset, epoch);
    }
    if (!done) {
      if (done.error().code == ErrorCode::KafkaStorageError) {
        giveUp(key, done.error());
        return;
      }
      delay(followed);
    } else {
      positionAt(followed, partition.log()->logEndOffset());
    }
  }
  fetch();
}

void Fetcher::giveUp(const Key& key, const Error& error) {
  const auto found = followed_.find(key);
  if (found == followed_.end()) return;
  const std::shared_ptr<Partition> partition = found->second.partition;
  followed_.erase(found);
  options_.failed(*partition, error);
}

}  // namespace tidemark::replication
