#include "cluster_fixture.h"

#include "log/partition_log.h"
#include "platform/process.h"

namespace tidemark::cluster {
namespace {

class LookTest : public ClusterTest {
 protected:
  struct Seen {
    std::string path;
    bool withLog = false;
    bool withProcess = false;
    std::string error;
  };
  void SetUp() override {
    ASSERT_LAUNCHED(options(3));
    ASSERT_TRUE(createTopic("orders"));
  }
  std::shared_ptr<std::optional<Seen>> begin(observe::LookPlace place) {
    auto seen = std::make_shared<std::optional<Seen>>();
    lab_.cluster().look(std::move(place), [this, seen](const Result<observe::LookAccess>& access) {
      lab_.change([&] {
        ASSERT_FALSE(seen->has_value()) << "exactly once";
        Seen now;
        if (access) {
          now.path = access->path;
          now.withLog = access->log != nullptr;
          now.withProcess = access->process != nullptr;
        } else {
          now.error = access.error().message;
        }
        *seen = now;
      });
    });
    return seen;
  }
  Seen look(observe::LookPlace place) {
    const auto seen = begin(std::move(place));
    EXPECT_TRUE(await([&] { return seen->has_value(); }));
    return seen->value_or(Seen());
  }
  static observe::LookPlace copy(int broker, const std::string& topic = "orders") {
    return {.broker = NodeId(broker), .partition = {topic, PartitionIndex(0)}, .path = {}};
  }
};

TEST_F(LookTest, aRunningBrokerLendsItsLog) {
  const Seen seen = look(copy(2));
  EXPECT_EQ(seen.error, "");
  EXPECT_TRUE(seen.withLog);
  EXPECT_EQ(seen.path, std::string(kFolder) + "/broker-2/orders-0");
}

TEST_F(LookTest, whatIsNotThereIsSaidSo) {
  EXPECT_NE(look(copy(7)).error.find("no broker 7"), std::string::npos);
  EXPECT_NE(look(copy(1, "payments")).error.find("payments-0"), std::string::npos);
}

TEST_F(LookTest, aPathIsLentAsItIs) {
  const Seen seen = look({.path = "/somewhere"});
  EXPECT_EQ(seen.path, "/somewhere");
  EXPECT_TRUE(seen.withProcess);
  EXPECT_FALSE(seen.withLog);
}

TEST_F(LookTest, aLookIsAnsweredThoughItsBrokerIsKilledBeforeItsTurn) {
  const auto seen = begin(copy(3));
  ASSERT_TRUE(kill(3));
  EXPECT_TRUE(await([&] { return seen->has_value(); }));
  // Of a broker that is down the lab looks for the files itself; on its own disk there are none.
  EXPECT_NE(look(copy(3)).error, "");
}

TEST_F(LookTest, aPausedBrokerIsNotWaitedFor) {
  ASSERT_TRUE(lab_.perform([&](auto done) { lab_.cluster().pauseBroker(NodeId(2), std::move(done)); }));
  EXPECT_FALSE(look(copy(2)).withLog);
}

}  // namespace
}  // namespace tidemark::cluster
