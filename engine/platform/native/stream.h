#pragma once

#include <memory>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "platform/native/executor_core.h"
#include "platform/network.h"

namespace tidemark::platform::native {

using asio::ip::tcp;

/// A connected socket: what is behind a Connection. On the thread of its executor.
class Stream final : public OpenSocket {
 public:
  /// Null if the executor was stopped: the socket is closed then.
  static std::shared_ptr<Stream> make(std::shared_ptr<ExecutorCore> core, tcp::socket socket);

  void read(MutableBytes into, Connection::ReadHandler handler);
  void write(std::vector<Piece> pieces, Connection::WriteHandler handler);
  void close();

  int descriptor() noexcept override { return descriptor_; }
  void abandon() override;

  const Endpoint& local() const noexcept { return local_; }
  const Endpoint& remote() const noexcept { return remote_; }

  Stream(std::shared_ptr<ExecutorCore> core, tcp::socket socket);

 private:
  enum class Sent : uint8_t { All, Blocked };

  /// Takes what is there already. False: nothing is.
  bool receiveAtOnce(MutableBytes into);
  void finishRead(const boost::system::error_code& code, size_t count);
  /// Sends what the socket takes now, and goes on when it takes more.
  void send();
  Result<Sent> sendSome();
  /// Memory pieces from the current one on, in one call. True: the socket takes more.
  Result<bool> sendMemory();
  Result<bool> sendFile(const FileSlice& slice);
  Result<bool> sendCopy(const FileSlice& slice);
  void advance(size_t count);
  void finishWrite(Result<void> result);
  void expectOwner() const;

  const std::shared_ptr<ExecutorCore> core_;
  tcp::socket socket_;
  const int descriptor_;
  Endpoint local_;
  Endpoint remote_;
  ExecutorCore::SocketPlace place_;
  bool closed_ = false;

  Connection::ReadHandler readHandler_;
  boost::system::error_code readCode_;
  size_t readCount_ = 0;
  /// The last read took all there was: the next one will most likely wait.
  bool drained_ = true;

  Connection::WriteHandler writeHandler_;
  Result<void> written_;
  std::vector<Piece> pieces_;
  size_t piece_ = 0;
  uint64_t offset_ = 0;
};

Endpoint toEndpoint(const tcp::endpoint& from);
std::unique_ptr<Connection> toConnection(std::shared_ptr<Stream> stream);

}  // namespace tidemark::platform::native
