#include "network/peer.h"

namespace tidemark::test {

struct Peer::State : std::enable_shared_from_this<Peer::State> {
  State(Stage& itsStage, platform::Process& itsProcess) : stage(itsStage), process(itsProcess) {}

  void read() {
    if (!connection || reading || stopped) return;
    reading = true;
    connection->read(buffer, [this](Result<size_t> count) {
      reading = false;
      const bool ended = !count || *count == 0;
      stage.change([&] {
        if (ended)
          closedByServer = true;
        else
          received.insert(received.end(), buffer, buffer + *count);
      });
      if (!ended) read();
    });
  }
  void write() {
    if (!connection || writing || outgoing.empty()) return;
    writing = true;
    std::vector<platform::Piece> pieces;
    for (auto& bytes : outgoing) pieces.emplace_back(SharedBytes(std::move(bytes)));
    outgoing.clear();
    connection->write(std::move(pieces), [this](Result<void> done) {
      writing = false;
      if (done) write();
    });
  }
  void post(platform::Task task) { executor->post(std::move(task)); }

  Stage& stage;
  platform::Process& process;
  std::shared_ptr<platform::Executor> executor;
  std::unique_ptr<platform::Connection> connection;
  std::deque<ByteVector> outgoing;
  bool reading = false;
  bool writing = false;
  bool stopped = false;
  uint8_t buffer[65536];

  bool isConnected = false;
  bool closedByServer = false;
  ByteVector received;
};

Peer::Peer(Stage& stage, platform::Process& process, platform::Endpoint server)
    : state_(std::make_shared<State>(stage, process)) {
  state_->executor = process.createExecutor({.name = "peer", .threads = 1});
  state_->post([state = state_, server = std::move(server)] {
    state->process.network().connect(*state->executor, server, std::chrono::seconds(10),
                                     [state](Result<std::unique_ptr<platform::Connection>> connection) {
                                       ASSERT_TRUE(connection.has_value()) << connection.error().message;
                                       state->connection = std::move(*connection);
                                       state->stage.change([&] { state->isConnected = true; });
                                       state->read();
                                       state->write();
                                     });
  });
}

Peer::~Peer() {
  close();
}

void Peer::send(ByteVector bytes) {
  state_->post([state = state_, bytes = std::move(bytes)]() mutable {
    state->outgoing.push_back(std::move(bytes));
    state->write();
  });
}

void Peer::close() {
  state_->post([state = state_] { state->connection.reset(); });
}

void Peer::stopReading() {
  state_->post([state = state_] { state->stopped = true; });
}

void Peer::goOnReading() {
  state_->post([state = state_] {
    state->stopped = false;
    state->read();
  });
}

bool Peer::connected() const {
  return state_->isConnected;
}
bool Peer::closed() const {
  return state_->closedByServer;
}
const ByteVector& Peer::received() const {
  return state_->received;
}

std::vector<ByteVector> Peer::frames() const {
  std::vector<ByteVector> frames;
  ByteView left = state_->received;
  while (left.size() >= 4) {
    const auto length = static_cast<size_t>(readBigEndian<int32_t>(left.data()));
    if (left.size() < 4 + length) break;
    frames.emplace_back(left.begin() + 4, left.begin() + 4 + static_cast<std::ptrdiff_t>(length));
    left = left.subspan(4 + length);
  }
  return frames;
}

std::vector<int32_t> Peer::correlationIds() const {
  std::vector<int32_t> ids;
  for (const auto& frame : frames()) ids.push_back(readBigEndian<int32_t>(frame.data()));
  return ids;
}

ByteVector framed(ByteView bytes) {
  ByteVector frame(4 + bytes.size());
  writeBigEndian(frame.data(), static_cast<int32_t>(bytes.size()));
  std::copy(bytes.begin(), bytes.end(), frame.begin() + 4);
  return frame;
}

ByteVector operator+(ByteVector a, const ByteVector& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace tidemark::test
