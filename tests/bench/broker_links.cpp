#include "broker_links.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "protocol/generated/find_coordinator_request.h"
#include "protocol/generated/find_coordinator_response.h"

namespace tidemark::bench {

namespace {

constexpr size_t kLeastRoom = 64 << 10;
constexpr int kLongestSilenceMs = 60'000;

int check(int result, const char* what) {
  if (result < 0) throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
  return result;
}

int connectTo(uint16_t port) {
  const int socket = check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  check(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), "connect");
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

}  // namespace

Links::Links(uint16_t port, size_t count)
    : events_(check(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")), links_(count) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  for (size_t i = 0; i < count; ++i) {
    links_[i].socket = connectTo(port);
    watch(i, EPOLL_CTL_ADD, EPOLLIN);
  }
}

Links::~Links() {
  for (const Link& link : links_) ::close(link.socket);
  ::close(events_);
}

void Links::watch(size_t link, int operation, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = link;
  check(::epoll_ctl(events_, operation, links_[link].socket, &event), "epoll_ctl");
}

void Links::enqueue(size_t link, const ByteVector& frame, Handler handler) {
  Link& to = links_.at(link);
  to.out.insert(to.out.end(), frame.begin(), frame.end());
  to.pending.push_back(std::move(handler));
  ++outstanding_;
  if (!std::exchange(to.dirty, true)) dirty_.push_back(link);
}

void Links::flush(size_t link) {
  Link& to = links_[link];
  while (to.sent < to.out.size()) {
    const ssize_t sent =
        ::send(to.socket, to.out.data() + to.sent, to.out.size() - to.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EAGAIN) {
      if (!std::exchange(to.awaitsRoom, true)) watch(link, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
      return;
    }
    to.sent += static_cast<size_t>(check(static_cast<int>(sent), "send"));
  }
  to.out.clear();
  to.sent = 0;
  if (std::exchange(to.awaitsRoom, false)) watch(link, EPOLL_CTL_MOD, EPOLLIN);
}

void Links::flushAll() {
  for (const size_t link : std::exchange(dirty_, {})) {
    links_[link].dirty = false;
    flush(link);
  }
}

void Links::readable(size_t link) {
  Link& from = links_[link];
  if (from.in.size() - from.have < kLeastRoom) from.in.resize(from.in.size() * 2 + kLeastRoom);
  const ssize_t got = ::recv(from.socket, from.in.data() + from.have, from.in.size() - from.have, MSG_DONTWAIT);
  if (got < 0 && errno == EAGAIN) return;
  if (check(static_cast<int>(got), "recv") == 0) throw std::runtime_error("the broker closed a connection");
  from.have += static_cast<size_t>(got);
  size_t done = 0;
  while (from.have - done >= protocol::kFrameLengthSize) {
    const auto length = static_cast<size_t>(readBigEndian<int32_t>(from.in.data() + done));
    if (from.have - done < protocol::kFrameLengthSize + length) break;
    if (from.pending.empty()) throw std::runtime_error("an answer that nobody asked for");
    Handler handler = std::move(from.pending.front());
    from.pending.pop_front();
    --outstanding_;
    handler(ByteView(from.in).subspan(done + protocol::kFrameLengthSize, length));
    done += protocol::kFrameLengthSize + length;
  }
  std::memmove(from.in.data(), from.in.data() + done, from.have - done);
  from.have -= done;
}

int Links::untilNextTimer() const {
  if (timers_.empty()) return kLongestSilenceMs;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, kLongestSilenceMs));
}

void Links::runTimers() {
  while (!timers_.empty() && timers_.begin()->first <= Clock::now()) {
    auto task = timers_.extract(timers_.begin());
    task.mapped()();
  }
}

void Links::run() {
  std::array<epoll_event, 256> ready;
  while (true) {
    flushAll();
    if (outstanding_ == 0 && timers_.empty()) return;
    const int count = ::epoll_wait(events_, ready.data(), ready.size(), untilNextTimer());
    if (count < 0 && errno == EINTR) continue;
    check(count, "epoll_wait");
    if (count == 0 && timers_.empty()) {
      throw std::runtime_error(fmt::format("{} requests were not answered within a minute", outstanding_));
    }
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = ready[static_cast<size_t>(i)];
      if ((event.events & EPOLLOUT) != 0) flush(event.data.u64);
      if ((event.events & ~static_cast<uint32_t>(EPOLLOUT)) != 0) readable(event.data.u64);
    }
    runTimers();
  }
}

bool mayBeSentAgain(int16_t error) {
  switch (static_cast<ErrorCode>(error)) {
    case ErrorCode::CoordinatorLoadInProgress:
    case ErrorCode::CoordinatorNotAvailable:
    case ErrorCode::NotCoordinator:
    case ErrorCode::ConcurrentTransactions:
      return true;
    default:
      return false;
  }
}

void findCoordinator(Links& links, CoordinatorOf kind, const std::string& key) {
  constexpr int16_t kVersion = 3;
  constexpr std::chrono::milliseconds kAgain{20};
  protocol::FindCoordinatorRequest request;
  request.key = protocol::Text(key);
  request.keyType = static_cast<int8_t>(kind);
  std::function<void()> ask = [&] {
    links.ask(0, request, kVersion, [&](const protocol::FindCoordinatorResponse& response) {
      if (mayBeSentAgain(response.errorCode)) return links.later(kAgain, ask);
      expect(response.errorCode, "FindCoordinator");
    });
  };
  ask();
  links.run();
}

}  // namespace tidemark::bench
