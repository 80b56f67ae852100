#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <set>

#include <boost/asio/ip/tcp.hpp>

#include "platform/native/native.h"

namespace tidemark::platform {

uint64_t raiseFileLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return limit.rlim_cur;
}

Result<std::vector<uint16_t>> pickFreePorts(const std::string& host, size_t count) {
  using boost::asio::ip::tcp;
  constexpr uint16_t kFirst = 10000;
  constexpr uint16_t kEnd = 32768;
  boost::system::error_code code;
  const auto address = host.empty() || host == "localhost"
                           ? boost::asio::ip::address(boost::asio::ip::address_v4::any())
                           : boost::asio::ip::make_address(host, code);
  if (code) return fail(ErrorCode::InvalidConfig, fmt::format("{} is not a numeric address", host));
  std::random_device device;
  std::uniform_int_distribution<int> anywhere(kFirst, kEnd - 1);
  std::vector<uint16_t> ports;
  std::set<uint16_t> tried;
  while (ports.size() < count && tried.size() < static_cast<size_t>(kEnd - kFirst)) {
    const auto port = static_cast<uint16_t>(anywhere(device));
    if (!tried.insert(port).second) continue;
    const tcp::endpoint endpoint(address, port);
    const int probe = ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0) break;
    // Without SO_REUSEADDR: a port on which an earlier connection lingers is no good.
    if (::bind(probe, endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0) ports.push_back(port);
    ::close(probe);
  }
  if (ports.size() < count) {
    return fail(ErrorCode::NetworkException, fmt::format("{} has no {} free ports below {}", host, count, kEnd));
  }
  return ports;
}

}  // namespace tidemark::platform
