#include <cmath>

#include <gtest/gtest.h>

#include <QFile>
#include <QRegularExpression>

#include "belts/belts_view.h"
#include "text/duration_input.h"
#include "text/event_words.h"
#include "text/format.h"
#include "text/node_words.h"
#include "theme/palette.h"
#include "views/inspector.h"
#include "views/status_line.h"
#include "views/top_bar.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;

/// With ordinary blanks, to be read in a test.
QString plain(QString text) {
  return text.replace(QChar(0x2005), QLatin1Char(' '));
}

TEST(Format, NumbersAreGroupedByThrees) {
  EXPECT_EQ(plain(grouped(0)), QStringLiteral("0"));
  EXPECT_EQ(plain(grouped(812)), QStringLiteral("812"));
  EXPECT_EQ(plain(grouped(1286)), QStringLiteral("1 286"));
  EXPECT_EQ(plain(grouped(1'234'567)), QStringLiteral("1 234 567"));
  EXPECT_EQ(grouped(-1), QStringLiteral("–"));
}

TEST(Format, BytesHaveAUnitAndAtMostThreeDigits) {
  EXPECT_EQ(bytesText(999), QStringLiteral("999 B"));
  EXPECT_EQ(bytesText(1'000), QStringLiteral("1.0 KB"));
  EXPECT_EQ(bytesText(999'499), QStringLiteral("999 KB"));
  EXPECT_EQ(bytesText(999'500), QStringLiteral("1.0 MB"));
  EXPECT_EQ(bytesText(3'100'000'000), QStringLiteral("3.1 GB"));
}

TEST(Format, DurationsChangeTheirUnitAsTheyGrow) {
  EXPECT_EQ(durationText(240ms), QStringLiteral("240 ms"));
  EXPECT_EQ(durationText(12'400ms), QStringLiteral("12.4 s"));
  EXPECT_EQ(durationText(59'990ms), QStringLiteral("0 m 59 s"));
  EXPECT_EQ(durationText(68s), QStringLiteral("1 m 08 s"));
  EXPECT_EQ(durationText(125min), QStringLiteral("2 h 05 m"));
  EXPECT_EQ(durationText(-5s), QStringLiteral("0 ms"));
  EXPECT_EQ(shortDurationText(12'400ms), QStringLiteral("12.4 s"));
  EXPECT_EQ(shortDurationText(1125s), QStringLiteral("18 m"));
  EXPECT_EQ(shortDurationText(125min), QStringLiteral("2 h"));
  EXPECT_EQ(shortDurationText(73h), QStringLiteral("3 d"));
}

TEST(Format, DurationsAreReadAsTheyAreWritten) {
  const auto read = [](const char* text) { return parseDuration(QString::fromUtf8(text)); };
  EXPECT_EQ(read("12.5s"), 12'500ms);
  EXPECT_EQ(read("12.5"), 12'500ms);
  EXPECT_EQ(read("800ms"), 800ms);
  EXPECT_EQ(read("1m08s"), 68s);
  EXPECT_EQ(read("2h"), 2h);
  EXPECT_EQ(read("0"), 0ms);
  for (const platform::Duration each : {240ms, 12'400ms, 68'000ms, 7'500'000ms})
    EXPECT_EQ(parseDuration(durationText(each)), each) << durationText(each).toStdString();
  for (const char* none : {"", " ", "s", "ms", "soon", "12.5x", "1.5m", "5s 3m", "-1s", "1e3s", "1,5s", ".5s", "5.s"})
    EXPECT_FALSE(read(none)) << none;
}

TEST(Format, SegmentFilesAreNamedAsKafkaNamesThem) {
  EXPECT_EQ(segmentFileName(Offset(1263)), QStringLiteral("00000000000000001263.log"));
}

TEST(EventWords, AShrunkIsrTellsWhoLeftAndWhy) {
  observe::ObservedEvent event;
  event.topic = "orders";
  event.partition = PartitionIndex(0);
  event.event.broker = NodeId(1);
  event.event.payload =
      events::IsrShrunk{{}, {NodeId(1), NodeId(3)}, {NodeId(1)}, NodeId(3), PartitionEpoch(18), 10'200ms};
  const EventWords words = wordsOf(event, {});
  EXPECT_EQ(words.source, QStringLiteral("broker 1"));
  EXPECT_EQ(words.name, QStringLiteral("IsrShrunk"));
  EXPECT_EQ(words.where, QStringLiteral("orders-0"));
  EXPECT_EQ(words.detail, QStringLiteral("{1, 3} → {1}   broker 3 last caught up 10.2 s ago   partition epoch 18"));
  EXPECT_EQ(words.weight, Weight::Grave);
  EXPECT_EQ(words.shape, StateShape::HalfDisc);
}

TEST(EventWords, ANodeThatIsAControllerAndNothingElseIsCalledOne) {
  observe::ClusterSnapshot cluster;
  for (int i = 1; i <= 4; ++i) cluster.brokers.push_back({.id = NodeId(i), .isBroker = i < 4});
  observe::ObservedEvent event;
  event.partition = PartitionIndex(-1);
  for (const int node : {3, 4}) {
    event.event.broker = NodeId(node);
    event.event.payload = events::BrokerDown{NodeId(node), events::DownCause::Killed};
    const EventWords words = wordsOf(event, cluster);
    const QString named =
        QStringLiteral("%1 %2").arg(node == 4 ? QStringLiteral("controller") : QStringLiteral("broker"));
    EXPECT_EQ(words.source, named.arg(node));
    EXPECT_EQ(words.where, named.arg(node));
  }
}

TEST(EventWords, WhatAReplicaGivesUpIsTheFirstAndTheLastOfIt) {
  observe::ObservedEvent event;
  event.event.payload = events::RecordsLost{{}, NodeId(2), LeaderEpoch(5), Offset(60), Offset(70)};
  EXPECT_TRUE(plain(wordsOf(event, {}).detail)
                  .startsWith(QStringLiteral("gives up 60 – 69, which it knew as committed   10 records")))
      << wordsOf(event, {}).detail.toStdString();
}

TEST(EventWords, EnglishHasItsPlurals) {
  observe::ObservedEvent event;
  event.event.payload = events::TopicCreated{events::kNoTopicTag, 1, 3};
  EXPECT_TRUE(wordsOf(event, {}).detail.startsWith(QStringLiteral("1 partition ")))
      << wordsOf(event, {}).detail.toStdString();
  event.event.payload = events::TopicCreated{events::kNoTopicTag, 4, 3};
  EXPECT_TRUE(wordsOf(event, {}).detail.startsWith(QStringLiteral("4 partitions ")))
      << wordsOf(event, {}).detail.toStdString();
}

/// Every alternative of the union, one after the other.
template <size_t... Index>
std::vector<events::Payload> everyKind(std::index_sequence<Index...>) {
  return {events::Payload(std::in_place_index<Index>)...};
}

TEST(EventWords, EveryKindHasANameAMarkAndAGroup) {
  for (const events::Payload& payload : everyKind(std::make_index_sequence<std::variant_size_v<events::Payload>>())) {
    observe::ObservedEvent event;
    event.event.payload = payload;
    const EventWords words = wordsOf(event, {});
    EXPECT_FALSE(words.name.isEmpty());
    EXPECT_NE(words.shape, StateShape::None) << words.name.toStdString();
    EXPECT_FALSE(nameOf(words.group).isEmpty());
    EXPECT_FALSE(words.detail.contains(QStringLiteral("%"))) << words.detail.toStdString();
  }
}

class PaletteTest : public ::testing::TestWithParam<bool> {
 protected:
  const Palette& p = GetParam() ? Palette::darkOne() : Palette::light();
};

TEST_P(PaletteTest, TextCanBeReadOnItsSurface) {
  const std::tuple<const char*, QColor, QColor> pairs[] = {
      {"ink", p.ink, p.panel},
      {"ink on ground", p.ink, p.background},
      {"muted", p.muted, p.panel},
      {"muted on ground", p.muted, p.background},
      {"muted sunken", p.muted, p.sunken},
      {"heads", p.heads, p.panel},
      {"accent", p.accent, p.panel},
      {"accent selected", p.accent, p.selection},
      {"button", p.onButton, p.button},
      {"ok", p.okText, p.okSoft},
      {"ok panel", p.okText, p.panel},
      {"warn", p.warnText, p.warnSoft},
      {"warn panel", p.warnText, p.panel},
      {"fenced", p.fenced, p.fencedSoft},
      {"bad", p.badText, p.badSoft},
      {"bad panel", p.badText, p.panel},
      {"hw pill", p.onHighWatermark, p.highWatermark},
      {"hw text", p.highWatermark, p.background},
      {"status", p.muted, p.statusBar},
      {"purgatory", p.highWatermark, p.purgatory},
  };
  for (const auto& [name, text, ground] : pairs) EXPECT_GE(contrast(text, ground), 4.5) << name;
  for (const QColor& epoch : p.epochs) EXPECT_GE(contrast(p.onEpoch, epoch), 4.5) << epoch.name().toStdString();
}

TEST_P(PaletteTest, EpochsThatMayMeetDoNotLookAlike) {
  for (int i = 0; i < 14; ++i)
    for (int j = i + 1; j < i + 7; ++j) {
      const QColor& a = p.epoch(LeaderEpoch(i));
      const QColor& b = p.epoch(LeaderEpoch(j));
      EXPECT_GT(std::hypot(a.red() - b.red(), a.green() - b.green(), a.blue() - b.blue()), 40) << i << " and " << j;
    }
}

INSTANTIATE_TEST_SUITE_P(LightAndDark, PaletteTest, ::testing::Bool());

TEST(Plurals, AreEnglish) {
  EXPECT_EQ(StatusLine::tr("%n broker(s)", nullptr, 1), QStringLiteral("1 broker"));
  EXPECT_EQ(StatusLine::tr("%n broker(s)", nullptr, 3), QStringLiteral("3 brokers"));
  EXPECT_EQ(TopBar::tr("%n external client(s)", nullptr, 1), QStringLiteral("1 external client"));
  EXPECT_EQ(BeltsView::tr("%n fetch(es) wait for records", nullptr, 1), QStringLiteral("1 fetch waits for records"));
  EXPECT_EQ(Inspector::tr("%1 record(s)", nullptr, pluralOf(5'000'000'000)).arg(grouped(7)),
            QStringLiteral("7 records"));
}

TEST(Plurals, LeaveNoBracketsInAnyText) {
  QFile file(QStringLiteral(TIDEMARK_TRANSLATIONS));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly)) << file.fileName().toStdString();
  const QString text = QString::fromUtf8(file.readAll());
  static const QRegularExpression form(QStringLiteral("<numerusform>(.*?)</numerusform>"));
  int forms = 0;
  for (auto match = form.globalMatch(text); match.hasNext(); ++forms) {
    const QString words = match.next().captured(1);
    EXPECT_FALSE(words.isEmpty() || words.contains(QStringLiteral("(s)")) || words.contains(QStringLiteral("(es)")))
        << words.toStdString();
  }
  EXPECT_GT(forms, 30);
  EXPECT_FALSE(text.contains(QStringLiteral("unfinished")));
}

TEST(Format, NodesAreASetOrAList) {
  const NodeId nodes[] = {NodeId(3), NodeId(1)};
  EXPECT_EQ(nodesText(nodes), QStringLiteral("{1, 3}"));
  EXPECT_EQ(nodeListText(nodes), QStringLiteral("[3, 1]"));
}

TEST(NodeWords, BrokersOfWhichSomeOnlyFollowTheQuorumAreCountedApart) {
  observe::ClusterSnapshot cluster;
  for (int id = 1; id <= 3; ++id) {
    cluster.brokers.emplace_back().id = NodeId(id);
    cluster.brokers.back().isBroker = true;
  }
  EXPECT_EQ(countNodes(cluster).brokersVoting, 3) << "nobody knows the quorum";
  cluster.quorum.voters.push_back({.id = NodeId(1)});
  cluster.quorum.voters.push_back({.id = NodeId(3), .observer = true});
  EXPECT_EQ(countNodes(cluster).brokersVoting, 1);
  EXPECT_EQ(countNodes(cluster).brokers, 3);
}

}  // namespace
}  // namespace tidemark::widgets
