#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "platform/native/stream.h"

namespace tidemark::platform::native {

namespace {

/// How long an acceptor waits that ran out of descriptors or memory.
constexpr auto kAcceptBackOff = std::chrono::milliseconds(100);
/// How often it says so, at most, while that lasts.
constexpr auto kBetweenComplaints = std::chrono::seconds(10);

std::unexpected<Error> networkError(std::string text) {
  return fail(ErrorCode::NetworkException, std::move(text));
}

/// The addresses of a host, without asking anybody if it says them itself.
std::vector<tcp::endpoint> literal(const Endpoint& at) {
  boost::system::error_code code;
  const auto address = asio::ip::make_address(at.host, code);
  if (!code) return {tcp::endpoint(address, at.port)};
  if (at.host == "localhost") {
    return {tcp::endpoint(asio::ip::address_v4::loopback(), at.port),
            tcp::endpoint(asio::ip::address_v6::loopback(), at.port)};
  }
  return {};
}

// Listening

class Listener final : public OpenSocket {
 public:
  Listener(std::shared_ptr<ExecutorCore> core, tcp::acceptor acceptor, Endpoint endpoint)
      : core_(std::move(core)),
        acceptor_(std::move(acceptor)),
        descriptor_(acceptor_.native_handle()),
        backOff_(core_->context()),
        endpoint_(std::move(endpoint)) {}

  bool enlist() {
    if (core_->add(shared_from_this(), place_)) return true;
    closed_ = true;
    return false;
  }

  void accept(std::shared_ptr<ExecutorCore> owner, Acceptor::AcceptHandler handler) {
    if (closed_) return;
    TIDEMARK_INVARIANT(core_->isCurrent() || core_->stopped(),
                       fmt::format("an acceptor of {} is used on another thread", core_->name()));
    TIDEMARK_INVARIANT(!handler_, std::string("a second accept on one acceptor"));
    owner_ = std::move(owner);
    handler_ = std::move(handler);
    take();
  }

  void close() {
    if (closed_) return;
    closed_ = true;
    core_->remove(place_);
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    backOff_.cancel(ignored);
    if (handler_ && !core_->stopped()) asio::post(core_->context(), [handler = std::move(handler_)] {});
    handler_ = nullptr;
    owner_.reset();
  }

  int descriptor() noexcept override { return descriptor_; }
  void abandon() override {
    const auto keep = shared_from_this();
    close();
  }
  const Endpoint& endpoint() const noexcept { return endpoint_; }

 private:
  auto again() {
    return [self = std::static_pointer_cast<Listener>(shared_from_this())](const boost::system::error_code& code) {
      if (code) return;
      self->core_->run([&] {
        if (!self->closed_ && self->handler_) self->take();
      });
    };
  }

  void take() {
    while (true) {
      const int accepted = ::accept4(descriptor_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (accepted >= 0) return give(accepted);
      switch (errno) {
        case EAGAIN:
          return acceptor_.async_wait(tcp::acceptor::wait_read, again());
        case EMFILE:
        case ENFILE:
        case ENOBUFS:
        case ENOMEM:
          complain(errno);
          backOff_.expires_after(kAcceptBackOff);
          return backOff_.async_wait(again());
        case EBADF:
        case EINVAL:
        case ENOTSOCK:
          return;  // shut by the end of the process
        default:
          break;  // that connection failed, not the listener
      }
    }
  }

  /// Clients wait meanwhile, and each try would be a line.
  void complain(int error) {
    ++failed_;
    const auto now = std::chrono::steady_clock::now();
    if (toldAt_ && now - *toldAt_ < kBetweenComplaints) return;
    toldAt_ = now;
    const bool ofFiles = error == EMFILE || error == ENFILE;
    core_->process().log(
        Logger::Level::Warning, "network",
        fmt::format("cannot accept on {}: {}{}; new clients wait{}", endpoint_, std::generic_category().message(error),
                    failed_ > 1 ? fmt::format(" ({} tries)", failed_) : "",
                    ofFiles ? ": raise the limit of open files (ulimit -n), or close connections" : ""));
    failed_ = 0;
  }

  void give(int accepted) {
    auto owner = std::move(owner_);
    boost::system::error_code code;
    tcp::socket socket(owner->context());
    socket.assign(acceptor_.local_endpoint(code).protocol(), accepted, code);
    if (code) {
      ::close(accepted);
      return;
    }
    auto* context = &owner->context();
    // The task lies in the owner's context: it needs no hold on the owner, and must not have one.
    asio::post(*context, [core = owner.get(), socket = std::move(socket), handler = std::move(handler_)]() mutable {
      core->run([&] {
        auto stream = Stream::make(core->shared_from_this(), std::move(socket));
        if (stream) handler(toConnection(std::move(stream)));
      });
    });
    handler_ = nullptr;
  }

  const std::shared_ptr<ExecutorCore> core_;
  tcp::acceptor acceptor_;
  const int descriptor_;
  asio::steady_timer backOff_;
  const Endpoint endpoint_;
  ExecutorCore::SocketPlace place_;
  bool closed_ = false;
  std::shared_ptr<ExecutorCore> owner_;
  Acceptor::AcceptHandler handler_;
  /// Since it was told last.
  int failed_ = 0;
  std::optional<std::chrono::steady_clock::time_point> toldAt_;
};

class NativeAcceptor final : public Acceptor {
 public:
  explicit NativeAcceptor(std::shared_ptr<Listener> listener) noexcept : listener_(std::move(listener)) {}
  ~NativeAcceptor() override { listener_->close(); }
  void accept(Executor& owner, AcceptHandler handler) override {
    listener_->accept(serialCore(owner), std::move(handler));
  }
  const Endpoint& endpoint() const noexcept override { return listener_->endpoint(); }

 private:
  const std::shared_ptr<Listener> listener_;
};

// Connecting

class Dial final : public OpenSocket {
 public:
  Dial(std::shared_ptr<ExecutorCore> core, Endpoint to, Network::ConnectHandler handler)
      : core_(std::move(core)),
        to_(std::move(to)),
        handler_(std::move(handler)),
        socket_(core_->context()),
        timeout_(core_->context()),
        resolver_(core_->context()) {}

  void start(Duration timeout) {
    if (!core_->add(shared_from_this(), place_)) return;
    listed_ = true;
    timeout_.expires_after(timeout);
    timeout_.async_wait([self = self()](const boost::system::error_code& code) {
      if (!code) self->core_->run([&] { self->finish(networkError(self->text("timed out"))); });
    });
    addresses_ = literal(to_);
    if (!addresses_.empty()) return tryNext("");
    resolver_.async_resolve(
        to_.host, std::to_string(to_.port), tcp::resolver::numeric_service,
        [self = self()](const boost::system::error_code& code, const tcp::resolver::results_type& results) {
          self->core_->run([&] {
            for (const auto& result : results) self->addresses_.push_back(result.endpoint());
            self->tryNext(code ? code.message() : "no address");
          });
        });
  }

  /// Not connected yet: nothing to shut.
  int descriptor() noexcept override { return -1; }
  void abandon() override {
    const auto keep = shared_from_this();
    close();
    handler_ = nullptr;
  }

 private:
  std::shared_ptr<Dial> self() { return std::static_pointer_cast<Dial>(shared_from_this()); }
  std::string text(std::string_view why) const { return fmt::format("cannot connect to {}: {}", to_, why); }

  void tryNext(const std::string& why) {
    if (!handler_) return;
    if (next_ == addresses_.size()) return finish(networkError(text(why)));
    const auto address = addresses_[next_++];
    boost::system::error_code code;
    socket_.close(code);
    socket_.open(address.protocol(), code);
    if (code) return finish(networkError(text(code.message())));
    socket_.async_connect(address, [self = self()](const boost::system::error_code& failed) {
      self->core_->run([&] { self->connected(failed); });
    });
  }

  void connected(const boost::system::error_code& failed) {
    if (!handler_) return;
    if (failed) return tryNext(failed.message());
    boost::system::error_code code;
    // Among the ports for outgoing connections a socket can connect to itself.
    if (socket_.local_endpoint(code) == socket_.remote_endpoint(code)) return tryNext("connection refused");
    auto socket = std::move(socket_);
    close();
    auto handler = std::move(handler_);
    handler_ = nullptr;
    if (auto stream = Stream::make(core_, std::move(socket))) handler(toConnection(std::move(stream)));
  }

  void finish(std::unexpected<Error> error) {
    if (!handler_) return;
    close();
    auto handler = std::move(handler_);
    handler_ = nullptr;
    handler(std::move(error));
  }

  void close() {
    if (listed_) core_->remove(place_);
    listed_ = false;
    boost::system::error_code ignored;
    socket_.close(ignored);
    timeout_.cancel(ignored);
    resolver_.cancel();
  }

  const std::shared_ptr<ExecutorCore> core_;
  const Endpoint to_;
  Network::ConnectHandler handler_;
  tcp::socket socket_;
  asio::steady_timer timeout_;
  tcp::resolver resolver_;
  ExecutorCore::SocketPlace place_;
  bool listed_ = false;
  std::vector<tcp::endpoint> addresses_;
  size_t next_ = 0;
};

class NativeNetwork final : public Network {
 public:
  explicit NativeNetwork(std::shared_ptr<ProcessCore> process) noexcept : process_(std::move(process)) {}

  Result<std::unique_ptr<Acceptor>> listen(Executor& owner, const Endpoint& at, const ListenOptions& options) override {
    if (process_->dead()) return networkError("process is dead");
    const auto core = serialCore(owner);
    TIDEMARK_ASSIGN(const auto address, addressToListen(at));
    boost::system::error_code code;
    tcp::acceptor acceptor(core->context());
    acceptor.open(address.protocol(), code);
    if (code) return networkError(fmt::format("cannot listen on {}: {}", at, code.message()));
    acceptor.set_option(asio::socket_base::reuse_address(true), code);
    if (address.protocol() == tcp::v6()) acceptor.set_option(asio::ip::v6_only(!at.host.empty()), code);
    // What it accepts inherits them. The window that a peer is told of depends on it from the first packet on.
    if (options.sendBufferBytes >= 0)
      acceptor.set_option(asio::socket_base::send_buffer_size(options.sendBufferBytes), code);
    if (options.receiveBufferBytes >= 0)
      acceptor.set_option(asio::socket_base::receive_buffer_size(options.receiveBufferBytes), code);
    acceptor.non_blocking(true, code);
    acceptor.bind(address, code);
    if (!code) {
      const int most = asio::socket_base::max_listen_connections;
      acceptor.listen(options.backlog >= 0 ? options.backlog : most, code);
    }
    if (code == asio::error::address_in_use) {
      return networkError(fmt::format("cannot listen on {}: port {} is in use", at, at.port));
    }
    if (code) return networkError(fmt::format("cannot listen on {}: {}", at, code.message()));
    Endpoint endpoint{at.host, acceptor.local_endpoint(code).port()};
    auto listener = std::make_shared<Listener>(core, std::move(acceptor), std::move(endpoint));
    if (!listener->enlist()) return networkError("process is dead");
    return std::make_unique<NativeAcceptor>(std::move(listener));
  }

  void connect(Executor& owner, const Endpoint& to, Duration timeout, ConnectHandler handler) override {
    const auto& core = serialCore(owner);
    if (core->stopped()) return;
    auto dial = std::make_shared<Dial>(core, to, std::move(handler));
    auto* context = &core->context();
    asio::post(*context,
               [core = core.get(), dial = std::move(dial), timeout] { core->run([&] { dial->start(timeout); }); });
  }

 private:
  static Result<tcp::endpoint> addressToListen(const Endpoint& at) {
    if (at.host.empty()) {
      const int probe = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (probe < 0) return tcp::endpoint(tcp::v4(), at.port);
      ::close(probe);
      return tcp::endpoint(tcp::v6(), at.port);
    }
    if (const auto addresses = literal(at); !addresses.empty()) return addresses.front();
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int failed = ::getaddrinfo(at.host.c_str(), nullptr, &hints, &found);
    if (failed != 0) return networkError(fmt::format("cannot listen on {}: {}", at, ::gai_strerror(failed)));
    tcp::endpoint endpoint;
    std::memcpy(endpoint.data(), found->ai_addr, found->ai_addrlen);
    endpoint.resize(found->ai_addrlen);
    endpoint.port(at.port);
    ::freeaddrinfo(found);
    return endpoint;
  }

  const std::shared_ptr<ProcessCore> process_;
};

}  // namespace

std::unique_ptr<Network> makeNetwork(std::shared_ptr<ProcessCore> core) {
  return std::make_unique<NativeNetwork>(std::move(core));
}

}  // namespace tidemark::platform::native
