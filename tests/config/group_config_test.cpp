#include "config/group_config.h"

#include <gmock/gmock.h>

namespace tidemark::config {
namespace {

struct Broker {
  ConfigMap perBroker, clusterDefault, file;
  std::string whyNot(const ConfigMap& group) const {
    const auto checked = validateGroupConfig(group, {perBroker, clusterDefault, file});
    return checked ? "" : checked.error().message;
  }
};

TEST(GroupConfig, TakesWhatLiesWithinTheBrokersBounds) {
  Broker broker;
  EXPECT_EQ(broker.whyNot({{"consumer.session.timeout.ms", "50000"}, {"share.auto.offset.reset", "earliest"}}), "");
  EXPECT_EQ(broker.whyNot({{"consumer.session.timeout.ms", "44999"}}),
            "consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive.");
  EXPECT_EQ(broker.whyNot({{"streams.num.standby.replicas", "3"}}),
            "streams.num.standby.replicas must be less than or equal to 2");
  EXPECT_EQ(broker.whyNot({{"streams.task.offset.interval.ms", "1"}}),
            "streams.task.offset.interval.ms must be greater than or equal to 15000");
  broker.file["group.consumer.min.session.timeout.ms"] = "1000";
  EXPECT_EQ(broker.whyNot({{"consumer.session.timeout.ms", "44999"}}), "");
  EXPECT_EQ(broker.whyNot({{"share.delivery.count.limit", "9"}}), "");
  EXPECT_EQ(broker.whyNot({{"share.delivery.count.limit", "11"}}),
            "share.delivery.count.limit must be in the range 2 to 10 inclusive.");
}

TEST(GroupConfig, ASessionOutlastsAHeartbeatWhicheverIsSet) {
  Broker broker;
  broker.file["group.share.min.session.timeout.ms"] = "1000";
  EXPECT_EQ(broker.whyNot({{"share.session.timeout.ms", "5000"}}),
            "share.session.timeout.ms must be greater than share.heartbeat.interval.ms");
  EXPECT_EQ(broker.whyNot({{"share.session.timeout.ms", "15000"}, {"share.heartbeat.interval.ms", "15000"}}),
            "share.session.timeout.ms must be greater than share.heartbeat.interval.ms");
  EXPECT_EQ(broker.whyNot({{"share.session.timeout.ms", "5001"}}), "");
}

TEST(GroupConfig, NamesWhatNobodyKnows) {
  const Broker broker;
  EXPECT_EQ(broker.whyNot({{"consumer.size", "1"}}), "Unknown group config name: consumer.size");
  EXPECT_EQ(broker.whyNot({{"streams.assignor.name", "sticky"}}), "");
  EXPECT_THAT(broker.whyNot({{"streams.assignor.name", "smart"}}), testing::HasSubstr("'smart' is not a registered"));
  EXPECT_EQ(broker.whyNot({{"streams.rack.aware.assignment.tags", "zone, cluster,zone"}}),
            "streams.rack.aware.assignment.tags must not contain duplicate tag keys.");
  EXPECT_THAT(broker.whyNot({{"errors.deadletterqueue.topic.name", "__dlq"}}), testing::HasSubstr("must not start"));
  EXPECT_THAT(broker.whyNot({{"share.isolation.level", "none"}}), testing::HasSubstr("share.isolation.level"));
}

}  // namespace
}  // namespace tidemark::config
