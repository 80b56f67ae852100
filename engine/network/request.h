#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "network/frame.h"
#include "network/request_context.h"
#include "platform/executor.h"
#include "platform/network.h"
#include "protocol/message.h"

namespace tidemark::network {

/// What a request is answered with.
struct Answer {
  enum class Kind : uint8_t { Response, NoResponse, Close };
  Kind kind = Kind::Close;
  /// Length, header and body.
  std::vector<platform::Piece> pieces;
  std::chrono::milliseconds throttle{0};
  /// Why the connection is closed.
  std::string reason;
};

/// Takes the one answer to a request: the connection it came by, or a test. Any thread.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  virtual void answer(Answer answer) = 0;
  /// As Request::thread().
  virtual platform::Executor* thread() { return nullptr; }
};

/// A request on its way through the broker, and the one right to answer it. Whoever holds it answers exactly once, from
/// any thread, at any later time; the answer is written on the connection's processor, and only then is the
/// connection's next request read. A Request destroyed without an answer closes its connection. Answers to a connection
/// that is gone go nowhere. One thread at a time.
class Request {
 public:
  using Throttle = std::chrono::milliseconds;

  Request(std::shared_ptr<AnswerSink> sink, RequestContext context, FramePtr frame, size_t bodyOffset);
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  const RequestContext& context() const noexcept { return context_; }
  protocol::ApiKey apiKey() const noexcept { return context_.apiKey; }
  int16_t apiVersion() const noexcept { return context_.apiVersion; }

  /// What follows the header. Valid until releaseFrame(), or as long as frame() is held.
  ByteView body() const noexcept { return body_; }
  /// The same, for stamping record batches in place.
  MutableBytes mutableBody() const noexcept { return body_; }
  /// What keeps body() alive and counts against the budget of bodies in flight.
  const FramePtr& frame() const noexcept { return frame_; }
  /// Lets go of the frame (views into it dangle from now on); a request that parks does this.
  void releaseFrame() noexcept;

  /// decode<protocol::FetchRequest>(): the body in the request's version; views into frame(). InvalidRequest if
  /// malformed; bytes behind it are ignored. Defined in network/request_codec.h.
  template <class Message>
  Result<Message> decode() const;

  /// Answers with `message`, encoded here and now in the request's version. After the answer the connection is mute for
  /// `throttle`; the message's own throttle field is the caller's. Defined in network/request_codec.h.
  template <class Message>
  void respond(const Message& message, Throttle throttle = {});

  /// decode() and respond() whatever the message's type.
  Result<void> decodeInto(protocol::InMessage message) const;
  void respondWith(protocol::ApiKey key, protocol::OutMessage message, Throttle throttle = {});

  /// Answers with a whole frame: length, header and body.
  void respondPieces(std::vector<platform::Piece> pieces, Throttle throttle = {});

  /// No answer ever (acks=0); the connection goes on with its next request at once.
  void noResponse(Throttle throttle = {});

  /// Closes the connection instead of answering, and says so in the log.
  void close(std::string_view reason = "the handler closed it");

  /// The thread that writes the answer, if it is the one that asks: that of a processor which handles the request
  /// itself. Else null. A task posted there runs when what is ready now has been handled; it counts as handling.
  platform::Executor* thread() const { return sink_->thread(); }

  bool answered() const noexcept { return sink_ == nullptr; }

 private:
  void finish(Answer answer);

  std::shared_ptr<AnswerSink> sink_;
  RequestContext context_;
  FramePtr frame_;
  MutableBytes body_;
};

using RequestPtr = std::unique_ptr<Request>;

/// Where complete, supported requests go. Called on the server's handler pool, several at a time; with quick requests
/// also on its processors.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  virtual void handle(RequestPtr request) = 0;
  /// Whether handling such a request takes no longer, as a rule, than handing it to another thread and back. May be
  /// called on any thread.
  virtual bool isQuick(protocol::ApiKey /*key*/) const { return false; }
};

}  // namespace tidemark::network
