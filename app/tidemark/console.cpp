#include "tidemark/console.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <utility>

namespace tidemark::app {
namespace {

std::mutex& outputMutex() {
  static std::mutex mutex;
  return mutex;
}

void write(std::FILE* to, std::string_view line) {
  const std::lock_guard lock(outputMutex());
  std::fwrite(line.data(), 1, line.size(), to);
  std::fputc('\n', to);
  std::fflush(to);
}

/// A longer line is no command of anybody's.
constexpr size_t kLongestLine = 64 * 1024;
/// How much of such a line is worth repeating.
constexpr size_t kShown = 64;

}  // namespace

Console::Console() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  ended_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

Console::~Console() {
  ::close(signals_);
  ::close(ended_);
}

void Console::end() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(ended_, &one, sizeof one);
}

void Console::run(const std::function<void(const std::string&)>& line, const std::function<void()>& signal) {
  std::array<pollfd, 3> watched{{{.fd = ended_, .events = POLLIN, .revents = 0},
                                 {.fd = signals_, .events = POLLIN, .revents = 0},
                                 {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}}};
  for (;;) {
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    if (watched[0].revents != 0) return;
    if (watched[1].revents != 0) {
      signalfd_siginfo info;
      while (::read(signals_, &info, sizeof info) == sizeof info) signal();
    }
    if (watched[2].revents == 0) continue;
    std::array<char, 4096> chunk;
    const ssize_t count = ::read(STDIN_FILENO, chunk.data(), chunk.size());
    if (count <= 0) {
      // Nobody speaks any more; the signals remain.
      watched[2].fd = -1;
      if (!buffered_.empty()) line(std::exchange(buffered_, {}));
      continue;
    }
    buffered_.append(chunk.data(), static_cast<size_t>(count));
    size_t begin = 0;
    for (size_t end = buffered_.find('\n'); end != std::string::npos; end = buffered_.find('\n', begin)) {
      if (!std::exchange(skipping_, false)) line(buffered_.substr(begin, end - begin));
      begin = end + 1;
    }
    buffered_.erase(0, begin);
    if (buffered_.size() <= kLongestLine) continue;
    // Heard once, for an answer; the rest of it is not looked at.
    if (!std::exchange(skipping_, true)) line(buffered_.substr(0, kShown));
    buffered_.clear();
  }
}

void Console::print(std::string_view line) { write(stdout, line); }
void Console::complain(std::string_view line) { write(stderr, line); }

}  // namespace tidemark::app
