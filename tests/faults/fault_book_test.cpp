#include <gmock/gmock.h>

#include <fmt/format.h>

#include "faults/fault_book.h"
#include "faults/fault_json.h"

namespace tidemark::faults {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;

constexpr MonotonicTime kStart{seconds(100)};

class FaultBookTest : public testing::Test {
 protected:
  int set(std::string_view json, MonotonicTime now = kStart, Place place = {}) {
    Fault fault = parseFault(json).value();
    if (const auto* link = std::get_if<LinkName>(&fault.target))
      place.links = {{.from = {.node = link->from.node.id, .port = {}, .client = {}},
                      .to = {.node = link->to.node.id, .port = {}, .client = {}}}};
    if (const auto* node = std::get_if<NodeName>(&fault.target)) place.node = node->id;
    const int id = book_.add(std::move(fault), now);
    if (book_.due(now)) book_.begin(id, std::move(place), now);
    return id;
  }
  /// A transfer from broker 1 to 3, or back.
  LinkVerdict transfer(bool there = true, uint64_t bytes = 100) {
    return book_.transfer(
        {.opener = NodeId(1), .client = {}, .acceptor = NodeId(3), .port = Port::Broker, .toAcceptor = there}, bytes,
        book_.newTicket(), {});
  }
  /// Which of `count` transfers are reset.
  std::vector<int> resets(int count) {
    std::vector<int> all;
    for (int i = 1; i <= count; ++i)
      if (transfer().reset) all.push_back(i);
    return all;
  }
  std::vector<std::string> told() {
    std::vector<std::string> lines;
    for (const events::Payload& each : std::exchange(told_, {}))
      lines.push_back(fmt::format("{} {}", events::nameOf(each), events::fieldsText(each)));
    return lines;
  }
  FaultStatus status(int id, MonotonicTime now) {
    for (FaultStatus& each : book_.list(now))
      if (each.id == id) return each;
    ADD_FAILURE() << "there is no fault " << id;
    return {};
  }

  /// Of those that are over, "id ending".
  std::vector<std::string> over(MonotonicTime now = kStart) {
    std::vector<std::string> all;
    for (const FaultOver& each : book_.lists(now).over)
      all.push_back(fmt::format("{} {}", each.id, nameOf(each.ending)));
    return all;
  }

  MonotonicTime now_ = kStart;
  std::vector<events::Payload> told_;
  std::vector<std::pair<int, uint64_t>> fired_;
  FaultBook book_{[this](const events::Payload& what) { told_.push_back(what); },
                  [this](int fault, uint64_t times) { fired_.emplace_back(fault, times); }, [this] { return now_; }};
};

TEST_F(FaultBookTest, ASiteIsAskedOnlyWhileSomethingIsBrokenThere) {
  const auto one = book_.site(NodeId(1));
  const auto two = book_.site(NodeId(2));
  EXPECT_FALSE(one->any(~0U));
  const int disk = set(R"({"kind":"full-disk","target":"broker 1"})");
  EXPECT_TRUE(one->any(kDiskFaults));
  EXPECT_FALSE(one->any(~static_cast<uint32_t>(kDiskFaults)));
  EXPECT_FALSE(two->any(~0U));
  set(R"({"kind":"cut","target":"link 1->3"})");
  EXPECT_TRUE(two->any(kLinkFaults)) << "links are asked for everywhere";
  EXPECT_TRUE(book_.site(NodeId(7))->any(kLinkFaults)) << "by who comes later too";
  book_.end(disk, Ending::Healed);
  EXPECT_FALSE(one->any(kDiskFaults));
}

TEST_F(FaultBookTest, LinksAreAskedForEverywhereWhomeverTheFaultNames) {
  for (const char* json : {R"({"kind":"isolate","target":"broker 1"})", R"({"kind":"bridge","target":"broker 1"})"}) {
    const int id = set(json);
    EXPECT_TRUE(book_.site(NodeId(2))->any(kLinkFaults)) << json;
    book_.end(id, Ending::Healed);
    EXPECT_FALSE(book_.site(NodeId(2))->any(kLinkFaults)) << json;
  }
}

TEST_F(FaultBookTest, WhatARequestNamesIsAskedOnlyWhereAFaultIsAboutATopic) {
  const auto asks = [&](std::string_view api, std::string_view client, NodeId node = NodeId(1)) {
    return book_.askWhatIsNamed(node, api, client);
  };
  set(R"({"kind":"request-delay","target":"broker 1","delayMs":5})");
  EXPECT_FALSE(asks("Produce", "billing")) << "this one is about every request";
  Place ofBilling;
  ofBilling.client = "billing";
  const int some =
      set(R"({"kind":"request-drop","target":"broker 1","api":"Produce","topic":"orders"})", kStart, ofBilling);
  EXPECT_TRUE(asks("Produce", "billing"));
  EXPECT_FALSE(asks("Fetch", "billing"));
  EXPECT_FALSE(asks("Produce", "shop"));
  EXPECT_FALSE(asks("Produce", "billing", NodeId(2)));
  book_.end(some, Ending::Healed);
  EXPECT_FALSE(asks("Produce", "billing"));
}

TEST_F(FaultBookTest, ACutHoldsOneDirectionUntilItIsHealed) {
  const int cut = set(R"({"kind":"cut","target":"link 1->3"})");
  EXPECT_TRUE(transfer().held);
  EXPECT_TRUE(transfer(true, 0).held) << "connecting, too";
  EXPECT_FALSE(transfer(false).held);
  EXPECT_TRUE(book_.end(cut, Ending::Healed));
  EXPECT_FALSE(transfer().held);
  EXPECT_FALSE(book_.end(cut, Ending::Healed)) << "it is gone";
}

TEST_F(FaultBookTest, ATransferThatIsAskedForAgainIsCountedOnce) {
  const int cut = set(R"({"kind":"cut","target":"link 1->3"})");
  const Passage passage{
      .opener = NodeId(1), .client = {}, .acceptor = NodeId(3), .port = Port::Broker, .toAcceptor = true};
  const uint64_t ticket = book_.newTicket();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(book_.transfer(passage, 100, ticket, {}).held);
  EXPECT_EQ(status(cut, kStart).fired, 1U);
  transfer();
  EXPECT_EQ(status(cut, kStart).fired, 2U);
}

TEST_F(FaultBookTest, OccasionsAreTakenAsTheTriggerSays) {
  const int nth = set(R"({"kind":"reset","target":"link 1->3","trigger":{"nth":3}})");
  EXPECT_THAT(resets(10), ElementsAre(3));
  EXPECT_FALSE(book_.end(nth, Ending::Healed)) << "it was over by itself";
  const int every = set(R"({"kind":"reset","target":"link 1->3","trigger":{"every":3}})");
  EXPECT_THAT(resets(10), ElementsAre(3, 6, 9));
  EXPECT_EQ(status(every, kStart).fired, 3U);
  book_.end(every, Ending::Healed);
  set(R"({"kind":"reset","target":"link 1->3"})");
  EXPECT_THAT(resets(3), ElementsAre(1, 2, 3));
}

TEST_F(FaultBookTest, ChanceIsDrawnFromItsSeed) {
  const auto run = [&](int seed) {
    const int id =
        set(fmt::format(R"({{"kind":"reset","target":"link 1->3","trigger":{{"probability":0.25,"seed":{}}}}})", seed));
    auto all = resets(1000);
    book_.end(id, Ending::Healed);
    return all;
  };
  const auto first = run(1);
  EXPECT_EQ(run(1), first);
  EXPECT_NE(run(2), first);
  EXPECT_GT(first.size(), 200U);
  EXPECT_LT(first.size(), 300U);
}

TEST_F(FaultBookTest, DelaysJitterAroundTheirMiddleAndAddUp) {
  set(R"({"kind":"delay","target":"link 1->3","delayMs":50,"jitterMs":20})");
  Duration least = seconds(1);
  Duration most{};
  for (int i = 0; i < 200; ++i) {
    const Duration delay = transfer().delay;
    least = std::min(least, delay);
    most = std::max(most, delay);
  }
  EXPECT_GE(least, milliseconds(30));
  EXPECT_LT(least, milliseconds(35));
  EXPECT_LE(most, milliseconds(70));
  EXPECT_GT(most, milliseconds(65));
  set(R"({"kind":"delay","target":"link 1->3","delayMs":1000})");
  EXPECT_GE(transfer().delay, milliseconds(1030));
}

TEST_F(FaultBookTest, TheNarrowestThrottleCounts) {
  set(R"({"kind":"throttle","target":"link 1->3","bytesPerSecond":1000})");
  set(R"({"kind":"throttle","target":"link 1->3","bytesPerSecond":500})");
  EXPECT_EQ(transfer().bytesPerSecond, 500);
}

TEST_F(FaultBookTest, AHoldIsSteppedInTheOrderInWhichTransfersCame) {
  const int hold = set(R"({"kind":"hold","target":"link 1->3"})");
  const Passage passage{
      .opener = NodeId(1), .client = {}, .acceptor = NodeId(3), .port = Port::Broker, .toAcceptor = true};
  const uint64_t first = book_.newTicket();
  const uint64_t second = book_.newTicket();
  const uint64_t third = book_.newTicket();
  EXPECT_FALSE(book_.transfer(passage, 0, book_.newTicket(), {}).held) << "connecting passes";
  for (const uint64_t ticket : {second, first, third}) EXPECT_TRUE(book_.transfer(passage, 1, ticket, {}).held);
  EXPECT_EQ(status(hold, kStart).held, 3U);
  EXPECT_EQ(book_.step(hold, 1), 1U);
  EXPECT_EQ(status(hold, kStart).held, 2U);
  EXPECT_TRUE(book_.transfer(passage, 1, second, {}).held);
  EXPECT_FALSE(book_.transfer(passage, 1, first, {}).held);
  book_.forget(second);
  EXPECT_EQ(status(hold, kStart).held, 1U);
  EXPECT_EQ(book_.step(hold, 5), 1U) << "the one that is gone does not count";
  EXPECT_FALSE(book_.transfer(passage, 1, third, {}).held);
  EXPECT_TRUE(transfer().held) << "who comes later is held";
  const int cut = set(R"({"kind":"cut","target":"link 2->3"})");
  EXPECT_EQ(book_.step(cut, 1).error().message, "fault 2 is a cut: only a hold can be stepped");
  EXPECT_EQ(book_.step(77, 1).error().message, "there is no fault 77; `faults` lists those that there are");
}

TEST_F(FaultBookTest, FaultsBeginAndEndWhenTheirTimeHasCome) {
  const int later = set(R"({"kind":"cut","target":"link 1->3","trigger":{"afterMs":2000},"durationMs":5000})");
  EXPECT_FALSE(transfer().held);
  EXPECT_TRUE(status(later, kStart).waits);
  EXPECT_EQ(status(later, kStart + seconds(1)).left, seconds(1));
  EXPECT_EQ(book_.nextDue(), kStart + seconds(2));
  EXPECT_FALSE(book_.due(kStart + milliseconds(1999)));
  const auto due = book_.due(kStart + seconds(2));
  ASSERT_TRUE(due);
  EXPECT_TRUE(due->begins);
  book_.begin(due->id,
              {.node = {},
               .client = {},
               .links = {{.from = {.node = NodeId(1), .port = {}, .client = {}},
                          .to = {.node = NodeId(3), .port = {}, .client = {}}}}},
              kStart + seconds(2));
  EXPECT_TRUE(transfer().held);
  EXPECT_EQ(status(later, kStart + seconds(3)).left, seconds(4));
  EXPECT_EQ(book_.nextDue(), kStart + seconds(7));
  const auto over = book_.due(kStart + seconds(7));
  ASSERT_TRUE(over);
  EXPECT_FALSE(over->begins);
  book_.end(over->id, Ending::Expired);
  EXPECT_FALSE(transfer().held);
  EXPECT_FALSE(book_.nextDue());
}

TEST_F(FaultBookTest, OneThatWaitsForAnEventIsDueSoLongAfterIt) {
  const int waits = set(
      R"({"kind":"cut","target":"link 1->3","trigger":{"event":"IsrShrunk","broker":2,"partition":"orders-0","afterMs":2000}})");
  const TopicPartition orders{"orders", PartitionIndex(0)};
  EXPECT_EQ(book_.awaited(), events::Kinds::of<events::IsrShrunk>());
  EXPECT_FALSE(book_.nextDue());
  EXPECT_FALSE(status(waits, kStart + seconds(1)).left);
  book_.occurred(NodeId(2), "IsrExpanded", orders, kStart);
  book_.occurred(NodeId(1), "IsrShrunk", orders, kStart);
  book_.occurred(NodeId(2), "IsrShrunk", {"orders", PartitionIndex(1)}, kStart);
  EXPECT_FALSE(book_.nextDue()) << "those were others";
  book_.occurred(NodeId(2), "IsrShrunk", orders, kStart + seconds(1));
  EXPECT_EQ(book_.nextDue(), kStart + seconds(3));
  EXPECT_TRUE(book_.awaited().empty());
  book_.occurred(NodeId(2), "IsrShrunk", orders, kStart + seconds(2));
  EXPECT_EQ(book_.nextDue(), kStart + seconds(3)) << "the first counts";
}

TEST_F(FaultBookTest, TellsWhatIsSetAndHealed) {
  const int id = set(R"({"kind":"reset","target":"link 1->3"})");
  EXPECT_THAT(told(), ElementsAre("FaultInjected fault=1 kind=Other node=-1 target=\"reset link 1->3\" duration=0ns"));
  for (int i = 0; i < 5; ++i) transfer();
  EXPECT_THAT(told(), testing::IsEmpty());
  EXPECT_THAT(fired_, ElementsAre(testing::Pair(1, 1), testing::Pair(1, 2), testing::Pair(1, 4)))
      << "the first time and whenever it has doubled";
  book_.end(id, Ending::Healed);
  EXPECT_THAT(told(), ElementsAre(testing::StartsWith("FaultHealed fault=1")));
  set(R"({"kind":"reset","target":"link 1->3","trigger":{"nth":1}})");
  told();
  transfer();
  EXPECT_THAT(told(), ElementsAre(testing::StartsWith("FaultHealed fault=2"))) << "it was over with that";
  book_.end(set(R"({"kind":"cut","target":"link 1->3"})"), Ending::Dropped);
  EXPECT_THAT(told(), ElementsAre(testing::StartsWith("FaultInjected"))) << "of one that is dropped nobody is told";
}

TEST_F(FaultBookTest, WhatIsOverIsKeptWithWhyAndWhenItEnded) {
  set(R"({"kind":"reset","target":"link 1->3","trigger":{"nth":2}})");
  transfer();
  EXPECT_TRUE(over().empty());
  now_ = kStart + seconds(3);
  transfer();
  const int cut = set(R"({"kind":"cut","target":"link 1->3"})", now_);
  transfer();
  now_ = kStart + seconds(5);
  book_.end(cut, Ending::Healed);
  book_.end(set(R"({"kind":"cut","target":"link 1->3"})", now_), Ending::Expired);
  book_.end(set(R"({"kind":"cut","target":"link 1->3","trigger":{"afterMs":1}})", now_), Ending::Dropped, "so");
  set(R"({"kind":"restart","target":"broker 1"})", now_);
  EXPECT_THAT(over(), ElementsAre("1 fired out", "2 healed", "3 time over", "4 dropped", "5 fired out"));
  const FaultBook::Lists lists = book_.lists(kStart + seconds(6));
  EXPECT_TRUE(lists.set.empty());
  EXPECT_EQ(textOf(lists.over[0].fault), "reset link 1->3");
  EXPECT_EQ(lists.over[0].since, seconds(6));
  EXPECT_EQ(lists.over[0].ago, seconds(3));
  EXPECT_EQ(lists.over[1].since, seconds(3));
  EXPECT_EQ(lists.over[1].ago, seconds(1));
  EXPECT_EQ(lists.over[1].fired, 1U);
  EXPECT_EQ(lists.over[3].reason, "so");
  EXPECT_EQ(lists.over[4].node, NodeId(1));
}

TEST_F(FaultBookTest, OnlyTheNewestOfThoseThatAreOverAreKept) {
  const int more = static_cast<int>(FaultBook::kMostOver) + 3;
  for (int i = 0; i < more; ++i) book_.end(set(R"({"kind":"cut","target":"link 1->3"})"), Ending::Healed);
  EXPECT_EQ(over().size(), FaultBook::kMostOver);
  EXPECT_EQ(over().front(), "4 healed");
  EXPECT_EQ(over().back(), fmt::format("{} healed", more));
}

TEST_F(FaultBookTest, WhatNeverCameToBeIsNotCalledOver) {
  book_.unset(set(R"({"kind":"cut","target":"link 1->3"})"));
  EXPECT_FALSE(transfer().held);
  EXPECT_TRUE(over().empty());
  book_.end(set(R"({"kind":"cut","target":"link 1->3"})"), Ending::Healed);
  set(R"({"kind":"cut","target":"link 1->3"})");
  book_.clear();
  EXPECT_FALSE(transfer().held);
  EXPECT_TRUE(over().empty());
  EXPECT_TRUE(book_.list(kStart).empty());
}

TEST_F(FaultBookTest, AClockThatStaysWrongIsToldUntilItsBrokerStartsAnew) {
  const auto lasting = [this] { return book_.lists(now_).over.back().lasting; };
  const auto heal = [this](int id) { book_.end(id, Ending::Healed); };
  set(R"({"kind":"clock-jump","target":"broker 1","offsetMs":-60000})");
  EXPECT_TRUE(lasting().isNothing()) << "nobody has that clock";
  book_.lives(NodeId(1), true);
  set(R"({"kind":"clock-jump","target":"broker 1","offsetMs":-60000})");
  EXPECT_EQ(lasting().wall, milliseconds(-60000));
  EXPECT_EQ(lasting().monotonic, Duration{});
  heal(set(R"({"kind":"clock-offset","target":"broker 1","offsetMs":5000,"clocks":["wall","monotonic"]})"));
  EXPECT_EQ(lasting().wall, milliseconds{}) << "it is right again";
  EXPECT_EQ(lasting().monotonic, seconds(5));
  const int drift = set(R"({"kind":"clock-drift","target":"broker 1","rate":0.5,"clocks":["monotonic"]})");
  now_ += seconds(8);
  heal(drift);
  EXPECT_EQ(lasting().monotonic, -seconds(4));
  book_.lives(NodeId(2), false);
  EXPECT_EQ(lasting().monotonic, -seconds(4)) << "that is another one";
  book_.lives(NodeId(1), false);
  for (const FaultOver& each : book_.lists(now_).over) EXPECT_TRUE(each.lasting.isNothing()) << each.id;
  const int also = set(R"({"kind":"clock-drift","target":"broker 1","rate":0.5,"clocks":["monotonic"]})");
  now_ += seconds(8);
  book_.lives(NodeId(1), true);
  now_ += seconds(2);
  heal(also);
  EXPECT_EQ(lasting().monotonic, -seconds(1)) << "since it started";
}

TEST_F(FaultBookTest, AWriteThatToreIsOverAndNamesItsFile) {
  set(R"({"kind":"slow-disk","target":"broker 1","delayMs":1})");
  set(R"({"kind":"torn-write","target":"broker 1"})");
  // Opening, renaming, cutting off: there is nothing to tear, so it waits.
  EXPECT_FALSE(book_.fileCall(NodeId(1), {.kind = kWrites, .grows = true}, "/data/orders-0/00.log").isTorn);
  EXPECT_TRUE(book_.lists(kStart).over.empty());
  EXPECT_TRUE(
      book_.fileCall(NodeId(1), {.kind = kWrites, .grows = true, .hasBytes = true}, "/data/orders-0/00.log").isTorn);
  const auto lists = book_.lists(kStart);
  ASSERT_EQ(lists.over.size(), 1U);
  EXPECT_EQ(lists.over[0].ending, Ending::FiredOut);
  EXPECT_THAT(lists.over[0].lasting.paths, ElementsAre("/data/orders-0/00.log"));
}

TEST(Lasting, NamesSoManyPathsAndCountsTheOthers) {
  Lasting lasting;
  for (size_t i = 0; i < Lasting::kMostPaths + 5; ++i) lasting.add("x");
  EXPECT_EQ(lasting.paths.size(), Lasting::kMostPaths);
  EXPECT_EQ(lasting.morePaths, 5U);
}

TEST(Lasting, CountsWhatIsLostOfFilesThatItDoesNotName) {
  Lasting lasting;
  for (size_t i = 0; i < Lasting::kMostPaths + 2; ++i) lasting.addCut("x", 10 + i);
  EXPECT_EQ(lasting.lostBytes.size(), Lasting::kMostPaths);
  EXPECT_EQ(lasting.lostBytes.back(), 10 + Lasting::kMostPaths - 1);
  EXPECT_EQ(lasting.lostInAll, 10 * 18 + 17 * 18 / 2);
}

TEST_F(FaultBookTest, WhatAFaultHasDoneToFilesIsListedWhileItIsSet) {
  const int loss = set(R"({"kind":"power-loss","target":"broker 1"})");
  EXPECT_TRUE(book_.list(kStart).front().lasting.isNothing());
  Lasting lasting;
  lasting.addCut("/data/orders-0/00.log", 700);
  book_.leaves(loss, lasting);
  EXPECT_EQ(book_.list(kStart).front().lasting, lasting);
  book_.end(loss, Ending::Healed);
  EXPECT_EQ(book_.lists(kStart).over.back().lasting, lasting);
}

TEST_F(FaultBookTest, FileCallsAreMatchedByCallPathAndNode) {
  set(R"({"kind":"disk-error","target":"broker 1","calls":"sync","path":"orders-0/*.log"})");
  EXPECT_TRUE(book_.fileCall(NodeId(1), {.kind = kSyncs}, "/data/orders-0/00.log").fails);
  EXPECT_FALSE(book_.fileCall(NodeId(1), {.kind = kWrites}, "/data/orders-0/00.log").fails);
  EXPECT_FALSE(book_.fileCall(NodeId(1), {.kind = kSyncs}, "/data/orders-1/00.log").fails);
  EXPECT_FALSE(book_.fileCall(NodeId(2), {.kind = kSyncs}, "/data/orders-0/00.log").fails);
  set(R"({"kind":"full-disk","target":"broker 2"})");
  EXPECT_TRUE(book_.fileCall(NodeId(2), {.kind = kWrites, .grows = true, .hasBytes = true}, "/x").isFull);
  EXPECT_FALSE(book_.fileCall(NodeId(2), {.kind = kWrites}, "/x").isFull) << "what is there may be overwritten";
  set(R"({"kind":"torn-write","target":"broker 3"})");
  EXPECT_TRUE(book_.fileCall(NodeId(3), {.kind = kWrites, .grows = true, .hasBytes = true}, "/x").isTorn);
  EXPECT_FALSE(book_.fileCall(NodeId(3), {.kind = kWrites, .grows = true, .hasBytes = true}, "/x").isTorn)
      << "the broker died of the first one";
}

TEST(Path, IsMatchedAtItsEndWithStars) {
  EXPECT_TRUE(matchesPath("", "/a/b"));
  EXPECT_TRUE(matchesPath("*.log", "/data/broker-1/orders-0/00.log"));
  EXPECT_TRUE(matchesPath("orders-0/*", "/data/broker-1/orders-0/00.log"));
  EXPECT_TRUE(matchesPath("orders-*/*.index", "/data/orders-12/00.index"));
  EXPECT_FALSE(matchesPath("rders-0/*", "/data/orders-0/00.log")) << "names are whole";
  EXPECT_FALSE(matchesPath("*.log", "/data/00.log.deleted"));
  EXPECT_TRUE(matchesPath("recovery-point-offset-checkpoint", "/d/recovery-point-offset-checkpoint"));
}

}  // namespace
}  // namespace tidemark::faults
