#include <gmock/gmock.h>

#include "faults/place.h"

namespace tidemark::faults {
namespace {

std::vector<Member> brokers(int count) {
  std::vector<Member> all;
  for (int i = 1; i <= count; ++i) all.push_back({.id = NodeId(i)});
  return all;
}

/// A cluster in which broker 1 leads everything and broker 2 is the active controller.
class FixedView final : public ClusterView {
 public:
  explicit FixedView(int count) : members_(brokers(count)) {}
  std::vector<Member> members() const override { return members_; }
  Result<NodeId> leaderOf(const TopicPartition& partition) const override {
    if (partition.topic == "none") return fail(ErrorCode::LeaderNotAvailable, "none-0 has no leader");
    return NodeId(1);
  }
  Result<NodeId> activeController() const override { return NodeId(2); }

 private:
  const std::vector<Member> members_;
};

Fault faultOf(Kind kind, std::string_view target) {
  Fault fault;
  fault.kind = kind;
  fault.target = parseTarget(target).value();
  return fault;
}

/// Whether what `from` sends to `to` passes, over connections of either; 0: a client named billing.
bool passes(const std::vector<LinkRule>& rules, int from, int to, Port port = Port::Broker) {
  const auto node = [](int id) { return id == 0 ? kNoNode : NodeId(id); };
  const auto cut = [&](const Passage& passage) {
    return std::ranges::any_of(rules, [&](const LinkRule& rule) { return matches(rule, passage); });
  };
  bool isCut = false;
  if (to != 0)
    isCut |= cut({.opener = node(from), .client = "billing", .acceptor = node(to), .port = port, .toAcceptor = true});
  if (from != 0)
    isCut |= cut({.opener = node(to), .client = "billing", .acceptor = node(from), .port = port, .toAcceptor = false});
  return !isCut;
}

std::vector<LinkRule> linksOf(const Fault& fault, int count) {
  const auto place = placeOf(fault, FixedView(count));
  EXPECT_TRUE(place) << place.error().message;
  return place->links;
}

TEST(Place, ALinkIsOneDirectionOnConnectionsOfEitherSide) {
  const auto rules = linksOf(faultOf(Kind::Cut, "link 1->3"), 3);
  EXPECT_FALSE(passes(rules, 1, 3));
  EXPECT_TRUE(passes(rules, 3, 1));
  EXPECT_TRUE(passes(rules, 1, 2));
  EXPECT_TRUE(passes(rules, 0, 3)) << "clients are no brokers";
  EXPECT_FALSE(passes(linksOf(faultOf(Kind::Cut, "link 1<->3"), 3), 3, 1));
}

TEST(Place, AControllerIsItsListenerAndABrokerIsItsOwn) {
  const auto toController = linksOf(faultOf(Kind::Cut, "link 1->controller 3"), 3);
  EXPECT_FALSE(passes(toController, 1, 3, Port::Controller));
  EXPECT_TRUE(matches(toController.front(),
                      {.opener = NodeId(1), .client = {}, .acceptor = NodeId(3), .port = Port::Controller}));
  EXPECT_FALSE(
      matches(toController.front(), {.opener = NodeId(1), .client = {}, .acceptor = NodeId(3), .port = Port::Broker}));
  const auto between = linksOf(faultOf(Kind::Cut, "link controller 1->controller 3"), 3);
  EXPECT_FALSE(
      matches(between.front(), {.opener = NodeId(1), .client = {}, .acceptor = NodeId(3), .port = Port::Broker}));
  EXPECT_TRUE(
      matches(between.front(), {.opener = NodeId(1), .client = {}, .acceptor = NodeId(3), .port = Port::Controller}));
}

TEST(Place, AControllerOpensConnectionsToControllersOnly) {
  const auto rules = linksOf(faultOf(Kind::Cut, "link 3->controller 1"), 3);
  const Passage answers{
      .opener = NodeId(1), .client = {}, .acceptor = NodeId(3), .port = Port::Controller, .toAcceptor = false};
  EXPECT_TRUE(matches(rules.front(), answers));
  Passage fetched = answers;
  fetched.port = Port::Broker;
  EXPECT_FALSE(matches(rules.front(), fetched));
}

TEST(Place, ClientsAreKnownByName) {
  const auto rules = linksOf(faultOf(Kind::Cut, "link clients named billing->2"), 3);
  EXPECT_FALSE(passes(rules, 0, 2));
  EXPECT_TRUE(passes(rules, 2, 0));
  EXPECT_TRUE(passes(rules, 0, 1));
  const auto others = linksOf(faultOf(Kind::Cut, "link clients named shop->2"), 3);
  EXPECT_TRUE(passes(others, 0, 2));
  EXPECT_FALSE(passes(linksOf(faultOf(Kind::Cut, "link clients->2"), 3), 0, 2));
}

TEST(Place, NamesAreResolvedToWhoIsItNow) {
  const auto place = placeOf(faultOf(Kind::Kill, "the active controller"), FixedView(3));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->node, NodeId(2));
  EXPECT_FALSE(passes(linksOf(faultOf(Kind::Cut, "link leader of orders-0->the active controller"), 3), 1, 2));
  const auto nobody = placeOf(faultOf(Kind::Kill, "leader of none-0"), FixedView(3));
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::LeaderNotAvailable);
  EXPECT_EQ(placeOf(faultOf(Kind::Kill, "broker 4"), FixedView(3)).error().message,
            "there is no broker 4: the nodes are brokers 1, 2, 3");
  EXPECT_EQ(placeOf(faultOf(Kind::Cut, "link 1->leader of orders-0"), FixedView(3)).error().message,
            "both ends of the link are broker 1 now");
}

TEST(Place, AnIsolatedBrokerHearsNobodyAndTheOthersHearEachOther) {
  const auto rules = linksOf(faultOf(Kind::Isolate, "broker 3"), 3);
  for (const int other : {0, 1, 2}) {
    EXPECT_FALSE(passes(rules, 3, other)) << other;
    EXPECT_FALSE(passes(rules, other, 3)) << other;
  }
  EXPECT_TRUE(passes(rules, 1, 2));
  EXPECT_TRUE(passes(rules, 0, 1));
  Fault fault = faultOf(Kind::Isolate, "broker 3");
  fault.clients = false;
  EXPECT_TRUE(passes(linksOf(fault, 3), 0, 3));
}

TEST(Place, HalvesHearThemselvesOnly) {
  Fault fault;
  fault.kind = Kind::Halves;
  fault.left = {NodeId(1), NodeId(2)};
  fault.right = {NodeId(3)};
  const auto rules = linksOf(fault, 3);
  EXPECT_TRUE(passes(rules, 1, 2));
  EXPECT_FALSE(passes(rules, 1, 3));
  EXPECT_FALSE(passes(rules, 3, 2));
  fault.right = {NodeId(9)};
  EXPECT_EQ(placeOf(fault, FixedView(3)).error().message, "there is no node 9: the nodes are brokers 1, 2, 3");
}

TEST(Place, OnlyTheBridgeHearsBothHalves) {
  const auto rules = linksOf(faultOf(Kind::Bridge, "broker 3"), 5);
  for (const int other : {1, 2, 4, 5}) EXPECT_TRUE(passes(rules, 3, other) && passes(rules, other, 3)) << other;
  EXPECT_TRUE(passes(rules, 1, 2) && passes(rules, 4, 5));
  for (const int left : {1, 2})
    for (const int right : {4, 5}) EXPECT_FALSE(passes(rules, left, right) || passes(rules, right, left));
  EXPECT_THAT(placeOf(faultOf(Kind::Bridge, "broker 1"), FixedView(1)).error().message,
              testing::HasSubstr("at least 3 brokers"));
}

TEST(Place, InARingEachHearsAMajorityAndNoTwoTheSame) {
  for (const int count : {5, 7, 9}) {
    Fault fault;
    fault.kind = Kind::Ring;
    const auto rules = linksOf(fault, count);
    std::vector<std::vector<int>> heard;
    for (int i = 1; i <= count; ++i) {
      std::vector<int> mine;
      for (int j = 1; j <= count; ++j)
        if (i == j || (passes(rules, i, j) && passes(rules, j, i))) mine.push_back(j);
      EXPECT_GT(static_cast<int>(mine.size()), count / 2) << i;
      EXPECT_LT(static_cast<int>(mine.size()), count) << i;
      EXPECT_THAT(heard, testing::Not(testing::Contains(mine)));
      heard.push_back(mine);
    }
  }
  Fault ring;
  ring.kind = Kind::Ring;
  EXPECT_THAT(placeOf(ring, FixedView(3)).error().message,
              testing::HasSubstr("an odd number of brokers from 5 on, there are 3"));
}

TEST(Place, AnEventOfABrokerThatIsNotThereIsRefused) {
  Fault fault = faultOf(Kind::Cut, "link 1->2");
  fault.trigger.event = "BecameLeader";
  fault.trigger.teller = NodeId(2);
  EXPECT_TRUE(placeOf(fault, FixedView(2)));
  fault.trigger.teller = NodeId(3);
  EXPECT_EQ(placeOf(fault, FixedView(2)).error().message, "there is no node 3: the nodes are brokers 1, 2");
}

}  // namespace
}  // namespace tidemark::faults
