#include "client/share_consumer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "client/fetch_reader.h"
#include "client/group_membership.h"
#include "client/share_session.h"
#include "protocol/generated/share_acknowledge_response.h"
#include "protocol/generated/share_group_heartbeat_request.h"
#include "protocol/generated/share_group_heartbeat_response.h"

namespace tidemark::client {

using platform::MonotonicTime;
using protocol::ShareAcknowledgeRequest;
using protocol::ShareAcknowledgeResponse;
using protocol::ShareFetchRequest;
using protocol::ShareFetchResponse;
using protocol::ShareGroupHeartbeatRequest;
using protocol::ShareGroupHeartbeatResponse;

namespace {

/// Member epochs that say something.
constexpr int32_t kJoinsShareGroup = 0;
constexpr int32_t kLeavesShareGroup = -1;
ErrorCode acknowledgeErrorOf(const ShareFetchResponse::PartitionData& data) {
  return static_cast<ErrorCode>(data.acknowledgeErrorCode);
}
ErrorCode acknowledgeErrorOf(const ShareAcknowledgeResponse::PartitionData& data) {
  return static_cast<ErrorCode>(data.errorCode);
}

}  // namespace

class ShareConsumer::Core final : public GroupMembership {
 public:
  Core(Client& client, ShareOptions options, Handlers handlers)
      : GroupMembership(client, options.groupId, handlers.onError),
        options_(std::move(options)),
        handlers_(std::move(handlers)) {
    memberId_ = client.process().random().uuid().toString();
  }

  void acknowledge(const Delivery& delivery, AcknowledgeType type);
  void commit();
  void leave(platform::Task done) override;
  void stop() override {
    GroupMembership::stop();
    timer_.cancel();
  }

 private:
  /// A leader: the one request at a time there, and the session it belongs to.
  struct Source {
    /// Of its own: a session ends with its connection, and a parked fetch holds up whatever comes behind it.
    std::unique_ptr<network::Channel> channel;
    bool inFlight = false;
    ShareSession session;
    bool commits = false;
    MonotonicTime notBefore{};
    int failures = 0;
  };

  void proceed() override { beat(); }
  void beat();
  ShareGroupHeartbeatRequest heartbeat(int32_t epoch) const;
  void joined(const ShareGroupHeartbeatResponse& response);
  void refused(const Error& error);
  /// Takes what the coordinator assigned, once its topics are known by name.
  void assign();

  void pumpSoon() {
    postOnce(pumpPosted_, [this] { pump(); });
  }
  void pump();
  void sayGoodbye();
  void armTimer();
  void refresh();
  void turn(NodeId leader, Source& source, const Partitions& wanted);
  template <class Request>
  void sendTo(NodeId leader, Source& source, Request request, SaidAll said, platform::Duration timeout);
  template <class Response>
  void answered(NodeId leader, SaidAll said, MonotonicTime asked, bool ends,
                const Result<network::Received<Response>>& received);
  void take(NodeId, MonotonicTime, const TopicPartition&, const ShareAcknowledgeResponse::PartitionData&) {}
  void take(NodeId leader, MonotonicTime asked, const TopicPartition& where,
            const ShareFetchResponse::PartitionData& data);
  void takeError(Source& source, const TopicPartition& where, ErrorCode code);
  /// What was held there may be given to others.
  void endSession(Source& source);
  void backOff(Source& source) {
    source.notBefore = now() + client_.backoff(++source.failures);
    refresh();
  }
  void tellAll(const SaidAll& said, ErrorCode error) const;
  void tellOf(const SaidOf& said, ErrorCode error) const;
  MonotonicTime now() const { return client_.process().clock().monotonic(); }

  const ShareOptions options_;
  const Handlers handlers_;
  platform::Duration interval_ = std::chrono::seconds(1);
  Target target_;
  std::map<NodeId, Source> sources_;
  uint64_t sessions_ = 0;
  FetchReader reader_;
  platform::Timer timer_;
  bool pumpPosted_ = false;
  bool refreshing_ = false;
  int unknownLeaders_ = 0;
  MonotonicTime refreshNotBefore_{};
  platform::Task whenLeft_;
};

// --- Membership ------------------------------------------------------------------------------------------------------

ShareGroupHeartbeatRequest ShareConsumer::Core::heartbeat(int32_t epoch) const {
  ShareGroupHeartbeatRequest request;
  request.groupId = groupId_;
  request.memberId = memberId_;
  request.memberEpoch = epoch;
  request.subscribedTopicNames.emplace();
  for (const std::string& topic : options_.topics) request.subscribedTopicNames->emplace_back(topic);
  return request;
}

void ShareConsumer::Core::beat() {
  step_.cancel();
  ask(heartbeat(epoch_), {.timeout = client_.options().requestTimeout / 10},
      [this](const Result<network::Received<ShareGroupHeartbeatResponse>>& received) {
        if (!received) return refused(received.error());
        const auto& response = received->message;
        if (response.errorCode != 0) return refused(errorOf(response.errorCode, response.errorMessage, "a heartbeat"));
        joined(response);
      });
}

void ShareConsumer::Core::refused(const Error& error) {
  switch (error.code) {
    case ErrorCode::FencedMemberEpoch:
    case ErrorCode::UnknownMemberId:
      epoch_ = kJoinsShareGroup;
      target_.clear();
      assign();
      return later(backoff(), &Core::beat);
    case ErrorCode::CoordinatorLoadInProgress:
      return later(backoff(), &Core::beat);
    default:
      return lose(error);
  }
}

void ShareConsumer::Core::joined(const ShareGroupHeartbeatResponse& response) {
  attempts_ = 0;
  epoch_ = response.memberEpoch;
  interval_ = std::chrono::milliseconds(response.heartbeatIntervalMs);
  later(interval_, &Core::beat);
  if (response.assignment) {
    target_.clear();
    for (const auto& topic : response.assignment->topicPartitions)
      target_[topic.topicId].insert(topic.partitions.begin(), topic.partitions.end());
  }
  assign();
}

void ShareConsumer::Core::assign() {
  auto assigned = named(target_);
  if (!assigned) return refresh();
  if (owned_ == *assigned) return;
  owned_ = std::move(*assigned);
  pumpSoon();
}

void ShareConsumer::Core::leave(platform::Task done) {
  left_ = true;
  step_.cancel();
  owned_.clear();
  whenLeft_ = std::move(done);
  pumpSoon();
}

void ShareConsumer::Core::sayGoodbye() {
  send(heartbeat(kLeavesShareGroup), {.timeout = client_.options().requestTimeout / 10},
       [done = std::exchange(whenLeft_, nullptr)](
           const Result<network::Received<ShareGroupHeartbeatResponse>>&) mutable { done(); });
}

// --- The loop --------------------------------------------------------------------------------------------------------

void ShareConsumer::Core::acknowledge(const Delivery& delivery, AcknowledgeType type) {
  const auto source = sources_.find(delivery.leader);
  if (source != sources_.end() && source->second.session.isOpen() &&
      source->second.session.number == delivery.session) {
    source->second.session.said[delivery.where].insert_or_assign(
        delivery.offset, Said{.last = delivery.offset, .type = type, .delivery = delivery});
    if (!source->second.inFlight) pumpSoon();
    return;
  }
  client_.executor().post(whileRunning([this, delivery, type] {
    if (handlers_.onAcknowledged)
      handlers_.onAcknowledged({.delivery = delivery, .type = type, .error = ErrorCode::ShareSessionNotFound});
  }));
}

void ShareConsumer::Core::commit() {
  for (auto& [leader, source] : sources_) source.commits = !source.session.said.empty();
  pumpSoon();
}

void ShareConsumer::Core::pump() {
  std::map<NodeId, Partitions> wanted;
  bool allKnown = true;
  for (const TopicPartition& where : owned_) {
    if (const auto leader = client_.metadata().leaderOf(where)) {
      wanted[*leader].insert(where);
      sources_.try_emplace(*leader);
    } else {
      allKnown = false;
    }
  }
  const MonotonicTime time = now();
  bool busy = false;
  for (auto& [leader, source] : sources_) {
    if (!source.inFlight && source.notBefore <= time) turn(leader, source, wanted[leader]);
    if (stopped_) return;
    busy = busy || source.inFlight;
  }
  if (left_ && !busy && whenLeft_) return sayGoodbye();
  if (allKnown) {
    unknownLeaders_ = 0;
  } else if (refreshNotBefore_ <= time) {
    refreshNotBefore_ = time + client_.backoff(++unknownLeaders_);
    refresh();
  }
  armTimer();
}

void ShareConsumer::Core::armTimer() {
  const MonotonicTime time = now();
  MonotonicTime next = kNever;
  auto consider = [&](MonotonicTime at) {
    if (at > time) next = std::min(next, at);
  };
  for (const auto& [leader, source] : sources_)
    if (!source.inFlight) consider(source.notBefore);
  consider(refreshNotBefore_);
  timer_.cancel();
  if (next != kNever) timer_ = client_.executor().schedule(next - time, whileRunning([this] { pump(); }));
}

void ShareConsumer::Core::refresh() {
  if (std::exchange(refreshing_, true)) return;
  client_.refresh(options_.topics, whileRunning([this](const Result<void>&) {
                    refreshing_ = false;
                    // Ids that are unknown still are asked for again with the next heartbeat.
                    if (!left_ && named(target_)) assign();
                    pumpSoon();
                  }));
}

void ShareConsumer::Core::turn(NodeId leader, Source& source, const Partitions& wanted) {
  ShareSession& session = source.session;
  const bool isOpen = session.isOpen();
  if (left_ ? !isOpen : wanted.empty() && (!isOpen || (session.fetched.empty() && session.said.empty()))) return;
  const auto broker = client_.metadata().brokers.find(leader);
  if (broker == client_.metadata().brokers.end()) {
    endSession(source);
    if (!stopped_) backOff(source);
    return;
  }
  if (!source.channel || source.channel->endpoint() != broker->second) {
    client_.retire(std::move(source.channel));
    source.channel = client_.newChannel(broker->second);
    // A session ends with its connection.
    if (isOpen) {
      endSession(source);
      pumpSoon();
      return;
    }
  }
  const auto idOf = [this](const std::string& topic) {
    const auto* known = client_.metadata().find(topic);
    return known == nullptr ? Uuid() : known->id;
  };
  SaidAll said = std::exchange(session.said, {});
  const bool commits = std::exchange(source.commits, false);
  if (left_ || (!said.empty() && (commits || wanted.empty()))) {
    ShareAcknowledgeRequest request = acknowledgeRequest(said, idOf);
    request.shareSessionEpoch = left_ ? kLastSessionEpoch : session.epoch;
    return sendTo(leader, source, std::move(request), std::move(said), client_.options().requestTimeout);
  }
  ShareFetchRequest request = session.fetchRequest(options_, wanted, said, idOf);
  session.fetched = wanted;
  sendTo(leader, source, std::move(request), std::move(said), client_.options().requestTimeout + options_.maxWait);
}

template <class Request>
void ShareConsumer::Core::sendTo(NodeId leader, Source& source, Request request, SaidAll said,
                                 platform::Duration timeout) {
  source.inFlight = true;
  request.groupId = protocol::Text(groupId_);
  request.memberId = protocol::Text(memberId_);
  const bool ends = request.shareSessionEpoch == kLastSessionEpoch;
  source.channel->send(std::move(request), {.timeout = timeout},
                       whileRunning([this, leader, said = std::move(said), asked = now(),
                                     ends](Result<network::Received<typename Request::Response>> received) mutable {
                         answered(leader, std::move(said), asked, ends, received);
                       }));
}

// --- Answers ---------------------------------------------------------------------------------------------------------

template <class Response>
void ShareConsumer::Core::answered(NodeId leader, SaidAll said, MonotonicTime asked, bool ends,
                                   const Result<network::Received<Response>>& received) {
  Source& source = sources_.at(leader);
  source.inFlight = false;
  const ErrorCode code = received ? static_cast<ErrorCode>(received->message.errorCode) : received.error().code;
  if (code == ErrorCode::None && !source.session.isOpen()) source.session.number = ++sessions_;
  if (handlers_.onAnswer)
    handlers_.onAnswer({.leader = leader, .session = source.session.number, .asked = asked, .error = code});
  if (stopped_) return;
  pumpSoon();
  if (code != ErrorCode::None) {
    // One that was not answered may still begin, or go on, with the connection.
    if (!received) client_.retire(std::move(source.channel));
    tellAll(said, code);
    if (!stopped_) endSession(source);
    if (stopped_ || ends || code == ErrorCode::ShareSessionNotFound || code == ErrorCode::InvalidShareSessionEpoch)
      return;
    backOff(source);
    if (received && !isRetriable(code))
      tell(errorOf(received->message.errorCode, received->message.errorMessage, "a share fetch"));
    return;
  }
  source.session.goOn();
  const int failures = std::exchange(source.failures, 0);
  for (const auto& topic : received->message.responses) {
    const std::string name(client_.metadata().nameOf(topic.topicId));
    for (const auto& data : topic.partitions) {
      const TopicPartition where{name, PartitionIndex(data.partitionIndex)};
      if (const auto of = said.extract(where); !of.empty()) tellOf(of.mapped(), acknowledgeErrorOf(data));
      if (stopped_) return;
      // What comes after the first error of an answer does not make the pause longer.
      if (data.errorCode != 0 && source.failures == 0) source.failures = failures;
      take(leader, asked, where, data);
      if (stopped_) return;
    }
  }
  tellAll(said, ErrorCode::UnknownServerError);
  if (ends && !stopped_) endSession(source);
}

void ShareConsumer::Core::take(NodeId leader, MonotonicTime asked, const TopicPartition& where,
                               const ShareFetchResponse::PartitionData& data) {
  Source& source = sources_.at(leader);
  const auto code = static_cast<ErrorCode>(data.errorCode);
  if (code != ErrorCode::None) return takeError(source, where, code);
  if (data.acquiredRecords.empty()) return;
  SaidOf& said = source.session.said[where];
  if (owned_.contains(where)) {
    const auto wrong = takeAcquired(
        reader_,
        {.where = where, .offset = {}, .leader = leader, .session = source.session.number, .count = 0, .asked = asked},
        data, said, [this](const AcquiredRecord& record) {
          handlers_.onRecord(record);
          return !stopped_;
        });
    if (stopped_) return;
    if (wrong) tell({ErrorCode::CorruptMessage, fmt::format("{}: {}", where, *wrong)});
  } else {
    // Not its own any more: for others at once.
    for (const auto& range : data.acquiredRecords) {
      const Offset first(range.firstOffset);
      const Offset last(range.lastOffset);
      said[first] = {.last = last, .type = AcknowledgeType::Release, .delivery = {}};
      if (handlers_.onPassedOn)
        handlers_.onPassedOn({.where = where, .first = first, .last = last, .count = range.deliveryCount});
      if (stopped_) return;
    }
  }
  if (said.empty()) source.session.said.erase(where);
}

void ShareConsumer::Core::takeError(Source& source, const TopicPartition& where, ErrorCode code) {
  if (source.notBefore <= now()) backOff(source);
  if (code == ErrorCode::TopicAuthorizationFailed || code == ErrorCode::InvalidRequest)
    tell({code, fmt::format("{}: {}", where, errorName(code))});
}

void ShareConsumer::Core::endSession(Source& source) {
  tellAll(source.session.end(), ErrorCode::ShareSessionNotFound);
}

void ShareConsumer::Core::tellAll(const SaidAll& said, ErrorCode error) const {
  for (const auto& [where, of] : said) tellOf(of, error);
}

void ShareConsumer::Core::tellOf(const SaidOf& said, ErrorCode error) const {
  if (!handlers_.onAcknowledged) return;
  for (const auto& [first, one] : said)
    if (one.delivery && !stopped_)
      handlers_.onAcknowledged({.delivery = *one.delivery, .type = one.type, .error = error});
}

// --- ShareConsumer ---------------------------------------------------------------------------------------------------

ShareConsumer::ShareConsumer(Client& client, ShareOptions options, Handlers handlers)
    : core_(std::make_shared<Core>(client, std::move(options), std::move(handlers))) {
  core_->begin();
}

ShareConsumer::~ShareConsumer() {
  core_->stop();
}

void ShareConsumer::acknowledge(const Delivery& delivery, AcknowledgeType type) {
  core_->acknowledge(delivery, type);
}

void ShareConsumer::commit() {
  core_->commit();
}

void ShareConsumer::leave(platform::Task done) {
  core_->leave(std::move(done));
}

std::string ShareConsumer::memberId() const {
  return core_->memberId();
}

int32_t ShareConsumer::epoch() const noexcept {
  return core_->epoch();
}

std::vector<TopicPartition> ShareConsumer::assignment() const {
  return core_->assignment();
}

}  // namespace tidemark::client
