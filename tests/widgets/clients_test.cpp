// The window's own clients, against the cluster that librdkafka brings with it for tests.
#include <gtest/gtest.h>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <QSignalSpy>

#include "clients/producer_load.h"
#include "clients/record_reader.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

class ClientsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char text[256];
    handle = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), text, sizeof text);
    ASSERT_NE(handle, nullptr) << text;
    brokers = rd_kafka_mock_cluster_new(handle, 1);
    ASSERT_NE(brokers, nullptr);
    ASSERT_EQ(rd_kafka_mock_topic_create(brokers, "orders", 2, 1), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  void TearDown() override {
    rd_kafka_mock_cluster_destroy(brokers);
    rd_kafka_destroy(handle);
  }
  QString bootstrap() const { return QString::fromUtf8(rd_kafka_mock_cluster_bootstraps(brokers)); }
  ProduceOptions producing(double rate) const {
    ProduceOptions options;
    options.bootstrap = bootstrap();
    options.topic = QStringLiteral("orders");
    options.rate = rate;
    return options;
  }

  rd_kafka_t* handle = nullptr;
  rd_kafka_mock_cluster_t* brokers = nullptr;
};

TEST_F(ClientsTest, WhatTheLoadWritesTheReaderReads) {
  ProduceOptions produce = producing(500);
  produce.size = 40;
  produce.keys = 3;
  produce.codec = QStringLiteral("gzip");
  ProducerLoad load;
  QString error;
  ASSERT_TRUE(load.start(produce, &error)) << error.toStdString();
  ASSERT_TRUE(waitFor([&] { return load.figures().acknowledged >= 20; })) << load.figures().error.toStdString();
  QSignalSpy stopped(&load, &ProducerLoad::stopped);
  load.stop();
  ASSERT_TRUE(waitFor([&] { return stopped.count() == 1; }));
  EXPECT_FALSE(load.isRunning());
  const ProducerLoad::Figures figures = load.figures();
  EXPECT_EQ(figures.failed, 0);
  EXPECT_EQ(figures.acknowledged, figures.sent);
  EXPECT_EQ(figures.bytes, figures.sent * 40);

  ConsumeOptions consume;
  consume.bootstrap = bootstrap();
  consume.topic = QStringLiteral("orders");
  RecordReader reader;
  ASSERT_TRUE(reader.start(consume, &error)) << error.toStdString();
  std::vector<ReadRecord> records;
  ASSERT_TRUE(waitFor([&] {
    for (ReadRecord& record : reader.take()) records.push_back(std::move(record));
    return static_cast<qint64>(records.size()) >= figures.acknowledged;
  })) << reader.error().toStdString();
  EXPECT_EQ(static_cast<qint64>(records.size()), figures.acknowledged);
  for (const ReadRecord& record : records) {
    EXPECT_EQ(record.value.size(), 40);
    EXPECT_TRUE(record.key.startsWith("key-"));
  }
}

TEST_F(ClientsTest, TheLatencyOfASlowLoadIsThatOfTheBrokerNotOfOurOwnWaiting) {
  const ProduceOptions produce = producing(0.9);
  ProducerLoad load;
  QString error;
  ASSERT_TRUE(load.start(produce, &error)) << error.toStdString();
  // The first second waited for the metadata as well.
  ASSERT_TRUE(waitFor([&] { return load.figures().acknowledged >= 2; })) << load.figures().error.toStdString();
  // Were an acknowledgement taken with the next record only, it would tell the 1100 ms between two.
  EXPECT_TRUE(waitFor([&] { return load.figures().meanLatencyMs > 0 && load.figures().meanLatencyMs < 700; }))
      << load.figures().meanLatencyMs << " ms";
}

TEST_F(ClientsTest, ALoadThatWaitsForItsNextRecordHearsOfAnotherRateAndOfItsEndAtOnce) {
  const ProduceOptions produce = producing(0.001);
  ProducerLoad load;
  QSignalSpy stopped(&load, &ProducerLoad::stopped);
  QString error;
  ASSERT_TRUE(load.start(produce, &error)) << error.toStdString();
  ASSERT_TRUE(waitFor([&] { return load.figures().acknowledged == 1; })) << load.figures().error.toStdString();
  load.setRate(100);
  ASSERT_TRUE(waitFor([&] { return load.figures().acknowledged >= 3; })) << load.figures().error.toStdString();
  load.setRate(0.001);
  ASSERT_TRUE(waitFor([&] { return load.figures().acknowledged == load.figures().sent; }));
  load.stop();
  EXPECT_TRUE(waitFor([&] { return stopped.count() == 1; }));
}

TEST_F(ClientsTest, AnErrorIsForgottenOnceRecordsAreAcknowledgedAgain) {
  const ProduceOptions produce = producing(50);
  ProducerLoad load;
  QString error;
  ASSERT_TRUE(load.start(produce, &error)) << error.toStdString();
  ASSERT_TRUE(waitFor([&] { return load.figures().acknowledged >= 5; }));
  rd_kafka_mock_broker_set_down(brokers, 1);
  ASSERT_TRUE(waitFor([&] { return !load.figures().error.isEmpty(); }));
  rd_kafka_mock_broker_set_up(brokers, 1);
  EXPECT_TRUE(waitFor([&] { return load.figures().error.isEmpty(); })) << load.figures().error.toStdString();
}

TEST_F(ClientsTest, ALoadThatCannotBeMadeSaysWhy) {
  ProduceOptions produce = producing(5);
  produce.codec = QStringLiteral("rar");
  ProducerLoad load;
  QString error;
  EXPECT_FALSE(load.start(produce, &error));
  EXPECT_TRUE(error.contains(QStringLiteral("compression.codec"))) << error.toStdString();
  EXPECT_FALSE(load.isRunning());
}

TEST_F(ClientsTest, AReaderOfAPartitionThatIsNotThereSaysSo) {
  ConsumeOptions consume;
  consume.bootstrap = bootstrap();
  consume.topic = QStringLiteral("orders");
  consume.partition = 7;
  RecordReader reader;
  QString error;
  ASSERT_TRUE(reader.start(consume, &error));
  QSignalSpy stopped(&reader, &RecordReader::stopped);
  ASSERT_TRUE(waitFor([&] { return stopped.count() == 1; }));
  EXPECT_TRUE(reader.error().contains(QStringLiteral("7")));
}

TEST_F(ClientsTest, BothEndSoonThoughNobodyAnswers) {
  QElapsedTimer clock;
  {
    ProduceOptions produce;
    produce.bootstrap = QStringLiteral("127.0.0.1:1");
    produce.topic = QStringLiteral("orders");
    ProducerLoad load;
    QString error;
    ASSERT_TRUE(load.start(produce, &error));
    ConsumeOptions consume;
    consume.bootstrap = produce.bootstrap;
    consume.topic = produce.topic;
    RecordReader reader;
    ASSERT_TRUE(reader.start(consume, &error));
    clock.start();
  }
  EXPECT_LT(clock.elapsed(), 8'000);
}

TEST_F(ClientsTest, ARecordThatFailedIsToldWithItsTopicAndReason) {
  const ProduceOptions produce = producing(50);
  rd_kafka_mock_push_request_errors(brokers, 0, 1, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  ProducerLoad load;
  QString error;
  ASSERT_TRUE(load.start(produce, &error)) << error.toStdString();
  ASSERT_TRUE(waitFor([&] { return load.figures().failed > 0 && load.figures().acknowledged > 3; }));
  const std::string told = load.figures().lastFailure.toStdString();
  EXPECT_NE(told.find("orders"), std::string::npos) << told;
  EXPECT_NE(told.find("authorization failed"), std::string::npos) << told;
}

}  // namespace
}  // namespace tidemark::widgets
