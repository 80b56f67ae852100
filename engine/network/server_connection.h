#pragma once

#include <memory>

#include "network/frame_assembler.h"
#include "network/processor.h"
#include "network/registry.h"
#include "network/request.h"
#include "platform/executor.h"
#include "platform/network.h"

namespace tidemark::protocol {
struct RequestHeader;
}

namespace tidemark::network {

/// One accepted connection: takes frames off the stream, sends one at a time into the queue, writes its answer, goes on
/// with the next. Owned by its processor and lives on its executor, but for answer().
///
///   Receiving → (WaitingForMemory →) InFlight → Sending → (Throttled →) Receiving … Closed
///
/// It is read from in Receiving only, so a peer that sends ahead fills its own socket.
class ServerConnection final : public AnswerSink, public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(std::shared_ptr<Processor> processor, std::unique_ptr<platform::Connection> socket,
                   std::shared_ptr<ConnectionRecord> record);

  void start() { advance(); }
  void answer(Answer answer) override;
  void close(std::string_view reason);
  /// The Process is dead.
  void abandon() noexcept { socket_.reset(); }

  /// Whether it is our turn, so that silence is not the peer's.
  bool isOurTurn() const noexcept {
    return state_ == State::InFlight || state_ == State::Throttled || state_ == State::WaitingForMemory;
  }

  bool isSending() const noexcept { return state_ == State::Sending; }

  const ConnectionRecord& record() const noexcept { return *record_; }

  // The processor's.
  platform::MonotonicTime lastActive;
  Processor::Connections::iterator place;

 private:
  enum class State : uint8_t { Receiving, WaitingForMemory, InFlight, Sending, Throttled, Closed };

  // Receiving.
  void advance();
  void advanceNow();
  platform::Task whenMemoryGranted();
  void memoryGranted();
  void read();
  void received(Result<size_t> count);
  void watchForSilence(platform::Duration after);
  void heardNothing();

  // In flight.
  void dispatch();
  /// Tells who the client is, once.
  void identify();
  void rememberClient(const protocol::RequestHeader& header);
  void greet(const RequestContext& context, ByteView body);
  void enqueue(RequestContext context, FramePtr frame, size_t bodyOffset);

  // Sending.
  void complete();
  void send(std::vector<platform::Piece> pieces);
  void answered(uint64_t bytes);

  Processor& processor() noexcept { return *processor_; }
  ServerShared& shared() noexcept { return processor_->shared(); }

  const std::shared_ptr<Processor> processor_;
  std::unique_ptr<platform::Connection> socket_;
  const std::shared_ptr<ConnectionRecord> record_;
  std::shared_ptr<const ClientInfo> client_;
  /// The recorder knows who it is.
  bool identified_ = false;
  State state_ = State::Receiving;
  bool advancing_ = false;

  FrameAssembler frames_;
  /// Armed when a request has come in part, and left to run: at its end it looks whether the peer fell silent.
  platform::Timer silence_;
  bool silenceWatched_ = false;

  /// Written by whoever answers, read by the task it posts: there is one request in flight.
  Answer answer_;
  /// Of the request in flight, for the observer; not kept without one.
  RequestContext context_;
  platform::Timer throttle_;
};

}  // namespace tidemark::network
