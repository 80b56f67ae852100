#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "network/api_table.h"
#include "network/frame.h"
#include "platform/process.h"

namespace tidemark::network {

/// The feature levels of a cluster, as one of its nodes tells them in ApiVersions.
struct FinalizedFeatures {
  /// The offset of the metadata log at which they are true; −1: the node does not know yet.
  int64_t epoch = -1;
  std::map<std::string, int16_t, std::less<>> levels;

  /// 0 if the feature is not among them.
  int16_t level(std::string_view feature) const {
    const auto found = levels.find(feature);
    return found == levels.end() ? int16_t{0} : found->second;
  }
};

struct ChannelOptions {
  std::string clientId;
  /// Told to the server in ApiVersions.
  std::string softwareName = "tidemark";
  std::string softwareVersion = "0.1.0";
  /// Asks for ApiVersions at the start of each connection. Without it each API is sent in the newest version of ours.
  bool negotiate = true;
  /// Told with each such answer, before anything is sent; may be empty.
  std::function<void(FinalizedFeatures)> onFeatures = {};
  platform::Duration connectTimeout = std::chrono::seconds(10);
  /// Unless the send says otherwise. From send() to the answer, connecting included.
  platform::Duration requestTimeout = std::chrono::seconds(30);
  /// Between the loss of a connection and the next attempt; doubles with each attempt that fails, up to the maximum,
  /// with 20 % of jitter.
  platform::Duration reconnectBackoff = std::chrono::milliseconds(50);
  platform::Duration reconnectBackoffMax = std::chrono::seconds(1);
  uint32_t maxResponseBytes = 200U << 20;
};

struct SendOptions {
  /// Exactly this version, instead of the newest that both sides know.
  std::optional<int16_t> version;
  /// Never newer than this.
  int16_t maxVersion = INT16_MAX;
  /// 0: the channel's.
  platform::Duration timeout{0};
  /// False for acks=0: the handler runs when the request was written.
  bool expectResponse = true;
};

/// An answer. Views in `message` point into `frame`: whoever keeps them keeps it.
template <class Response>
struct Received {
  Response message;
  FramePtr frame;
  int16_t version = -1;
};

/// The body of an answer, not decoded.
struct RawResponse {
  FramePtr frame;
  ByteView body;
  int16_t version = -1;
};

using RawHandler = std::move_only_function<void(Result<RawResponse>)>;

/// A request of whatever type: what a channel must know of it.
struct RawRequest {
  /// Our versions of its API.
  ApiRange range;
  /// Writes the whole frame in the version that was agreed on.
  std::move_only_function<Result<std::vector<platform::Piece>>(int16_t version, int32_t correlationId,
                                                               std::string_view clientId)>
      encode;
};

/// One connection to one endpoint: connects when first needed and again after a loss (with back-off: what is sent in
/// the meantime waits for the next attempt and fails with it), agrees on versions, sends requests in the order of
/// send(), many in flight. Belongs to one serial executor: made, used and destroyed there; handlers run there, never
/// inside send(), each exactly once — unless the channel is destroyed first, which forgets them.
///
/// Errors: NetworkException (not connected, connection lost, closed), RequestTimedOut (then the connection is given up,
/// as answers come in order), UnsupportedVersion (no common version), CorruptMessage (the answer does not decode).
class Channel {
 public:
  Channel(platform::Process& process, std::shared_ptr<platform::Executor> executor, platform::Endpoint endpoint,
          ChannelOptions options);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Sends `request` (kept until it is written; what its views point to must live as long, which `keep` can see to) and
  /// gives the answer to `handler`: void(Result<Received<typename Request::Response>>). Defined in
  /// network/channel_codec.h.
  template <class Request, class Handler>
  void send(Request request, SendOptions options, Handler handler, std::shared_ptr<const void> keep = {});

  /// What send() is made of: no template, as whatever lies between its caller and the channel should be none.
  void sendRaw(RawRequest request, SendOptions options, RawHandler handler);

  /// Closes the connection; what is pending fails with NetworkException. The next send() connects again.
  void disconnect();
  /// disconnect() for good: later sends fail as well.
  void close();

  bool connected() const noexcept;
  /// Sent or waiting, not yet answered.
  size_t pending() const noexcept;
  const platform::Endpoint& endpoint() const noexcept;
  /// What the peer serves; null while not connected, or without negotiation.
  const ApiTable* peerApis() const noexcept;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tidemark::network
