#pragma once

#include <memory>
#include <utility>

#include "client/client.h"

namespace tidemark::client {

/// What works for a Client until it is stopped, and may be stopped and let go of while something is posted, armed or
/// sent that comes back to it. Executor as the Client's.
class Running : public std::enable_shared_from_this<Running> {
 public:
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  virtual ~Running() = default;

  /// Nothing is told from here on.
  virtual void stop() { stopped_ = true; }

 protected:
  explicit Running(Client& client) : client_(client) {}

  /// `then`, unless it has stopped by then: the way to refer to it from what is posted, armed or sent.
  template <class Then>
  auto whileRunning(Then then) {
    return [weak = weak_from_this(), then = std::move(then)]<class... Args>(Args&&... args) mutable {
      const auto self = weak.lock();
      if (self && !self->stopped_) then(std::forward<Args>(args)...);
    };
  }
  /// Posts `work` once for all who ask for it before it begins: `posted` is the note of that.
  template <class Work>
  void postOnce(bool& posted, Work work) {
    if (std::exchange(posted, true)) return;
    client_.executor().post(whileRunning([&posted, work = std::move(work)]() mutable {
      posted = false;
      work();
    }));
  }

  Client& client_;
  bool stopped_ = false;
};

}  // namespace tidemark::client
