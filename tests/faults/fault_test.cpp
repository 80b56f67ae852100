#include <fmt/format.h>
#include <gmock/gmock.h>

#include "faults/fault_json.h"

namespace tidemark::faults {
namespace {

using testing::HasSubstr;

/// What parseFault() says is wrong; empty if nothing.
std::string wrongWith(std::string_view json) {
  const auto fault = parseFault(json);
  return fault ? "" : fault.error().message;
}

TEST(Fault, IsReadFromItsJsonAndWrittenAsTheSame) {
  for (
      const std::string text : {
          R"({"kind":"cut","target":"link 1->3"})",
          R"({"durationMs":5000,"kind":"cut","target":"link clients named billing<->controller 2"})",
          R"({"delayMs":50,"jitterMs":20,"kind":"delay","target":"link leader of orders-0->3","trigger":{"afterMs":10,"probability":0.25,"seed":7}})",
          R"({"kind":"reset","target":"link clients->the active controller","trigger":{"nth":3}})",
          R"({"kind":"kill","target":"leader of orders-0","trigger":{"afterMs":5,"broker":2,"event":"IsrShrunk","partition":"orders-0"}})",
          R"({"bytesPerSecond":1000,"kind":"throttle","target":"link broker 1->broker 2"})",
          R"({"kind":"halves","left":[1,2],"right":[3]})",
          R"({"clients":false,"kind":"isolate","target":"broker 3"})",
          R"({"calls":["read","sync"],"kind":"disk-error","path":"orders-0/*.log","target":"broker 2","trigger":{"every":4}})",
          R"({"clocks":["wall","monotonic"],"kind":"clock-drift","rate":1.5,"target":"broker 1"})",
          R"({"clocks":["monotonic"],"kind":"clock-jump","offsetMs":60000,"target":"the active controller"})",
          R"({"api":"Produce","error":"NOT_LEADER_OR_FOLLOWER","kind":"request-error","partition":0,"target":"clients named billing","topic":"orders"})",
          R"({"kind":"ring"})",
      }) {
    const auto fault = parseFault(text);
    ASSERT_TRUE(fault) << text << ": " << fault.error().message;
    EXPECT_EQ(toJson(*fault), text);
    EXPECT_EQ(*parseFault(toJson(*fault)), *fault);
  }
}

TEST(Fault, AnArrowMakesALinkAlsoWithoutTheWord) {
  const auto fault = parseFault(R"({"kind":"cut","target":"1<->controller 2"})");
  ASSERT_TRUE(fault) << fault.error().message;
  EXPECT_EQ(toJson(*fault), R"({"kind":"cut","target":"link 1<->controller 2"})");
}

TEST(Fault, EveryKindHasANameOfItsOwnThatIsRead) {
  for (const Kind kind : allKinds()) EXPECT_EQ(kindOf(nameOf(kind)), kind);
  EXPECT_EQ(allKinds().back(), Kind::RequestDisconnect);
}

TEST(Fault, WhatNothingCanMatchIsRefused) {
  EXPECT_THAT(wrongWith(R"({"kind":"request-drop","api":"Heartbeat","topic":"orders"})"),
              HasSubstr("Heartbeat requests name no topic: leave \"topic\" out"));
  EXPECT_THAT(wrongWith(R"({"kind":"request-drop","api":"DeleteTopics","topic":"orders","partition":0})"),
              HasSubstr("DeleteTopics requests name no partitions: leave \"partition\" out"));
  EXPECT_EQ(wrongWith(R"({"kind":"request-drop","api":"DeleteTopics","topic":"orders"})"), "");
  EXPECT_EQ(wrongWith(R"({"kind":"request-drop","api":"OffsetFetch","topic":"orders","partition":0})"), "");
  EXPECT_EQ(wrongWith(R"({"kind":"request-drop","api":"DescribeConfigs","topic":"orders"})"), "");
  EXPECT_THAT(wrongWith(R"({"kind":"request-drop","api":"UpdateMetadata"})"),
              HasSubstr("no broker and no controller takes UpdateMetadata requests"));
  EXPECT_THAT(wrongWith(R"({"kind":"request-drop","topic":""})"),
              HasSubstr("\"topic\" is empty: name one, or leave it out"));
  EXPECT_THAT(wrongWith(R"({"kind":"disk-error","target":"broker 1","path":""})"),
              HasSubstr("\"path\" is empty: name a file"));
  for (const char* path : {"../x", "a/../x", "./x", "a//x", ".."})
    EXPECT_THAT(wrongWith(fmt::format(R"({{"kind":"disk-error","target":"broker 1","path":"{}"}})", path)),
                HasSubstr("has no empty part, no . and no .."));
  for (const char* path : {"*.log", "/data/*", "..x", "orders-0/*..*"})
    EXPECT_EQ(wrongWith(fmt::format(R"({{"kind":"disk-error","target":"broker 1","path":"{}"}})", path)), "");
  EXPECT_THAT(wrongWith(R"({"kind":"clock-drift","target":"broker 1","rate":1})"),
              HasSubstr("at a rate of 1 the clock is right"));
  EXPECT_THAT(wrongWith(R"({"kind":"halves","left":[1,1],"right":[2]})"),
              HasSubstr("broker 1 is named twice in one half"));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"link clients named ->1"})"), HasSubstr("clients named what?"));
  EXPECT_THAT(wrongWith(R"({"kind":"request-drop","target":"clients named "})"), HasSubstr("clients named what?"));
}

TEST(Fault, WhatIsOutOfRangeIsToldTheRange) {
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"1->2","durationMs":-1})"),
              HasSubstr("durationMs is from 1 to 31536000000, a year"));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"1->2","trigger":{"afterMs":-1}})"),
              HasSubstr("afterMs is from 0 to 31536000000, a year"));
  EXPECT_THAT(wrongWith(R"({"kind":"slow","target":"broker 1","delayMs":31536000001})"),
              HasSubstr("\"delayMs\" is 31536000001: a time is at most 31536000000 ms, a year"));
  EXPECT_THAT(wrongWith(R"({"kind":"delay","target":"1->2","delayMs":5,"jitterMs":-5})"),
              HasSubstr("jitterMs is not negative"));
  EXPECT_THAT(wrongWith(R"({"kind":"delay","target":"1->2","delayMs":5,"trigger":{"nth":99999999999999999999}})"),
              HasSubstr("\"nth\" is 1e+20: that is too much"));
  EXPECT_THAT(wrongWith(R"({"kind":"delay","target":"1->2","delayMs":1.5})"), HasSubstr("it must be a whole number"));
}

TEST(Fault, WhatIsMalformedIsNamed) {
  EXPECT_THAT(wrongWith(" "), HasSubstr("write the fault as JSON: {"));
  EXPECT_EQ(wrongWith("{"), "this is no JSON: it ends too early");
  EXPECT_EQ(wrongWith(R"({"kind": cut, "target": "link 1->2"})"),
            R"(this is no JSON from byte 10 on: cut, "target": "link…)");
  EXPECT_EQ(wrongWith(R"({"kind": "cut"} x)"), "this is no JSON from byte 17 on: x");
  EXPECT_THAT(wrongWith("[]"), HasSubstr("a fault is a JSON object"));
  EXPECT_THAT(wrongWith("{}"), HasSubstr("\"kind\" is missing"));
  EXPECT_THAT(wrongWith(R"({"kind":"explode"})"), HasSubstr("there is no \"explode\", there are cut, delay"));
  EXPECT_THAT(wrongWith(R"({"kind":"cut"})"), HasSubstr("cut needs \"target\""));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"link 1->2","delayMs":1})"),
              HasSubstr("cut takes no \"delayMs\"; it takes trigger, target, durationMs"));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":7})"), HasSubstr("\"target\" is 7: it must be a text"));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"link 1"})"), HasSubstr("\"link 1\" has no direction"));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"link 1->x"})"), HasSubstr("\"x\" is no node"));
  EXPECT_THAT(wrongWith(R"({"kind":"kill","target":"leader of orders"})"),
              HasSubstr("\"leader of orders\" names no partition"));
  EXPECT_THAT(wrongWith(R"({"kind":"delay","target":"link 1->2","delayMs":"long"})"),
              HasSubstr("\"delayMs\" is \"long\": it must be a whole number"));
  EXPECT_THAT(wrongWith(R"({"kind":"delay","target":"link 1->2","delayMs":1e300})"), HasSubstr("that is too much"));
  EXPECT_THAT(wrongWith(R"({"kind":"delay","target":"link 1->2","delayMs":9223372036854775807})"),
              HasSubstr("a time is at most 31536000000 ms, a year"));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"link 1->2","trigger":{"nth":1,"every":2}})"),
              HasSubstr("exclude each other"));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"link 1->2","trigger":{"when":1}})"),
              HasSubstr("\"trigger\" has no \"when\""));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"link 1->2","trigger":{"event":"Rain"}})"),
              HasSubstr("there is no \"Rain\", there are BatchAppended, "));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"link 1->2","trigger":{"broker":1}})"),
              HasSubstr("broker and partition are of an event"));
  for (const char* name : {"orders", "orders-", "-1", "orders-x"})
    EXPECT_THAT(
        wrongWith(fmt::format(
            R"({{"kind":"cut","target":"link 1->2","trigger":{{"event":"IsrShrunk","partition":"{}"}}}})", name)),
        HasSubstr("it must be TOPIC-PARTITION"));
  EXPECT_THAT(wrongWith(R"({"kind":"disk-error","target":"broker 1","path":"orders-0/"})"),
              HasSubstr("ends with a slash"));
  EXPECT_THAT(wrongWith(R"({"kind":"disk-error","target":"broker 1","calls":["mmap"]})"),
              HasSubstr("there is no \"mmap\", there are read, write, sync"));
  EXPECT_THAT(wrongWith(R"({"kind":"request-error","api":"Produces","error":"NONE"})"),
              HasSubstr("Kafka has no \"Produces\""));
  EXPECT_THAT(wrongWith(R"({"kind":"request-error","api":"Produce","error":"OOPS"})"),
              HasSubstr("Kafka has no \"OOPS\""));
}

TEST(Fault, NumbersThatNoDoubleHoldsAreAnError) {
  EXPECT_THAT(wrongWith("1e999"), HasSubstr("this is no JSON: it holds a number that is too large"));
  EXPECT_THAT(wrongWith(R"({"kind":"clock-drift","target":"broker 1","clocks":["wall"],"rate":-1e999})"),
              HasSubstr("a number that is too large"));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"link 1->2","trigger":{"seed":1e400}})"),
              HasSubstr("a number that is too large"));
}

TEST(Fault, AKeyThatIsSaidTwiceIsAnError) {
  EXPECT_THAT(wrongWith(R"({"kind":"delay","target":"link 1->2","delayMs":5,"delayMs":500})"),
              HasSubstr("\"delayMs\" is said twice"));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"link 1->2","trigger":{"nth":1,"nth":2}})"),
              HasSubstr("\"nth\" is said twice"));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","":1,"":2})"), HasSubstr("\"\" is said twice"));
}

TEST(Fault, DepthsWithoutMeaningAreAnError) {
  // Deep enough to overflow a stack of 8 MiB, were it copied or written level by level.
  constexpr size_t kDepth = 200'000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  EXPECT_THAT(wrongWith(deep), HasSubstr("nested too deeply"));
  EXPECT_THAT(wrongWith(R"({"kind":)" + deep + "}"), HasSubstr("nested too deeply"));
  EXPECT_THAT(wrongWith(R"({"kind":"disk-error","target":"broker 1","calls":)" + deep + "}"),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(wrongWith(std::string(kDepth, '[')), HasSubstr("this is no JSON"));
  EXPECT_THAT(wrongWith(R"({"kind":[[["cut"]]]})"), HasSubstr("must be a text"));
}

TEST(Fault, WhatIsImpossibleIsRefusedWithTheReason) {
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"broker 1"})"), HasSubstr("cut: its target is a link"));
  EXPECT_THAT(wrongWith(R"({"kind":"kill","target":"link 1->2"})"), HasSubstr("kill: its target is a broker"));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"link clients->clients"})"),
              HasSubstr("clients do not talk to each other"));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"link 2<->2"})"),
              HasSubstr("both ends of the link are the same broker"));
  EXPECT_THAT(wrongWith(R"({"kind":"halves","left":[1],"right":[1,2]})"),
              HasSubstr("broker 1 cannot be in both halves"));
  EXPECT_THAT(wrongWith(R"({"kind":"clock-jump","target":"broker 1","offsetMs":-1,"clocks":"monotonic"})"),
              HasSubstr("the monotonic clock never goes back"));
  EXPECT_THAT(wrongWith(R"({"kind":"kill","target":"broker 1","trigger":{"nth":2}})"),
              HasSubstr("nth, every and probability do not apply"));
  EXPECT_THAT(wrongWith(R"({"kind":"restart","target":"broker 1","durationMs":5})"),
              HasSubstr("restart takes no \"durationMs\""));
  EXPECT_THAT(wrongWith(R"({"kind":"delay","target":"link 1->2","delayMs":0})"), HasSubstr("delayMs is at least 1"));
  EXPECT_THAT(wrongWith(R"({"kind":"cut","target":"link 1->2","durationMs":-1})"),
              HasSubstr("durationMs is from 1 to"));
  EXPECT_THAT(wrongWith(R"({"kind":"reset","target":"link 1->2","trigger":{"probability":0}})"),
              HasSubstr("probability is more than 0"));
  EXPECT_THAT(wrongWith(R"({"kind":"request-drop","partition":1})"), HasSubstr("\"partition\" needs \"topic\""));
  EXPECT_THAT(wrongWith(R"({"kind":"request-drop","api":"ApiVersions"})"),
              HasSubstr("answered before requests are handed out"));
}

TEST(Target, IsWrittenInTheWordsThatItIsReadFrom) {
  for (const std::string text : {"broker 3", "controller 4", "leader of my-topic-12", "the active controller",
                                 "clients", "clients named a b", "link 1->3", "link controller 1<->controller 3",
                                 "link clients named billing->2", "link leader of orders-0->the active controller"}) {
    const auto target = parseTarget(text);
    ASSERT_TRUE(target) << target.error().message;
    EXPECT_EQ(textOf(*target), text);
  }
  EXPECT_EQ(parseTarget("link 1\u21923").value(), parseTarget("link 1->3").value());
  EXPECT_EQ(parseTarget(" the leader of orders-0 ").value(), parseTarget("leader of orders-0").value());
  EXPECT_EQ(textOf(*parseTarget("")), "");
  EXPECT_EQ(std::get<NodeName>(*parseTarget("controller 4")).id, NodeId(4));
  EXPECT_EQ(parseTarget("controller leader of orders-0").error().message,
            "\"controller leader of orders-0\" is no controller: write controller N or the active controller");
}

}  // namespace
}  // namespace tidemark::faults
