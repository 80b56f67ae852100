#include "client/producer.h"

#include <gtest/gtest.h>

#include <map>

#include <fmt/format.h>

#include "client/client_fixture.h"
#include "client/partitioner.h"

namespace tidemark::test {
namespace {

using client::Delivered;
using client::Producer;
using client::ProducerOptions;
using client::ProducerRecord;
using protocol::ApiKey;
using namespace std::chrono_literals;

client::ClientOptions quick() {
  return {.retryBackoff = 5ms, .retryBackoffMax = 20ms};
}

class ProducerTest : public ClientTest {
 protected:
  void release() override { producer.reset(); }

  void open(ProducerOptions options = {}, client::ClientOptions clientOptions = quick()) {
    start(std::move(clientOptions));
    run([&] { producer = std::make_unique<Producer>(*client, options); });
  }
  /// On the client's executor.
  void send(const std::string& value, int32_t partition = 0, std::string topic = "t") {
    ProducerRecord record{.topic = std::move(topic), .partition = partition};
    record.value = ByteVector(value.begin(), value.end());
    producer->send(std::move(record), [this, value](Result<Delivered> delivered) {
      change([&] {
        ++settled;
        if (delivered)
          offsets[value] = delivered->offset.value();
        else
          errors[value] = delivered.error().code;
      });
    });
  }
  bool allSettled(int count) {
    return await([&] { return settled == count; });
  }

  std::unique_ptr<Producer> producer;
  int settled = 0;
  std::map<std::string, int64_t> offsets;
  std::map<std::string, ErrorCode> errors;
};

std::vector<std::string> numbers(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back(std::to_string(i));
  return all;
}

TIDEMARK_ON_EACH_PLATFORM(ProducerTest);

TEST_P(ProducerTest, DeliversInOrderAndTellsTheOffsets) {
  cluster.createTopic("t", 2);
  open();
  run([&] {
    for (const auto& value : numbers(300)) send(value);
    EXPECT_EQ(producer->pending(), 300u);
    EXPECT_TRUE(offsets.empty()) << "never inside the call";
  });
  ASSERT_TRUE(allSettled(300));
  change([&] {
    EXPECT_EQ(cluster.values("t", 0), numbers(300));
    for (int i = 0; i < 300; ++i) EXPECT_EQ(offsets.at(std::to_string(i)), i);
    EXPECT_LT(cluster.requests[ApiKey::Produce], 30) << "records of one moment share batches";
    EXPECT_EQ(cluster.at("t", 0).producers.size(), 1u);
  });
  run([&] {
    EXPECT_GE(producer->producerId().value(), 1000);
    EXPECT_EQ(producer->pending(), 0u);
  });
}

TEST_P(ProducerTest, FindsATopicThatIsCreatedOnFirstUse) {
  open();
  run([&] {
    for (int i = 0; i < 30; ++i) {
      producer->send({.topic = "fresh", .value = ByteVector(5)},
                     [&](Result<Delivered> delivered) { change([&] { settled += delivered ? 1 : 1000; }); });
    }
  });
  ASSERT_TRUE(allSettled(30));
  change([&] {
    for (int32_t i = 0; i < 3; ++i) EXPECT_EQ(cluster.values("fresh", i).size(), 10u) << "round robin";
  });
}

TEST_P(ProducerTest, FollowsTheLeaderAndRepeatsWhatFailed) {
  cluster.createTopic("t", 1);
  open();
  run([&] { send("a"); });
  ASSERT_TRUE(allSettled(1));
  change([&] { cluster.elect("t", 0, 2); });
  run([&] { send("b"); });
  ASSERT_TRUE(allSettled(2));
  change([&] {
    EXPECT_EQ(cluster.values("t", 0), (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(errors.empty());
    EXPECT_EQ(offsets["b"], 1);
  });
}

TEST_P(ProducerTest, StoresARecordOnceWhoseAnswerWasLost) {
  cluster.createTopic("t", 1);
  int produces = 0;
  cluster.mishap = [&](int, ApiKey key) {
    return key == ApiKey::Produce && ++produces == 1 ? Mishap::CloseAfterwards : Mishap::None;
  };
  open();
  run([&] { send("once"); });
  ASSERT_TRUE(allSettled(1));
  change([&] {
    EXPECT_EQ(cluster.values("t", 0), (std::vector<std::string>{"once"}));
    EXPECT_EQ(offsets.at("once"), 0);
    EXPECT_EQ(produces, 2);
  });
}

TEST_P(ProducerTest, KeepsOrderAndLosesNothingUnderAllKindsOfMishaps) {
  constexpr int kCount = 600;
  cluster.createTopic("t", 2);
  uint64_t random = 42;
  auto next = [&random] {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>(random >> 33);
  };
  cluster.mishap = [&](int, ApiKey key) {
    if (key != ApiKey::Produce) return Mishap::None;
    const int draw = next() % 10;
    return draw == 0 ? Mishap::Close : draw == 1 ? Mishap::CloseAfterwards : Mishap::None;
  };
  cluster.produceError = [&](int, const TopicPartition& where) {
    const int draw = next() % 12;
    if (draw == 0) return ErrorCode::NotEnoughReplicas;
    if (draw == 1) {
      cluster.elect(where.topic, where.partition.value(), next() % 2 + 1);
      return ErrorCode::NotLeaderOrFollower;
    }
    return ErrorCode::None;
  };
  open({.batchBytes = 200});
  for (int i = 0; i < kCount; i += 20) {
    run([&] {
      for (int j = i; j < i + 20; ++j) send(std::to_string(j), j % 2);
    });
  }
  ASSERT_TRUE(allSettled(kCount));
  change([&] {
    EXPECT_TRUE(errors.empty());
    std::vector<std::string> even;
    std::vector<std::string> odd;
    for (int i = 0; i < kCount; ++i) (i % 2 == 0 ? even : odd).push_back(std::to_string(i));
    EXPECT_EQ(cluster.values("t", 0), even);
    EXPECT_EQ(cluster.values("t", 1), odd);
  });
}

// A log knows the last five batches: with others beside it, what was repeated twice was known no more.
TEST_P(ProducerTest, SendsNothingBesideWhatIsRepeated) {
  constexpr int kCount = 12;
  cluster.createTopic("t", 1);
  int produces = 0;
  cluster.mishap = [&](int, ApiKey key) {
    if (key != ApiKey::Produce) return Mishap::None;
    return ++produces == 1 ? Mishap::CloseAfterwards : Mishap::None;
  };
  cluster.produceError = [&](int, const TopicPartition&) {
    return produces == 2 || produces == 7 ? ErrorCode::NotEnoughReplicas : ErrorCode::None;
  };
  open({.batchBytes = 1});
  run([&] {
    for (const auto& value : numbers(kCount)) send(value);
  });
  ASSERT_TRUE(allSettled(kCount));
  change([&] {
    EXPECT_TRUE(errors.empty());
    EXPECT_EQ(cluster.values("t", 0), numbers(kCount));
    EXPECT_EQ(cluster.at("t", 0).producers.size(), 1u) << "no number was lost";
  });
}

TEST_P(ProducerTest, CompressesWithEachCodec) {
  int partition = 0;
  cluster.createTopic("t", 5);
  open();
  for (const auto codec : {records::Codec::None, records::Codec::Gzip, records::Codec::Snappy, records::Codec::Lz4,
                           records::Codec::Zstd}) {
    run([&] {
      producer = std::make_unique<Producer>(*client, ProducerOptions{.codec = codec});
      for (const auto& value : numbers(100)) send(value, partition);
    });
    ASSERT_TRUE(allSettled((partition + 1) * 100));
    change([&] {
      EXPECT_EQ(cluster.values("t", partition), numbers(100));
      EXPECT_EQ(records::BatchHeader::read(cluster.at("t", partition).batches.at(0).data()).codec(), codec);
    });
    ++partition;
  }
}

TEST_P(ProducerTest, KnowsNoOffsetsWithoutAcknowledgement) {
  cluster.createTopic("t", 1);
  open({.acks = 0, .idempotent = false});
  run([&] {
    for (const auto& value : numbers(50)) send(value);
  });
  ASSERT_TRUE(allSettled(50));
  EXPECT_TRUE(await([&] { return cluster.values("t", 0).size() == 50; }));
  change([&] { EXPECT_EQ(offsets["49"], -1); });
}

TEST_P(ProducerTest, TellsAnErrorThatDoesNotPassAndGoesOnWithANewId) {
  cluster.createTopic("t", 1);
  bool refuse = true;
  cluster.produceError = [&](int, const TopicPartition&) {
    return std::exchange(refuse, false) ? ErrorCode::MessageTooLarge : ErrorCode::None;
  };
  open();
  run([&] { send("large"); });
  ASSERT_TRUE(allSettled(1));
  run([&] { send("next"); });
  ASSERT_TRUE(allSettled(2));
  change([&] {
    EXPECT_EQ(errors["large"], ErrorCode::MessageTooLarge);
    EXPECT_EQ(offsets.at("next"), 0);
  });
  run([&] { EXPECT_EQ(producer->producerId().value(), 1001); });
}

TEST_P(ProducerTest, GivesUpAfterTheDeliveryTimeout) {
  cluster.createTopic("t", 1);
  bool refuse = true;
  cluster.produceError = [&](int, const TopicPartition&) {
    return refuse ? ErrorCode::NotEnoughReplicas : ErrorCode::None;
  };
  open({.deliveryTimeout = 60ms});
  run([&] { send("late"); });
  ASSERT_TRUE(allSettled(1));
  change([&] {
    EXPECT_EQ(errors["late"], ErrorCode::RequestTimedOut);
    refuse = false;
  });
  // One gets through in time, however busy the machine is.
  for (int i = 0; i < 100 && offsets.empty(); ++i) {
    run([&] { send(fmt::format("good {}", i)); });
    ASSERT_TRUE(allSettled(2 + i));
  }
  change([&] {
    ASSERT_EQ(offsets.size(), 1u);
    const auto& [value, offset] = *offsets.begin();
    EXPECT_EQ(cluster.values("t", 0).at(static_cast<size_t>(offset)), value);
  });
}

TEST_P(ProducerTest, LingersUntilTheBatchIsFullOrSomebodyFlushes) {
  cluster.createTopic("t", 1);
  open({.linger = 1h, .batchBytes = 1000});
  bool flushed = false;
  run([&] {
    send("a");
    send("b");
    producer->flush([&] {
      change([&] {
        EXPECT_EQ(settled, 2);
        flushed = true;
      });
    });
  });
  ASSERT_TRUE(await([&] { return flushed; }));
  change([&] { EXPECT_EQ(cluster.at("t", 0).batches.size(), 1u); });
  run([&] {
    send(std::string(700, 'x'));
    send(std::string(700, 'y'));
  });
  ASSERT_TRUE(allSettled(3)) << "the full one goes by itself";
  bool again = false;
  run([&] { producer->flush([&] { change([&] { again = true; }); }); });
  ASSERT_TRUE(await([&] { return again; }));
  change([&] { EXPECT_EQ(settled, 4); });
}

TEST(PartitionerTest, HashesAsKafkaDoes) {
  // From Kafka's own UtilsTest.
  EXPECT_EQ(client::murmur2(asBytes("21")), -973932308);
  EXPECT_EQ(client::murmur2(asBytes("foobar")), -790332482);
  EXPECT_EQ(client::murmur2(asBytes("a-little-bit-long-string")), -985981536);
  EXPECT_EQ(client::murmur2(asBytes("a-little-bit-longer-string")), -1486304829);
  EXPECT_EQ(client::murmur2(asBytes("abc")), 479470107);
  EXPECT_EQ(client::partitionOf(asBytes("foobar"), 10), (-790332482 & 0x7fffffff) % 10);
}

}  // namespace
}  // namespace tidemark::test
