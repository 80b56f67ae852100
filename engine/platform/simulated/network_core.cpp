#include "platform/simulated/network_core.h"

#include <algorithm>

#include "base/crc32c.h"
#include "platform/simulated/core.h"

namespace tidemark::platform {

namespace {

std::unexpected<Error> networkError(std::string text) {
  return fail(ErrorCode::NetworkException, std::move(text));
}

}  // namespace

bool NetworkCore::isCut(uint32_t from, uint32_t to) const {
  if (cut_.empty() && isolated_.empty()) return false;
  return cut_.contains({from, to}) || (from != to && (isolated_.contains(from) || isolated_.contains(to)));
}

const LinkOptions& NetworkCore::link(uint32_t from, uint32_t to) const {
  if (links_.empty()) return defaultLink_;
  const auto found = links_.find({from, to});
  return found == links_.end() ? defaultLink_ : found->second;
}

Duration NetworkCore::delay(uint32_t from, uint32_t to) {
  const auto& options = link(from, to);
  return choices_.between(options.minDelay, options.maxDelay);
}

// Pipes

void NetworkCore::transmit(const std::shared_ptr<Pipe>& pipe, Pipe::Kind kind, ByteVector bytes) {
  const auto now = world_.scheduler.now();
  auto leaves = now;
  if (const uint64_t speed = link(pipe->from, pipe->to).bytesPerSecond; speed != 0 && !bytes.empty()) {
    leaves = std::max(now, pipe->lineFree) + Duration(static_cast<int64_t>(bytes.size() * 1'000'000'000 / speed));
    pipe->lineFree = leaves;
  }
  pipe->last = std::max(pipe->last, leaves + delay(pipe->from, pipe->to));
  pipe->packets.push_back({pipe->last, kind, std::move(bytes)});
  if (!pipe->scheduled) arm(pipe, pipe->packets.front().at);
}

void NetworkCore::arm(const std::shared_ptr<Pipe>& pipe, MonotonicTime at) {
  pipe->scheduled = true;
  world_.scheduler.at(at, [this, pipe] { arrive(pipe); });
}

void NetworkCore::arrive(const std::shared_ptr<Pipe>& pipe) {
  if (isCut(pipe->from, pipe->to)) {
    blocked_.push_back(pipe);
    return;
  }
  pipe->scheduled = false;
  const auto now = world_.scheduler.worldTime();
  while (!pipe->packets.empty() && pipe->packets.front().at <= now) {
    auto packet = std::move(pipe->packets.front());
    pipe->packets.pop_front();
    deliver(*pipe, std::move(packet));
  }
  if (!pipe->packets.empty()) arm(pipe, pipe->packets.front().at);
}

void NetworkCore::rearm() {
  auto waiting = std::move(blocked_);
  blocked_.clear();
  for (const auto& pipe : waiting) arm(pipe, world_.scheduler.now() + delay(pipe->from, pipe->to));
}

void NetworkCore::deliver(Pipe& pipe, Pipe::Packet packet) {
  world_.trace.record(world_.scheduler.worldTime(), TraceKind::Network, pipe.id, static_cast<uint64_t>(packet.kind),
                      mix(crc32c(packet.bytes), packet.bytes.size()), [&] {
                        static constexpr std::string_view kNames[] = {"connected", "data", "finish", "reset"};
                        return fmt::format("pipe {} {} → {} {} {} bytes {:08x}", pipe.id, world_.nameOf(pipe.from),
                                           world_.nameOf(pipe.to), kNames[static_cast<size_t>(packet.kind)],
                                           packet.bytes.size(), crc32c(packet.bytes));
                      });
  const auto socket = pipe.receiver.lock();
  if (!socket || socket->closed) {
    if (packet.kind == Pipe::Kind::Data) refuse(pipe);
    return;
  }
  switch (packet.kind) {
    case Pipe::Kind::Connected:
      if (socket->dial) finishDial(socket->dial, {});
      return;
    case Pipe::Kind::Data:
      if (socket->available() == 0) {
        socket->received = std::move(packet.bytes);
        socket->receivedFrom = 0;
      } else {
        socket->received.insert(socket->received.end(), packet.bytes.begin(), packet.bytes.end());
      }
      break;
    case Pipe::Kind::Finish:
      socket->finished = true;
      break;
    case Pipe::Kind::Reset:
      socket->reset = true;
      if (socket->dial) return finishDial(socket->dial, networkError("connection refused"));
      break;
  }
  wake(*socket);
}

void NetworkCore::refuse(Pipe& pipe) {
  if (pipe.silent) {
    pipe.swallowed = true;
    return;
  }
  auto sender = pipe.sender;
  world_.scheduler.at(world_.scheduler.now() + delay(pipe.to, pipe.from), [this, sender] {
    const auto socket = sender.lock();
    if (!socket || socket->closed || isCut(socket->out->to, socket->out->from)) return;
    socket->reset = true;
    wake(*socket);
  });
}

// Sockets

void NetworkCore::wake(SimulatedSocket& socket) {
  if (!socket.owner) return;
  if (socket.readHandler && !socket.readPosted && (socket.available() > 0 || socket.finished || socket.reset)) {
    socket.readPosted = true;
    world_.scheduler.enqueue(
        socket.owner, [this, self = socket.shared_from_this()] { finishRead(*self); }, world_.scheduler.now());
  }
  if (socket.reset && socket.writeHandler && !socket.writePosted) {
    finishWrite(socket, networkError(fmt::format("connection to {} was reset by the peer", socket.remote)));
  }
}

void NetworkCore::read(SimulatedSocket& socket, MutableBytes into, Connection::ReadHandler handler) {
  if (socket.closed) return world_.scheduler.forget(std::move(handler));
  TIDEMARK_INVARIANT(!socket.readHandler, std::string("a second read on one connection"));
  TIDEMARK_INVARIANT(!into.empty(), std::string("a read of no bytes"));
  socket.readInto = into;
  socket.readHandler = std::move(handler);
  wake(socket);
}

void NetworkCore::finishRead(SimulatedSocket& socket) {
  socket.readPosted = false;
  if (socket.closed || !socket.readHandler) return;
  auto handler = std::move(socket.readHandler);
  socket.readHandler = nullptr;
  if (socket.available() == 0) {
    if (socket.reset) {
      handler(networkError(fmt::format("connection to {} was reset by the peer", socket.remote)));
    } else {
      handler(size_t{0});
    }
    return;
  }
  size_t count = std::min(socket.available(), socket.readInto.size());
  if (count > 1 && choices_.chance(kShortTransferPercent)) count = 1 + choices_.below(count);
  std::memcpy(socket.readInto.data(), socket.received.data() + socket.receivedFrom, count);
  socket.receivedFrom += count;
  socket.in->unread -= count;
  if (const auto peer = socket.in->sender.lock(); peer && peer->writeHandler && !peer->pumpPosted) {
    peer->pumpPosted = true;
    world_.scheduler.at(world_.scheduler.now(), [this, peer] {
      peer->pumpPosted = false;
      pump(*peer);
    });
  }
  handler(count);
}

void NetworkCore::write(SimulatedSocket& socket, std::vector<Piece> pieces, Connection::WriteHandler handler) {
  if (socket.closed) return world_.scheduler.forget(std::move(handler));
  TIDEMARK_INVARIANT(!socket.writeHandler, std::string("a second write on one connection"));
  socket.pieces = std::move(pieces);
  socket.piece = 0;
  socket.pieceOffset = 0;
  socket.writeHandler = std::move(handler);
  if (socket.reset) return wake(socket);
  pump(socket);
}

Result<ByteVector> NetworkCore::takeBytes(SimulatedSocket& socket, uint64_t room) {
  ByteVector bytes;
  while (socket.piece < socket.pieces.size() && bytes.size() < room) {
    auto& piece = socket.pieces[socket.piece];
    uint64_t length;
    if (const auto* memory = std::get_if<SharedBytes>(&piece)) {
      length = memory->size();
      const auto part = memory->view().subspan(socket.pieceOffset,
                                               std::min<uint64_t>(length - socket.pieceOffset, room - bytes.size()));
      bytes.insert(bytes.end(), part.begin(), part.end());
      socket.pieceOffset += part.size();
    } else {
      const auto& slice = std::get<FileSlice>(piece);
      length = slice.length;
      const size_t before = bytes.size();
      const uint64_t count = std::min<uint64_t>(length - socket.pieceOffset, room - before);
      bytes.resize(before + count);
      TIDEMARK_ASSIGN(const size_t got, readForSending(*slice.file, slice.position + socket.pieceOffset,
                                                       MutableBytes(bytes).subspan(before)));
      if (got < count) {
        return networkError(fmt::format("{} ends before the {} bytes at {} that were to be sent", slice.file->path(),
                                        slice.length, slice.position));
      }
      socket.pieceOffset += count;
    }
    if (socket.pieceOffset == length) {
      ++socket.piece;
      socket.pieceOffset = 0;
    }
  }
  return bytes;
}

void NetworkCore::pump(SimulatedSocket& socket) {
  if (socket.closed || !socket.writeHandler || socket.writePosted || socket.process->dead()) return;
  while (socket.piece < socket.pieces.size() && socket.out->unread < kWindow) {
    uint64_t room = std::min(kMaxPacket, kWindow - socket.out->unread);
    if (choices_.chance(kShortTransferPercent)) room = 1 + choices_.below(std::min<uint64_t>(room, 512));
    auto bytes = takeBytes(socket, room);
    if (!bytes) return finishWrite(socket, fail(std::move(bytes).error()));
    if (bytes->empty()) continue;
    socket.out->unread += bytes->size();
    transmit(socket.out, Pipe::Kind::Data, std::move(*bytes));
  }
  if (socket.piece == socket.pieces.size()) finishWrite(socket, {});
}

void NetworkCore::finishWrite(SimulatedSocket& socket, Result<void> result) {
  socket.writePosted = true;
  world_.scheduler.bury(std::move(socket.pieces));
  socket.pieces.clear();
  world_.scheduler.enqueue(
      socket.owner,
      [self = socket.shared_from_this(), result = std::move(result)] {
        self->writePosted = false;
        if (self->closed || !self->writeHandler) return;
        auto handler = std::move(self->writeHandler);
        self->writeHandler = nullptr;
        handler(result);
      },
      world_.scheduler.now());
}

void NetworkCore::close(SimulatedSocket& socket, bool silently) {
  if (socket.closed) return;
  socket.closed = true;
  sockets_.erase(socket.id);
  if (silently) {
    socket.in->silent = true;
  } else if (!socket.reset) {
    // As Linux does: unread bytes make it a reset.
    transmit(socket.out, socket.available() > 0 ? Pipe::Kind::Reset : Pipe::Kind::Finish, {});
  }
  auto& scheduler = world_.scheduler;
  if (socket.readHandler) scheduler.bury(std::move(socket.readHandler));
  if (socket.writeHandler) scheduler.bury(std::move(socket.writeHandler));
  scheduler.bury(std::move(socket.pieces));
  socket.readHandler = nullptr;
  socket.writeHandler = nullptr;
  socket.pieces.clear();
  socket.received = {};
  socket.receivedFrom = 0;
}

// Listening

Result<std::vector<NetworkCore::HostFamily>> NetworkCore::resolve(const ProcessCore& process, const std::string& host,
                                                                  bool listening) const {
  const bool own = host == process.host;
  if (listening && host.empty()) return std::vector<HostFamily>{{process.host, false}, {process.host, true}};
  if (host == "localhost" || host == "127.0.0.1" || (own && host.find(':') == std::string::npos) ||
      (listening && host == "0.0.0.0")) {
    return std::vector<HostFamily>{{process.host, false}};
  }
  if (host == "::1" || own || (listening && host == "::")) return std::vector<HostFamily>{{process.host, true}};
  if (listening) return networkError(fmt::format("cannot listen on {}: not an address of this machine", host));
  if (!hosts_.contains(host)) return networkError(fmt::format("cannot connect to {}: no such host", host));
  return std::vector<HostFamily>{{host, host.find(':') != std::string::npos}};
}

Result<std::shared_ptr<SimulatedListener>> NetworkCore::listen(ProcessCore& process,
                                                               std::shared_ptr<ExecutorCore> owner,
                                                               const Endpoint& at) {
  if (process.dead()) return networkError("process is dead");
  TIDEMARK_ASSIGN(const auto places, resolve(process, at.host, true));
  const auto taken = [&](uint16_t port) {
    return std::any_of(places.begin(), places.end(),
                       [&](const HostFamily& place) { return listeners_.contains({place.host, place.v6, port}); });
  };
  Endpoint endpoint = at;
  if (endpoint.port == 0) {
    for (endpoint.port = kFirstPickedPort; taken(endpoint.port);) ++endpoint.port;
  } else if (taken(endpoint.port)) {
    return networkError(fmt::format("cannot listen on {}: port {} is in use", at, at.port));
  }
  auto listener = std::make_shared<SimulatedListener>();
  listener->process = process.shared_from_this();
  listener->executor = std::move(owner);
  listener->endpoint = endpoint;
  for (const auto& place : places) listeners_[{place.host, place.v6, endpoint.port}] = listener;
  return listener;
}

void NetworkCore::accept(const std::shared_ptr<SimulatedListener>& listener, std::shared_ptr<ExecutorCore> owner,
                         Acceptor::AcceptHandler handler) {
  if (listener->closed) return world_.scheduler.forget(std::move(handler));
  TIDEMARK_INVARIANT(!listener->handler, std::string("a second accept on one acceptor"));
  listener->handler = std::move(handler);
  listener->handlerOwner = std::move(owner);
  offer(listener);
}

void NetworkCore::close(SimulatedListener& listener, bool silently) {
  if (listener.closed) return;
  listener.closed = true;
  std::erase_if(listeners_, [&](const auto& entry) { return entry.second.get() == &listener; });
  for (const auto& socket : listener.backlog) close(*socket, silently);
  listener.backlog.clear();
  if (listener.handler) world_.scheduler.bury(std::move(listener.handler));
  listener.handler = nullptr;
}

// Connecting

void NetworkCore::connect(ProcessCore& process, std::shared_ptr<ExecutorCore> owner, const Endpoint& to,
                          Duration timeout, Network::ConnectHandler handler) {
  auto& scheduler = world_.scheduler;
  if (process.dead()) return scheduler.forget(std::move(handler));
  auto dial = std::make_shared<SimulatedDial>();
  dial->id = ++nextId_;
  dial->process = process.shared_from_this();
  dial->owner = std::move(owner);
  dial->to = to;
  dial->handler = std::move(handler);
  dials_[dial->id] = dial;
  scheduler.at(scheduler.now() + delay(process.nameId, process.nameId), [this, dial] { knock(dial); });
  scheduler.at(scheduler.now() + timeout, [this, dial] {
    if (dial->done) return;
    finishDial(dial, networkError(fmt::format("cannot connect to {}: timed out", dial->to)));
  });
}

void NetworkCore::knock(const std::shared_ptr<SimulatedDial>& dial) {
  if (dial->done) return;
  auto& process = *dial->process;
  auto& scheduler = world_.scheduler;
  const auto places = resolve(process, dial->to.host, false);
  if (!places) return finishDial(dial, fail(places.error()));
  const auto& place = places->front();
  const auto found = listeners_.find({place.host, place.v6, dial->to.port});
  if (found == listeners_.end()) {
    return finishDial(dial, networkError(fmt::format("cannot connect to {}: connection refused", dial->to)));
  }
  const auto listener = found->second;
  const uint32_t from = process.nameId;
  const uint32_t to = listener->process->nameId;
  if (isCut(from, to) || listener->backlog.size() >= SimulatedListener::kMaxBacklog) {
    scheduler.at(scheduler.now() + dial->retry, [this, dial] { knock(dial); });
    dial->retry *= 2;
    return;
  }
  auto client = std::make_shared<SimulatedSocket>();
  auto server = std::make_shared<SimulatedSocket>();
  auto there = std::make_shared<Pipe>();
  auto back = std::make_shared<Pipe>();
  uint16_t& last = lastEphemeral_[process.host];
  last = last < kFirstEphemeralPort || last == UINT16_MAX ? kFirstEphemeralPort : static_cast<uint16_t>(last + 1);
  client->id = there->id = ++nextId_;
  server->id = back->id = ++nextId_;
  there->from = back->to = from;
  there->to = back->from = to;
  there->sender = back->receiver = client;
  there->receiver = back->sender = server;
  client->out = server->in = there;
  client->in = server->out = back;
  client->process = dial->process;
  server->process = listener->process;
  client->owner = dial->owner;
  const bool loopbackV6 = place.v6 && place.host.find(':') == std::string::npos;
  client->local = server->remote = {loopbackV6 ? "::1" : process.host, last};
  client->remote = server->local = {loopbackV6 ? "::1" : place.host, dial->to.port};
  client->dial = dial;
  dial->socket = client;
  sockets_[client->id] = client;
  sockets_[server->id] = server;
  transmit(back, Pipe::Kind::Connected, {});
  listener->backlog.push_back(std::move(server));
  offer(listener);
}

void NetworkCore::processStarts(const ProcessCore& process) {
  hosts_.insert(process.host);
  for (const auto& socket : sockets()) {
    auto& pipe = *socket->out;
    if (pipe.to != process.nameId || !pipe.silent) continue;
    pipe.silent = false;
    if (pipe.swallowed) refuse(pipe);
  }
}

void NetworkCore::processDies(const ProcessCore& process, bool silently) {
  for (const auto& socket : sockets()) {
    if (socket->process.get() == &process) close(*socket, silently);
  }
  std::vector<std::shared_ptr<SimulatedListener>> gone;
  for (const auto& [address, listener] : listeners_) {
    if (listener->process.get() == &process) gone.push_back(listener);
  }
  for (const auto& listener : gone) close(*listener, silently);
  for (auto it = dials_.begin(); it != dials_.end();) {
    const auto dial = it->second.lock();
    if (dial && dial->process.get() != &process) {
      ++it;
      continue;
    }
    if (dial) {
      dial->done = true;
      world_.scheduler.bury(std::move(dial->handler));
      dial->handler = nullptr;
      dial->socket.reset();
    }
    it = dials_.erase(it);
  }
}

// Links

void NetworkCore::heal(uint32_t from, uint32_t to) {
  cut_.erase({from, to});
  cut_.erase({to, from});
  rearm();
}

void NetworkCore::heal(uint32_t name) {
  isolated_.erase(name);
  rearm();
}

void NetworkCore::heal() {
  cut_.clear();
  isolated_.clear();
  rearm();
}

void NetworkCore::reset(uint32_t a, uint32_t b) {
  for (const auto& socket : sockets()) {
    const auto& pipe = *socket->out;
    if ((pipe.from != a || pipe.to != b) && (pipe.from != b || pipe.to != a)) continue;
    socket->reset = true;
    wake(*socket);
  }
}

std::vector<std::shared_ptr<SimulatedSocket>> NetworkCore::sockets() const {
  std::vector<std::shared_ptr<SimulatedSocket>> all;
  for (const auto& [id, weak] : sockets_) {
    if (auto socket = weak.lock()) all.push_back(std::move(socket));
  }
  return all;
}

size_t NetworkCore::connectionCount() const {
  return (sockets_.size() + 1) / 2;
}

void NetworkCore::clear() {
  blocked_.clear();
  listeners_.clear();
  sockets_.clear();
  dials_.clear();
}

void SimulatedNetwork::cut(const std::string& a, const std::string& b) {
  core_.network.cut(core_.nameId(a), core_.nameId(b));
  core_.network.cut(core_.nameId(b), core_.nameId(a));
}
void SimulatedNetwork::cutOneWay(const std::string& from, const std::string& to) {
  core_.network.cut(core_.nameId(from), core_.nameId(to));
}
void SimulatedNetwork::isolate(const std::string& name) {
  core_.network.isolate(core_.nameId(name));
}
void SimulatedNetwork::heal(const std::string& a, const std::string& b) {
  core_.network.heal(core_.nameId(a), core_.nameId(b));
}
void SimulatedNetwork::heal(const std::string& name) {
  core_.network.heal(core_.nameId(name));
}
void SimulatedNetwork::heal() {
  core_.network.heal();
}
void SimulatedNetwork::setLink(const std::string& from, const std::string& to, LinkOptions options) {
  core_.network.setLink(core_.nameId(from), core_.nameId(to), options);
}
void SimulatedNetwork::reset(const std::string& a, const std::string& b) {
  core_.network.reset(core_.nameId(a), core_.nameId(b));
}
bool SimulatedNetwork::isCut(const std::string& from, const std::string& to) const {
  return core_.network.wasCut(core_.knownName(from), core_.knownName(to));
}
bool SimulatedNetwork::isIsolated(const std::string& name) const {
  return core_.network.wasIsolated(core_.knownName(name));
}
LinkOptions SimulatedNetwork::link(const std::string& from, const std::string& to) const {
  return core_.network.link(core_.knownName(from), core_.knownName(to));
}
size_t SimulatedNetwork::connectionCount() const {
  return core_.network.connectionCount();
}

}  // namespace tidemark::platform
