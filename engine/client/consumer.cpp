#include "client/consumer.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "client/client_codec.h"
#include "client/fetch_reader.h"
#include "client/fetch_session.h"
#include "client/running.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/list_offsets_request.h"
#include "protocol/generated/list_offsets_response.h"

namespace tidemark::client {

using platform::Duration;
using platform::MonotonicTime;
using protocol::FetchRequest;
using protocol::FetchResponse;
using protocol::ListOffsetsRequest;
using protocol::ListOffsetsResponse;

namespace {

constexpr int64_t kLatest = -1;
constexpr int64_t kEarliest = -2;

/// One partition that is read.
struct Reading {
  TopicPartition where;
  std::optional<Offset> position;
  /// Which end to look up while there is no position.
  int64_t lookup = kEarliest;
  bool lookingUp = false;
  bool paused = false;
  /// An error that does not pass.
  bool stopped = false;
  LeaderEpoch lastEpoch;
  Offset highWatermark;
  Offset lastStable;
  MonotonicTime notBefore{};
  int failures = 0;
  /// Raised by each seek: what was asked for before is not wanted any more.
  uint64_t seeks = 0;

  bool isFetchable(MonotonicTime now) const { return position && !paused && !stopped && notBefore <= now; }
};

/// The one fetch at a time at one leader, and the session it belongs to.
struct Source {
  explicit Source(bool sessions) : session(sessions) {}

  /// Of its own: a parked fetch holds up whatever comes behind it.
  std::unique_ptr<network::Channel> channel;
  bool inFlight = false;
  FetchSession session;
  MonotonicTime notBefore{};
  int failures = 0;
};

}  // namespace

class Consumer::Core : public Running {
 public:
  Core(Client& client, ConsumerOptions options, RecordHandler onRecord, ErrorHandler onError)
      : Running(client), options_(options), onRecord_(std::move(onRecord)), onError_(std::move(onError)) {}

  void assign(std::vector<Position> positions);
  void seek(const TopicPartition& where, std::optional<LogPosition> to, int64_t lookup);
  void setPaused(const TopicPartition& where, bool paused);
  const Reading* find(const TopicPartition& where) const {
    const auto at = readings_.find(where);
    return at == readings_.end() ? nullptr : &at->second;
  }
  void stop() override {
    Running::stop();
    timer_.cancel();
  }

 private:
  void pumpSoon() {
    postOnce(pumpPosted_, [this] { pump(); });
  }
  void pump();
  void armTimer();

  void goOn(Reading& reading, LogPosition at);
  void lookUp(Reading& reading);
  void lookedUp(const TopicPartition& where, uint64_t seeks,
                const Result<network::Received<ListOffsetsResponse>>& received);

  void fetch(NodeId leader, Source& source);
  void fetched(NodeId leader, const AskedAll& asked, Result<network::Received<FetchResponse>> received);
  void take(Reading& reading, const Asked& asked, const FetchResponse::PartitionData& data);
  void takeError(Reading& reading, ErrorCode code);
  void takeRecords(Reading& reading, const FetchResponse::PartitionData& data);
  void reset(Reading& reading, const Error& error);
  void stopReading(Reading& reading, const Error& error);
  void backOff(Reading& reading);

  void askForMetadata(const std::string& topic);
  MonotonicTime now() const { return client_.process().clock().monotonic(); }

  const ConsumerOptions options_;
  const RecordHandler onRecord_;
  const ErrorHandler onError_;
  std::map<TopicPartition, Reading> readings_;
  std::map<NodeId, Source> sources_;
  std::set<std::string> unknownTopics_;
  int metadataFailures_ = 0;
  MonotonicTime metadataNotBefore_{};
  FetchReader reader_;
  platform::Timer timer_;
  bool pumpPosted_ = false;
};

// --- What is wanted --------------------------------------------------------------------------------------------------

void Consumer::Core::assign(std::vector<Position> positions) {
  std::map<TopicPartition, Reading> next;
  for (auto& position : positions) {
    const auto known = readings_.find(position.where);
    Reading reading = known != readings_.end() ? std::move(known->second) : Reading();
    reading.where = position.where;
    if (known == readings_.end()) reading.lookup = options_.reset == OffsetReset::Latest ? kLatest : kEarliest;
    if (position.at) {
      goOn(reading, *position.at);
      reading.stopped = false;
      ++reading.seeks;
    }
    next.emplace(position.where, std::move(reading));
  }
  readings_ = std::move(next);
  pumpSoon();
}

void Consumer::Core::goOn(Reading& reading, LogPosition at) {
  reading.position = at.offset;
  reading.lastEpoch = at.leaderEpoch;
  // Who led before that epoch may still believe so, and may lack the records before the offset.
  if (at.leaderEpoch != kNoLeaderEpoch) client_.learn(reading.where, at.leaderEpoch);
}

void Consumer::Core::seek(const TopicPartition& where, std::optional<LogPosition> to, int64_t lookup) {
  const auto at = readings_.find(where);
  if (at == readings_.end()) return;
  Reading& reading = at->second;
  reading.position.reset();
  reading.lastEpoch = {};
  if (to) goOn(reading, *to);
  reading.lookup = lookup;
  reading.lookingUp = false;
  reading.stopped = false;
  reading.notBefore = {};
  ++reading.seeks;
  pumpSoon();
}

void Consumer::Core::setPaused(const TopicPartition& where, bool paused) {
  const auto at = readings_.find(where);
  if (at == readings_.end()) return;
  at->second.paused = paused;
  pumpSoon();
}

// --- The loop --------------------------------------------------------------------------------------------------------

void Consumer::Core::pump() {
  const MonotonicTime time = now();
  std::set<NodeId> leaders;
  for (auto& [where, reading] : readings_) {
    if (reading.stopped || reading.notBefore > time) continue;
    const auto leader = client_.metadata().leaderOf(where);
    if (!leader) {
      askForMetadata(where.topic);
    } else if (!reading.position) {
      if (!reading.lookingUp) lookUp(reading);
    } else {
      leaders.insert(*leader);
    }
  }
  for (const NodeId leader : leaders) {
    Source& source = sources_.try_emplace(leader, options_.sessions).first->second;
    if (!source.inFlight && source.notBefore <= time) fetch(leader, source);
  }
  armTimer();
}

void Consumer::Core::armTimer() {
  const MonotonicTime time = now();
  MonotonicTime next = kNever;
  auto consider = [&](MonotonicTime at) {
    if (at > time) next = std::min(next, at);
  };
  for (const auto& [where, reading] : readings_) {
    if (!reading.stopped) consider(reading.notBefore);
  }
  for (const auto& [leader, source] : sources_) {
    if (!source.inFlight) consider(source.notBefore);
  }
  consider(metadataNotBefore_);
  timer_.cancel();
  if (next != kNever) timer_ = client_.executor().schedule(next - time, whileRunning([this] { pump(); }));
}

void Consumer::Core::askForMetadata(const std::string& topic) {
  if (metadataNotBefore_ > now() || !unknownTopics_.insert(topic).second) return;
  client_.refresh({topic}, whileRunning([this, topic](const Result<void>&) {
                    unknownTopics_.erase(topic);
                    const bool known = std::all_of(readings_.begin(), readings_.end(), [&](const auto& each) {
                      return each.first.topic != topic || client_.metadata().leaderOf(each.first);
                    });
                    metadataFailures_ = known ? 0 : metadataFailures_ + 1;
                    metadataNotBefore_ = known ? MonotonicTime{} : now() + client_.backoff(metadataFailures_);
                    pumpSoon();
                  }));
}

void Consumer::Core::backOff(Reading& reading) {
  reading.notBefore = now() + client_.backoff(++reading.failures);
}

// --- Positions -------------------------------------------------------------------------------------------------------

void Consumer::Core::lookUp(Reading& reading) {
  reading.lookingUp = true;
  ListOffsetsRequest request;
  request.replicaId = -1;
  request.isolationLevel = static_cast<int8_t>(options_.isolation);
  request.timeoutMs = millis(client_.options().requestTimeout);
  const auto* partition = client_.metadata().find(reading.where);
  request.topics.push_back({.name = reading.where.topic, .partitions = {}});
  request.topics[0].partitions.push_back({.partitionIndex = reading.where.partition.value(),
                                          .currentLeaderEpoch = partition->leaderEpoch.value(),
                                          .timestamp = reading.lookup});
  client_.sendToLeader(reading.where, std::move(request), {},
                       whileRunning([this, where = reading.where, seeks = reading.seeks](
                                        const Result<network::Received<ListOffsetsResponse>>& received) {
                         lookedUp(where, seeks, received);
                       }));
}

void Consumer::Core::lookedUp(const TopicPartition& where, uint64_t seeks,
                              const Result<network::Received<ListOffsetsResponse>>& received) {
  const auto at = readings_.find(where);
  if (at == readings_.end() || at->second.seeks != seeks) return pumpSoon();
  Reading& reading = at->second;
  reading.lookingUp = false;
  ErrorCode code = received ? ErrorCode::None : received.error().code;
  if (received) {
    const auto& topics = received->message.topics;
    if (topics.size() == 1 && topics[0].partitions.size() == 1) {
      code = static_cast<ErrorCode>(topics[0].partitions[0].errorCode);
      if (code == ErrorCode::None) {
        reading.position = Offset(topics[0].partitions[0].offset);
        reading.failures = 0;
        return pumpSoon();
      }
    } else {
      code = ErrorCode::UnknownServerError;
    }
  }
  if (isRetriable(code)) {
    backOff(reading);
    askForMetadata(where.topic);
  } else {
    stopReading(reading, {code, fmt::format("{}: no offset: {}", where, errorName(code))});
  }
  if (!stopped_) pumpSoon();
}

// --- Fetching --------------------------------------------------------------------------------------------------------

void Consumer::Core::fetch(NodeId leader, Source& source) {
  const MonotonicTime time = now();
  AskedAll wanted;
  for (const auto& [where, reading] : readings_) {
    if (!reading.isFetchable(time) || client_.metadata().leaderOf(where) != leader) continue;
    const auto* topic = client_.metadata().find(where.topic);
    wanted[where] = {.topicId = topic->id,
                     .offset = *reading.position,
                     .leaderEpoch = client_.metadata().find(where)->leaderEpoch,
                     .lastEpoch = reading.lastEpoch,
                     .seeks = reading.seeks};
  }
  const auto broker = client_.metadata().brokers.find(leader);
  if (wanted.empty() || broker == client_.metadata().brokers.end()) return;
  if (!source.channel || source.channel->endpoint() != broker->second) {
    client_.retire(std::move(source.channel));
    source.channel = client_.newChannel(broker->second);
  }
  FetchRequest request;
  request.maxWaitMs = millis(options_.maxWait);
  request.minBytes = options_.minBytes;
  request.maxBytes = options_.maxBytes;
  request.isolationLevel = static_cast<int8_t>(options_.isolation);
  source.session.ask(wanted, options_.partitionMaxBytes, request);
  source.inFlight = true;
  network::SendOptions how{.timeout = client_.options().requestTimeout + options_.maxWait};
  for (const auto& topic : request.topics) {
    if (topic.topicId.isZero()) how.maxVersion = 12;
  }
  source.channel->send(
      std::move(request), how,
      whileRunning([this, leader, wanted = std::move(wanted)](Result<network::Received<FetchResponse>> received) {
        fetched(leader, wanted, std::move(received));
      }));
}

void Consumer::Core::fetched(NodeId leader, const AskedAll& asked, Result<network::Received<FetchResponse>> received) {
  const auto self = shared_from_this();
  Source& source = sources_.at(leader);
  source.inFlight = false;
  const ErrorCode code = received ? static_cast<ErrorCode>(received->message.errorCode) : received.error().code;
  if (code != ErrorCode::None) {
    source.session.forget();
    const bool sessionOnly = code == ErrorCode::FetchSessionIdNotFound || code == ErrorCode::InvalidFetchSessionEpoch;
    if (!sessionOnly) {
      source.notBefore = now() + client_.backoff(++source.failures);
      std::set<std::string> topics;
      for (const auto& [where, each] : asked) topics.insert(where.topic);
      for (const auto& topic : topics) askForMetadata(topic);
    }
    return pumpSoon();
  }
  source.failures = 0;
  const FetchResponse& response = received->message;
  source.session.answered(response.sessionId);
  for (const auto& topic : response.responses) {
    const std::string name =
        received->version >= 13 ? std::string(client_.metadata().nameOf(topic.topicId)) : topic.topic.str();
    for (const auto& data : topic.partitions) {
      if (stopped_) return;
      const TopicPartition where{name, PartitionIndex(data.partitionIndex)};
      const auto wasAsked = asked.find(where);
      const auto reading = readings_.find(where);
      if (wasAsked == asked.end() || reading == readings_.end()) continue;
      if (reading->second.seeks == wasAsked->second.seeks) take(reading->second, wasAsked->second, data);
    }
  }
  if (!stopped_) pumpSoon();
}

void Consumer::Core::take(Reading& reading, const Asked& asked, const FetchResponse::PartitionData& data) {
  const auto code = static_cast<ErrorCode>(data.errorCode);
  if (code != ErrorCode::None) {
    // A session with an error in it is answered at once, each time.
    for (auto& [leader, source] : sources_) source.session.askAgain(reading.where);
    return takeError(reading, code);
  }
  reading.failures = 0;
  if (data.divergingEpoch.endOffset >= 0) {
    // The log was cut below the position: go on where both histories part.
    reading.position = std::min(*reading.position, Offset(data.divergingEpoch.endOffset));
    reading.lastEpoch = LeaderEpoch(data.divergingEpoch.epoch);
    return;
  }
  reading.highWatermark = Offset(data.highWatermark);
  reading.lastStable = Offset(data.lastStableOffset);
  if (reading.position == asked.offset) takeRecords(reading, data);
}

void Consumer::Core::takeError(Reading& reading, ErrorCode code) {
  const Error error{code, fmt::format("{}: {}", reading.where, errorName(code))};
  if (code == ErrorCode::OffsetOutOfRange) return reset(reading, error);
  if (!isRetriable(code)) return stopReading(reading, error);
  backOff(reading);
  askForMetadata(reading.where.topic);
}

void Consumer::Core::takeRecords(Reading& reading, const FetchResponse::PartitionData& data) {
  const TopicPartition where = reading.where;
  const uint64_t seeks = reading.seeks;
  reader_.begin(data.records.view(), *reading.position);
  if (options_.isolation == IsolationLevel::ReadCommitted && data.abortedTransactions) {
    for (const auto& aborted : *data.abortedTransactions) {
      reader_.addAborted(ProducerId(aborted.producerId), Offset(aborted.firstOffset));
    }
  }
  for (;;) {
    const records::Step step = reader_.next();
    // The handler may have sought, assigned anew or ended us.
    if (stopped_) return;
    const auto at = readings_.find(where);
    if (at == readings_.end() || at->second.seeks != seeks) return;
    Reading& current = at->second;
    current.position = reader_.position();
    if (reader_.lastEpoch() != kNoLeaderEpoch) current.lastEpoch = reader_.lastEpoch();
    if (step == records::Step::End) return;
    if (step == records::Step::Corrupt) {
      return stopReading(current, {ErrorCode::CorruptMessage, fmt::format("{}: {}", where, reader_.reason())});
    }
    onRecord_({.where = where, .leaderEpoch = reader_.lastEpoch(), .record = reader_.record()});
  }
}

void Consumer::Core::reset(Reading& reading, const Error& error) {
  if (options_.reset == OffsetReset::Fail) return stopReading(reading, error);
  reading.position.reset();
  reading.lookup = options_.reset == OffsetReset::Latest ? kLatest : kEarliest;
  reading.lastEpoch = {};
  ++reading.seeks;
}

void Consumer::Core::stopReading(Reading& reading, const Error& error) {
  reading.stopped = true;
  const TopicPartition where = reading.where;
  if (onError_) onError_(where, error);
}

// --- Consumer --------------------------------------------------------------------------------------------------------

Consumer::Consumer(Client& client, ConsumerOptions options, RecordHandler onRecord, ErrorHandler onError)
    : core_(std::make_shared<Core>(client, options, std::move(onRecord), std::move(onError))) {}

Consumer::~Consumer() {
  core_->stop();
}

void Consumer::assign(std::vector<Position> positions) {
  core_->assign(std::move(positions));
}

void Consumer::seek(const TopicPartition& where, LogPosition to) {
  core_->seek(where, to, kEarliest);
}

void Consumer::seekToBeginning(const TopicPartition& where) {
  core_->seek(where, std::nullopt, kEarliest);
}

void Consumer::seekToEnd(const TopicPartition& where) {
  core_->seek(where, std::nullopt, kLatest);
}

void Consumer::pause(const TopicPartition& where) {
  core_->setPaused(where, true);
}

void Consumer::resume(const TopicPartition& where) {
  core_->setPaused(where, false);
}

std::optional<LogPosition> Consumer::position(const TopicPartition& where) const {
  const auto* reading = core_->find(where);
  if (reading == nullptr || !reading->position) return std::nullopt;
  return LogPosition(*reading->position, reading->lastEpoch);
}

Offset Consumer::highWatermark(const TopicPartition& where) const {
  const auto* reading = core_->find(where);
  return reading == nullptr ? kNoOffset : reading->highWatermark;
}

Offset Consumer::lastStableOffset(const TopicPartition& where) const {
  const auto* reading = core_->find(where);
  return reading == nullptr ? kNoOffset : reading->lastStable;
}

}  // namespace tidemark::client
