// The cluster map: what it shows, how one gets about in it, what is painted.
#include <gtest/gtest.h>

#include <QLabel>
#include <QMenu>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QTimer>

#include "faults/fault_json.h"
#include "faults/fault_offers.h"
#include "map/map_page.h"
#include "map/map_view.h"
#include "theme/theme.h"
#include "views/cluster_page.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;

class MapTest : public WindowTest {
 protected:
  void SetUp() override {
    launch();
    makeWindow();
    run(50ms);
    window->clusterPage().showView(ClusterPage::View::Map);
    QCoreApplication::processEvents();
  }
  MapView& map() { return window->clusterPage().map().map(); }
  void set(const char* json) {
    window->bridge().setFault(*faults::parseFault(json), window.get(), {});
    run(20ms);
    run(20ms);
  }
  static MapPick broker(int id) { return {MapPick::What::Broker, NodeId(id), {}, {}}; }
  static MapPick link(int one, int other) { return {MapPick::What::Link, NodeId(one), NodeId(other), {}}; }
};

TEST_F(MapTest, ShowsBrokersAndALinkBetweenEachTwo) {
  EXPECT_EQ(map().scene().brokers.size(), 3u);
  EXPECT_EQ(map().scene().links.size(), 3u);
  int controllers = 0;
  for (const MapBroker& each : map().scene().brokers) controllers += each.isController;
  EXPECT_EQ(controllers, 1);
  for (const MapBroker& each : map().scene().brokers) {
    const QRectF card = map().layoutOfMap().broker(each.id);
    EXPECT_TRUE(QRectF(map().rect()).contains(card));
    for (const MapBroker& other : map().scene().brokers) {
      if (other.id == each.id) continue;
      EXPECT_FALSE(card.intersects(map().layoutOfMap().broker(other.id)));
    }
  }
}

TEST_F(MapTest, ALinkTellsWhatIsDoneToEachDirection) {
  set(R"({"kind": "delay", "target": "link 1->3", "delayMs": 80})");
  const MapLink* slowed = map().scene().link(link(1, 3));
  ASSERT_NE(slowed, nullptr);
  EXPECT_EQ(slowed->from.way, MapWay::Slowed);
  EXPECT_EQ(slowed->from.fault, QStringLiteral("+80 ms"));
  EXPECT_EQ(slowed->to.way, MapWay::Open);
  set(R"({"kind": "isolate", "target": "broker 3"})");
  EXPECT_EQ(map().scene().link(link(2, 3))->from.way, MapWay::Cut);
  EXPECT_EQ(map().scene().link(link(2, 3))->to.way, MapWay::Cut);
  EXPECT_EQ(map().scene().link(link(1, 3))->from.fault, QStringLiteral("+80 ms, cut"))
      << "all that is done to it is told, the worst is drawn";
  EXPECT_EQ(map().scene().link(link(1, 3))->from.way, MapWay::Cut);
  EXPECT_EQ(map().scene().link(link(1, 2))->from.way, MapWay::Open);
  set(R"({"kind": "hold", "target": "link 2->1"})");
  EXPECT_EQ(map().scene().link(link(1, 2))->to.way, MapWay::Held);
}

TEST_F(MapTest, ClientsAreNodesAndAFaultNamesThem) {
  cluster.show(fake::mockMoment(0));
  window->bridge().refresh();
  ASSERT_EQ(map().scene().clients.size(), 4u);
  const MapPick kcat{MapPick::What::Link, NodeId(1), kNoNode, "kcat"};
  ASSERT_NE(map().scene().link(kcat), nullptr);
  EXPECT_EQ(map().scene().link(kcat)->from.way, MapWay::Open);
  observe::ClusterSnapshot broken = fake::mockMoment(0);
  observe::FaultSnapshot& fault = broken.faults.emplace_back();
  fault.fault.kind = faults::Kind::Cut;
  fault.links.push_back(
      {{.node = NodeId(1), .port = {}, .client = {}}, {.node = kNoNode, .port = {}, .client = "kcat"}});
  cluster.show(broken);
  window->bridge().refresh();
  EXPECT_EQ(map().scene().link(kcat)->from.way, MapWay::Cut);
  EXPECT_EQ(map().scene().link(kcat)->to.way, MapWay::Open);
  EXPECT_EQ(map().scene().link({MapPick::What::Link, NodeId(1), kNoNode, "c-1"})->from.way, MapWay::Open)
      << "another client";
}

TEST_F(MapTest, NothingIsPaintedWhenNothingChanges) {
  for (int i = 0; i < 3; ++i) QCoreApplication::processEvents();
  map().repaint();
  const int painted = map().paintings();
  for (int i = 0; i < 5; ++i) {
    // Another snapshot of the same state.
    observe::ClusterSnapshot again = *window->bridge().snapshot();
    again.wall += 10ms;
    cluster.show(std::move(again));
    window->bridge().refresh();
    QCoreApplication::processEvents();
  }
  EXPECT_EQ(map().paintings(), painted);
  observe::ClusterSnapshot broken = *window->bridge().snapshot();
  broken.brokers[1].state = observe::BrokerState::Paused;
  cluster.show(std::move(broken));
  window->bridge().refresh();
  EXPECT_TRUE(waitFor([&] { return map().paintings() > painted; }));
}

TEST_F(MapTest, ArrowsReachEveryNodeAndEveryLink) {
  std::set<MapPick> reached;
  std::vector<MapPick> open{broker(1)};
  while (!open.empty()) {
    const MapPick from = open.back();
    open.pop_back();
    if (!reached.insert(from).second) continue;
    for (const int key : {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down}) {
      map().pick(from);
      QTest::keyClick(&map(), static_cast<Qt::Key>(key));
      open.push_back(map().picked());
    }
  }
  EXPECT_EQ(reached.size(), map().layoutOfMap().picks().size()) << "brokers, their controllers, the links between them";
}

TEST_F(MapTest, EnterOpensTheMenuOfWhatIsPicked) {
  QSignalSpy menus(&window->clusterPage().map(), &MapPage::menuWanted);
  // The menu is looked at from inside its own event loop.
  QStringList texts;
  QTimer::singleShot(0, this->window.get(), [&texts] {
    waitFor([] { return QApplication::activePopupWidget() != nullptr; });
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    ASSERT_NE(menu, nullptr);
    for (QAction* one : menu->actions()) texts << one->text();
    for (QAction* one : menu->actions())
      if (one->text() == QStringLiteral("Cut")) one->trigger();
    menu->close();
  });
  map().pick(link(1, 2));
  QTest::keyClick(&map(), Qt::Key_Return);
  ASSERT_EQ(menus.count(), 1);
  EXPECT_TRUE(texts.contains(QStringLiteral("Hold 1 → 2"))) << texts.join(QLatin1Char(',')).toStdString();
  EXPECT_EQ(cluster.commands.back(), R"(fault {"kind":"cut","target":"link 1<->2"})");
}

TEST_F(MapTest, ALinkIsHitOnItsStrokesAndBetweenThem) {
  const MapLayout& layout = map().layoutOfMap();
  for (const MapLink& each : map().scene().links) {
    EXPECT_EQ(layout.at(layout.link(each).pointAt(0.5)), each.pick());
    EXPECT_EQ(layout.at(layout.stroke(each, true).pointAt(0.4)), each.pick());
    EXPECT_EQ(layout.at(layout.stroke(each, false).pointAt(0.4)), each.pick());
  }
  EXPECT_EQ(layout.at(layout.broker(NodeId(2)).center() - QPointF(0, 30)), broker(2));
  EXPECT_EQ(layout.at({1, 1}), MapPick{});
}

TEST_F(MapTest, WhatFollowsIsReadOffTheCluster) {
  EXPECT_TRUE(map().scene().consequences.empty());
  cluster.pauseBroker(NodeId(1), [](const Result<void>&) {});
  run(200ms);
  const auto has = [this](MapConsequence::Kind kind) {
    return std::ranges::any_of(map().scene().consequences,
                               [kind](const MapConsequence& one) { return one.kind == kind; });
  };
  EXPECT_TRUE(has(MapConsequence::Kind::Mute));
  EXPECT_TRUE(has(MapConsequence::Kind::Fencing));
  EXPECT_FALSE(has(MapConsequence::Kind::UnderReplicated));
  run(3s);
  EXPECT_TRUE(has(MapConsequence::Kind::UnderReplicated));
  EXPECT_FALSE(has(MapConsequence::Kind::Fencing));
}

TEST_F(MapTest, RatesAreWhatFollowersAndReadersFetched) {
  MapRates rates;
  observe::ClusterSnapshot now = fake::mockMoment(0);
  auto& partition = now.topics[0].partitions[0];
  const NodeId leader = partition.leader;
  rates.add(now);
  EXPECT_LT(rates.between(leader, NodeId(2)), 0) << "nothing is known before a second has gone";
  partition.copies[1].fetchOffset = partition.copies[1].fetchOffset + 30;
  now.readers[1].fetchOffset = now.readers[1].fetchOffset + 12;
  now.at += 1500ms;
  rates.add(now);
  EXPECT_DOUBLE_EQ(rates.between(leader, NodeId(2)), 20);
  EXPECT_DOUBLE_EQ(rates.toClient(leader, "kcat"), 8);
  EXPECT_DOUBLE_EQ(rates.between(leader, NodeId(3)), 0);
}

TEST_F(MapTest, TheTableTwinTellsTheLinks) {
  set(R"({"kind": "cut", "target": "link 1->2"})");
  QTest::keyClick(window.get(), Qt::Key_T);
  ASSERT_TRUE(window->clusterPage().showsTable());
  const QAbstractItemModel* table = window->clusterPage().map().table().model();
  ASSERT_EQ(table->rowCount(), 3);
  EXPECT_EQ(table->index(0, 2).data().toString(), QStringLiteral("cut"));
  EXPECT_EQ(table->index(0, 4).data().toString(), QStringLiteral("open"));
}

TEST_F(MapTest, TheLegendEndsWithinTheMap) {
  for (const int width : {1280, 1680, 1100}) {
    window->resize(width, 800);
    QTest::qWait(20);
    const QImage drawn = map().grab().toImage();
    const int y = drawn.height() - 26;
    for (int x = drawn.width() - 16; x < drawn.width() - 3; ++x)
      for (int dy = -6; dy <= 6; ++dy)
        ASSERT_EQ(drawn.pixel(x, y + dy), drawn.pixel(drawn.width() - 10, drawn.height() - 60)) << width << ": " << x;
  }
}

class MapOfControllersTest : public MapTest {
 protected:
  void SetUp() override {
    launch(3, 3, 3);
    makeWindow();
    run(50ms);
    window->clusterPage().showView(ClusterPage::View::Map);
    QCoreApplication::processEvents();
  }
};

TEST_F(MapOfControllersTest, ControllersOfTheirOwnAreNodesAndNoBrokers) {
  ASSERT_EQ(map().scene().brokers.size(), 6u);
  EXPECT_EQ(map().scene().brokers[2].name, QStringLiteral("Broker 3"));
  EXPECT_EQ(map().scene().brokers[3].name, QStringLiteral("Controller 4"));
  EXPECT_FALSE(map().scene().brokers[3].isBroker);
  EXPECT_TRUE(map().scene().brokers[3].isController);
  EXPECT_EQ(map().textOf(broker(5)), QStringLiteral("Controller 5 on :19196\nvoter, follows"));
  EXPECT_EQ(map().textOf(link(1, 4)).section(QLatin1Char('\n'), 0, 0), QStringLiteral("broker 1 → controller 4"));
  EXPECT_EQ(map().layoutOfMap().controller(NodeId(3)).isNull(), false);
  EXPECT_TRUE(map().layoutOfMap().controller(NodeId(4)).isNull()) << "it is the card itself";
  EXPECT_EQ(map().layoutOfMap().at(map().layoutOfMap().middle(broker(4))), broker(4));
  bool told = false;
  for (const auto* label : window->clusterPage().map().findChildren<QLabel*>())
    told |= label->text() == QStringLiteral("3 brokers · 3 controllers · 0 external clients");
  EXPECT_TRUE(told);
}

TEST_F(MapOfControllersTest, ItsFaultsAreDrawnAtItAndOnItsLinks) {
  set(R"({"kind": "slow", "target": "controller 5", "delayMs": 200})");
  EXPECT_EQ(map().scene().brokers[4].faults, QStringList{QStringLiteral("Controller 5 slow, +200 ms")});
  set(R"({"kind": "cut", "target": "link 2<->4"})");
  EXPECT_EQ(map().scene().link(link(2, 4))->from.way, MapWay::Cut);
  set(R"({"kind": "pause", "target": "controller 6"})");
  EXPECT_EQ(map().scene().brokers[5].state, observe::BrokerState::Paused);
}

/// Whatever many nodes there are: no card hides a link, and each can be clicked.
class MapOfManyTest : public testing::Test {
 protected:
  /// The map of the smallest window that is supported, and of a usual one.
  static constexpr QSize kSizes[] = {{430, 382}, {860, 640}};
  static MapScene sceneOf(int brokers, int controllers, int clients) {
    MapScene scene;
    for (int i = 1; i <= brokers + controllers; ++i) {
      MapBroker& node = scene.brokers.emplace_back();
      node.id = NodeId(i);
      node.isBroker = i <= brokers;
      node.name = (node.isBroker ? QStringLiteral("Broker %1") : QStringLiteral("Controller %1")).arg(i);
      for (int j = 1; j < i; ++j) {
        MapLink& link = scene.links.emplace_back();
        link.broker = NodeId(j);
        link.other = NodeId(i);
        link.ofController = i > brokers;
      }
    }
    for (int c = 0; c < clients; ++c) {
      scene.clients.emplace_back().name = "client-" + std::to_string(c);
      for (int i = 1; i <= brokers; ++i) {
        MapLink& link = scene.links.emplace_back();
        link.broker = NodeId(i);
        link.client = scene.clients.back().name;
      }
    }
    return scene;
  }
  static QSizeF sizeFor(const MapScene& scene, const QSize& window) {
    return window.expandedTo(MapLayout::leastSize(scene));
  }
  static std::vector<QRectF> cardsOf(const MapScene& scene, const MapLayout& layout) {
    std::vector<QRectF> cards;
    for (const MapBroker& node : scene.brokers) cards.push_back(layout.broker(node.id));
    for (const MapClient& client : scene.clients) cards.push_back(layout.client(client.name));
    return cards;
  }
  /// With each number of brokers, controllers and clients.
  template <typename Do>
  static void forEach(const Do& check) {
    for (const QSize& window : kSizes)
      for (int brokers = 1; brokers <= 7; ++brokers)
        for (int controllers = 0; controllers <= 5; ++controllers)
          for (const int clients : {0, 1, 2, 4, 6}) {
            const MapScene scene = sceneOf(brokers, controllers, clients);
            const QSizeF size = sizeFor(scene, window);
            SCOPED_TRACE(testing::Message() << brokers << " brokers, " << controllers << " controllers, " << clients
                                            << " clients in " << size.width() << " x " << size.height());
            check(scene, size, MapLayout(scene, size));
          }
  }
};

TEST_F(MapOfManyTest, EachLinkIsSeenAndCanBeClicked) {
  forEach([](const MapScene& scene, const QSizeF& size, const MapLayout& layout) {
    const std::vector<QRectF> cards = cardsOf(scene, layout);
    constexpr int kLeastStretch = 24;
    for (const MapLink& link : scene.links) {
      SCOPED_TRACE(testing::Message() << "link " << link.broker.value() << " - " << link.other.value() << link.client);
      const MapPath path = layout.link(link);
      const auto length = static_cast<int>(path.length());
      int clicks = 0;
      for (int i = 1; i < length; i += 2) {
        const QPointF at = path.pointAt(static_cast<double>(i) / length);
        EXPECT_TRUE(QRectF(QPointF(), size).contains(at));
        EXPECT_TRUE(std::ranges::none_of(cards, [&at](const QRectF& card) { return card.contains(at); }))
            << "hidden at " << at.x() << ", " << at.y();
        if (clicks < kLeastStretch && layout.at(at) == link.pick()) clicks += 2;
      }
      EXPECT_GE(clicks, kLeastStretch);
      for (const bool fromBroker : {true, false}) EXPECT_GT(layout.stroke(link, fromBroker).length(), 20);
    }
  });
}

TEST_F(MapOfManyTest, CardsStandApartAndHoldTheirNames) {
  forEach([](const MapScene& scene, const QSizeF& size, const MapLayout& layout) {
    EXPECT_EQ(layout.hiddenClients(), 0);
    const std::vector<QRectF> cards = cardsOf(scene, layout);
    for (size_t i = 0; i < cards.size(); ++i) {
      EXPECT_TRUE(QRectF(QPointF(), size).contains(cards[i])) << i;
      for (size_t j = 0; j < i; ++j)
        EXPECT_FALSE(cards[i].adjusted(-4, -4, 4, 4).intersects(cards[j])) << i << ", " << j;
    }
    const QFontMetricsF metrics(Theme::body(13, QFont::DemiBold));
    for (const MapBroker& node : scene.brokers)
      EXPECT_LE(metrics.horizontalAdvance(node.name) + 32, layout.broker(node.id).width()) << node.name.toStdString();
  });
}

TEST_F(MapOfManyTest, TheSmallestWindowShowsAUsualClusterWithoutScrolling) {
  for (const auto& [brokers, controllers, clients] : {std::tuple(3, 0, 2), std::tuple(5, 0, 0)})
    EXPECT_EQ(sizeFor(sceneOf(brokers, controllers, clients), kSizes[0]), QSizeF(kSizes[0]))
        << brokers << ", " << controllers << ", " << clients;
}

TEST_F(MapOfManyTest, ManyClientsAreCounted) {
  const MapScene scene = sceneOf(7, 0, 30);
  const MapLayout layout(scene, QSizeF(900, 620));
  EXPECT_GT(layout.hiddenClients(), 0);
  EXPECT_FALSE(layout.client("client-5").isNull());
  EXPECT_TRUE(layout.client("client-29").isNull());
}

class MapOfManyPictureTest : public WindowTest, public testing::WithParamInterface<std::tuple<int, int, bool>> {};

TEST_P(MapOfManyPictureTest, IsPainted) {
  const auto [brokers, controllers, dark] = GetParam();
  Theme::instance().setChoice(dark ? ThemeChoice::Dark : ThemeChoice::Light);
  launch(brokers, 3, controllers);
  makeWindow();
  window->clusterPage().showView(ClusterPage::View::Map);
  run(50ms);
  window->bridge().setFault(*faults::parseFault(R"({"kind": "cut", "target": "link 1<->3"})"), window.get(), {});
  window->bridge().setFault(*faults::parseFault(R"({"kind": "delay", "target": "link 2->1", "delayMs": 80})"),
                            window.get(), {});
  run(20ms);
  run(20ms);
  const MapView& map = window->clusterPage().map().map();
  EXPECT_EQ(map.scene().brokers.size(), static_cast<size_t>(brokers + controllers));
  for (const QSize& size : {QSize(900, 600), QSize(1366, 768), QSize(1680, 1020)}) {
    window->resize(size);
    QCoreApplication::processEvents();
    EXPECT_GT(coloursIn(window->grab().toImage()), 20);
    keepPicture(*window, QStringLiteral("map-%1-%2-%3%4")
                             .arg(brokers)
                             .arg(controllers)
                             .arg(size.width())
                             .arg(dark ? QStringLiteral("-dark") : QString()));
  }
  Theme::instance().setChoice(ThemeChoice::Light);
}

INSTANTIATE_TEST_SUITE_P(Nodes, MapOfManyPictureTest,
                         testing::Values(std::tuple{3, 0, false}, std::tuple{5, 0, false}, std::tuple{7, 0, true},
                                         std::tuple{3, 5, false}, std::tuple{3, 3, true}, std::tuple{7, 5, false}));

}  // namespace
}  // namespace tidemark::widgets
