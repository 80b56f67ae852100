#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

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
///
/// An answer that is given while the next small request is here already is held, and written together with the answers
/// behind it: a write costs more than most of them. It is held no longer than this goes on without a wait: whatever has
/// to be waited for (bytes, memory, a request that parks) has it written first. A request in flight meanwhile may be
/// answered before that write has ended; its answer then follows. So does the end of the connection.
class ServerConnection final : public AnswerSink, public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(std::shared_ptr<Processor> processor, std::unique_ptr<platform::Connection> socket,
                   std::shared_ptr<ConnectionRecord> record);

  void start() { advance(); }
  void answer(Answer answer) override;
  platform::Executor* thread() override { return processor_->handlersThread(); }
  void close(std::string_view reason);
  /// The Process is dead.
  void abandon() noexcept { socket_.reset(); }

  /// Whether it is our turn, so that silence is not the peer's.
  bool isOurTurn() const noexcept {
    return state_ == State::InFlight || state_ == State::Throttled || state_ == State::WaitingForMemory;
  }

  bool isSending() const noexcept { return state_ == State::Sending || writing_ || !held_.empty(); }

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
  /// Keeps the answer for the next write, or not.
  bool hold();
  void keep(std::vector<platform::Piece> pieces);
  /// Writes what is held, if anything is, while something else is waited for.
  void writeHeld();
  void write();
  void written(uint64_t bytes);
  void send(std::vector<platform::Piece> pieces);
  void answered();
  /// Closes once the answers before are written.
  void end(std::string reason);

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
  /// Answers that are held: their pieces, bytes and number, and what the observer is to be told of them.
  std::vector<platform::Piece> held_;
  uint64_t heldBytes_ = 0;
  struct Told {
    RequestContext context;
    uint64_t bytes;
  };
  std::vector<Told> told_;
  /// Some are on their way to the operating system.
  bool writing_ = false;
  /// Those of them that the observer is to be told of.
  std::vector<Told> toldWhenWritten_;
  /// The request in flight was answered while others were written.
  bool answerWaits_ = false;
  /// Why the connection is closed when that is done.
  std::optional<std::string> ending_;
  platform::Timer throttle_;
};

}  // namespace tidemark::network
