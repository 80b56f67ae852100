#include "platform/native/stream.h"

#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include <boost/asio/post.hpp>

#include "platform/native/native_file.h"

namespace tidemark::platform::native {

namespace {

constexpr size_t kMaxVectors = 64;
/// Most that one turn sends: a fast reader does not keep the thread from its other sockets.
constexpr uint64_t kMaxTurn = 4 << 20;
constexpr size_t kCopySize = 64 << 10;
constexpr std::string_view kNoPacing = "reno";

bool isLoopback(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback();
  }
  return address.is_loopback();
}

std::unexpected<Error> networkError(const Endpoint& remote, std::string_view what, const std::string& why) {
  return fail(ErrorCode::NetworkException, fmt::format("{} {}: {}", what, remote, why));
}

uint64_t lengthOf(const Piece& piece) noexcept {
  if (const auto* memory = std::get_if<SharedBytes>(&piece)) return memory->size();
  return std::get<FileSlice>(piece).length;
}

class NativeConnection final : public Connection {
 public:
  explicit NativeConnection(std::shared_ptr<Stream> stream) noexcept : stream_(std::move(stream)) {}
  ~NativeConnection() override { stream_->close(); }
  void read(MutableBytes into, ReadHandler handler) override { stream_->read(into, std::move(handler)); }
  void write(std::vector<Piece> pieces, WriteHandler handler) override {
    stream_->write(std::move(pieces), std::move(handler));
  }
  void close() override { stream_->close(); }
  const Endpoint& local() const noexcept override { return stream_->local(); }
  const Endpoint& remote() const noexcept override { return stream_->remote(); }

 private:
  const std::shared_ptr<Stream> stream_;
};

}  // namespace

Endpoint toEndpoint(const tcp::endpoint& from) {
  auto address = from.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  return {address.to_string(), from.port()};
}

std::unique_ptr<Connection> toConnection(std::shared_ptr<Stream> stream) {
  return std::make_unique<NativeConnection>(std::move(stream));
}

std::shared_ptr<Stream> Stream::make(std::shared_ptr<ExecutorCore> core, tcp::socket socket) {
  auto stream = std::make_shared<Stream>(std::move(core), std::move(socket));
  if (stream->core_->add(stream, stream->place_)) return stream;
  stream->closed_ = true;
  return nullptr;
}

Stream::Stream(std::shared_ptr<ExecutorCore> core, tcp::socket socket)
    : core_(std::move(core)), socket_(std::move(socket)), descriptor_(socket_.native_handle()) {
  boost::system::error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(tcp::no_delay(true), ignored);
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  local_ = toEndpoint(socket_.local_endpoint(ignored));
  const auto remote = socket_.remote_endpoint(ignored);
  remote_ = toEndpoint(remote);
  if (isLoopback(remote.address())) {
    // Nothing is congested within the machine. The system's choice may be one that paces (BBR): a timer for every few
    // packets, three quarters of what it costs to send a fetch. Reno is always there; if not, the default does.
    ::setsockopt(descriptor_, IPPROTO_TCP, TCP_CONGESTION, kNoPacing.data(), kNoPacing.size());
  }
}

void Stream::expectOwner() const {
  TIDEMARK_INVARIANT(core_->isCurrent() || core_->stopped(),
                     fmt::format("a connection of {} is used on another thread", core_->name()));
}

void Stream::close() {
  if (closed_) return;
  closed_ = true;
  core_->remove(place_);
  boost::system::error_code ignored;
  socket_.close(ignored);
  // What a handler holds may be what calls this: let it go afterwards.
  if (!core_->stopped() && (readHandler_ || writeHandler_)) {
    asio::post(core_->context(),
               [read = std::move(readHandler_), write = std::move(writeHandler_), pieces = std::move(pieces_)] {});
  }
  readHandler_ = nullptr;
  writeHandler_ = nullptr;
  pieces_.clear();
}

void Stream::abandon() {
  const auto keep = shared_from_this();
  close();
}

// Reading

void Stream::read(MutableBytes into, Connection::ReadHandler handler) {
  expectOwner();
  if (closed_) return;
  TIDEMARK_INVARIANT(!readHandler_, std::string("a second read on one connection"));
  TIDEMARK_INVARIANT(!into.empty(), std::string("a read of no bytes"));
  readHandler_ = std::move(handler);
  if (!drained_ && receiveAtOnce(into)) {
    core_->follow([self = std::static_pointer_cast<Stream>(shared_from_this())] {
      self->finishRead(self->readCode_, self->readCount_);
    });
    return;
  }
  // Asio tries at once as well and, if there is something, queues the handler.
  socket_.async_receive(asio::buffer(into.data(), into.size()),
                        [self = std::static_pointer_cast<Stream>(shared_from_this()), size = into.size()](
                            const boost::system::error_code& code, size_t count) {
                          self->drained_ = count < size;
                          self->core_->run([&] { self->finishRead(code, count); });
                        });
}

bool Stream::receiveAtOnce(MutableBytes into) {
  const ssize_t got = ::recv(descriptor_, into.data(), into.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    drained_ = true;
    return false;
  }
  readCode_ =
      got < 0 ? boost::system::error_code(errno, boost::system::system_category()) : boost::system::error_code();
  readCount_ = got < 0 ? 0 : static_cast<size_t>(got);
  drained_ = readCount_ < into.size();
  return true;
}

void Stream::finishRead(const boost::system::error_code& code, size_t count) {
  if (closed_ || !readHandler_) return;
  auto handler = std::move(readHandler_);
  readHandler_ = nullptr;
  if (!code) {
    handler(count);
  } else if (code == asio::error::eof) {
    handler(size_t{0});
  } else {
    handler(networkError(remote_, "read from", code.message()));
  }
}

// Writing

void Stream::write(std::vector<Piece> pieces, Connection::WriteHandler handler) {
  expectOwner();
  if (closed_) return;
  TIDEMARK_INVARIANT(!writeHandler_, std::string("a second write on one connection"));
  writeHandler_ = std::move(handler);
  pieces_ = std::move(pieces);
  piece_ = 0;
  offset_ = 0;
  advance(0);
  send();
}

void Stream::send() {
  auto sent = sendSome();
  if (!sent) return finishWrite(fail(std::move(sent).error()));
  if (*sent == Sent::All) return finishWrite({});
  socket_.async_wait(tcp::socket::wait_write,
                     [self = std::static_pointer_cast<Stream>(shared_from_this())](const boost::system::error_code&) {
                       self->core_->run([&] {
                         if (!self->closed_ && self->writeHandler_) self->send();
                       });
                     });
}

Result<Stream::Sent> Stream::sendSome() {
  const uint64_t limit = kMaxTurn;
  for (uint64_t turn = 0; piece_ < pieces_.size() && turn < limit;) {
    const size_t pieceBefore = piece_;
    const uint64_t offsetBefore = offset_;
    const auto* slice = std::get_if<FileSlice>(&pieces_[piece_]);
    TIDEMARK_ASSIGN(const bool more, slice ? sendFile(*slice) : sendMemory());
    if (!more) return Sent::Blocked;
    for (size_t i = pieceBefore; i < piece_; ++i) turn += lengthOf(pieces_[i]);
    turn += offset_ - (piece_ == pieceBefore ? offsetBefore : 0);
  }
  return piece_ == pieces_.size() ? Sent::All : Sent::Blocked;
}

void Stream::advance(size_t count) {
  offset_ += count;
  while (piece_ < pieces_.size() && offset_ >= lengthOf(pieces_[piece_])) {
    offset_ -= lengthOf(pieces_[piece_]);
    ++piece_;
  }
}

Result<bool> Stream::sendMemory() {
  std::array<iovec, kMaxVectors> vectors;
  size_t count = 0;
  size_t bytes = 0;
  size_t i = piece_;
  for (; i < pieces_.size() && count < kMaxVectors; ++i) {
    const auto* memory = std::get_if<SharedBytes>(&pieces_[i]);
    if (!memory) {
      if (lengthOf(pieces_[i]) == 0) continue;
      break;
    }
    const auto part = memory->view().subspan(i == piece_ ? offset_ : 0);
    if (part.empty()) continue;
    vectors[count++] = {const_cast<uint8_t*>(part.data()), part.size()};
    bytes += part.size();
  }
  const bool moreFollows = std::any_of(pieces_.begin() + static_cast<std::ptrdiff_t>(i), pieces_.end(),
                                       [](const Piece& piece) { return lengthOf(piece) > 0; });
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = count;
  const ssize_t sent = ::sendmsg(descriptor_, &message, MSG_NOSIGNAL | MSG_DONTWAIT | (moreFollows ? MSG_MORE : 0));
  if (sent < 0) {
    if (errno == EINTR) return true;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
    return networkError(remote_, "write to", std::generic_category().message(errno));
  }
  advance(static_cast<size_t>(sent));
  return static_cast<size_t>(sent) == bytes;
}

Result<bool> Stream::sendFile(const FileSlice& slice) {
  const auto* file = dynamic_cast<const NativeFile*>(slice.file.get());
  if (!file) return sendCopy(slice);
  auto position = static_cast<off_t>(slice.position + offset_);
  const size_t want = std::min<uint64_t>(slice.length - offset_, kMaxTurn);
  const ssize_t sent = ::sendfile(descriptor_, file->descriptor(), &position, want);
  if (sent < 0) {
    if (errno == EINTR) return true;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
    return networkError(remote_, "send " + file->path() + " to", std::generic_category().message(errno));
  }
  if (sent == 0) return networkError(remote_, "send " + file->path() + " to", "the file ends before the slice");
  advance(static_cast<size_t>(sent));
  // Less than asked for: the socket is full, and to be told so again would cost as much as sending some pages.
  return static_cast<size_t>(sent) == want;
}

Result<bool> Stream::sendCopy(const FileSlice& slice) {
  ByteVector buffer(std::min<uint64_t>(slice.length - offset_, kCopySize));
  TIDEMARK_ASSIGN(const size_t got, slice.file->readAt(slice.position + offset_, buffer));
  if (got == 0) return networkError(remote_, "send " + slice.file->path() + " to", "the file ends before the slice");
  const ssize_t sent = ::send(descriptor_, buffer.data(), got, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) {
    if (errno == EINTR) return true;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
    return networkError(remote_, "write to", std::generic_category().message(errno));
  }
  advance(static_cast<size_t>(sent));
  return static_cast<size_t>(sent) == got;
}

void Stream::finishWrite(Result<void> result) {
  pieces_.clear();
  written_ = std::move(result);
  core_->follow([self = std::static_pointer_cast<Stream>(shared_from_this())] {
    if (self->closed_ || !self->writeHandler_) return;
    auto handler = std::move(self->writeHandler_);
    self->writeHandler_ = nullptr;
    handler(std::move(self->written_));
  });
}

}  // namespace tidemark::platform::native
