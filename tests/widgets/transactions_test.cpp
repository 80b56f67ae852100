#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "belts/belts_view.h"
#include "testing/mock_groups.h"
#include "transactions/transactions_page.h"
#include "transactions/transactions_view.h"
#include "views/cluster_page.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;
using observe::TransactionFate;

const TopicPartition kLedger0{"orders", PartitionIndex(0)};
const TopicPartition kLedger1{"payments", PartitionIndex(1)};

/// What leaders of partitions tell, at milliseconds since a moment.
class TransactionPastTest : public testing::Test {
 protected:
  void tell(int ms, const events::Payload& payload, const TopicPartition& where = {}) {
    observe::ObservedEvent observed;
    observed.number = ++number;
    observed.topic = where.topic;
    observed.partition = where.partition;
    observed.event.wall = TransactionTime(std::chrono::milliseconds(1'000'000 + ms));
    observed.event.payload = payload;
    past.add(cluster, std::span(&observed, 1));
  }
  void open(int ms, const TopicPartition& where, int64_t first, int16_t epoch = 3) {
    tell(ms,
         events::TransactionOpened{.producer = ProducerId(9), .epoch = ProducerEpoch(epoch), .first = Offset(first)},
         where);
    append(ms, where, first);
  }
  void append(int ms, const TopicPartition& where, int64_t first, bool control = false) {
    tell(ms,
         events::BatchAppended{.baseOffset = Offset(first),
                               .lastOffset = Offset(first),
                               .producer = ProducerId(9),
                               .transactional = true,
                               .control = control,
                               .asLeader = true},
         where);
  }
  void mark(int ms, const TopicPartition& where, int64_t first, int64_t marker, bool committed, int16_t epoch = 3) {
    tell(ms,
         events::MarkerWritten{.producer = ProducerId(9),
                               .epoch = ProducerEpoch(epoch),
                               .committed = committed,
                               .first = Offset(first),
                               .marker = Offset(marker),
                               .lastStable = Offset(marker + 1)},
         where);
    append(ms, where, marker, true);
  }

  TransactionPast past;
  observe::ClusterSnapshot cluster;
  uint64_t number = 0;
};

TEST_F(TransactionPastTest, IsOneOverAllItsPartitionsUntilTheLastMarker) {
  open(0, kLedger0, 10);
  open(5, kLedger1, 20);
  ASSERT_EQ(past.transactions().size(), 1u);
  mark(50, kLedger0, 10, 11, true);
  EXPECT_EQ(past.transactions().front().fate, TransactionFate::Committed) << "decided for good with the first marker";
  EXPECT_FALSE(past.transactions().front().ended);
  // The producer goes on, on the partition that is free again, before the other one has its marker.
  open(60, kLedger0, 12);
  mark(70, kLedger1, 20, 21, true);
  ASSERT_EQ(past.transactions().size(), 2u);
  EXPECT_EQ(past.transactions()[0].parts.size(), 2u);
  ASSERT_TRUE(past.transactions()[0].ended);
  EXPECT_EQ(past.transactions()[0].ended->time_since_epoch(), 1'000'070ms);
  EXPECT_EQ(past.transactions()[1].fate, TransactionFate::Open);
}

TEST_F(TransactionPastTest, AMarkerOfTheNextEpochEndsWhatTheOneBeforeBegan) {
  open(0, kLedger0, 10, 3);
  mark(20, kLedger0, 10, 11, false, 4);
  EXPECT_EQ(past.transactions().front().fate, TransactionFate::Aborted);
  ASSERT_EQ(past.aborted().size(), 1u);
  EXPECT_EQ(past.aborted().front(), (AbortedEntry{kLedger0, ProducerId(9), Offset(10), Offset(11), Offset(12)}));
  const auto& batches = past.batches().at(kLedger0);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].transaction, 1);
  EXPECT_TRUE(batches[1].control);
  EXPECT_FALSE(batches[1].commits);
  EXPECT_EQ(batches[1].transaction, 1);
}

TEST_F(TransactionPastTest, IsBounded) {
  for (int i = 0; i < 2000; ++i) {
    open(i * 10, kLedger0, i * 2);
    mark(i * 10 + 5, kLedger0, i * 2, i * 2 + 1, i % 2 == 0);
  }
  EXPECT_EQ(past.transactions().size(), TransactionPast::kTransactions);
  EXPECT_EQ(past.batches().at(kLedger0).size(), TransactionPast::kBatches);
  EXPECT_LE(past.happenings().size(), TransactionPast::kHappenings);
  EXPECT_EQ(past.transactions().back().number, 2000);
}

class TransactionsPageTest : public WindowTest {
 protected:
  void SetUp() override {
    makeWindow();
    cluster.show(fake::mockMoment(60));
    window->bridge().refresh();
    observe::ClusterSnapshot now = fake::mockMoment(0);
    fake::addMockTransactions(now);
    cluster.show(now);
    fake::appendMockTransactionEvents(cluster, now);
    window->bridge().refresh();
    QTest::keyClick(window.get(), Qt::Key_7);
  }
  TransactionsPage& page() { return window->clusterPage().transactions(); }
  const TransactionScene& scene() { return page().view().scene(); }
};

TEST_F(TransactionsPageTest, DrawsSpansMarkersAndWhoHoldsBackTheLastStableOffset) {
  ASSERT_EQ(window->clusterPage().view(), ClusterPage::View::Transactions);
  EXPECT_EQ(scene().producers.size(), 3u);
  EXPECT_EQ(page().past().transactions().size(), 5u);
  ASSERT_FALSE(scene().logs.empty());
  EXPECT_EQ(scene().logs[0].partition, QStringLiteral("orders-0")) << "what is held back stands first";
  EXPECT_TRUE(scene().logs[0].held.contains(QStringLiteral("18 offset")) &&
              scene().logs[0].held.contains(QStringLiteral("held back by T3 (ledger-sync)")))
      << scene().logs[0].held.toStdString();
  // What is open is looked at by itself.
  EXPECT_EQ(scene().facts.title, QStringLiteral("T3"));
  EXPECT_TRUE(scene().facts.holdsBack);
  EXPECT_NEAR(scene().facts.over, 0.48, 0.02) << "28.8 s of 60 s";
  EXPECT_TRUE(scene().facts.warning.contains(QStringLiteral("orders-0 from 1 268 on")) ||
              scene().facts.warning.contains(QStringLiteral("268")))
      << scene().facts.warning.toStdString();
  EXPECT_GT(coloursIn(page().view().grab().toImage()), 40);
  keepPicture(*window, QStringLiteral("transactions"));
}

TEST_F(TransactionsPageTest, AMomentOfThePastKnowsNothingOfWhatCameLater) {
  window->travel().lookAt(window->bridge().newest()->wall - 20s);
  const auto& then = page().past().transactions();
  ASSERT_LT(then.size(), 5u);
  EXPECT_EQ(then.front().number, 1);
  const Transaction* third = page().past().find(3);
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(third->fate, TransactionFate::Open);
  window->travel().goLive();
  EXPECT_EQ(page().past().transactions().size(), 5u);
}

TEST_F(TransactionsPageTest, TellsOfFencing) {
  const QString text = page().view().asText();
  EXPECT_TRUE(text.contains(QStringLiteral("InitProducerId by another instance of billing-tx-2")))
      << text.toStdString();
  EXPECT_TRUE(text.contains(QStringLiteral("INVALID_PRODUCER_EPOCH, nothing appended"))) << text.toStdString();
  bool refused = false;
  for (const ProducerScene& producer : scene().producers)
    for (const FenceMark& mark : producer.marks) refused = refused || mark.refused;
  EXPECT_TRUE(refused);
  QTest::keyClick(&page().view(), Qt::Key_C, Qt::ControlModifier);
  EXPECT_TRUE(QGuiApplication::clipboard()->text().contains(QStringLiteral("ledger-sync")));
}

TEST_F(TransactionsPageTest, KeysPickAndAbortIsForWhatIsOpen) {
  EXPECT_EQ(page().picked(), 3);
  QTest::keyClick(&page().view(), Qt::Key_Up);
  EXPECT_EQ(page().picked(), 4) << "a newer one";
  page().abortPicked();
  EXPECT_TRUE(cluster.commands.empty() || cluster.commands.back() != "abort billing-tx-1") << "it is committed";
  QTest::keyClick(&page().view(), Qt::Key_Down);
  EXPECT_EQ(page().picked(), 3);
  page().abortPicked();
  EXPECT_EQ(cluster.commands.back(), "abort ledger-sync");
  QTest::keyClick(&page().view(), Qt::Key_Minus);
  EXPECT_EQ(page().span(), 300s);
}

TEST_F(TransactionsPageTest, TShowsTheSameAsATable) {
  const QAbstractItemModelTester tester(page().table().model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  QTest::keyClick(window.get(), Qt::Key_T);
  ASSERT_TRUE(page().showsTable());
  ASSERT_EQ(page().table().model()->rowCount(), 5);
  EXPECT_EQ(page().table().model()->index(0, 1).data().toString(), QStringLiteral("billing-tx-2"));
  EXPECT_EQ(page().table().model()->index(3, 4).data().toString(), QStringLiteral("aborted"));
  EXPECT_GT(page().fencing().model()->rowCount(), 1);
  keepPicture(*window, QStringLiteral("transactions-table"));
}

TEST_F(TransactionsPageTest, TheBeltsStrikeOutWhatIsAborted) {
  QTest::keyClick(window.get(), Qt::Key_1);
  BeltsView& belts = window->clusterPage().belts();
  const QImage with = belts.grab().toImage();
  observe::ClusterSnapshot plain = *window->bridge().snapshot();
  for (observe::ReplicaSnapshot& copy : plain.topics[0].partitions[0].copies)
    for (observe::BatchSnapshot& batch : copy.batches) batch.fate = TransactionFate::Unknown;
  keepPicture(*window, QStringLiteral("belts-transactions"));
  cluster.show(plain);
  window->bridge().refresh();
  EXPECT_NE(belts.grab().toImage(), with);
}

}  // namespace
}  // namespace tidemark::widgets
