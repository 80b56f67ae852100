#include "client/consumer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "client/client_fixture.h"
#include "client/fetch_reader.h"
#include "protocol/generated/fetch_request.h"
#include "records/batch_builder.h"
#include "records/control.h"

namespace tidemark::test {
namespace {

using client::Consumer;
using client::ConsumerOptions;
using protocol::ApiKey;
using namespace std::chrono_literals;

ByteVector batchOf(Offset base, const std::vector<std::string>& values, records::BatchOptions options = {}) {
  options.baseOffset = base;
  if (options.leaderEpoch == kNoLeaderEpoch) options.leaderEpoch = LeaderEpoch(0);
  records::BatchBuilder builder(options);
  for (const auto& value : values) builder.append(1000, std::nullopt, asBytes(value));
  return builder.build();
}

class ConsumerTest : public ClientTest {
 protected:
  void release() override { consumer.reset(); }

  void open(ConsumerOptions options = {}) {
    start({.retryBackoff = 5ms, .retryBackoffMax = 20ms});
    run([&] {
      consumer = std::make_unique<Consumer>(
          *client, options,
          [this](const client::ConsumedRecord& record) {
            change([&] {
              seen.push_back(fmt::format("{}@{}:{}", record.where, record.record.offset, asText(*record.record.value)));
            });
            if (onRecord) onRecord();
          },
          [this](const TopicPartition& where, const Error& error) {
            change([&] { errors.emplace_back(where, error.code); });
          });
    });
  }
  /// Inside change().
  void append(int32_t partition, const std::vector<std::string>& values) {
    auto& held = cluster.at("t", partition);
    held.batches.push_back(batchOf(held.end, values, {.leaderEpoch = held.epoch}));
    held.end = held.end + static_cast<int64_t>(values.size());
    cluster.elect("t", partition, held.leader.value());  // Wakes the fetches; the same leader in a new epoch.
  }
  static TopicPartition at(int32_t partition) { return {"t", PartitionIndex(partition)}; }
  void assign(std::vector<Consumer::Position> positions) {
    run([&] { consumer->assign(std::move(positions)); });
  }

  std::unique_ptr<Consumer> consumer;
  std::vector<std::string> seen;
  std::vector<std::pair<TopicPartition, ErrorCode>> errors;
  std::function<void()> onRecord;
  /// Of the brokers, which may be asked until the end of a test.
  std::vector<int32_t> forgotten;
  int fetches = 0;
  int errorsLeft = 2;
};

TIDEMARK_ON_EACH_PLATFORM(ConsumerTest);

TEST_P(ConsumerTest, ReadsFromTheBeginningAndWaitsForMore) {
  cluster.createTopic("t", 2);
  append(0, {"a", "b"});
  append(0, {"c"});
  open();
  assign({{at(0), {}}});
  ASSERT_TRUE(await([&] { return seen.size() == 3; }));
  change([&] { append(0, {"d"}); });
  ASSERT_TRUE(await([&] { return seen.size() == 4; }));
  EXPECT_EQ(seen, (std::vector<std::string>{"t-0@0:a", "t-0@1:b", "t-0@2:c", "t-0@3:d"}));
  run([&] {
    EXPECT_EQ(consumer->position(at(0))->offset, Offset(4));
    EXPECT_EQ(consumer->highWatermark(at(0)), Offset(4));
    EXPECT_EQ(consumer->position(at(1)), std::nullopt);
  });
}

TEST_P(ConsumerTest, StartsInsideABatchAtTheOffsetItIsGiven) {
  cluster.createTopic("t", 1);
  append(0, {"a", "b", "c"});
  open();
  assign({{at(0), Offset(1)}});
  ASSERT_TRUE(await([&] { return seen.size() == 2; }));
  EXPECT_EQ(seen, (std::vector<std::string>{"t-0@1:b", "t-0@2:c"}));
}

TEST_P(ConsumerTest, SeeksAndForgetsWhatWasAskedBefore) {
  cluster.createTopic("t", 1);
  append(0, {"a", "b", "c"});
  open();
  assign({{at(0), {}}});
  ASSERT_TRUE(await([&] { return seen.size() == 3; }));
  run([&] { consumer->seek(at(0), Offset(2)); });
  ASSERT_TRUE(await([&] { return seen.size() == 4; }));
  run([&] { consumer->seekToBeginning(at(0)); });
  ASSERT_TRUE(await([&] { return seen.size() == 7; }));
  run([&] { consumer->seekToEnd(at(0)); });
  change([&] { append(0, {"d"}); });
  // Depending on what came first it reads d or begins behind it.
  change([&] { append(0, {"e"}); });
  run([&] { consumer->seek(at(0), Offset(4)); });
  ASSERT_TRUE(await([&] { return seen.back() == "t-0@4:e"; }));
}

TEST_P(ConsumerTest, NamesOnlyWhatChangedWithinASession) {
  cluster.createTopic("t", 6);
  open({.maxWait = 20ms});
  assign({{at(0), Offset(0)}, {at(2), Offset(0)}, {at(4), Offset(0)}});
  ASSERT_TRUE(await([&] { return cluster.requests[ApiKey::Fetch] >= 5; }));
  change([&] { EXPECT_EQ(cluster.partitionsNamed, 3) << "by the first request alone"; });
  change([&] { append(2, {"x"}); });
  ASSERT_TRUE(await([&] { return seen.size() == 1; }));
  int requests = 0;
  change([&] { requests = cluster.requests[ApiKey::Fetch]; });
  ASSERT_TRUE(await([&] { return cluster.requests[ApiKey::Fetch] >= requests + 3; }));
  change([&] { EXPECT_EQ(cluster.partitionsNamed, 4) << "and the one that moved on"; });
  assign({{at(2), {}}});
  change([&] { requests = cluster.requests[ApiKey::Fetch]; });
  ASSERT_TRUE(await([&] { return cluster.requests[ApiKey::Fetch] >= requests + 3; }));
  change([&] {
    EXPECT_EQ(cluster.partitionsNamed, 4);
    append(0, {"unwanted"});
    append(2, {"wanted"});
  });
  ASSERT_TRUE(await([&] { return seen.size() == 2; }));
  EXPECT_EQ(seen[1], "t-2@1:wanted");
}

TEST_P(ConsumerTest, NamesEverythingWithoutSessions) {
  cluster.createTopic("t", 2);
  open({.sessions = false, .maxWait = 10ms});
  assign({{at(0), Offset(0)}});
  ASSERT_TRUE(await([&] { return cluster.requests[ApiKey::Fetch] >= 4; }));
  change([&] { EXPECT_EQ(cluster.partitionsNamed, cluster.requests[ApiKey::Fetch]); });
}

TEST_P(ConsumerTest, BeginsASessionAnewWhenItWasLost) {
  cluster.createTopic("t", 1);
  append(0, {"a"});
  open({.maxWait = 20ms});
  assign({{at(0), {}}});
  ASSERT_TRUE(await([&] { return seen.size() == 1; }));
  change([&] {
    cluster.forgetSessions();
    append(0, {"b"});
  });
  ASSERT_TRUE(await([&] { return seen.size() == 2; }));
  EXPECT_EQ(seen[1], "t-0@1:b");
  EXPECT_TRUE(errors.empty());
}

TEST_P(ConsumerTest, FollowsTheLeader) {
  cluster.createTopic("t", 1);
  append(0, {"a"});
  open({.maxWait = 20ms});
  assign({{at(0), {}}});
  ASSERT_TRUE(await([&] { return seen.size() == 1; }));
  change([&] {
    cluster.elect("t", 0, 2);
    append(0, {"b"});
  });
  ASSERT_TRUE(await([&] { return seen.size() == 2; }));
}

TEST_P(ConsumerTest, HasAPartitionForgottenWhereItsLeaderWas) {
  cluster.createTopic("t", 4);
  cluster.takes = [this](network::RequestPtr& request) {
    if (request->apiKey() != ApiKey::Fetch) return;
    const auto asked = request->decode<protocol::FetchRequest>();
    ASSERT_TRUE(asked);
    for (const auto& topic : asked->forgottenTopicsData)
      forgotten.insert(forgotten.end(), topic.partitions.begin(), topic.partitions.end());
  };
  open({.maxWait = 20ms});
  assign({{at(0), Offset(0)}, {at(2), Offset(0)}});
  ASSERT_TRUE(await([&] { return cluster.requests[ApiKey::Fetch] >= 2; }));
  change([&] { cluster.elect("t", 0, 2); });
  // Else each fetch of the other one is answered at once, with the error of this one.
  ASSERT_TRUE(await([&] { return !forgotten.empty(); }));
  change([&] { append(0, {"a"}); });
  ASSERT_TRUE(await([&] { return !seen.empty(); }));
  // Each time that it was asked for again, until the new leader was known.
  change([&] { EXPECT_THAT(forgotten, testing::Each(0)); });
}

TEST_P(ConsumerTest, SurvivesLostConnectionsAndErrorsThatPass) {
  cluster.createTopic("t", 1);
  cluster.mishap = [this](int, ApiKey key) {
    return key == ApiKey::Fetch && ++fetches % 3 == 0 ? Mishap::Close : Mishap::None;
  };
  cluster.fetchError = [this](int, const TopicPartition&) {
    return errorsLeft-- > 0 ? ErrorCode::KafkaStorageError : ErrorCode::None;
  };
  for (int i = 0; i < 20; ++i) append(0, {std::to_string(i)});
  open({.partitionMaxBytes = 1});
  assign({{at(0), {}}});
  ASSERT_TRUE(await([&] { return seen.size() == 20; }));
  EXPECT_TRUE(errors.empty());
}

TEST_P(ConsumerTest, GoesWhereItIsToldWhenItsPositionIsGone) {
  cluster.createTopic("t", 1);
  append(0, {"a"});
  append(0, {"b"});
  cluster.at("t", 0).start = Offset(1);
  cluster.at("t", 0).batches.erase(cluster.at("t", 0).batches.begin());
  open({.reset = client::OffsetReset::Earliest});
  assign({{at(0), Offset(0)}});
  ASSERT_TRUE(await([&] { return seen.size() == 1; }));
  EXPECT_EQ(seen[0], "t-0@1:b");
  run([&] { consumer->seek(at(0), Offset(99)); });
  ASSERT_TRUE(await([&] { return seen.size() == 2; }));
}

TEST_P(ConsumerTest, StopsAndTellsWhenItMayNotReset) {
  cluster.createTopic("t", 1);
  append(0, {"a"});
  open({.reset = client::OffsetReset::Fail});
  assign({{at(0), Offset(99)}});
  ASSERT_TRUE(await([&] { return errors.size() == 1; }));
  EXPECT_EQ(errors[0].second, ErrorCode::OffsetOutOfRange);
  run([&] { consumer->seek(at(0), Offset(0)); });
  ASSERT_TRUE(await([&] { return seen.size() == 1; }));
}

TEST_P(ConsumerTest, GoesBackToWhereTheLogWasCut) {
  cluster.createTopic("t", 1);
  append(0, {"a"});
  append(0, {"lost"});
  open({.maxWait = 20ms});
  assign({{at(0), {}}});
  ASSERT_TRUE(await([&] { return seen.size() == 2; }));
  change([&] {
    auto& held = cluster.at("t", 0);
    const LeaderEpoch old(records::BatchHeader::read(held.batches.back().data()).leaderEpoch);
    held.batches.pop_back();
    held.end = Offset(1);
    held.epochEnds[old.value()] = Offset(1);
    append(0, {"kept"});
  });
  ASSERT_TRUE(await([&] { return seen.size() == 3; }));
  EXPECT_EQ(seen[2], "t-0@1:kept");
}

TEST_P(ConsumerTest, StopsAtABatchThatIsDamaged) {
  cluster.createTopic("t", 1);
  append(0, {"a"});
  append(0, {"b"});
  cluster.at("t", 0).batches[1].back() ^= 1;
  open();
  assign({{at(0), {}}});
  ASSERT_TRUE(await([&] { return errors.size() == 1; }));
  EXPECT_EQ(errors[0].second, ErrorCode::CorruptMessage);
  EXPECT_EQ(seen, (std::vector<std::string>{"t-0@0:a"}));
  run([&] { EXPECT_EQ(consumer->position(at(0))->offset, Offset(1)); });
}

// Who led before may not know yet that somebody else does, and lack what was committed since.
TEST_P(ConsumerTest, AsksNobodyWhoCannotKnowTheEpochThatItGoesOnIn) {
  cluster.createTopic("t", 1);
  append(0, {"a", "b"});
  append(0, {"c"});
  open();
  bool known = false;
  run([&] { client->refresh({"t"}, [&](const Result<void>&) { change([&] { known = true; }); }); });
  ASSERT_TRUE(await([&] { return known; }));
  const LeaderEpoch later = LeaderEpoch(cluster.at("t", 0).epoch.value() + 5);
  assign({{at(0), client::LogPosition(Offset(2), later)}});
  ASSERT_TRUE(await([&] { return cluster.requests[ApiKey::Metadata] >= 3; }));
  change([&] {
    EXPECT_EQ(cluster.requests[ApiKey::Fetch], 0);
    cluster.at("t", 0).epoch = later;
  });
  ASSERT_TRUE(await([&] { return seen.size() == 1; }));
  EXPECT_EQ(seen, (std::vector<std::string>{"t-0@2:c"}));
  run([&] { EXPECT_EQ(consumer->position(at(0)), client::LogPosition(Offset(3), LeaderEpoch(1))); });
}

TEST_P(ConsumerTest, KeepsItsPositionWhilePaused) {
  cluster.createTopic("t", 1);
  append(0, {"a"});
  open({.maxWait = 10ms});
  assign({{at(0), {}}});
  ASSERT_TRUE(await([&] { return seen.size() == 1; }));
  run([&] { onRecord = [&] { consumer->pause(at(0)); }; });
  change([&] { append(0, {"b"}); });
  ASSERT_TRUE(await([&] { return seen.size() == 2; }));
  change([&] {
    append(0, {"c"});
    fetches = cluster.requests[ApiKey::Fetch];
  });
  stage->pass(10s);
  change([&] {
    EXPECT_EQ(seen.size(), 2u);
    EXPECT_LE(cluster.requests[ApiKey::Fetch], fetches + 1) << "nobody polls";
  });
  run([&] { consumer->resume(at(0)); });
  ASSERT_TRUE(await([&] { return seen.size() == 3; }));
}

TEST_P(ConsumerTest, MayBeDestroyedByItsOwnHandler) {
  cluster.createTopic("t", 1);
  append(0, {"a", "b", "c"});
  open();
  onRecord = [&] { consumer.reset(); };
  assign({{at(0), {}}});
  ASSERT_TRUE(await([&] { return !seen.empty(); }));
  run([&] {});
  change([&] { EXPECT_EQ(seen.size(), 1u); });
}

// --- What a consumer sees of a partition -----------------------------------------------------------------------------

std::vector<std::string> read(client::FetchReader& reader) {
  std::vector<std::string> values;
  for (;;) {
    switch (reader.next()) {
      case records::Step::Next:
        values.emplace_back(asText(*reader.record().value));
        break;
      case records::Step::End:
        return values;
      case records::Step::Corrupt:
        values.push_back("corrupt: " + reader.reason());
        return values;
    }
  }
}

records::BatchOptions transactional(int64_t producer) {
  return {
      .producerId = ProducerId(producer), .producerEpoch = ProducerEpoch(0), .baseSequence = 0, .transactional = true};
}

ByteVector join(const std::vector<ByteVector>& parts) {
  ByteVector all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(FetchReaderTest, HidesControlBatchesAndPassesThem) {
  const ByteVector bytes = join(
      {batchOf(Offset(0), {"a"}, transactional(7)),
       records::buildEndTxnMarker(ProducerId(7), ProducerEpoch(0), {.commit = true}, 1000, Offset(1), LeaderEpoch(3))});
  client::FetchReader reader;
  reader.begin(bytes, Offset(0));
  EXPECT_EQ(read(reader), (std::vector<std::string>{"a"}));
  EXPECT_EQ(reader.position(), Offset(2));
  EXPECT_EQ(reader.lastEpoch(), LeaderEpoch(3));
}

TEST(FetchReaderTest, HidesAbortedTransactionsOfTheirProducerOnly) {
  const ByteVector bytes =
      join({batchOf(Offset(0), {"early"}, transactional(7)), batchOf(Offset(1), {"other"}, transactional(8)),
            batchOf(Offset(2), {"aborted"}, transactional(7)), batchOf(Offset(3), {"plain"}),
            records::buildEndTxnMarker(ProducerId(7), ProducerEpoch(0), {.commit = false}, 1000, Offset(4)),
            batchOf(Offset(5), {"good"}, transactional(7))});
  client::FetchReader reader;
  reader.begin(bytes, Offset(0));
  reader.addAborted(ProducerId(7), Offset(2));
  EXPECT_EQ(read(reader), (std::vector<std::string>{"early", "other", "plain", "good"}));
  reader.begin(bytes, Offset(0));
  EXPECT_EQ(read(reader), (std::vector<std::string>{"early", "other", "aborted", "plain", "good"}));
}

TEST(FetchReaderTest, TakesACutOffBatchForTheEnd) {
  const ByteVector whole = join({batchOf(Offset(0), {"a"}), batchOf(Offset(1), {"b"})});
  const size_t first = batchOf(Offset(0), {"a"}).size();
  for (size_t cut = first; cut < whole.size(); ++cut) {
    client::FetchReader reader;
    reader.begin(ByteView(whole).first(cut), Offset(0));
    ASSERT_EQ(read(reader), (std::vector<std::string>{"a"})) << cut;
    ASSERT_EQ(reader.position(), Offset(1));
  }
}

}  // namespace
}  // namespace tidemark::test
