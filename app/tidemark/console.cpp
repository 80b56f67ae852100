#include "tidemark/console.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

namespace tidemark::app {
namespace {

std::mutex& outputMutex() {
  static std::mutex mutex;
  return mutex;
}

/// Why standard output could not be written; 0: all of it was. Under the mutex.
int outputError = 0;

bool write(std::FILE* to, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), to) == text.size() && std::fflush(to) == 0;
}

/// Endless input costs next to nothing and cannot keep signals waiting: so many lines, then a pause.
constexpr int kLinesAtOnce = 64;
constexpr int kPauseMs = 20;

}  // namespace

void Console::guardDescriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    // The lowest number that is free. It fails as a closed one does.
    if (::fcntl(descriptor, F_GETFD) == -1 && ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
      return;
}

Console::Console() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  // The terminal is gone; under nohup that is to be ignored.
  struct sigaction hangUp = {};
  if (::sigaction(SIGHUP, nullptr, &hangUp) == 0 && hangUp.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  ended_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  listen_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

Console::~Console() {
  ::close(signals_);
  ::close(ended_);
  ::close(listen_);
}

void Console::end() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(ended_, &one, sizeof one);
}

void Console::listen() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(listen_, &one, sizeof one);
}

bool Console::handOn(const std::function<bool(const std::string&)>& line, const std::function<bool()>& tooLong) {
  size_t begin = 0;
  bool wanted = true;
  size_t end = buffered_.find('\n');
  for (int lines = 0; wanted && lines < kLinesAtOnce && end != std::string::npos; ++lines) {
    // The rest of one that was too long goes with its end.
    if (!std::exchange(dropping_, false))
      wanted = end - begin > kLongestLine ? tooLong() : line(buffered_.substr(begin, end - begin));
    begin = end + 1;
    end = buffered_.find('\n', begin);
  }
  buffered_.erase(0, begin);
  if (!wanted || end != std::string::npos) return wanted;
  if (!dropping_ && buffered_.size() > kLongestLine) {
    dropping_ = true;
    wanted = tooLong();
  }
  if (dropping_) buffered_.clear();
  return wanted;
}

void Console::run(const std::function<bool(const std::string&)>& line, const std::function<bool()>& tooLong,
                  const std::function<void()>& ended, const std::function<void()>& signal) {
  std::array<pollfd, 4> watched{{{.fd = ended_, .events = POLLIN, .revents = 0},
                                 {.fd = signals_, .events = POLLIN, .revents = 0},
                                 {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                                 {.fd = listen_, .events = POLLIN, .revents = 0}}};
  bool listening = false;
  while (true) {
    // While lines wait, input is not looked at: it is taken up again after a pause.
    const bool waiting = listening && buffered_.find('\n') != std::string::npos;
    watched[2].fd = listening && !waiting ? STDIN_FILENO : -1;
    if (::poll(watched.data(), watched.size(), waiting ? kPauseMs : -1) < 0) continue;
    if (watched[0].revents != 0) return;
    if (watched[1].revents != 0) {
      signalfd_siginfo info;
      while (::read(signals_, &info, sizeof info) == sizeof info) signal();
    }
    if (watched[3].revents != 0) {
      // Once is enough, whoever else says so.
      watched[3].fd = -1;
      listening = true;
    }
    if (watched[2].fd >= 0 && watched[2].revents != 0) {
      std::array<char, 4096> chunk;
      const ssize_t count = ::read(STDIN_FILENO, chunk.data(), chunk.size());
      if (count <= 0) {
        // Nobody speaks any more; the signals remain.
        listening = false;
        if (!buffered_.empty()) line(std::exchange(buffered_, {}));
        ended();
        continue;
      }
      buffered_.append(chunk.data(), static_cast<size_t>(count));
    }
    if (listening && !handOn(line, tooLong)) listening = false;
  }
}

void Console::print(std::string_view line) {
  std::string whole(line);
  whole += '\n';
  printText(whole);
}

bool Console::printText(std::string_view text) {
  const std::lock_guard lock(outputMutex());
  if (outputError == 0 && !write(stdout, text)) outputError = errno == 0 ? EIO : errno;
  return outputError == 0;
}

void Console::complain(std::string_view line) {
  const std::lock_guard lock(outputMutex());
  std::string whole(line);
  whole += '\n';
  // Where this cannot be written nothing can be said.
  static_cast<void>(write(stderr, whole));
}

int Console::finish(int status) {
  printText({});
  int error = 0;
  {
    const std::lock_guard lock(outputMutex());
    error = outputError;
  }
  if (error == 0) return status;
  // Who reads has seen enough (`| head`), and needs no word about it.
  if (error != EPIPE) complain(std::string("tidemark: the output could not be written: ") + std::strerror(error));
  return status == 0 ? 1 : status;
}

}  // namespace tidemark::app
