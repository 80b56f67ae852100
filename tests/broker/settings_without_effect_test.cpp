#include "broker/settings_without_effect.h"

#include <gmock/gmock.h>

namespace tidemark::broker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SettingsWithoutEffect, AreToldWhereTheyAreSetToSomethingElse) {
  EXPECT_THAT(settingsWithoutEffect({{"group.max.size", "7"}, {"group.coordinator.threads", "4"}}), IsEmpty())
      << "one has an effect, the other is what is done anyway";
  EXPECT_THAT(settingsWithoutEffect({{"group.coordinator.append.linger.ms", "5"},
                                     {"group.consumer.assignor.offload.enable", "false"},
                                     {"offsets.topic.compression.codec", "4"}}),
              ElementsAre(HasSubstr("group.consumer.assignor.offload.enable=false has no effect"),
                          HasSubstr("group.coordinator.append.linger.ms=5 has no effect")));
}

TEST(SettingsWithoutEffect, AreToldOfAGroupAsWell) {
  EXPECT_THAT(
      groupSettingsWithoutEffect({{"streams.num.standby.replicas", "1"}, {"consumer.assignor.offload.enable", "true"}}),
      IsEmpty())
      << "one has an effect, the other is as by default";
  EXPECT_THAT(groupSettingsWithoutEffect({{"streams.num.warmup.replicas", "3"}}),
              ElementsAre(HasSubstr("streams.num.warmup.replicas=3 has no effect")));
}

}  // namespace
}  // namespace tidemark::broker
