// The least that a broker can possibly be, as a yardstick for the time of one request: one thread, one epoll, one
// partition.
//
//   tidemark_bench_floor_broker --file F        prints {"port":P}; ends with its standard input
//
// It answers ApiVersions, Metadata, ListOffsets, Produce and Fetch to one client at a time and keeps what was produced
// in F and in memory: a batch is received, summed with CRC-32C, written and acknowledged, and the fetch that waits gets
// it at once. No second thread, no checks, one topic at a time with its partition 0, nothing survives. Heartbeats of
// members of groups and commits of offsets it answers at once, whoever comes, and keeps nothing.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/crc32c.h"
#include "protocol/framing.h"
#include "protocol/generated/api_versions_response.h"
#include "protocol/generated/consumer_group_heartbeat_request.h"
#include "protocol/generated/consumer_group_heartbeat_response.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/heartbeat_response.h"
#include "protocol/generated/list_offsets_request.h"
#include "protocol/generated/list_offsets_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"

namespace {

using namespace tidemark;
using namespace tidemark::protocol;

constexpr size_t kCrcAt = 17, kAttributesAt = 21, kLastOffsetDeltaAt = 23;

int64_t check(int64_t result, const char* what) {
  if (result < 0) throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
  return result;
}

template <class T>
T value(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

struct Client {
  std::vector<uint8_t> received = std::vector<uint8_t>(64 << 10);
  size_t have = 0;
};

/// A fetch that waits for data.
struct Parked {
  int client = -1;
  int16_t version = 0;
  int32_t correlationId = 0;
  Text topic;
  std::string topicName;
  int64_t offset = 0;
};

class FloorBroker {
 public:
  FloorBroker(int file, uint16_t port) : file_(file), port_(port) {
    all_.reserve(64U << 20);
    starts_.reserve(1U << 20);
  }

  void request(int client, MutableBytes frame) {
    Reader reader(frame);
    const RequestHeader header = value(decodeRequestHeader(reader));
    const int16_t version = header.requestApiVersion;
    const int32_t id = header.correlationId;
    switch (static_cast<ApiKey>(header.requestApiKey)) {
      case ApiKey::ApiVersions:
        return answer(client, apiVersions(version), std::min<int16_t>(version, 3), id);
      case ApiKey::Metadata:
        return answer(client, metadata(value(decode<MetadataRequest>(reader.rest(), version))), version, id);
      case ApiKey::ListOffsets:
        return answer(client, listOffsets(value(decode<ListOffsetsRequest>(reader.rest(), version))), version, id);
      case ApiKey::Produce:
        return produce(client, value(decode<ProduceRequest>(reader.rest(), version)), version, id);
      case ApiKey::Fetch:
        return fetch(client, value(decode<FetchRequest>(reader.rest(), version)), version, id);
      case ApiKey::Heartbeat:
        value(decode<HeartbeatRequest>(reader.rest(), version));
        return answer(client, HeartbeatResponse(), version, id);
      case ApiKey::ConsumerGroupHeartbeat:
        return answer(client, heartbeat(value(decode<ConsumerGroupHeartbeatRequest>(reader.rest(), version))), version,
                      id);
      case ApiKey::OffsetCommit:
        return answer(client, commit(value(decode<OffsetCommitRequest>(reader.rest(), version))), version, id);
      default:
        throw std::runtime_error(fmt::format("API {} is not served here", header.requestApiKey));
    }
  }

  void forget(int client) {
    if (parked_.client == client) parked_.client = -1;
  }

 private:
  template <class Response>
  void answer(int client, const Response& response, int16_t version, int32_t correlationId) {
    FrameWriter writer(512);
    if (const auto written = writeResponseFrame(writer, response, version, correlationId); !written) {
      throw std::runtime_error(written.error().message);
    }
    const ByteVector bytes = value(writer.takeBytes());
    for (size_t sent = 0; sent < bytes.size();) {
      sent +=
          static_cast<size_t>(check(::send(client, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL), "send"));
    }
  }

  static ApiVersionsResponse apiVersions(int16_t version) {
    ApiVersionsResponse response;
    if (version > 3) response.errorCode = static_cast<int16_t>(ErrorCode::UnsupportedVersion);
    constexpr std::array<std::array<int16_t, 3>, 5> kServed{{{0, 0, 9}, {1, 4, 11}, {2, 1, 7}, {3, 0, 12}, {18, 0, 3}}};
    for (const auto& [key, from, to] : kServed)
      response.apiKeys.push_back({.apiKey = key, .minVersion = from, .maxVersion = to});
    return response;
  }

  /// A name not asked for before begins a new log.
  void startAnew(const std::string& topic) {
    if (topic == topic_) return;
    topic_ = topic;
    end_ = position_ = 0;
    all_.clear();
    starts_.clear();
    parked_ = {};
  }

  MetadataResponse metadata(const MetadataRequest& request) {
    MetadataResponse response;
    response.brokers.push_back({.nodeId = 1, .host = Text("127.0.0.1"), .port = port_, .rack = {}});
    response.controllerId = 1;
    if (!request.topics) return response;
    for (const auto& topic : *request.topics) {
      auto& told = response.topics.emplace_back();
      startAnew(topic.name ? topic.name->str() : std::string());
      told.name = Text(topic_);
      told.partitions.push_back(
          {.partitionIndex = 0, .leaderId = 1, .replicaNodes = {1}, .isrNodes = {1}, .offlineReplicas = {}});
    }
    return response;
  }

  ListOffsetsResponse listOffsets(const ListOffsetsRequest& request) const {
    ListOffsetsResponse response;
    for (const auto& topic : request.topics) {
      auto& told = response.topics.emplace_back();
      told.name = Text(topic.name.str());
      for (const auto& partition : topic.partitions) {
        told.partitions.push_back({.partitionIndex = partition.partitionIndex,
                                   .timestamp = -1,
                                   .offset = partition.timestamp == -2 ? 0 : end_});
      }
    }
    return response;
  }

  static ConsumerGroupHeartbeatResponse heartbeat(const ConsumerGroupHeartbeatRequest& request) {
    ConsumerGroupHeartbeatResponse response;
    response.memberId = Text(request.memberId.str());
    response.memberEpoch = request.memberEpoch;
    return response;
  }

  static OffsetCommitResponse commit(const OffsetCommitRequest& request) {
    OffsetCommitResponse response;
    for (const auto& topic : request.topics) {
      auto& told = response.topics.emplace_back();
      told.name = Text(topic.name.str());
      for (const auto& partition : topic.partitions)
        told.partitions.push_back({.partitionIndex = partition.partitionIndex});
    }
    return response;
  }

  void produce(int client, const ProduceRequest& request, int16_t version, int32_t correlationId) {
    ProduceResponse response;
    for (const auto& topic : request.topicData) {
      auto& told = response.responses.emplace_back();
      told.name = Text(topic.name.str());
      for (const auto& partition : topic.partitionData) {
        const ByteView records = partition.records.view();
        auto* const batch = const_cast<uint8_t*>(records.data());  // in the buffer it came in
        if (crc32c(records.subspan(kAttributesAt)) != readBigEndian<uint32_t>(batch + kCrcAt)) {
          throw std::runtime_error("a damaged batch");
        }
        writeBigEndian<int64_t>(batch, end_);
        check(::pwrite(file_, batch, records.size(), position_), "pwrite");
        position_ += static_cast<int64_t>(records.size());
        told.partitionResponses.push_back({.index = partition.index, .errorCode = 0, .baseOffset = end_});
        starts_.emplace_back(end_, all_.size());
        all_.insert(all_.end(), records.begin(), records.end());
        end_ += readBigEndian<int32_t>(batch + kLastOffsetDeltaAt) + 1;
      }
    }
    answer(client, response, version, correlationId);
    if (parked_.client >= 0 && parked_.offset < end_) {
      const Parked due = std::exchange(parked_, {});
      deliver(due);
    }
  }

  void fetch(int client, const FetchRequest& request, int16_t version, int32_t correlationId) {
    Parked wanted{.client = client,
                  .version = version,
                  .correlationId = correlationId,
                  .topic = {},
                  .topicName = {},
                  .offset = end_};
    for (const auto& topic : request.topics) {
      wanted.topicName = topic.topic.str();
      for (const auto& partition : topic.partitions) wanted.offset = partition.fetchOffset;
    }
    // Without a deadline: the load never stops for as long as a fetch waits.
    if (wanted.offset >= end_ && !wanted.topicName.empty()) {
      parked_ = std::move(wanted);
    } else {
      deliver(wanted);
    }
  }

  /// All there is from the wanted offset on.
  void deliver(const Parked& wanted) {
    FetchResponse response;
    if (!wanted.topicName.empty()) {
      auto& told = response.responses.emplace_back();
      told.topic = Text(wanted.topicName);
      auto& data = told.partitions.emplace_back();
      data.highWatermark = data.lastStableOffset = end_;
      data.abortedTransactions = std::nullopt;
      const auto from = std::lower_bound(starts_.begin(), starts_.end(), std::pair<int64_t, size_t>(wanted.offset, 0));
      if (from != starts_.end()) data.records = Records::borrowed(ByteView(all_).subspan(from->second));
    }
    answer(wanted.client, response, wanted.version, wanted.correlationId);
  }

  const int file_;
  const uint16_t port_;
  std::string topic_;
  int64_t end_ = 0;
  int64_t position_ = 0;
  std::vector<uint8_t> all_;
  std::vector<std::pair<int64_t, size_t>> starts_;  ///< first offset and place of each batch
  Parked parked_;
};

void serve(const std::string& path) {
  const int file =
      static_cast<int>(check(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), path.c_str()));
  const int listener = static_cast<int>(check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  check(::bind(listener, generic, size), "bind");
  check(::listen(listener, SOMAXCONN), "listen");
  check(::getsockname(listener, generic, &size), "getsockname");
  FloorBroker broker(file, ntohs(address.sin_port));
  fmt::print("{{\"port\":{}}}\n", ntohs(address.sin_port));
  std::fflush(stdout);

  const int events = static_cast<int>(check(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1"));
  const auto watch = [&](int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    check(::epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
  };
  watch(listener);
  watch(STDIN_FILENO);
  std::map<int, Client> clients;
  const auto readable = [&](int descriptor) {
    Client& client = clients[descriptor];
    const ssize_t got =
        ::recv(descriptor, client.received.data() + client.have, client.received.size() - client.have, 0);
    if (got <= 0) {
      broker.forget(descriptor);
      clients.erase(descriptor);
      ::close(descriptor);
      return;
    }
    client.have += static_cast<size_t>(got);
    size_t done = 0;
    while (client.have - done >= kFrameLengthSize) {
      const auto length = static_cast<size_t>(readBigEndian<int32_t>(client.received.data() + done));
      if (client.have - done < kFrameLengthSize + length) {
        client.received.resize(std::max(client.received.size(), done + kFrameLengthSize + length));
        break;
      }
      broker.request(descriptor, MutableBytes(client.received).subspan(done + kFrameLengthSize, length));
      done += kFrameLengthSize + length;
    }
    std::memmove(client.received.data(), client.received.data() + done, client.have - done);
    client.have -= done;
  };
  while (true) {
    std::array<epoll_event, 16> ready;
    const int count = ::epoll_wait(events, ready.data(), ready.size(), -1);
    if (count < 0 && errno == EINTR) continue;
    check(count, "epoll_wait");
    for (int i = 0; i < count; ++i) {
      const int descriptor = ready[static_cast<size_t>(i)].data.fd;
      if (descriptor == STDIN_FILENO) return;
      if (descriptor != listener) {
        readable(descriptor);
        continue;
      }
      const int client = static_cast<int>(check(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC), "accept"));
      const int on = 1;
      ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      watch(client);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 3 || std::string(argv[1]) != "--file") throw std::runtime_error("expected --file F");
    serve(argv[2]);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "tidemark_bench_floor_broker: {}\n", e.what());
    return 1;
  }
}
