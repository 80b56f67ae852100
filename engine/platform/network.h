#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/formatting.h"
#include "base/result.h"
#include "platform/executor.h"
#include "platform/file_system.h"
#include "platform/piece.h"

namespace tidemark::platform {

/// Where to listen or connect: a host name or address (IPv4 or IPv6 without brackets) and a TCP port.
struct Endpoint {
  std::string host;
  uint16_t port = 0;
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

/// What is asked of the system for a listening socket and what it accepts. −1: as the system does it by itself, which
/// for buffers means that they grow with the connection. The simulator has one way of its own.
struct ListenOptions {
  int sendBufferBytes = -1;
  int receiveBufferBytes = -1;
  /// Connections that wait to be accepted; the system may have a lower limit.
  int backlog = -1;
};

/// A connected TCP stream. Belongs to one serial executor: every call is made there and every handler runs there.
/// Destroying it closes the socket and forgets outstanding handlers without calling them.
class Connection {
 public:
  using ReadHandler = std::move_only_function<void(Result<size_t>)>;
  using WriteHandler = std::move_only_function<void(Result<void>)>;

  virtual ~Connection() = default;

  /// Reads at least one byte into `into`, which must stay valid until the handler runs or the connection is destroyed.
  /// 0: the peer has finished. One read at a time.
  virtual void read(MutableBytes into, ReadHandler handler) = 0;
  /// Sends all pieces in order; the handler runs when the last byte was handed to the operating system. One at a time.
  /// A file that turns out shorter than its slice is an error: the stream is then useless.
  virtual void write(std::vector<Piece> pieces, WriteHandler handler) = 0;
  /// Closes now; outstanding handlers are forgotten.
  virtual void close() = 0;
  virtual const Endpoint& local() const noexcept = 0;
  virtual const Endpoint& remote() const noexcept = 0;
};

/// A listening socket. Belongs to the serial executor it was made on. Destroying it stops listening; a handler whose
/// connection is on its way to another executor may still run there.
class Acceptor {
 public:
  using AcceptHandler = std::move_only_function<void(Result<std::unique_ptr<Connection>>)>;

  virtual ~Acceptor() = default;
  /// Waits for the next connection and gives it to `owner`: the handler runs on `owner`. One at a time.
  virtual void accept(Executor& owner, AcceptHandler handler) = 0;
  /// With the port that was picked if 0 was asked for.
  virtual const Endpoint& endpoint() const noexcept = 0;
};

/// The sockets of one Process.
class Network {
 public:
  using ConnectHandler = std::move_only_function<void(Result<std::unique_ptr<Connection>>)>;

  virtual ~Network() = default;
  /// Listens at once. A port in use is an error that names it. Host "": all addresses of both families; "0.0.0.0": all
  /// of IPv4; "::": all of IPv6 and only these. Port 0: one that is free.
  virtual Result<std::unique_ptr<Acceptor>> listen(Executor& owner, const Endpoint& at,
                                                   const ListenOptions& options) = 0;
  Result<std::unique_ptr<Acceptor>> listen(Executor& owner, const Endpoint& at) { return listen(owner, at, {}); }
  /// Connects in the background, trying each address of a name; the handler runs on `owner`, always, unless the Process
  /// dies. Any thread.
  virtual void connect(Executor& owner, const Endpoint& to, Duration timeout, ConnectHandler handler) = 0;
};

}  // namespace tidemark::platform

template <>
struct fmt::formatter<tidemark::platform::Endpoint> : tidemark::PlainFormatter {
  auto format(const tidemark::platform::Endpoint& endpoint, format_context& context) const {
    const bool v6 = endpoint.host.find(':') != std::string::npos;
    return put(
        v6 ? fmt::format("[{}]:{}", endpoint.host, endpoint.port) : fmt::format("{}:{}", endpoint.host, endpoint.port),
        context);
  }
};
