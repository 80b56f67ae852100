#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/error_code.h"
#include "protocol/framing.h"

/// The load of the coordinator's rows speaks the protocol itself: thousands of members in one thread, at a cost that
/// leaves a core to the broker.
namespace tidemark::bench {

/// What the result holds; its error ends the run.
template <class T>
T value(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}
inline void value(Result<void> result) {
  if (!result) throw std::runtime_error(result.error().message);
}

inline void expect(int16_t error, std::string_view what) {
  if (error == 0) return;
  throw std::runtime_error(fmt::format("{} was answered with {}", what, errorName(static_cast<ErrorCode>(error))));
}

/// Connections to one broker, all on the caller's thread. What is asked on a link goes out at once, however much was
/// asked before, and is answered in that order: the broker handles one request of a connection at a time.
class Links {
 public:
  using Clock = std::chrono::steady_clock;

  Links(uint16_t port, size_t count);
  ~Links();
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  /// `handler` gets the answer inside run(); it may ask again.
  template <class Request, class Handler>
  void ask(size_t link, const Request& request, int16_t version, Handler handler) {
    using Response = typename Request::Response;
    const int32_t id = ++lastId_;
    protocol::FrameWriter writer(512);
    value(protocol::writeRequestFrame(writer, request, version, id, "tidemark-bench"));
    const ByteVector frame = value(writer.takeBytes());
    enqueue(link, frame, [id, version, handler = std::move(handler)](ByteView answer) mutable {
      protocol::Reader reader(answer);
      const auto header = value(protocol::decodeResponseHeader(reader, Request::kApiKey, version));
      if (header.correlationId != id) throw std::runtime_error("an answer to another request");
      handler(value(protocol::decode<Response>(reader.rest(), version)));
    });
  }

  /// Runs `task` in run() after that time.
  void later(std::chrono::milliseconds after, std::function<void()> task) {
    timers_.emplace(Clock::now() + after, std::move(task));
  }

  /// Until all that was asked is answered and nothing is left to run later. An answer that takes a minute is an error.
  void run();

 private:
  using Handler = std::move_only_function<void(ByteView frame)>;
  struct Link {
    int socket = -1;
    ByteVector out;
    size_t sent = 0;
    bool dirty = false;
    bool awaitsRoom = false;
    ByteVector in;
    size_t have = 0;
    std::deque<Handler> pending;
  };

  void enqueue(size_t link, const ByteVector& frame, Handler handler);
  void flush(size_t link);
  void flushAll();
  void readable(size_t link);
  void watch(size_t link, int operation, uint32_t events);
  int untilNextTimer() const;
  void runTimers();

  int events_;
  int32_t lastId_ = 0;
  size_t outstanding_ = 0;
  std::vector<Link> links_;
  std::vector<size_t> dirty_;
  std::multimap<Clock::time_point, std::function<void()>> timers_;
};

/// Whether a request that was answered so may simply be sent again: the coordinator is about to be there, or has not
/// ended the transaction before.
bool mayBeSentAgain(int16_t error);

/// FindCoordinator, which makes the coordinators' topic at first; returns when there is one.
enum class CoordinatorOf : int8_t { Group = 0, Transaction = 1 };
void findCoordinator(Links& links, CoordinatorOf kind, const std::string& key);

}  // namespace tidemark::bench
