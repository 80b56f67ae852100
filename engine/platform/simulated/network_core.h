#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "platform/network.h"
#include "platform/simulated/generator.h"
#include "platform/simulated/network.h"

namespace tidemark::platform {

struct ProcessCore;
struct ExecutorCore;
struct SimulatedSocket;
struct SimulatedListener;
struct SimulatedDial;

/// One direction of a connection. What is under way stays in order; it lives on when its sender has gone.
struct Pipe {
  enum class Kind : uint8_t { Connected, Data, Finish, Reset };
  struct Packet {
    MonotonicTime at;
    Kind kind;
    ByteVector bytes;
  };

  uint64_t id = 0;
  uint32_t from = 0;
  uint32_t to = 0;
  std::weak_ptr<SimulatedSocket> sender;
  std::weak_ptr<SimulatedSocket> receiver;
  std::deque<Packet> packets;
  /// When the last packet arrives, and when the line is free for the next byte.
  MonotonicTime last;
  MonotonicTime lineFree;
  /// Sent but not yet read by the receiver's owner: the sender may have so much under way and no more.
  uint64_t unread = 0;
  /// An event for the first packet is on its way.
  bool scheduled = false;
  /// The receiver lost its power: it answers nothing until its process is started again, then it knows of nothing.
  bool silent = false;
  bool swallowed = false;
};

/// One end of a connection, as the operating system of a simulated process knows it.
struct SimulatedSocket : std::enable_shared_from_this<SimulatedSocket> {
  uint64_t id = 0;
  std::shared_ptr<ProcessCore> process;
  /// Null until somebody accepted it.
  std::shared_ptr<ExecutorCore> owner;
  Endpoint local;
  Endpoint remote;
  std::shared_ptr<Pipe> out;
  std::shared_ptr<Pipe> in;
  std::shared_ptr<SimulatedDial> dial;
  bool closed = false;
  bool finished = false;
  bool reset = false;

  ByteVector received;
  size_t receivedFrom = 0;
  MutableBytes readInto;
  Connection::ReadHandler readHandler;
  bool readPosted = false;

  std::vector<Piece> pieces;
  size_t piece = 0;
  uint64_t pieceOffset = 0;
  Connection::WriteHandler writeHandler;
  bool writePosted = false;
  bool pumpPosted = false;

  size_t available() const noexcept { return received.size() - receivedFrom; }
};

struct SimulatedListener {
  static constexpr size_t kMaxBacklog = 512;
  std::shared_ptr<ProcessCore> process;
  std::shared_ptr<ExecutorCore> executor;
  Endpoint endpoint;
  bool closed = false;
  std::deque<std::shared_ptr<SimulatedSocket>> backlog;
  Acceptor::AcceptHandler handler;
  std::shared_ptr<ExecutorCore> handlerOwner;
};

/// An attempt to connect.
struct SimulatedDial {
  uint64_t id = 0;
  std::shared_ptr<ProcessCore> process;
  std::shared_ptr<ExecutorCore> owner;
  Endpoint to;
  Network::ConnectHandler handler;
  std::shared_ptr<SimulatedSocket> socket;
  Duration retry = milliseconds(200);
  bool done = false;
};

/// All sockets, listeners and links of a World.
class NetworkCore {
 public:
  NetworkCore(WorldCore& world, uint64_t seed, LinkOptions link) noexcept
      : world_(world), choices_(seed), defaultLink_(link) {}

  Result<std::shared_ptr<SimulatedListener>> listen(ProcessCore& process, std::shared_ptr<ExecutorCore> owner,
                                                    const Endpoint& at);
  void accept(const std::shared_ptr<SimulatedListener>& listener, std::shared_ptr<ExecutorCore> owner,
              Acceptor::AcceptHandler handler);
  void close(SimulatedListener& listener, bool silently);

  void connect(ProcessCore& process, std::shared_ptr<ExecutorCore> owner, const Endpoint& to, Duration timeout,
               Network::ConnectHandler handler);

  void read(SimulatedSocket& socket, MutableBytes into, Connection::ReadHandler handler);
  void write(SimulatedSocket& socket, std::vector<Piece> pieces, Connection::WriteHandler handler);
  /// `silently`: the other side hears nothing.
  void close(SimulatedSocket& socket, bool silently);

  void processStarts(const ProcessCore& process);
  void processDies(const ProcessCore& process, bool silently);

  void cut(uint32_t from, uint32_t to) { cut_.insert({from, to}); }
  void isolate(uint32_t name) { isolated_.insert(name); }
  void heal(uint32_t from, uint32_t to);
  void heal(uint32_t name);
  void heal();
  void setLink(uint32_t from, uint32_t to, LinkOptions options) { links_[{from, to}] = options; }
  void reset(uint32_t a, uint32_t b);
  /// By cut(), whoever is isolated.
  bool wasCut(uint32_t from, uint32_t to) const { return cut_.contains({from, to}); }
  bool wasIsolated(uint32_t name) const { return isolated_.contains(name); }
  const LinkOptions& link(uint32_t from, uint32_t to) const;
  size_t connectionCount() const;
  void clear();

 private:
  /// Most bytes under way or unread in one direction of a connection.
  static constexpr uint64_t kWindow = 256 * 1024;
  static constexpr uint64_t kMaxPacket = 64 * 1024;
  static constexpr unsigned kShortTransferPercent = 10;
  static constexpr uint16_t kFirstPickedPort = 20000;
  static constexpr uint16_t kFirstEphemeralPort = 40000;

  using Address = std::tuple<std::string, bool, uint16_t>;  // host, whether IPv6, port
  struct HostFamily {
    std::string host;
    bool v6;
  };

  bool isCut(uint32_t from, uint32_t to) const;
  Duration delay(uint32_t from, uint32_t to);
  Result<std::vector<HostFamily>> resolve(const ProcessCore& process, const std::string& host, bool listening) const;

  void transmit(const std::shared_ptr<Pipe>& pipe, Pipe::Kind kind, ByteVector bytes);
  void arm(const std::shared_ptr<Pipe>& pipe, MonotonicTime at);
  void arrive(const std::shared_ptr<Pipe>& pipe);
  void deliver(Pipe& pipe, Pipe::Packet packet);
  /// The receiver does not know the connection: tells the sender.
  void refuse(Pipe& pipe);
  void wake(SimulatedSocket& socket);
  void finishRead(SimulatedSocket& socket);
  void pump(SimulatedSocket& socket);
  Result<ByteVector> takeBytes(SimulatedSocket& socket, uint64_t room);
  void finishWrite(SimulatedSocket& socket, Result<void> result);
  void offer(const std::shared_ptr<SimulatedListener>& listener);
  void knock(const std::shared_ptr<SimulatedDial>& dial);
  void finishDial(std::shared_ptr<SimulatedDial> dial, Result<void> result);
  void rearm();
  std::vector<std::shared_ptr<SimulatedSocket>> sockets() const;

  WorldCore& world_;
  Generator choices_;
  LinkOptions defaultLink_;
  uint64_t nextId_ = 0;
  std::map<std::pair<uint32_t, uint32_t>, LinkOptions> links_;
  std::set<std::pair<uint32_t, uint32_t>> cut_;
  std::set<uint32_t> isolated_;
  std::set<std::string> hosts_;
  std::map<std::string, uint16_t> lastEphemeral_;
  std::map<Address, std::shared_ptr<SimulatedListener>> listeners_;
  std::map<uint64_t, std::weak_ptr<SimulatedSocket>> sockets_;
  std::map<uint64_t, std::weak_ptr<SimulatedDial>> dials_;
  /// Pipes whose first packet waits for a link to be healed.
  std::vector<std::shared_ptr<Pipe>> blocked_;
};

/// Reads for a socket that sends part of a file: not a call of the process, cannot crash it.
Result<size_t> readForSending(const File& file, uint64_t position, MutableBytes into);

}  // namespace tidemark::platform
