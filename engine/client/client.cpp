#include "client/client.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/invariant.h"
#include "client/client_codec.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"

namespace tidemark::client {

using platform::Duration;
using protocol::MetadataRequest;
using protocol::MetadataResponse;

/// One question for metadata and all who wait for its answer.
struct Client::Refresh {
  std::set<std::string> topics;
  bool all = false;
  std::vector<Done> done;
};

Client::Client(platform::Process& process, std::shared_ptr<platform::Executor> executor, ClientOptions options)
    : process_(process),
      executor_(std::move(executor)),
      options_(std::move(options)),
      alive_(std::make_shared<Client*>(this)) {
  for (const auto& endpoint : options_.bootstrap) bootstrap_.push_back({.endpoint = endpoint, .channel = nullptr});
}

Client::~Client() {
  alive_.reset();
}

// --- Connections -----------------------------------------------------------------------------------------------------

std::unique_ptr<network::Channel> Client::newChannel(platform::Endpoint endpoint) {
  network::ChannelOptions options;
  options.clientId = options_.clientId;
  options.requestTimeout = options_.requestTimeout;
  options.connectTimeout = options_.connectTimeout;
  options.onFeatures = [alive = std::weak_ptr(alive_)](network::FinalizedFeatures told) {
    const auto self = alive.lock();
    // A broker may lag behind another one.
    if (self && told.epoch > (*self)->features_.epoch) (*self)->features_ = std::move(told);
  };
  return std::make_unique<network::Channel>(process_, executor_, std::move(endpoint), std::move(options));
}

network::Channel& Client::channelAt(Link& link) {
  if (!link.channel) link.channel = newChannel(link.endpoint);
  return *link.channel;
}

network::Channel* Client::channelTo(NodeId node) {
  const auto known = metadata_.brokers.find(node);
  if (known == metadata_.brokers.end()) return nullptr;
  Link& link = links_[node];
  if (link.endpoint != known->second) {
    retire(std::move(link.channel));
    link = {.endpoint = known->second, .channel = nullptr};
  }
  return &channelAt(link);
}

network::Channel& Client::channelToAny() {
  const size_t known = metadata_.brokers.size();
  const size_t place = nextAny_ % std::max<size_t>(known + bootstrap_.size(), 1);
  if (place < known) return *channelTo(std::next(metadata_.brokers.begin(), static_cast<std::ptrdiff_t>(place))->first);
  TIDEMARK_INVARIANT(!bootstrap_.empty(), std::string("a client needs an address to begin with"));
  return channelAt(bootstrap_[place - known]);
}

void Client::sendRawTo(NodeId node, network::RawRequest request, network::SendOptions options,
                       network::RawHandler handler) {
  if (network::Channel* channel = channelTo(node))
    return channel->sendRaw(std::move(request), options, std::move(handler));
  failLater(std::move(handler), {ErrorCode::BrokerNotAvailable, fmt::format("the metadata knows no broker {}", node)});
}

void Client::sendRawToLeader(const TopicPartition& which, network::RawRequest request, network::SendOptions options,
                             network::RawHandler handler) {
  if (const auto leader = metadata_.leaderOf(which))
    return sendRawTo(*leader, std::move(request), options, std::move(handler));
  failLater(std::move(handler),
            {ErrorCode::LeaderNotAvailable, fmt::format("there is no partition {}, or it has no leader now", which)});
}

void Client::failLater(network::RawHandler handler, Error error) {
  executor_->post([alive = std::weak_ptr(alive_), handler = std::move(handler), error = std::move(error)]() mutable {
    if (!alive.expired()) handler(fail(std::move(error)));
  });
}

void Client::retire(std::unique_ptr<network::Channel> channel) {
  if (!channel) return;
  channel->close();
  // close() has posted what tells those who wait; the channel goes after that.
  executor_->post([channel = std::move(channel)] {});
}

Duration Client::backoff(int attempt) {
  Duration wait = options_.retryBackoff;
  for (int i = 1; i < attempt && wait < options_.retryBackoffMax; ++i) wait *= 2;
  wait = std::min(wait, options_.retryBackoffMax);
  const auto spread = static_cast<uint64_t>(wait.count()) * 2 / 5;
  return wait * 4 / 5 + Duration(static_cast<Duration::rep>(process_.random().below(spread + 1)));
}

// --- Metadata --------------------------------------------------------------------------------------------------------

void Client::refresh(std::vector<std::string> topics, Done done) {
  if (!nextRefresh_) nextRefresh_ = std::make_unique<Refresh>();
  nextRefresh_->topics.insert(std::make_move_iterator(topics.begin()), std::make_move_iterator(topics.end()));
  nextRefresh_->done.push_back(std::move(done));
  startRefresh();
}

void Client::refreshAll(Done done) {
  if (!nextRefresh_) nextRefresh_ = std::make_unique<Refresh>();
  nextRefresh_->all = true;
  nextRefresh_->done.push_back(std::move(done));
  startRefresh();
}

void Client::startRefresh() {
  if (refreshing_ || !nextRefresh_) return;
  refreshing_ = std::move(nextRefresh_);
  askForMetadata(0);
}

void Client::askForMetadata(size_t attempt) {
  MetadataRequest request;
  request.allowAutoTopicCreation = options_.allowAutoTopicCreation;
  if (refreshing_->all) {
    request.topics.reset();
  } else {
    for (const auto& topic : refreshing_->topics) request.topics->push_back({.topicId = {}, .name = topic});
  }
  sendToAny(std::move(request), {}, [this, attempt](Result<network::Received<MetadataResponse>> received) {
    if (received && received->message.errorCode != 0) {
      received = fail(static_cast<ErrorCode>(received->message.errorCode), "Metadata was refused");
      anyFailed();
    }
    if (!received) {
      const size_t candidates = metadata_.brokers.size() + bootstrap_.size();
      if (attempt + 1 < candidates) return askForMetadata(attempt + 1);
      return finishRefresh(std::unexpected(std::move(received).error()));
    }
    if (refreshing_->all) metadata_.topics.clear();
    metadata_.update(received->message);
    finishRefresh({});
  });
}

void Client::finishRefresh(const Result<void>& result) {
  const auto finished = std::move(refreshing_);
  const std::weak_ptr alive(alive_);
  startRefresh();
  for (auto& done : finished->done) {
    if (alive.expired()) return;
    done(result);
  }
}

}  // namespace tidemark::client
