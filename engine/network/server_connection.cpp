#include "network/server_connection.h"

#include <algorithm>

#include <fmt/format.h>

#include "network/api_versions.h"
#include "protocol/framing.h"

namespace tidemark::network {

namespace {

constexpr std::string_view kComponent = "network";
/// Of ServerOptions::maxSilenceInRequest, a sixth is enough when others wait for memory.
constexpr int kLessWhenOthersWait = 6;

/// Most that is held: as many pieces as go out in one call of the system, and little memory.
constexpr size_t kMostHeldPieces = 48;
constexpr uint64_t kMostHeldBytes = 32 << 10;

uint64_t sizeOf(const std::vector<platform::Piece>& pieces) noexcept {
  uint64_t size = 0;
  for (const auto& piece : pieces) {
    const auto* memory = std::get_if<SharedBytes>(&piece);
    size += memory != nullptr ? memory->size() : std::get_if<platform::FileSlice>(&piece)->length;
  }
  return size;
}

}  // namespace

ServerConnection::ServerConnection(std::shared_ptr<Processor> processor, std::unique_ptr<platform::Connection> socket,
                                   std::shared_ptr<ConnectionRecord> record)
    : processor_(std::move(processor)),
      socket_(std::move(socket)),
      record_(std::move(record)),
      client_(std::make_shared<const ClientInfo>()),
      frames_(shared().memory, shared().options.maxRequestBytes) {}

void ServerConnection::close(std::string_view reason) {
  if (state_ == State::Closed) return;
  state_ = State::Closed;
  throttle_.cancel();
  silence_.cancel();
  frames_.drop();
  record_->inFlight.store(false, std::memory_order_relaxed);
  const auto self = shared_from_this();
  socket_->close();
  // We may be inside one of its handlers, and the last to hold us may be on another thread.
  processor_->executor().post([socket = std::move(socket_)] {});
  shared().process.log().debug(kComponent, "{} closed: {}", record_->peer()->connectionId, reason);
  processor_->remove(*this);
  if (const auto& disconnected = shared().options.disconnected) disconnected(*record_->peer());
  if (auto* observer = shared().options.observer) observer->connectionClosed(*record_->peer(), reason);
  if (auto* recorder = shared().options.recorder)
    recorder->emit(events::ConnectionClosed{.connection = static_cast<int64_t>(record_->number()),
                                            .client = std::string_view(client_->clientId)});
}

// --- Receiving -------------------------------------------------------------------------------------------------------

void ServerConnection::advance() {
  // Inside a request that is handled here: the loop further up goes on when it is answered.
  if (advancing_) return;
  advancing_ = true;
  advanceNow();
  advancing_ = false;
}

void ServerConnection::advanceNow() {
  while (state_ == State::Receiving) {
    // Nothing of it is here: the answers do not wait for it. They are written, then we come back.
    if (!held_.empty() && !frames_.hasSmallFrame()) {
      state_ = State::Sending;
      return write();
    }
    switch (frames_.next([this] { return whenMemoryGranted(); })) {
      case FrameAssembler::Next::Complete:
        dispatch();
        break;
      case FrameAssembler::Next::NeedsBytes:
        return read();
      case FrameAssembler::Next::BadLength:
        return end(fmt::format("it announced a request of {} bytes", frames_.badLength()));
      case FrameAssembler::Next::NeedsMemory:
        state_ = State::WaitingForMemory;
        writeHeld();
        if (auto* observer = shared().options.observer) observer->connectionMuted(*record_->peer(), "memory");
        return;
    }
  }
}

platform::Task ServerConnection::whenMemoryGranted() {
  return [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self) self->processor_->executor().post([self] { self->memoryGranted(); });
  };
}

void ServerConnection::memoryGranted() {
  if (state_ != State::WaitingForMemory) return;
  state_ = State::Receiving;
  frames_.memoryGranted();
  processor_->touch(*this);
  advance();
}

void ServerConnection::read() {
  if (frames_.insideFrame() && !silenceWatched_)
    watchForSilence(shared().options.maxSilenceInRequest / kLessWhenOthersWait);
  socket_->read(frames_.room(), [this](Result<size_t> count) {
    const auto self = shared_from_this();
    received(std::move(count));
  });
}

void ServerConnection::received(Result<size_t> count) {
  if (state_ == State::Closed) return;
  if (!count) return close(count.error().message);
  if (*count == 0) return close(frames_.insideFrame() ? "the peer left inside a request" : "the peer left");
  record_->bytesIn.fetch_add(*count, std::memory_order_relaxed);
  frames_.received(*count);
  processor_->touch(*this);
  advance();
}

void ServerConnection::watchForSilence(platform::Duration after) {
  silenceWatched_ = true;
  silence_ = processor_->executor().schedule(after, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->heardNothing();
  });
}

void ServerConnection::heardNothing() {
  silenceWatched_ = false;
  // While it waits for memory the silence is ours.
  if (state_ != State::Receiving || !frames_.insideFrame()) return;
  const platform::Duration most = shared().options.maxSilenceInRequest;
  const platform::Duration least = most / kLessWhenOthersWait;
  const platform::Duration silent = shared().process.clock().monotonic() - lastActive;
  if (silent >= most || (silent >= least && shared().memory->budget.someoneWaits()))
    return close("it fell silent inside a request");
  watchForSilence(silent < least ? least - silent : least);
}

// --- In flight -------------------------------------------------------------------------------------------------------

void ServerConnection::dispatch() {
  const std::shared_ptr<IncomingFrame> frame = frames_.take();
  protocol::Reader reader(frame->bytes());
  const Result<protocol::RequestHeader> header = protocol::decodeRequestHeader(reader);
  if (!header) return end(header.error().message);
  record_->requests.fetch_add(1, std::memory_order_relaxed);
  rememberClient(*header);

  RequestContext context;
  context.peer = record_->peer();
  context.client = client_;
  context.principal = shared().anonymous;
  context.apiKey = static_cast<protocol::ApiKey>(header->requestApiKey);
  context.apiVersion = header->requestApiVersion;
  context.correlationId = header->correlationId;
  context.arrival = shared().process.clock().monotonic();
  context.sizeInBytes = static_cast<uint32_t>(frame->bytes().size());
  if (auto* observer = shared().options.observer) {
    context_ = context;
    observer->requestReceived(context);
  }

  // ApiVersions tells more than the name, once it is understood.
  if (!identified_ && context.apiKey != protocol::ApiKey::ApiVersions) identify();
  if (context.apiKey == protocol::ApiKey::ApiVersions) return greet(context, reader.rest());
  if (!shared().options.apis.serves(context.apiKey, context.apiVersion)) {
    return end(fmt::format("API {} in version {} is not served", header->requestApiKey, header->requestApiVersion));
  }
  const size_t bodyOffset = reader.position();
  enqueue(std::move(context), frame, bodyOffset);
}

void ServerConnection::rememberClient(const protocol::RequestHeader& header) {
  const std::string_view clientId = header.clientId ? header.clientId->view() : std::string_view();
  if (clientId == client_->clientId) return;
  auto client = std::make_shared<ClientInfo>(*client_);
  client->clientId = clientId;
  client_ = std::move(client);
  record_->setClient(client_);
}

void ServerConnection::identify() {
  identified_ = true;
  if (auto* recorder = shared().options.recorder)
    recorder->emit(events::ConnectionIdentified{
        .connection = static_cast<int64_t>(record_->number()),
        .client = std::string_view(client_->clientId),
        .software = std::string_view(client_->softwareName == "unknown" ? "" : client_->softwareName),
        .version = std::string_view(client_->softwareVersion == "unknown" ? "" : client_->softwareVersion)});
}

void ServerConnection::greet(const RequestContext& context, ByteView body) {
  const ApiTable& table = shared().options.apis;
  protocol::FrameWriter writer(1024);
  protocol::ApiVersionsResponse response;
  int16_t version = context.apiVersion;
  if (!table.serves(context.apiKey, version)) {
    version = 0;
    response = refuseApiVersions(table);
  } else {
    protocol::Reader reader(body);
    const auto request = protocol::decode<protocol::ApiVersionsRequest>(reader, version);
    if (!request) return end(request.error().message);
    response = answerApiVersions(*request, version, table,
                                 shared().options.features ? shared().options.features() : FeatureInfo());
    if (version >= 3 && response.errorCode != static_cast<int16_t>(ErrorCode::InvalidRequest)) {
      client_ = std::make_shared<const ClientInfo>(
          ClientInfo{client_->clientId, request->clientSoftwareName.str(), request->clientSoftwareVersion.str()});
      record_->setClient(client_);
      if (!identified_) identify();
    }
  }
  if (!protocol::writeResponseFrame(writer, response, version, context.correlationId)) {
    return end("the list of APIs cannot be written");
  }
  state_ = State::InFlight;
  answer_ = {.kind = Answer::Kind::Response, .pieces = writer.takePieces()};
  complete();
}

void ServerConnection::enqueue(RequestContext context, FramePtr frame, size_t bodyOffset) {
  state_ = State::InFlight;
  record_->inFlight.store(true, std::memory_order_relaxed);
  auto request = std::make_unique<Request>(shared_from_this(), std::move(context), std::move(frame), bodyOffset);
  if (processor_->handle(request)) {
    if (state_ == State::InFlight) writeHeld();
    return;
  }
  // The answers before are not kept for what takes its time.
  writeHeld();
  const bool queued = shared().queue->offer(std::move(request));
  if (queued) return;
  if (auto* observer = shared().options.observer) observer->connectionMuted(*record_->peer(), "queue");
}

// --- Sending ---------------------------------------------------------------------------------------------------------

void ServerConnection::answer(Answer answer) {
  answer_ = std::move(answer);
  if (processor_->executor().isCurrent()) return complete();
  processor_->executor().post([self = shared_from_this()] { self->complete(); });
}

void ServerConnection::complete() {
  if (state_ != State::InFlight) {
    answer_ = {};
    return;
  }
  if (writing_) {
    answerWaits_ = true;
    return;
  }
  switch (answer_.kind) {
    case Answer::Kind::Close:
      // Nobody closes on a whim: either the peer sent nonsense or something is wrong with us.
      shared().process.log().warning(kComponent, "{} of {}: {}", record_->peer()->connectionId, client_->clientId,
                                     answer_.reason);
      return end(std::exchange(answer_, {}).reason);
    case Answer::Kind::NoResponse:
      if (auto* observer = shared().options.observer) observer->responseSent(context_, 0);
      return answered();
    case Answer::Kind::Response:
      return hold() ? answered() : send(std::move(answer_.pieces));
  }
}

bool ServerConnection::hold() {
  if (!advancing_ || answer_.throttle.count() > 0 || !frames_.hasSmallFrame()) return false;
  const auto inMemory = [](const platform::Piece& piece) { return std::holds_alternative<SharedBytes>(piece); };
  if (held_.size() + answer_.pieces.size() > kMostHeldPieces || !std::ranges::all_of(answer_.pieces, inMemory) ||
      heldBytes_ + sizeOf(answer_.pieces) > kMostHeldBytes)
    return false;
  keep(std::move(answer_.pieces));
  return true;
}

void ServerConnection::keep(std::vector<platform::Piece> pieces) {
  const uint64_t bytes = sizeOf(pieces);
  heldBytes_ += bytes;
  if (held_.empty()) {
    held_ = std::move(pieces);
  } else {
    held_.insert(held_.end(), std::make_move_iterator(pieces.begin()), std::make_move_iterator(pieces.end()));
  }
  if (shared().options.observer != nullptr) told_.push_back({context_, bytes});
}

void ServerConnection::send(std::vector<platform::Piece> pieces) {
  keep(std::move(pieces));
  state_ = State::Sending;
  write();
}

void ServerConnection::writeHeld() {
  if (!held_.empty()) write();
}

void ServerConnection::write() {
  processor_->touch(*this);
  writing_ = true;
  toldWhenWritten_.swap(told_);
  socket_->write(std::exchange(held_, {}), [this, bytes = std::exchange(heldBytes_, 0)](Result<void> result) {
    const auto self = shared_from_this();
    if (state_ == State::Closed) return;
    if (!result) return close(result.error().message);
    written(bytes);
  });
}

void ServerConnection::written(uint64_t bytes) {
  writing_ = false;
  record_->bytesOut.fetch_add(bytes, std::memory_order_relaxed);
  if (auto* observer = shared().options.observer) {
    for (const Told& one : toldWhenWritten_) observer->responseSent(one.context, one.bytes);
    toldWhenWritten_.clear();
  }
  if (ending_) return close(*ending_);
  if (state_ == State::Sending) {
    answered();
  } else if (std::exchange(answerWaits_, false)) {
    complete();
  } else {
    processor_->sent();
  }
}

void ServerConnection::answered() {
  record_->inFlight.store(false, std::memory_order_relaxed);
  processor_->touch(*this);
  const auto throttle = answer_.throttle;
  answer_ = {};
  if (throttle.count() > 0) {
    state_ = State::Throttled;
    processor_->sent();
    throttle_ = processor_->executor().schedule(throttle, [this] {
      const auto self = shared_from_this();
      state_ = State::Receiving;
      processor_->touch(*this);
      advance();
    });
    return;
  }
  state_ = State::Receiving;
  processor_->sent();
  advance();
}

void ServerConnection::end(std::string reason) {
  if (held_.empty() && !writing_) return close(reason);
  ending_ = std::move(reason);
  state_ = State::Sending;
  if (!writing_) write();
}

}  // namespace tidemark::network
