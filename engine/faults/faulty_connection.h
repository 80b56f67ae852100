#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "faults/fault_book.h"
#include "platform/network.h"

namespace tidemark::faults {

/// What connections of one broker share.
struct Links {
  platform::Clock& clock;
  std::shared_ptr<FaultBook> book;
  std::shared_ptr<const Site> site;
};

/// The state of a connection whose link may be faulty. Belongs to the connection's executor, but for linksChanged().
class FaultyStream final : public LinkWaiter, public std::enable_shared_from_this<FaultyStream> {
 public:
  using ReadHandler = platform::Connection::ReadHandler;
  using WriteHandler = platform::Connection::WriteHandler;

  /// Of a connection that we opened; `passage`: where to, or nothing if it is to no node. `executor`: the owner's, of
  /// the platform below.
  FaultyStream(Links links, std::weak_ptr<platform::Executor> executor, std::unique_ptr<platform::Connection> below,
               std::optional<Passage> passage);
  /// Of one that we accepted, at that listener.
  FaultyStream(Links links, std::weak_ptr<platform::Executor> executor, std::unique_ptr<platform::Connection> below,
               Port listener);

  void read(MutableBytes into, ReadHandler handler);
  void write(std::vector<platform::Piece> pieces, WriteHandler handler);
  void close();
  void linksChanged() override;

  platform::Connection& below() noexcept { return *below_; }
  bool isOpener() const noexcept { return isOpener_; }

 private:
  struct Outgoing {
    std::vector<platform::Piece> pieces;
    uint64_t bytes = 0;
    uint64_t ticket = 0;
    /// When it leaves; nothing: it is held.
    std::optional<MonotonicTime> leaves;
    /// Empty once whoever wrote it was told that it is on its way.
    WriteHandler handler;
  };
  struct Incoming {
    Result<size_t> count{0};
    uint64_t ticket = 0;
  };
  /// When the last transfer arrives, and when the line is free for the next byte.
  struct Line {
    MonotonicTime last{};
    MonotonicTime free{};
  };

  LinkVerdict ask(bool outgoing, uint64_t bytes, uint64_t ticket);
  static MonotonicTime arrival(Line& line, const LinkVerdict& verdict, uint64_t bytes, MonotonicTime now);
  /// Looks for the client's name in what has come.
  void learnName(ByteView bytes);
  void arrived(Result<size_t> count);
  void judgeIncoming();
  void deliver(Result<size_t> count);
  void queue(std::vector<platform::Piece> pieces, WriteHandler handler);
  /// Decides about what is held or new, in order, as far as it can.
  void judgeOutgoing();
  void send();
  void sent(Result<void> result);
  /// The connection below is over, and nothing is under way any more.
  void closeBelow();
  void resetByLink();
  void post(platform::Task task);

  const Links links_;
  const std::weak_ptr<platform::Executor> executor_;
  const std::unique_ptr<platform::Connection> below_;
  std::optional<Passage> passage_;
  const bool isOpener_;
  bool closed_ = false;
  /// The link has reset it.
  bool broken_ = false;

  /// What a client has sent first, until its name is known.
  std::optional<ByteVector> beginning_;
  Port listener_ = Port::Any;
  MutableBytes into_;
  ReadHandler readHandler_;
  std::optional<Incoming> incoming_;
  Line inLine_;
  platform::Timer inTimer_;

  std::deque<Outgoing> outgoing_;
  uint64_t underWay_ = 0;
  Result<void> outResult_;
  bool sending_ = false;
  Line outLine_;
  platform::Timer outTimer_;
};

}  // namespace tidemark::faults
