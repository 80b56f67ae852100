#include "faults/faulty_connection.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "faults/faulty_files.h"

namespace tidemark::faults {
namespace {

/// Most bytes that a sender may have under way before its writes wait, as the buffers of two sockets would have it.
constexpr uint64_t kWindow = 256 * 1024;

/// Every request begins with its length, API, version and correlation id, then the client's name (KIP-511 keeps it so).
constexpr size_t kNameLengthAt = 4 + 2 + 2 + 4;
constexpr size_t kNameAt = kNameLengthAt + 2;
constexpr size_t kMostOfHeader = kNameAt + INT16_MAX;

uint64_t sizeOf(const std::vector<platform::Piece>& pieces) noexcept {
  uint64_t size = 0;
  for (const platform::Piece& piece : pieces) {
    const auto* memory = std::get_if<SharedBytes>(&piece);
    size += memory != nullptr ? memory->size() : std::get<platform::FileSlice>(piece).length;
  }
  return size;
}

/// The platform sends its own files without copying them.
void unwrap(std::vector<platform::Piece>& pieces) {
  for (platform::Piece& piece : pieces)
    if (auto* slice = std::get_if<platform::FileSlice>(&piece)) slice->file = fileBelow(std::move(slice->file));
}

std::unexpected<Error> resetError(const platform::Endpoint& remote) {
  return fail(ErrorCode::NetworkException, fmt::format("{}: connection reset by peer", remote));
}

}  // namespace

FaultyStream::FaultyStream(Links links, std::weak_ptr<platform::Executor> executor,
                           std::unique_ptr<platform::Connection> below, std::optional<Passage> passage)
    : links_(std::move(links)),
      executor_(std::move(executor)),
      below_(std::move(below)),
      passage_(std::move(passage)),
      isOpener_(true) {
  links_.book->opened(below_->local());
}

FaultyStream::FaultyStream(Links links, std::weak_ptr<platform::Executor> executor,
                           std::unique_ptr<platform::Connection> below, Port listener)
    : links_(std::move(links)),
      executor_(std::move(executor)),
      below_(std::move(below)),
      isOpener_(false),
      beginning_(std::in_place),
      listener_(listener) {}

void FaultyStream::post(platform::Task task) {
  if (const auto executor = executor_.lock()) executor->post(std::move(task));
}

void FaultyStream::closeBelow() {
  below_->close();
  inTimer_.cancel();
  outTimer_.cancel();
  if (isOpener_) links_.book->closed(below_->local());
  if (incoming_) links_.book->forget(incoming_->ticket);
  for (const Outgoing& each : outgoing_) links_.book->forget(each.ticket);
  incoming_.reset();
}

void FaultyStream::close() {
  if (closed_) return;
  closed_ = true;
  closeBelow();
  // What a handler holds may be what calls this: let it go afterwards.
  if (readHandler_ || !outgoing_.empty())
    post([read = std::exchange(readHandler_, nullptr), out = std::exchange(outgoing_, {})] {});
}

void FaultyStream::learnName(ByteView bytes) {
  ByteVector& have = *beginning_;
  have.insert(have.end(), bytes.begin(),
              bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), kMostOfHeader - have.size())));
  if (have.size() < kNameAt) return;
  // A null name is as good as an empty one.
  const auto length = static_cast<size_t>(std::max<int16_t>(readBigEndian<int16_t>(have.data() + kNameLengthAt), 0));
  if (have.size() < kNameAt + length) return;
  if (!links_.book->isBrokers(below_->remote()))
    passage_ = Passage{.opener = kNoNode,
                       .client = std::string(asText(ByteView(have).subspan(kNameAt, length))),
                       .acceptor = links_.site->node(),
                       .port = listener_,
                       .toAcceptor = true};
  beginning_.reset();
}

LinkVerdict FaultyStream::ask(bool isOutgoing, uint64_t bytes, uint64_t ticket) {
  if (!passage_ || !links_.site->any(kLinkFaults)) return {};
  Passage passage = *passage_;
  passage.toAcceptor = isOutgoing == isOpener_;
  return links_.book->transfer(passage, std::max<uint64_t>(bytes, 1), ticket, weak_from_this());
}

MonotonicTime FaultyStream::arrival(Line& line, const LinkVerdict& verdict, uint64_t bytes, MonotonicTime now) {
  MonotonicTime leaves = std::max(now, line.free);
  if (verdict.bytesPerSecond > 0)
    leaves +=
        Duration(static_cast<int64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(verdict.bytesPerSecond)));
  line.free = leaves;
  // Order is kept whatever the delays.
  return line.last = std::max(line.last, leaves + verdict.delay);
}

void FaultyStream::linksChanged() {
  post([weak = weak_from_this()] {
    const auto self = std::static_pointer_cast<FaultyStream>(weak.lock());
    if (!self || self->closed_ || self->broken_) return;
    self->judgeOutgoing();
    if (!self->closed_ && !self->broken_ && self->incoming_ && !self->inTimer_) self->judgeIncoming();
  });
}

void FaultyStream::resetByLink() {
  broken_ = true;
  closeBelow();
  outResult_ = resetError(below_->remote());
  post([weak = weak_from_this()] {
    const auto self = std::static_pointer_cast<FaultyStream>(weak.lock());
    if (!self || self->closed_) return;
    std::deque<Outgoing> lost = std::exchange(self->outgoing_, {});
    for (Outgoing& each : lost)
      if (each.handler && !self->closed_) each.handler(resetError(self->below_->remote()));
    if (self->closed_ || !self->readHandler_) return;
    auto handler = std::exchange(self->readHandler_, nullptr);
    handler(resetError(self->below_->remote()));
  });
}

// --- reading
// --------------------------------------------------------------------------------------------------------

void FaultyStream::read(MutableBytes into, ReadHandler handler) {
  if (closed_) return;
  readHandler_ = std::move(handler);
  if (broken_) {
    post([weak = weak_from_this()] {
      const auto self = std::static_pointer_cast<FaultyStream>(weak.lock());
      if (self && !self->closed_ && self->readHandler_)
        std::exchange(self->readHandler_, nullptr)(resetError(self->below_->remote()));
    });
    return;
  }
  into_ = into;
  below_->read(into, [this](Result<size_t> count) {
    if (beginning_ && count && *count > 0) learnName(into_.first(*count));
    if (links_.site->any(kLinkFaults | kSlowFaults)) [[unlikely]]
      return arrived(std::move(count));
    deliver(std::move(count));
  });
}

void FaultyStream::deliver(Result<size_t> count) {
  // Whoever handles it may end us.
  auto handler = std::exchange(readHandler_, nullptr);
  if (handler) handler(std::move(count));
}

void FaultyStream::arrived(Result<size_t> count) {
  if (links_.site->any(kSlowFaults))
    if (const auto executor = executor_.lock()) executor->stall(links_.book->slowness(links_.site->node()));
  if (!passage_) return deliver(std::move(count));
  incoming_ = Incoming{.count = std::move(count), .ticket = links_.book->newTicket()};
  judgeIncoming();
}

void FaultyStream::judgeIncoming() {
  const uint64_t bytes = incoming_->count.value_or(0);
  const LinkVerdict verdict = ask(false, bytes, incoming_->ticket);
  if (verdict.held) return;
  if (verdict.reset) return resetByLink();
  const MonotonicTime now = links_.clock.monotonic();
  const MonotonicTime at = arrival(inLine_, verdict, bytes, now);
  if (at > now) {
    if (const auto executor = executor_.lock())
      inTimer_ = executor->schedule(at - now, [weak = weak_from_this()] {
        const auto self = std::static_pointer_cast<FaultyStream>(weak.lock());
        if (!self || self->closed_ || !self->incoming_) return;
        self->inTimer_ = {};
        self->deliver(std::exchange(self->incoming_, std::nullopt)->count);
      });
    return;
  }
  deliver(std::exchange(incoming_, std::nullopt)->count);
}

// --- writing
// --------------------------------------------------------------------------------------------------------

void FaultyStream::write(std::vector<platform::Piece> pieces, WriteHandler handler) {
  if (closed_) return;
  unwrap(pieces);
  if (outgoing_.empty() && !sending_ && !broken_ && outResult_ && !links_.site->any(kLinkFaults)) [[likely]]
    return below_->write(std::move(pieces), std::move(handler));
  queue(std::move(pieces), std::move(handler));
}

void FaultyStream::queue(std::vector<platform::Piece> pieces, WriteHandler handler) {
  if (!outResult_) {
    post([weak = weak_from_this(), handler = std::move(handler)]() mutable {
      const auto self = std::static_pointer_cast<FaultyStream>(weak.lock());
      if (self && !self->closed_) handler(self->outResult_);
    });
    return;
  }
  Outgoing each{
      .pieces = std::move(pieces), .bytes = 0, .ticket = links_.book->newTicket(), .leaves = {}, .handler = {}};
  each.bytes = sizeOf(each.pieces);
  underWay_ += each.bytes;
  if (underWay_ <= kWindow) {
    post([weak = weak_from_this(), handler = std::move(handler)]() mutable {
      const auto self = std::static_pointer_cast<FaultyStream>(weak.lock());
      if (self && !self->closed_) handler({});
    });
  } else {
    each.handler = std::move(handler);
  }
  outgoing_.push_back(std::move(each));
  judgeOutgoing();
}

void FaultyStream::judgeOutgoing() {
  for (Outgoing& each : outgoing_) {
    if (each.leaves) continue;
    const LinkVerdict verdict = ask(true, each.bytes, each.ticket);
    if (verdict.held) break;
    if (verdict.reset) return resetByLink();
    each.leaves = arrival(outLine_, verdict, each.bytes, links_.clock.monotonic());
  }
  send();
}

void FaultyStream::send() {
  if (sending_ || outTimer_ || outgoing_.empty() || !outgoing_.front().leaves) return;
  const MonotonicTime now = links_.clock.monotonic();
  if (*outgoing_.front().leaves > now) {
    if (const auto executor = executor_.lock())
      outTimer_ = executor->schedule(*outgoing_.front().leaves - now, [weak = weak_from_this()] {
        const auto self = std::static_pointer_cast<FaultyStream>(weak.lock());
        if (!self || self->closed_ || self->broken_) return;
        self->outTimer_ = {};
        self->send();
      });
    return;
  }
  sending_ = true;
  below_->write(std::move(outgoing_.front().pieces), [this](Result<void> result) { sent(std::move(result)); });
}

void FaultyStream::sent(Result<void> result) {
  const auto self = shared_from_this();
  sending_ = false;
  underWay_ -= outgoing_.front().bytes;
  WriteHandler handler = std::move(outgoing_.front().handler);
  outgoing_.pop_front();
  if (!result) {
    outResult_ = result;
  } else {
    send();
  }
  if (handler) handler(std::move(result));
}

}  // namespace tidemark::faults
