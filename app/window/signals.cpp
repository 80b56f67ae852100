#include "signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

namespace tidemark::widgets {

namespace {

/// A handler may only write into a pipe; the window reads it.
std::array<int, 2> ends{-1, -1};
constexpr std::array kHeard{SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t count = 0;

void onSignal(int number) {
  count = count + 1;
  if (count >= 3) {
    ::signal(number, SIG_DFL);
    ::raise(number);
    return;
  }
  const char byte = 1;
  [[maybe_unused]] const ssize_t written = ::write(ends[1], &byte, 1);
}

}  // namespace

Signals::Signals(std::function<void(int count)> heard) {
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  m_notifier = std::make_unique<QSocketNotifier>(ends[0], QSocketNotifier::Read);
  QObject::connect(m_notifier.get(), &QSocketNotifier::activated, m_notifier.get(),
                   [heard = std::move(heard), told = 0]() mutable {
                     char byte = 0;
                     while (::read(ends[0], &byte, 1) == 1) heard(++told);
                   });
  for (const int number : kHeard) {
    struct sigaction before = {};
    ::sigaction(number, nullptr, &before);
    if (number == SIGHUP && before.sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_handler = onSignal;
    ::sigaction(number, &action, nullptr);
  }
}

Signals::~Signals() {
  for (const int number : kHeard) ::signal(number, SIG_DFL);
  m_notifier.reset();
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace tidemark::widgets
