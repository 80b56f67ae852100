#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "network/processor.h"
#include "network/server_fixture.h"
#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/heartbeat_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"

namespace tidemark::test {
namespace {

using network::RequestPtr;
using protocol::ApiKey;
using namespace std::chrono_literals;

ByteVector produceBytes(int32_t correlationId, size_t size) {
  ByteVector records(size);
  for (size_t i = 0; i < size; ++i) records[i] = static_cast<uint8_t>(i * 31 + (i >> 12));
  protocol::ProduceRequest request;
  request.acks = 1;
  request.topicData.push_back({.name = "t"});
  request.topicData[0].partitionData.push_back({.index = 3, .records = protocol::Records(std::move(records))});
  return requestBytes(request, 9, correlationId);
}

ByteVector fetchBytes(int32_t correlationId) {
  return requestBytes(protocol::FetchRequest(), 12, correlationId);
}

TIDEMARK_ON_EACH_PLATFORM(ServerTest);

TEST_P(ServerTest, AnswersARequestAndKnowsWhereItCameFrom) {
  network::RequestContext context;
  script = [&](RequestPtr request) {
    stage->change([&] { context = request->context(); });
    answerHeartbeat(*request, 27);
  };
  startServer();
  const auto peer = connect();
  peer->send(heartbeat(42, 10, "me"));
  ASSERT_TRUE(await([&] { return peer->frames().size() == 1; }));
  const ByteVector frame = peer->frames()[0];
  EXPECT_EQ(readBigEndian<int32_t>(frame.data()), 42);
  EXPECT_EQ(answerOf<protocol::HeartbeatResponse>(frame, 0).errorCode, 27);
  EXPECT_EQ(context.clientId(), "me");
  EXPECT_EQ(context.listener(), "PLAINTEXT");
  EXPECT_EQ(*context.principal, "User:ANONYMOUS");
  EXPECT_EQ(context.apiKey, ApiKey::Heartbeat);
  EXPECT_EQ(context.client->softwareName, "unknown");
}

TEST_P(ServerTest, AnswersPipelinedRequestsInTheOrderTheyWereSent) {
  startServer();
  const auto peer = connect();
  ByteVector all;
  std::vector<int32_t> expected;
  for (int32_t i = 0; i < 200; ++i) {
    all = all + heartbeat(i, static_cast<size_t>(i) * 53 % 9000);
    expected.push_back(i);
  }
  peer->send(std::move(all));
  ASSERT_TRUE(await([&] { return peer->frames().size() == 200; }));
  EXPECT_EQ(peer->correlationIds(), expected);
}

TEST_P(ServerTest, HasOneRequestOfAConnectionInFlight) {
  startServer();
  const auto peer = connect();
  peer->send(fetchBytes(1) + fetchBytes(2) + heartbeat(3));
  RequestPtr first = takeParked();
  stage->pass(10s);
  stage->change([&] {
    EXPECT_TRUE(parked.empty());
    EXPECT_TRUE(peer->frames().empty());
  });
  const auto connections = server->connections();
  ASSERT_EQ(connections.size(), 1u);
  EXPECT_TRUE(connections[0].inFlight);
  first->respond(protocol::FetchResponse());
  takeParked()->respond(protocol::FetchResponse());
  ASSERT_TRUE(await([&] { return peer->frames().size() == 3; }));
  EXPECT_EQ(peer->correlationIds(), (std::vector<int32_t>{1, 2, 3}));
}

TEST_P(ServerTest, GoesOnAtOnceAfterARequestThatGetsNoAnswer) {
  startServer();
  const auto peer = connect();
  peer->send(produceBytes(1, 10) + produceBytes(2, 10) + heartbeat(3));
  takeParked()->noResponse();
  takeParked()->noResponse();
  ASSERT_TRUE(await([&] { return peer->frames().size() == 1; }));
  EXPECT_EQ(peer->correlationIds(), (std::vector<int32_t>{3}));
}

TEST_P(ServerTest, HandlesQuickRequestsInOrderHoweverTheyAreAnswered) {
  quick = true;
  script = [&](RequestPtr request) {
    // Some at once, some without an answer, some later from another thread.
    if (request->apiKey() == ApiKey::Heartbeat) return answerHeartbeat(*request);
    if (request->context().correlationId % 2 == 1) return request->noResponse();
    stage->change([&] { parked.push_back(std::move(request)); });
  };
  startServer();
  const auto peer = connect();
  ByteVector all;
  std::vector<int32_t> expected;
  for (int32_t i = 0; i < 300; ++i) {
    const bool answered = i % 5 != 1;
    all = all + (answered ? heartbeat(i, static_cast<size_t>(i) * 53 % 9000) : produceBytes(i, 10));
    if (answered || i % 2 == 0) expected.push_back(i);
  }
  peer->send(std::move(all));
  for (int32_t i = 0; i < 300; ++i)
    if (i % 5 == 1 && i % 2 == 0) takeParked()->respond(protocol::ProduceResponse());
  ASSERT_TRUE(await([&] { return peer->frames().size() == expected.size(); }));
  EXPECT_EQ(peer->correlationIds(), expected);
}

TEST_P(ServerTest, WhatAHandlerPutsOffOnItsProcessorIsHandlingToo) {
  quick = true;
  std::vector<std::string> where;
  script = [&](RequestPtr request) {
    platform::Executor* const thread = request->thread();
    stage->change([&] { where.emplace_back(thread != nullptr ? "processor" : "pool"); });
    if (thread == nullptr) return answerHeartbeat(*request);
    thread->post([thread, request = std::move(request)] {
      EXPECT_TRUE(thread->isCurrent());
      thread->stall(2 * network::OwnHandling::kQuick);
      answerHeartbeat(*request);
    });
  };
  startServer();
  const auto peer = connect();
  peer->send(heartbeat(1) + heartbeat(2));
  ASSERT_TRUE(await([&] { return peer->frames().size() == 2; }));
  stage->change([&] { EXPECT_EQ(where, (std::vector<std::string>{"processor", "pool"})); });
}

TEST_P(ServerTest, WritesTheAnswersToSmallRequestsThatCameTogetherAtOnce) {
  quick = true;
  startServer();
  const auto peer = connect();
  const auto begin = clientProcess->clock().monotonic();
  peer->send(heartbeat(1) + heartbeat(2) + heartbeat(3));
  ASSERT_TRUE(await([&] { return peer->frames().size() == 3 && watch.steps.size() == 6; }));
  // What follows a request that took long, as it may on a busy machine, is left to the handlers.
  if (stage->isSimulated() || clientProcess->clock().monotonic() - begin <= network::OwnHandling::kQuick) {
    EXPECT_EQ(watch.steps, (std::vector<std::string>{"begun 1", "begun 2", "begun 3", "sent 1", "sent 2", "sent 3"}));
  }
  EXPECT_EQ(server->connections().at(0).bytesOut, peer->received().size());
}

TEST_P(ServerTest, HoldsNoAnswerWhileAnotherRequestParks) {
  quick = true;
  startServer();
  const auto peer = connect();
  peer->send(heartbeat(1) + heartbeat(2) + fetchBytes(3) + heartbeat(4));
  RequestPtr third = takeParked();
  ASSERT_TRUE(await([&] { return peer->frames().size() == 2; }));
  third->respond(protocol::FetchResponse());
  ASSERT_TRUE(await([&] { return peer->frames().size() == 4; }));
  EXPECT_EQ(peer->correlationIds(), (std::vector<int32_t>{1, 2, 3, 4}));
}

TEST_P(ServerTest, HoldsNoAnswerForARequestOfWhichThereIsOnlyAPart) {
  quick = true;
  script = [](const RequestPtr& request) {
    if (request->apiKey() == ApiKey::Heartbeat) return answerHeartbeat(*request);
    request->noResponse();
  };
  startServer();
  const auto peer = connect();
  const ByteVector last = heartbeat(3);
  peer->send(heartbeat(1) + produceBytes(2, 10) + ByteVector(last.begin(), last.end() - 1));
  ASSERT_TRUE(await([&] { return peer->frames().size() == 1; }));
  peer->send(ByteVector(last.end() - 1, last.end()));
  ASSERT_TRUE(await([&] { return peer->frames().size() == 2; }));
}

TEST_P(ServerTest, WritesTheAnswersThatAreHeldBeforeItCloses) {
  quick = true;
  script = [](const RequestPtr& request) {
    if (request->apiKey() == ApiKey::Heartbeat) answerHeartbeat(*request);
  };
  startServer();
  const auto dropped = connect();
  dropped->send(heartbeat(1) + heartbeat(2) + fetchBytes(3));
  ASSERT_TRUE(await([&] { return dropped->closed(); }));
  EXPECT_EQ(dropped->correlationIds(), (std::vector<int32_t>{1, 2}));
  const auto unserved = connect();
  unserved->send(heartbeat(1) + requestBytes(protocol::HeartbeatRequest(), 4, 2) + framed(ByteVector(10, 0xff)));
  ASSERT_TRUE(await([&] { return unserved->closed(); }));
  EXPECT_EQ(unserved->correlationIds(), (std::vector<int32_t>{1, 2}));
}

TEST_P(ServerTest, SendsAnAnswerBehindThoseThatASlowReaderKeepsFromBeingWritten) {
  // Large answers that are given at once and small ones by another thread, in turn: more than any window holds, so some
  // of the large ones are still being written when the small one behind them is given.
  constexpr int32_t kRequests = 3000;
  quick = true;
  std::shared_ptr<platform::Executor> other;
  script = [&](RequestPtr request) {
    if (request->apiKey() == ApiKey::Fetch) {
      other->post([request = std::move(request)] { request->respond(protocol::FetchResponse()); });
      return;
    }
    ByteVector answer(16 << 10);
    writeBigEndian<int32_t>(answer.data(), static_cast<int32_t>(answer.size() - 4));
    writeBigEndian<int32_t>(answer.data() + 4, request->context().correlationId);
    request->respondPieces({SharedBytes(std::move(answer))});
  };
  startServer();
  other = serverProcess->createExecutor({.name = "other", .threads = 1});
  const auto peer = connect();
  peer->stopReading();
  ByteVector all;
  std::vector<int32_t> expected;
  for (int32_t i = 0; i < kRequests; ++i) {
    all = all + (i % 2 == 0 ? heartbeat(i) : fetchBytes(i));
    expected.push_back(i);
  }
  peer->send(std::move(all));
  ASSERT_TRUE(await([&] { return watch.steps.size() >= 40; }));
  stage->pass(10s);
  peer->goOnReading();
  ASSERT_TRUE(await([&] { return watch.steps.size() == 2 * expected.size(); }));
  ASSERT_TRUE(await([&] { return peer->frames().size() == expected.size(); }));
  EXPECT_EQ(peer->correlationIds(), expected);
}

TEST_P(ServerTest, ClosesTheConnectionOfAQuickRequestThatIsDropped) {
  quick = true;
  script = [](const RequestPtr& /*request*/) {};
  startServer();
  const auto peer = connect();
  peer->send(fetchBytes(1) + fetchBytes(2));
  ASSERT_TRUE(await([&] { return peer->closed(); }));
  EXPECT_TRUE(peer->received().empty());
}

TEST_P(ServerTest, ClosesTheConnectionOfARequestThatIsDropped) {
  startServer();
  const auto peer = connect();
  peer->send(fetchBytes(1));
  takeParked().reset();
  ASSERT_TRUE(await([&] { return peer->closed(); }));
  EXPECT_TRUE(peer->received().empty());
}

TEST_P(ServerTest, ClosesAConnectionThatAnnouncesAnImpossibleLength) {
  auto options = defaults();
  options.maxRequestBytes = 1000;
  startServer(std::move(options));
  for (const int32_t length : {0, -1, INT32_MIN, 1001, INT32_MAX}) {
    const auto peer = connect();
    ByteVector bytes(100, 0xff);
    writeBigEndian(bytes.data(), length);
    peer->send(std::move(bytes));
    EXPECT_TRUE(await([&] { return peer->closed(); })) << length;
    EXPECT_TRUE(peer->received().empty());
  }
  const auto good = connect();
  good->send(heartbeat(1, 900));
  EXPECT_TRUE(await([&] { return good->frames().size() == 1; }));
}

TEST_P(ServerTest, SurvivesEveryTruncationOfARequest) {
  script = [&](RequestPtr request) {
    if (request->decode<protocol::HeartbeatRequest>())
      answerHeartbeat(*request);
    else
      request->close();
  };
  startServer();
  const ByteVector whole = heartbeat(9, 20);
  for (size_t cut = 1; cut < whole.size() - 4; ++cut) {
    const auto peer = connect();
    peer->send(framed(ByteView(whole).subspan(4, cut)));
    ASSERT_TRUE(await([&] { return peer->closed(); })) << "cut at " << cut;
    EXPECT_TRUE(peer->received().empty());
  }
}

TEST_P(ServerTest, SurvivesGarbage) {
  script = [&](RequestPtr request) {
    if (request->decode<protocol::HeartbeatRequest>())
      answerHeartbeat(*request);
    else
      request->close();
  };
  startServer();
  uint64_t random = 88172645463325252ULL;
  auto next = [&random] {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random;
  };
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i < 100; ++i) {
    ByteVector bytes(next() % 600 + 1);
    for (auto& byte : bytes) byte = static_cast<uint8_t>(next());
    // Half of it with a length that is true, so that the header is reached, and half of that with a known API.
    if (i % 2 == 0) bytes = framed(bytes);
    if (i % 4 == 0 && bytes.size() > 8) writeBigEndian<int32_t>(bytes.data() + 4, 12 << 16);
    peers.push_back(connect());
    peers.back()->send(std::move(bytes));
  }
  const auto good = connect();
  good->send(heartbeat(1));
  EXPECT_TRUE(await([&] { return good->frames().size() == 1; }));
}

TEST_P(ServerTest, ClosesAtAnApiOrVersionThatIsNotServed) {
  startServer();
  ByteVector unknownVersion = heartbeat(1);
  writeBigEndian<int16_t>(unknownVersion.data() + 6, 5);
  ByteVector unknownApi = heartbeat(1);
  writeBigEndian<int16_t>(unknownApi.data() + 4, 999);
  ByteVector notListed = heartbeat(1);
  writeBigEndian<int16_t>(notListed.data() + 4, static_cast<int16_t>(ApiKey::Metadata));
  for (const ByteVector& bytes : {unknownVersion, unknownApi, notListed}) {
    const auto peer = connect();
    peer->send(bytes);
    EXPECT_TRUE(await([&] { return peer->closed(); }));
    EXPECT_TRUE(peer->received().empty());
  }
}

TEST_P(ServerTest, AnswersApiVersionsThatAreTooNewInVersionZero) {
  startServer();
  const auto peer = connect();
  for (const int16_t version : {int16_t{5}, int16_t{99}, int16_t{INT16_MAX}}) {
    ByteVector bytes = requestBytes(protocol::ApiVersionsRequest(), 3, version);
    writeBigEndian<int16_t>(bytes.data() + 6, version);
    peer->send(std::move(bytes));
  }
  peer->send(heartbeat(7));
  ASSERT_TRUE(await([&] { return peer->frames().size() == 4; })) << "the connection goes on";
  for (size_t i = 0; i < 3; ++i) {
    const auto answer = answerOf<protocol::ApiVersionsResponse>(peer->frames()[i], 0);
    EXPECT_EQ(answer.errorCode, static_cast<int16_t>(ErrorCode::UnsupportedVersion));
    ASSERT_EQ(answer.apiKeys.size(), 1u);
    EXPECT_EQ(answer.apiKeys[0].apiKey, 18);
    EXPECT_EQ(answer.apiKeys[0].maxVersion, 4);
  }
}

TEST_P(ServerTest, TellsItsApisAndRemembersTheClientsSoftware) {
  auto options = defaults();
  options.features = [] {
    network::FeatureInfo info;
    info.finalized = {{"metadata.version", 33}};
    info.finalizedEpoch = 5;
    return info;
  };
  startServer(std::move(options));
  const auto peer = connect();
  protocol::ApiVersionsRequest request;
  request.clientSoftwareName = "kcat";
  request.clientSoftwareVersion = "1.7.1";
  peer->send(requestBytes(request, 3, 1, "rdkafka"));
  ASSERT_TRUE(await([&] { return peer->frames().size() == 1; }));
  const auto answer = answerOf<protocol::ApiVersionsResponse>(peer->frames()[0], 3);
  EXPECT_EQ(answer.errorCode, 0);
  ASSERT_EQ(answer.apiKeys.size(), 4u);
  EXPECT_EQ(answer.apiKeys[0].apiKey, 0);
  EXPECT_EQ(answer.apiKeys[0].minVersion, 0) << "Produce is shown from 0";
  EXPECT_EQ(answer.finalizedFeaturesEpoch, 5);
  const auto connections = server->connections();
  ASSERT_EQ(connections.size(), 1u);
  EXPECT_EQ(connections[0].client->softwareName, "kcat");
  EXPECT_EQ(connections[0].client->softwareVersion, "1.7.1");
  EXPECT_EQ(connections[0].client->clientId, "rdkafka");
  EXPECT_EQ(connections[0].requests, 1u);
  EXPECT_GT(connections[0].bytesIn, 0u);
}

TEST_P(ServerTest, ReceivesALargeRequestIntact) {
  startServer();
  const auto peer = connect();
  peer->send(produceBytes(1, 20 << 20));
  const RequestPtr request = takeParked();
  const auto produce = request->decode<protocol::ProduceRequest>();
  ASSERT_TRUE(produce.has_value());
  const ByteView records = produce->topicData.at(0).partitionData.at(0).records.view();
  ASSERT_EQ(records.size(), 20u << 20);
  EXPECT_TRUE(records.data() > request->body().data() &&
              records.data() < request->body().data() + request->body().size())
      << "a view into the frame";
  for (size_t i = 0; i < records.size(); i += 997) ASSERT_EQ(records[i], static_cast<uint8_t>(i * 31 + (i >> 12)));
  request->noResponse();
}

TEST_P(ServerTest, StopsReadingWhenTheMemoryForRequestsIsTakenAndGoesOnWhenItIsGivenBack) {
  auto options = defaults();
  options.queuedMaxBytes = 100'000;
  startServer(std::move(options));
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i < 3; ++i) {
    peers.push_back(connect());
    peers.back()->send(produceBytes(i, 60'000));
    const auto last = static_cast<size_t>(i);
    ASSERT_TRUE(await([&] { return parked.size() == last + 1 || watch.mutes["memory"] == 1; }));
  }
  stage->change([&] { EXPECT_EQ(parked.size(), 2u); });
  EXPECT_LT(server->load().bytesInFlight, 200'000u);
  takeParked()->releaseFrame();  // And dropped: the peer is closed.
  ASSERT_TRUE(await([&] { return parked.size() == 2; })) << "the third is read now";
  takeParked()->noResponse();
  takeParked()->noResponse();
  ASSERT_TRUE(await([&] { return peers[0]->closed(); }));
  EXPECT_TRUE(await([&] { return server->load().bytesInFlight == 0; }));
}

TEST_P(ServerTest, GivesItsMemoryBackWhenAParkedRequestReleasesItsFrame) {
  auto options = defaults();
  options.queuedMaxBytes = 50'000;
  startServer(std::move(options));
  std::vector<std::unique_ptr<Peer>> peers;
  std::vector<RequestPtr> held;
  for (int i = 0; i < 4; ++i) {
    peers.push_back(connect());
    peers.back()->send(produceBytes(i, 60'000));
    held.push_back(takeParked());
    held.back()->releaseFrame();
    // The handler that parked it may still be on its way out.
    EXPECT_TRUE(await([&] { return server->load().bytesInFlight == 0; }));
    EXPECT_TRUE(held.back()->body().empty());
  }
  for (auto& request : held) request->noResponse();
}

TEST_P(ServerTest, LetsNobodyHoldTheMemoryWithAnnouncementsAlone) {
  auto options = defaults();
  options.queuedMaxBytes = 1 << 20;
  startServer(std::move(options));
  std::vector<std::unique_ptr<Peer>> hostile;
  for (int i = 0; i < 5; ++i) {
    ByteVector announcement(8);
    writeBigEndian<int32_t>(announcement.data(), 100 << 20);
    hostile.push_back(connect());
    hostile.back()->send(std::move(announcement));
  }
  const auto good = connect();
  good->send(produceBytes(1, 300'000));
  takeParked()->noResponse();
}

TEST_P(ServerTest, LetsNobodyHoldTheMemoryByFallingSilentInsideARequest) {
  auto options = defaults();
  options.queuedMaxBytes = 100'000;
  options.maxSilenceInRequest = stage->isSimulated() ? platform::Duration(30s) : platform::Duration(200ms);
  startServer(std::move(options));
  std::vector<std::unique_ptr<Peer>> hostile;
  for (int i = 0; i < 3; ++i) {
    ByteVector half = produceBytes(i, 150'000);
    half.resize(140'000);
    hostile.push_back(connect());
    hostile.back()->send(std::move(half));
  }
  // Or they are closed already, on a machine that was busy for so long.
  ASSERT_TRUE(await(
      [&] { return server->load().bytesInFlight >= 100'000 || (!stage->isSimulated() && hostile[0]->closed()); }));
  const auto good = connect();
  const auto begin = clientProcess->clock().monotonic();
  good->send(produceBytes(9, 60'000));
  takeParked()->noResponse();
  EXPECT_LT(clientProcess->clock().monotonic() - begin, platform::Duration(1min)) << "not when they are idle";
  for (const auto& peer : hostile) EXPECT_TRUE(await([&] { return peer->closed(); }));
  stage->change([&] { EXPECT_FALSE(good->closed()); });
}

TEST_P(ServerTest, IsMuteForTheThrottleTimeAfterAnAnswer) {
  std::vector<platform::MonotonicTime> times;
  script = [&](RequestPtr request) {
    stage->change([&] { times.push_back(serverProcess->clock().monotonic()); });
    answerHeartbeat(*request, 0, 80ms);
  };
  startServer();
  const auto peer = connect();
  peer->send(heartbeat(1) + heartbeat(2));
  ASSERT_TRUE(await([&] { return peer->frames().size() == 2; }));
  ASSERT_EQ(times.size(), 2u);
  EXPECT_GE(times[1] - times[0], platform::Duration(80ms));
}

TEST_P(ServerTest, ClosesIdleConnectionsButNoneThatWaitsForUs) {
  auto options = defaults();
  options.connectionsMaxIdle = stage->isSimulated() ? platform::Duration(10min) : platform::Duration(250ms);
  startServer(std::move(options));
  // It asks as soon as it is connected, before it can be called idle.
  Peer busyPeer(*stage, *clientProcess, at());
  Peer* const busy = &busyPeer;
  busy->send(fetchBytes(1));
  const RequestPtr request = takeParked();
  const auto begin = clientProcess->clock().monotonic();
  const auto idle = connect();
  ASSERT_TRUE(await([&] { return idle->closed(); }));
  EXPECT_GE(clientProcess->clock().monotonic() - begin, platform::Duration(200ms));
  stage->change([&] { EXPECT_FALSE(busy->closed()); });
  request->respond(protocol::FetchResponse());
  ASSERT_TRUE(await([&] { return busy->frames().size() == 1; }));
  ASSERT_TRUE(await([&] { return busy->closed() && watch.open == 0; }));
  EXPECT_TRUE(server->connections().empty());
}

TEST_P(ServerTest, LetsASlowReaderHoldUpOnlyItself) {
  constexpr size_t kSize = 16 << 20;
  startServer();
  const auto slow = connect();
  slow->stopReading();
  slow->send(fetchBytes(1));
  ByteVector body(4 + kSize);
  writeBigEndian<int32_t>(body.data(), kSize);
  for (size_t i = 4; i < body.size(); ++i) body[i] = static_cast<uint8_t>(i * 7);
  takeParked()->respondPieces({SharedBytes(body)});
  const auto other = connect();
  for (int32_t i = 0; i < 20; ++i) other->send(heartbeat(i));
  ASSERT_TRUE(await([&] { return other->frames().size() == 20; }));
  slow->goOnReading();
  ASSERT_TRUE(await([&] { return slow->received().size() == body.size(); }));
  EXPECT_TRUE(slow->received() == body);
}

TEST_P(ServerTest, SendsPartsOfFilesAsTheyAre) {
  startServer();
  auto& files = serverProcess->files();
  const std::string folder =
      stage->isSimulated() ? "/data" : fmt::format("{}tidemark-network-{}", testing::TempDir(), ::getpid());
  ASSERT_TRUE(files.createDirectories(folder).has_value());
  const std::string path = folder + "/segment";
  ByteVector content(3'000'000);
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<uint8_t>(i ^ (i >> 8));
  auto file = files.open(path, platform::OpenMode::Truncate);
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE((*file)->writeAt(0, ByteView(content)).has_value());

  const auto peer = connect();
  peer->send(fetchBytes(5));
  const RequestPtr request = takeParked();
  protocol::FetchResponse response;
  response.responses.push_back({.topic = "t"});
  response.responses[0].partitions.push_back(
      {.partitionIndex = 0, .records = protocol::Records(platform::FileSlice{*file, 1000, 2'500'000})});
  response.responses[0].partitions.push_back(
      {.partitionIndex = 1, .records = protocol::Records(platform::FileSlice{*file, 7, 13})});
  request->respond(response);
  ASSERT_TRUE(files.remove(path).has_value()) << "the slice keeps its file";
  ASSERT_TRUE(await([&] { return peer->frames().size() == 1; }));
  const ByteVector frame = peer->frames()[0];
  const auto answer = answerOf<protocol::FetchResponse>(frame, 12);
  ASSERT_EQ(answer.responses.at(0).partitions.size(), 2u);
  const ByteView first = answer.responses[0].partitions[0].records.view();
  const ByteView second = answer.responses[0].partitions[1].records.view();
  ASSERT_EQ(first.size(), 2'500'000u);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), content.begin() + 1000));
  ASSERT_EQ(second.size(), 13u);
  EXPECT_TRUE(std::equal(second.begin(), second.end(), content.begin() + 7));
  if (!stage->isSimulated()) std::filesystem::remove(folder);
}

TEST_P(ServerTest, RefusesMoreConnectionsFromOneAddressThanItMayHave) {
  auto options = defaults();
  options.maxConnectionsPerIp = 2;
  startServer(std::move(options));
  auto first = connect();
  const auto second = connect();
  ASSERT_TRUE(await([&] { return watch.open == 2; }));
  const auto third = connect();
  ASSERT_TRUE(await([&] { return third->closed(); }));
  first->send(heartbeat(1));
  ASSERT_TRUE(await([&] { return first->frames().size() == 1; }));
}

TEST_P(ServerTest, LeavesConnectionsAboveTheMaximumInTheBacklogUntilThereIsRoom) {
  auto options = defaults();
  options.maxConnections = 1;
  startServer(std::move(options));
  auto first = connect();
  first->send(heartbeat(1));
  ASSERT_TRUE(await([&] { return first->frames().size() == 1; }));
  const auto second = connect();
  second->send(heartbeat(2));
  first->send(heartbeat(3));
  ASSERT_TRUE(await([&] { return first->frames().size() == 2; }));
  stage->change([&] { EXPECT_TRUE(second->frames().empty()); });
  first->close();
  ASSERT_TRUE(await([&] { return second->frames().size() == 1; }));
}

TEST_P(ServerTest, ServesAThousandConnections) {
  startServer();
  std::vector<std::unique_ptr<Peer>> peers;
  for (int32_t i = 0; i < 1000; ++i) {
    peers.push_back(std::make_unique<Peer>(*stage, *clientProcess, at()));
    peers.back()->send(heartbeat(i));
  }
  for (int32_t i = 0; i < 1000; ++i) {
    const Peer& peer = *peers[static_cast<size_t>(i)];
    ASSERT_TRUE(await([&] { return peer.frames().size() == 1; })) << i;
    ASSERT_EQ(peer.correlationIds()[0], i);
  }
  EXPECT_EQ(server->connections().size(), 1000u);
}

TEST_P(ServerTest, ForgetsAnswersToConnectionsThatAreGone) {
  startServer();
  const auto peer = connect();
  peer->send(fetchBytes(1));
  const RequestPtr request = takeParked();
  peer->close();
  request->respond(protocol::FetchResponse());
  ASSERT_TRUE(await([&] { return watch.open == 0; }));
  const auto other = connect();
  other->send(heartbeat(1));
  ASSERT_TRUE(await([&] { return other->frames().size() == 1; }));
}

TEST_P(ServerTest, ShutsDownWithParkedRequestsAndTellsWhenItIsDone) {
  startServer();
  const auto idle = connect();
  const auto waiting = connect();
  waiting->send(fetchBytes(1));
  RequestPtr request = takeParked();
  bool done = false;
  server->shutdown([&] { stage->change([&] { done = true; }); });
  ASSERT_TRUE(await([&] { return done && idle->closed() && waiting->closed(); }));
  server.reset();
  request->respond(protocol::FetchResponse());  // Goes nowhere.
  request.reset();
}

TEST_P(ServerTest, CanBeKilledWithRequestsInEveryState) {
  startServer();
  std::vector<std::unique_ptr<Peer>> peers;
  for (int32_t i = 0; i < 10; ++i) {
    peers.push_back(connect());
    peers.back()->send(i % 2 == 0 ? fetchBytes(i) + heartbeat(100) : heartbeat(i));
  }
  const RequestPtr held = takeParked();
  serverProcess->kill("test");
  serverProcess->awaitStopped();
  server.reset();
  ASSERT_TRUE(await([&] { return peers[1]->closed(); }));
  held->respond(protocol::FetchResponse());
}

}  // namespace
}  // namespace tidemark::test
