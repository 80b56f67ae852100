#include "network/channel.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "base/invariant.h"
#include "network/channel_codec.h"
#include "network/frame_assembler.h"
#include "network/peer_versions.h"
#include "network/pending_requests.h"
#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"

namespace tidemark::network {

using platform::Duration;
using platform::MonotonicTime;
using protocol::ApiKey;
using protocol::ApiVersionsRequest;
using protocol::ApiVersionsResponse;

namespace {

/// Buffers that a channel keeps for the next answer.
constexpr size_t kKeptForAnswers = 1 << 20;

}  // namespace

Result<std::vector<platform::Piece>> encodeFrame(ApiKey key, protocol::OutMessage request, int16_t version,
                                                 int32_t correlationId, std::string_view clientId) {
  protocol::FrameWriter writer(256);
  TIDEMARK_TRY(protocol::writeRequestFrame(writer, key, request, version, correlationId, clientId));
  return writer.takePieces();
}

Result<void> takeAnswer(Result<RawResponse> answer, protocol::InMessage message, FramePtr& frame, int16_t& version) {
  if (!answer) return std::unexpected(std::move(answer).error());
  version = answer->version;
  frame = std::move(answer->frame);
  // None: nothing was to be answered.
  if (!frame) return {};
  Result<void> read = protocol::readWhole(message, answer->body, version);
  if (!read) read.error().code = ErrorCode::CorruptMessage;
  return read;
}

class Channel::Core : public std::enable_shared_from_this<Channel::Core> {
 public:
  Core(platform::Process& process, std::shared_ptr<platform::Executor> executor, platform::Endpoint endpoint,
       ChannelOptions options)
      : process_(process),
        executor_(std::move(executor)),
        endpoint_(std::move(endpoint)),
        options_(std::move(options)),
        memory_(std::make_shared<FrameMemory>(UINT64_MAX, kKeptForAnswers)) {}

  void sendRaw(RawRequest request, SendOptions options, RawHandler handler);
  void disconnect(bool forGood);
  void forget();

  bool ready() const noexcept { return state_ == State::Ready; }
  size_t pending() const noexcept { return pending_.size(); }
  const platform::Endpoint& endpoint() const noexcept { return endpoint_; }
  const ApiTable* peerApis() const noexcept { return ready() && peerApis_ ? &*peerApis_ : nullptr; }

 private:
  ///   Idle → (BackingOff →) Connecting → (Negotiating →) Ready → Idle …; Closed is for good.
  enum class State : uint8_t { Idle, BackingOff, Connecting, Negotiating, Ready, Closed };

  // Connecting.
  void connectSoon();
  void connect();
  void connected(Result<std::unique_ptr<platform::Connection>> connection);
  void negotiate(int16_t version);
  void negotiated(Result<RawResponse> answer);
  void becomeReady();
  void lose(std::string_view reason, std::deque<PendingRequest> expired = {});
  Duration backoff();

  // Sending.
  void transmit(PendingRequest pending);
  void flush();
  void written();

  // Receiving.
  void read();
  void received(Result<size_t> count);
  void deliver(const std::shared_ptr<IncomingFrame>& frame);

  // Deadlines.
  void watch(MonotonicTime deadline);
  void expire();

  void failAll(std::deque<PendingRequest> pending, const Error& error);
  void failLater(PendingRequest pending, Error error);
  void dropSocket();
  MonotonicTime now() const { return process_.clock().monotonic(); }

  platform::Process& process_;
  const std::shared_ptr<platform::Executor> executor_;
  const platform::Endpoint endpoint_;
  const ChannelOptions options_;
  const std::shared_ptr<FrameMemory> memory_;

  State state_ = State::Idle;
  /// Counts connections and attempts, so that what belongs to an earlier one is recognised.
  uint64_t attempt_ = 0;
  int failures_ = 0;
  MonotonicTime notBefore_{};
  platform::Timer backoffTimer_;

  std::unique_ptr<platform::Connection> socket_;
  std::optional<FrameAssembler> frames_;
  std::optional<ApiTable> peerApis_;
  int32_t nextCorrelationId_ = 0;

  PendingRequests pending_;
  std::vector<platform::Piece> outgoing_;
  uint64_t bytesQueued_ = 0;
  uint64_t bytesWriting_ = 0;  ///< queued when the write under way began
  bool writing_ = false;

  platform::Timer deadlineTimer_;
  MonotonicTime watched_ = MonotonicTime::max();
  bool forgotten_ = false;
};

// --- Sending ---------------------------------------------------------------------------------------------------------

void Channel::Core::sendRaw(RawRequest request, SendOptions options, RawHandler handler) {
  const Duration timeout = options.timeout > Duration{} ? options.timeout : options_.requestTimeout;
  PendingRequest pending{std::move(request), options, std::move(handler), now() + timeout};
  if (state_ == State::Closed) {
    return failLater(std::move(pending), {ErrorCode::NetworkException, "the channel is closed"});
  }
  watch(pending.deadline);
  if (state_ == State::Ready) {
    transmit(std::move(pending));
    if (!writing_) flush();
    return;
  }
  pending_.waiting.push_back(std::move(pending));
  if (state_ == State::Idle) connectSoon();
}

void Channel::Core::transmit(PendingRequest pending) {
  const Result<int16_t> version =
      versionFor(pending.request.range, pending.options, peerApis_ ? &*peerApis_ : nullptr, endpoint_);
  if (!version) return failLater(std::move(pending), version.error());
  pending.version = *version;
  pending.correlationId = nextCorrelationId_;
  auto frame = pending.request.encode(pending.version, pending.correlationId, options_.clientId);
  if (!frame) return failLater(std::move(pending), std::move(frame).error());
  nextCorrelationId_ = nextCorrelationId_ == INT32_MAX ? 0 : nextCorrelationId_ + 1;
  pending.request.encode = nullptr;
  for (auto& piece : *frame) {
    const auto* memory = std::get_if<SharedBytes>(&piece);
    bytesQueued_ += memory != nullptr ? memory->size() : std::get_if<platform::FileSlice>(&piece)->length;
    outgoing_.push_back(std::move(piece));
  }
  pending.writtenAt = bytesQueued_;
  (pending.options.expectResponse ? pending_.sent : pending_.unanswered).push_back(std::move(pending));
}

void Channel::Core::flush() {
  if (outgoing_.empty()) return;
  writing_ = true;
  bytesWriting_ = bytesQueued_;
  socket_->write(std::exchange(outgoing_, {}), [this](Result<void> done) {
    const auto self = shared_from_this();
    if (!done) return lose(done.error().message);
    written();
  });
}

void Channel::Core::written() {
  writing_ = false;
  const uint64_t attempt = attempt_;
  const uint64_t upTo = bytesWriting_;
  flush();
  while (!pending_.unanswered.empty() && pending_.unanswered.front().writtenAt <= upTo) {
    PendingRequest pending = std::move(pending_.unanswered.front());
    pending_.unanswered.pop_front();
    pending.handler(RawResponse{.frame = {}, .body = {}, .version = pending.version});
    if (attempt != attempt_ || state_ == State::Closed) return;
  }
}

// --- Connecting ------------------------------------------------------------------------------------------------------

Duration Channel::Core::backoff() {
  Duration wait = options_.reconnectBackoff;
  for (int i = 1; i < failures_ && wait < options_.reconnectBackoffMax; ++i) wait *= 2;
  wait = std::min(wait, options_.reconnectBackoffMax);
  // 80 % to 120 %.
  return wait * 4 / 5 +
         Duration(static_cast<Duration::rep>(process_.random().below(static_cast<uint64_t>(wait.count() * 2 / 5) + 1)));
}

void Channel::Core::connectSoon() {
  const Duration wait = notBefore_ - now();
  if (wait <= Duration{}) return connect();
  state_ = State::BackingOff;
  backoffTimer_ = executor_->schedule(wait, [this] {
    const auto self = shared_from_this();
    if (state_ == State::BackingOff) connect();
  });
}

void Channel::Core::connect() {
  state_ = State::Connecting;
  const uint64_t attempt = ++attempt_;
  process_.network().connect(
      *executor_, endpoint_, options_.connectTimeout,
      [weak = weak_from_this(), attempt](Result<std::unique_ptr<platform::Connection>> connection) {
        const auto self = weak.lock();
        if (!self || self->attempt_ != attempt || self->state_ != State::Connecting) return;
        self->connected(std::move(connection));
      });
}

void Channel::Core::connected(Result<std::unique_ptr<platform::Connection>> connection) {
  if (!connection) return lose(connection.error().message);
  socket_ = std::move(*connection);
  frames_.emplace(memory_, options_.maxResponseBytes);
  peerApis_.reset();
  bytesQueued_ = bytesWriting_ = 0;
  read();
  if (!options_.negotiate) return becomeReady();
  state_ = State::Negotiating;
  negotiate(ApiVersionsRequest::kMaxVersion);
}

void Channel::Core::negotiate(int16_t version) {
  ApiVersionsRequest request;
  request.clientSoftwareName = options_.softwareName;
  request.clientSoftwareVersion = options_.softwareVersion;
  PendingRequest pending{.request = rawRequest(std::move(request)),
                         .options = {.version = version},
                         .handler = [this](Result<RawResponse> answer) { negotiated(std::move(answer)); },
                         .deadline = now() + options_.requestTimeout};
  watch(pending.deadline);
  transmit(std::move(pending));
  flush();
}

void Channel::Core::negotiated(Result<RawResponse> answer) {
  if (!answer) return;  // The connection is lost, and whoever noticed says so.
  // A version that the peer does not know is answered in version 0, whose first field is the error.
  int16_t version = answer->version;
  const bool refused = answer->body.size() >= 2 && readBigEndian<int16_t>(answer->body.data()) ==
                                                       static_cast<int16_t>(ErrorCode::UnsupportedVersion);
  if (refused) version = 0;
  const auto response = protocol::decode<ApiVersionsResponse>(answer->body, version);
  if (!response) return lose("ApiVersions: " + response.error().message);
  ApiTable theirs = tableOf(*response);
  if (refused) {
    const ApiRange* range = theirs.find(ApiKey::ApiVersions);
    const int16_t next = range == nullptr ? int16_t{0} : std::min(range->max, ApiVersionsRequest::kMaxVersion);
    if (next >= answer->version) return lose("no version of ApiVersions in common");
    return negotiate(next);
  }
  if (response->errorCode != 0) {
    const auto code = static_cast<ErrorCode>(response->errorCode);
    return lose(fmt::format("ApiVersions was answered with {}", errorName(code)));
  }
  peerApis_ = std::move(theirs);
  if (options_.onFeatures) options_.onFeatures(featuresOf(*response));
  becomeReady();
}

void Channel::Core::becomeReady() {
  state_ = State::Ready;
  failures_ = 0;
  std::deque<PendingRequest> waiting = std::exchange(pending_.waiting, {});
  for (auto& pending : waiting) transmit(std::move(pending));
  if (!writing_) flush();
}

// --- Receiving -------------------------------------------------------------------------------------------------------

void Channel::Core::read() {
  const uint64_t attempt = attempt_;
  while (socket_ && attempt == attempt_) {
    switch (frames_->next([] { return platform::Task(); })) {
      case FrameAssembler::Next::Complete:
        deliver(frames_->take());
        break;
      case FrameAssembler::Next::NeedsBytes:
        return socket_->read(frames_->room(), [this](Result<size_t> count) {
          const auto self = shared_from_this();
          received(std::move(count));
        });
      case FrameAssembler::Next::BadLength:
        return lose(fmt::format("it announced an answer of {} bytes", frames_->badLength()));
      case FrameAssembler::Next::NeedsMemory:
        TIDEMARK_INVARIANT(false, std::string("the memory for answers has no limit"));
    }
  }
}

void Channel::Core::received(Result<size_t> count) {
  if (!socket_) return;
  if (!count) return lose(count.error().message);
  if (*count == 0) return lose("the peer closed it");
  frames_->received(*count);
  read();
}

void Channel::Core::deliver(const std::shared_ptr<IncomingFrame>& frame) {
  if (pending_.sent.empty()) return lose("an answer came that nobody had asked for");
  protocol::Reader reader(frame->bytes());
  const auto header =
      protocol::decodeResponseHeader(reader, pending_.sent.front().request.range.key, pending_.sent.front().version);
  if (!header) return lose(header.error().message);
  if (header->correlationId != pending_.sent.front().correlationId) {
    return lose(fmt::format("the answer to request {} came where that to {} was due", header->correlationId,
                            pending_.sent.front().correlationId));
  }
  PendingRequest pending = std::move(pending_.sent.front());
  pending_.sent.pop_front();
  pending.handler(RawResponse{.frame = frame, .body = reader.rest(), .version = pending.version});
}

// --- Deadlines and ends ----------------------------------------------------------------------------------------------

void Channel::Core::watch(MonotonicTime deadline) {
  if (deadline >= watched_) return;
  watched_ = deadline;
  deadlineTimer_ = executor_->schedule(std::max<Duration>(deadline - now(), {}), [this] {
    const auto self = shared_from_this();
    expire();
  });
}

void Channel::Core::expire() {
  watched_ = MonotonicTime::max();
  PendingRequests::Expired expired = pending_.takeExpired(now());
  if (expired.next) watch(*expired.next);
  // Answers come in order, so what comes behind an answer that is missing is lost as well.
  if (expired.onConnection)
    lose("a request timed out", std::move(expired.requests));
  else
    failAll(std::move(expired.requests),
            {ErrorCode::RequestTimedOut, fmt::format("{} did not answer in time", endpoint_)});
}

void Channel::Core::lose(std::string_view reason, std::deque<PendingRequest> expired) {
  if (state_ == State::Closed) return;
  process_.log().debug("network", "connection to {} lost: {}", endpoint_, reason);
  ++failures_;
  notBefore_ = now() + backoff();
  state_ = State::Idle;
  dropSocket();
  std::deque<PendingRequest> pending = pending_.takeAll();
  const auto self = shared_from_this();
  failAll(std::move(expired), {ErrorCode::RequestTimedOut, fmt::format("{} did not answer in time", endpoint_)});
  // Most reasons of the network's name the address themselves.
  const bool named = reason.find(fmt::format("{}", endpoint_)) != std::string_view::npos;
  failAll(std::move(pending),
          {ErrorCode::NetworkException, named ? std::string(reason) : fmt::format("{}: {}", endpoint_, reason)});
}

void Channel::Core::disconnect(bool forGood) {
  if (state_ == State::Closed) return;
  state_ = forGood ? State::Closed : State::Idle;
  backoffTimer_.cancel();
  dropSocket();
  executor_->post([self = shared_from_this(), pending = pending_.takeAll()]() mutable {
    self->failAll(std::move(pending),
                  {ErrorCode::NetworkException, fmt::format("{}: we disconnected", self->endpoint_)});
  });
}

void Channel::Core::forget() {
  forgotten_ = true;
  state_ = State::Closed;
  backoffTimer_.cancel();
  deadlineTimer_.cancel();
  dropSocket();
  const std::deque<PendingRequest> forgotten = pending_.takeAll();
}

void Channel::Core::failAll(std::deque<PendingRequest> pending, const Error& error) {
  for (auto& each : pending) {
    if (forgotten_) return;
    each.handler(std::unexpected(error));
  }
}

void Channel::Core::failLater(PendingRequest pending, Error error) {
  executor_->post(
      [self = shared_from_this(), handler = std::move(pending.handler), error = std::move(error)]() mutable {
        if (!self->forgotten_) handler(std::unexpected(std::move(error)));
      });
}

void Channel::Core::dropSocket() {
  ++attempt_;
  outgoing_.clear();
  writing_ = false;
  if (!socket_) return;
  socket_->close();
  // We may be inside one of its handlers.
  executor_->post([socket = std::move(socket_)] {});
}

// --- Channel ---------------------------------------------------------------------------------------------------------

Channel::Channel(platform::Process& process, std::shared_ptr<platform::Executor> executor, platform::Endpoint endpoint,
                 ChannelOptions options)
    : core_(std::make_shared<Core>(process, std::move(executor), std::move(endpoint), std::move(options))) {}

Channel::~Channel() {
  core_->forget();
}

void Channel::sendRaw(RawRequest request, SendOptions options, RawHandler handler) {
  core_->sendRaw(std::move(request), options, std::move(handler));
}

void Channel::disconnect() {
  core_->disconnect(false);
}

void Channel::close() {
  core_->disconnect(true);
}

bool Channel::connected() const noexcept {
  return core_->ready();
}

size_t Channel::pending() const noexcept {
  return core_->pending();
}

const platform::Endpoint& Channel::endpoint() const noexcept {
  return core_->endpoint();
}

const ApiTable* Channel::peerApis() const noexcept {
  return core_->peerApis();
}

}  // namespace tidemark::network
