#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "client/metadata_cache.h"
#include "network/channel.h"
#include "platform/process.h"

namespace tidemark::client {

struct ClientOptions {
  /// Asked in turn until one answers, and again when no known broker does.
  std::vector<platform::Endpoint> bootstrap;
  std::string clientId = "tidemark-client";
  platform::Duration requestTimeout = std::chrono::seconds(30);
  platform::Duration connectTimeout = std::chrono::seconds(10);
  /// Between attempts at anything that may be tried again; doubles up to the maximum, with 20 % of jitter.
  platform::Duration retryBackoff = std::chrono::milliseconds(100);
  platform::Duration retryBackoffMax = std::chrono::seconds(1);
  /// Metadata asks for topics that do not exist to be created.
  bool allowAutoTopicCreation = true;
};

/// What producer, consumer and admin of one application share: a connection to each broker and the metadata. Small, for
/// tests, tools and the window's own traffic; runs natively and in the simulator.
///
/// Belongs to one serial executor of its Process, as do the producers and others made of it: all calls are made and all
/// handlers run there, no handler inside the call that it is given to. Destroying it forgets outstanding handlers;
/// producers and consumers go first.
class Client {
 public:
  using Done = std::move_only_function<void(Result<void>)>;

  Client(platform::Process& process, std::shared_ptr<platform::Executor> executor, ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  platform::Process& process() noexcept { return process_; }
  platform::Executor& executor() noexcept { return *executor_; }
  const ClientOptions& options() const noexcept { return options_; }
  const MetadataCache& metadata() const noexcept { return metadata_; }
  /// See MetadataCache::learn().
  void learn(const TopicPartition& which, LeaderEpoch epoch) { metadata_.learn(which, epoch); }
  /// The newest that any broker told as a connection began.
  const network::FinalizedFeatures& features() const noexcept { return features_; }

  /// Asks for these topics (none: only brokers and controller; `all`: every topic) and updates the cache. Tried at
  /// every broker once before it fails. Requests for the same are one.
  void refresh(std::vector<std::string> topics, Done done);
  void refreshAll(Done done);

  /// To the broker of that id. Fails with BrokerNotAvailable if the metadata does not name it. Handlers and errors as
  /// in network::Channel::send(). Defined in client/client_codec.h, as the next two.
  template <class Request, class Handler>
  void sendTo(NodeId node, Request request, network::SendOptions options, Handler handler);
  /// To any broker: a known one, else one of the bootstrap list; another one at each call after a failure.
  template <class Request, class Handler>
  void sendToAny(Request request, network::SendOptions options, Handler handler);
  /// To the leader of a partition as the cache knows it, LeaderNotAvailable if it knows none.
  template <class Request, class Handler>
  void sendToLeader(const TopicPartition& which, Request request, network::SendOptions options, Handler handler);

  /// sendTo() and sendToLeader() whatever the type of the request.
  void sendRawTo(NodeId node, network::RawRequest request, network::SendOptions options, network::RawHandler handler);
  void sendRawToLeader(const TopicPartition& which, network::RawRequest request, network::SendOptions options,
                       network::RawHandler handler);

  /// The channel to a broker; null if the metadata does not name it.
  network::Channel* channelTo(NodeId node);
  network::Channel& channelToAny();
  /// One that nobody else uses: requests of one connection wait for each other at the broker.
  std::unique_ptr<network::Channel> newChannel(platform::Endpoint endpoint);
  /// Closes a channel and keeps it until those who wait at it have been told.
  void retire(std::unique_ptr<network::Channel> channel);
  /// The last channelToAny() was of no use.
  void anyFailed() noexcept { ++nextAny_; }

  /// How long to wait before attempt `attempt` (1: the first repetition).
  platform::Duration backoff(int attempt);

 private:
  struct Refresh;
  struct Link {
    platform::Endpoint endpoint;
    std::unique_ptr<network::Channel> channel;
  };

  void startRefresh();
  void askForMetadata(size_t attempt);
  void finishRefresh(const Result<void>& result);
  network::Channel& channelAt(Link& link);
  void failLater(network::RawHandler handler, Error error);

  platform::Process& process_;
  const std::shared_ptr<platform::Executor> executor_;
  const ClientOptions options_;
  MetadataCache metadata_;
  network::FinalizedFeatures features_;
  std::map<NodeId, Link> links_;
  std::vector<Link> bootstrap_;
  size_t nextAny_ = 0;
  std::unique_ptr<Refresh> refreshing_;
  std::unique_ptr<Refresh> nextRefresh_;
  /// Gone with the Client: what is posted or answered later looks here first.
  std::shared_ptr<Client*> alive_;
};

}  // namespace tidemark::client
