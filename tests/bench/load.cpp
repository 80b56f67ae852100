// The load that benchmarks put on a cluster, Tidemark's or Apache Kafka's alike, with librdkafka. One command a run;
// the last line it prints is its result as JSON.
//
//   tidemark_bench_load produce --bootstrap B --topic T --partitions P --record BYTES --batch BYTES --acks A --bytes N
//   tidemark_bench_load consume --bootstrap B --topic T --partitions P --bytes N
//   tidemark_bench_load one-at-a-time --bootstrap B --topic T --record BYTES --acks A --warm SECONDS --seconds S
//   tidemark_bench_load latency --bootstrap B --topic T --record BYTES --acks A --rate PER_SECOND --warm SECONDS
//   --seconds S tidemark_bench_load gaps --bootstrap B --topic T --record BYTES --every MS
//
// The last runs until it is ended; each time acknowledgements (acks=all) come again after more than 50 ms without any
// it prints when the last one had come and when this one did, in seconds of CLOCK_MONOTONIC.
//
// Bytes are those of record values. No keys, no compression, partition 0 where no number of partitions is asked.

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include "options.h"

namespace {

using tidemark::bench::Options;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Destroy {
  void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
};
using ClientPtr = std::unique_ptr<rd_kafka_t, Destroy>;
using TopicPtr = std::unique_ptr<rd_kafka_topic_t, Destroy>;
using QueuePtr = std::unique_ptr<rd_kafka_queue_t, Destroy>;
using Settings = std::map<std::string, std::string>;

/// What delivery reports tell; one producer, read and written on the thread that polls it.
struct Deliveries {
  int64_t delivered = 0;
  int64_t failed = 0;
  std::string firstError;
};

void onDelivery(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
  auto& deliveries = *static_cast<Deliveries*>(opaque);
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    ++deliveries.delivered;
  } else if (deliveries.failed++ == 0) {
    deliveries.firstError = rd_kafka_err2str(message->err);
  }
}

ClientPtr open(rd_kafka_type_t type, const Options& options, Settings settings, Deliveries* deliveries = nullptr) {
  char error[512];
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  settings.insert({{"bootstrap.servers", options.text("bootstrap")},
                   {"client.id", "tidemark-bench"},
                   {"broker.address.family", "v4"},
                   {"socket.nagle.disable", "true"}});
  for (const auto& [name, value] : settings) {
    if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), error, sizeof error) != RD_KAFKA_CONF_OK) {
      rd_kafka_conf_destroy(conf);
      throw std::runtime_error(error);
    }
  }
  if (deliveries != nullptr) {
    rd_kafka_conf_set_dr_msg_cb(conf, onDelivery);
    rd_kafka_conf_set_opaque(conf, deliveries);
  }
  rd_kafka_t* client = rd_kafka_new(type, conf, error, sizeof error);
  if (client == nullptr) {
    rd_kafka_conf_destroy(conf);
    throw std::runtime_error(error);
  }
  return ClientPtr(client);
}

TopicPtr openTopic(rd_kafka_t* client, const Options& options) {
  rd_kafka_topic_t* topic = rd_kafka_topic_new(client, options.text("topic").c_str(), nullptr);
  if (topic == nullptr) throw std::runtime_error(rd_kafka_err2str(rd_kafka_last_error()));
  return TopicPtr(topic);
}

/// Bytes that no codec and no file system makes smaller.
std::vector<char> noise(size_t size) {
  std::vector<char> bytes(size);
  std::minstd_rand random(1);
  for (char& byte : bytes) byte = static_cast<char>(random() >> 8);
  return bytes;
}

// Sizes of the record batch, version 2: its header, and what a record without key and headers adds to its value.
constexpr int64_t kBatchHeaderSize = 61;
constexpr int64_t kRecordOverhead = 10;

void produce(const Options& options) {
  const int64_t recordSize = options.count("record"), batchSize = options.count("batch");
  const int64_t records = std::max<int64_t>(1, options.count("bytes") / recordSize);
  const auto partitions = static_cast<int32_t>(options.count("partitions"));
  const int64_t perBatch = std::max<int64_t>(1, (batchSize - kBatchHeaderSize) / (recordSize + kRecordOverhead));
  // The count of records closes a batch. The size alone would not: librdkafka compares it with its estimate of the most
  // that a batch may need.
  Deliveries deliveries;
  const ClientPtr client = open(RD_KAFKA_PRODUCER, options,
                                {{"acks", options.text("acks")},
                                 {"batch.num.messages", std::to_string(perBatch)},
                                 {"batch.size", std::to_string(batchSize * 2)},
                                 {"linger.ms", "1000"},
                                 {"max.in.flight", "5"},
                                 {"queue.buffering.max.messages", "200000"},
                                 {"queue.buffering.max.kbytes", "65536"}},
                                &deliveries);
  const TopicPtr topic = openTopic(client.get(), options);
  std::vector<char> pool = noise((1U << 20) + static_cast<size_t>(recordSize));

  const Clock::time_point began = Clock::now();
  for (int64_t i = 0; i < records;) {
    const auto partition = static_cast<int32_t>(i / perBatch % partitions);
    char* value = pool.data() + i * 97 % (1 << 20);
    if (rd_kafka_produce(topic.get(), partition, 0, value, static_cast<size_t>(recordSize), nullptr, 0, nullptr) == 0) {
      if (++i % 256 == 0) rd_kafka_poll(client.get(), 0);
    } else if (rd_kafka_last_error() == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      rd_kafka_poll(client.get(), 10);
    } else {
      throw std::runtime_error(rd_kafka_err2str(rd_kafka_last_error()));
    }
  }
  rd_kafka_flush(client.get(), 120'000);
  const double seconds = Seconds(Clock::now() - began).count();
  if (deliveries.delivered != records) {
    throw std::runtime_error(fmt::format("{} of {} records delivered; first error: {}", deliveries.delivered, records,
                                         deliveries.firstError));
  }
  fmt::print("{{\"records\":{},\"bytes\":{},\"batchRecords\":{},\"seconds\":{:.6f}}}\n", records, records * recordSize,
             perBatch, seconds);
}

/// A consumer without a group that reads partitions 0 to `partitions` − 1 of the topic into one queue.
class Reader {
 public:
  Reader(const Options& options, int32_t partitions, int64_t from)
      : client_(open(RD_KAFKA_CONSUMER, options,
                     {{"fetch.wait.max.ms", "500"},
                      {"fetch.min.bytes", "1"},
                      {"queued.min.messages", "1000000"},
                      {"queued.max.messages.kbytes", "65536"}})),
        topic_(openTopic(client_.get(), options)),
        queue_(rd_kafka_queue_new(client_.get())),
        partitions_(partitions) {
    for (int32_t p = 0; p < partitions_; ++p) {
      if (rd_kafka_consume_start_queue(topic_.get(), p, from, queue_.get()) != 0) {
        throw std::runtime_error(rd_kafka_err2str(rd_kafka_last_error()));
      }
    }
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    for (int32_t p = 0; p < partitions_; ++p) rd_kafka_consume_stop(topic_.get(), p);
  }

  /// Calls `use` for each record that has come, after at most `wait`.
  template <typename Use>
  void read(std::chrono::milliseconds wait, Use use) {
    rd_kafka_message_t* messages[1024];
    const ssize_t count = rd_kafka_consume_batch_queue(queue_.get(), static_cast<int>(wait.count()), messages, 1024);
    for (ssize_t i = 0; i < count; ++i) {
      if (messages[i]->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        use(*messages[i]);
      } else if (messages[i]->err != RD_KAFKA_RESP_ERR__PARTITION_EOF && error_.empty()) {
        error_ = rd_kafka_message_errstr(messages[i]);
      }
      rd_kafka_message_destroy(messages[i]);
    }
  }

  /// As read(), of one record: a batch would be waited for.
  template <typename Use>
  void readOne(std::chrono::milliseconds wait, Use use) {
    rd_kafka_message_t* message = rd_kafka_consume_queue(queue_.get(), static_cast<int>(wait.count()));
    if (message == nullptr) return;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) use(*message);
    rd_kafka_message_destroy(message);
  }

  const std::string& error() const { return error_; }

 private:
  ClientPtr client_;
  TopicPtr topic_;
  QueuePtr queue_;
  int32_t partitions_;
  std::string error_;
};

void consume(const Options& options) {
  const int64_t wanted = options.count("bytes");
  int64_t bytes = 0, records = 0;
  const Clock::time_point began = Clock::now();
  Clock::time_point last = began;
  double seconds = 0;
  {
    Reader reader(options, static_cast<int32_t>(options.count("partitions")), RD_KAFKA_OFFSET_BEGINNING);
    while (bytes < wanted) {
      reader.read(std::chrono::milliseconds(100), [&](const rd_kafka_message_t& message) {
        bytes += static_cast<int64_t>(message.len);
        ++records;
        last = Clock::now();
      });
      if (Clock::now() - last > std::chrono::seconds(30)) {
        throw std::runtime_error(
            fmt::format("{} of {} bytes came, then none for 30 s {}", bytes, wanted, reader.error()));
      }
    }
    seconds = Seconds(last - began).count();
  }
  fmt::print("{{\"records\":{},\"bytes\":{},\"seconds\":{:.6f}}}\n", records, bytes, seconds);
}

void oneAtATime(const Options& options) {
  Deliveries deliveries;
  const ClientPtr client =
      open(RD_KAFKA_PRODUCER, options, {{"acks", options.text("acks")}, {"linger.ms", "0"}, {"max.in.flight", "1"}},
           &deliveries);
  const TopicPtr topic = openTopic(client.get(), options);
  std::vector<char> value = noise(static_cast<size_t>(options.count("record")));
  const auto sendFor = [&](double span) {
    const Clock::time_point began = Clock::now();
    int64_t count = 0;
    double passed = 0;
    do {
      const int64_t before = deliveries.delivered;
      if (rd_kafka_produce(topic.get(), 0, 0, value.data(), value.size(), nullptr, 0, nullptr) != 0) {
        throw std::runtime_error(rd_kafka_err2str(rd_kafka_last_error()));
      }
      while (deliveries.delivered == before) {
        if (deliveries.failed != 0) throw std::runtime_error(deliveries.firstError);
        rd_kafka_poll(client.get(), 1000);
      }
      ++count;
      passed = Seconds(Clock::now() - began).count();
    } while (passed < span);
    return static_cast<double>(count) / passed;
  };
  sendFor(options.number("warm"));
  fmt::print("{{\"recordsPerSecond\":{:.2f}}}\n", sendFor(options.number("seconds")));
}

void latency(const Options& options) {
  const double rate = options.number("rate");
  const auto warm = static_cast<int64_t>(options.number("warm") * rate);
  const int64_t total = warm + std::max<int64_t>(1, static_cast<int64_t>(options.number("seconds") * rate));
  const auto recordSize = static_cast<size_t>(std::max<int64_t>(16, options.count("record")));
  const std::chrono::nanoseconds interval(static_cast<int64_t>(1e9 / rate));

  // A record's value begins with its number and with the time at which it was handed to the producer.
  std::vector<double> micros(static_cast<size_t>(total), -1);
  std::atomic<int64_t> arrived = 0;
  std::atomic<bool> listening = false, over = false;
  std::thread consumer([&] {
    Reader reader(options, 1, RD_KAFKA_OFFSET_BEGINNING);
    listening = true;
    while (!over && arrived < total) {
      reader.readOne(std::chrono::milliseconds(100), [&](const rd_kafka_message_t& message) {
        const int64_t now = Clock::now().time_since_epoch().count();
        int64_t stamp[2];
        if (message.len < sizeof stamp) return;
        std::memcpy(stamp, message.payload, sizeof stamp);
        if (stamp[0] < 0 || stamp[0] >= total) return;
        micros[static_cast<size_t>(stamp[0])] = static_cast<double>(now - stamp[1]) / 1000;
        ++arrived;
      });
    }
  });

  Deliveries deliveries;
  std::string error;
  try {
    const ClientPtr client =
        open(RD_KAFKA_PRODUCER, options, {{"acks", options.text("acks")}, {"linger.ms", "0"}}, &deliveries);
    const TopicPtr topic = openTopic(client.get(), options);
    while (!listening) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::vector<char> value = noise(recordSize);
    Clock::time_point due = Clock::now() + std::chrono::milliseconds(200);
    for (int64_t i = 0; i < total; ++i, due += interval) {
      std::this_thread::sleep_until(due);
      const int64_t stamp[2] = {i, Clock::now().time_since_epoch().count()};
      std::memcpy(value.data(), stamp, sizeof stamp);
      if (rd_kafka_produce(topic.get(), 0, RD_KAFKA_MSG_F_COPY, value.data(), value.size(), nullptr, 0, nullptr) != 0) {
        throw std::runtime_error(rd_kafka_err2str(rd_kafka_last_error()));
      }
      rd_kafka_poll(client.get(), 0);
    }
    rd_kafka_flush(client.get(), 30'000);
    const Clock::time_point end = Clock::now() + std::chrono::seconds(10);
    while (arrived < total && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  } catch (const std::exception& e) {
    error = e.what();
  }
  over = true;
  consumer.join();
  if (error.empty() && arrived < total) error = fmt::format("{} of {} records arrived", arrived.load(), total);
  if (!error.empty()) throw std::runtime_error(error);

  micros.erase(micros.begin(), micros.begin() + warm);
  std::sort(micros.begin(), micros.end());
  const auto at = [&](double part) {
    return micros[static_cast<size_t>(part * static_cast<double>(micros.size() - 1))];
  };
  fmt::print("{{\"records\":{},\"p50Us\":{:.1f},\"p99Us\":{:.1f},\"maxUs\":{:.1f}}}\n", micros.size(), at(0.5),
             at(0.99), at(1));
}

[[noreturn]] void gaps(const Options& options) {
  const auto recordSize = static_cast<size_t>(options.count("record"));
  const std::chrono::milliseconds every(options.count("every"));
  constexpr std::chrono::milliseconds kGap(50), kBetweenQuestions(10);
  Deliveries deliveries;
  // A client that asks for the new leader as often as it may: the brokers are measured.
  const ClientPtr client = open(RD_KAFKA_PRODUCER, options,
                                {{"acks", "all"},
                                 {"linger.ms", "0"},
                                 {"topic.metadata.refresh.fast.interval.ms", "10"},
                                 {"retry.backoff.ms", "10"},
                                 {"reconnect.backoff.ms", "10"},
                                 {"reconnect.backoff.max.ms", "20"},
                                 {"message.timeout.ms", "120000"},
                                 {"log_level", "0"}},
                                &deliveries);
  const TopicPtr topic = openTopic(client.get(), options);
  std::vector<char> value = noise(recordSize);
  Clock::time_point due = Clock::now(), last = due, nextQuestion = due;
  for (int64_t seen = 0;;) {
    const Clock::time_point now = Clock::now();
    if (now >= due) {
      // A full queue is no loss: nobody counts these records.
      rd_kafka_produce(topic.get(), 0, RD_KAFKA_MSG_F_COPY, value.data(), value.size(), nullptr, 0, nullptr);
      due = std::max(due + every, now);
    }
    rd_kafka_poll(client.get(), 1);
    if (deliveries.delivered == seen) {
      if (seen == 0 || now - last < kGap || now < nextQuestion) continue;
      // By itself it asks for the new leader ever more seldom, and its own pace would be measured.
      const rd_kafka_metadata_t* told = nullptr;
      if (rd_kafka_metadata(client.get(), 0, topic.get(), &told, 100) == RD_KAFKA_RESP_ERR_NO_ERROR)
        rd_kafka_metadata_destroy(told);
      nextQuestion = now + kBetweenQuestions;
      continue;
    }
    const Clock::time_point came = Clock::now();
    if (seen > 0 && came - last > kGap) {
      fmt::print("{{\"last\":{:.6f},\"again\":{:.6f}}}\n", Seconds(last.time_since_epoch()).count(),
                 Seconds(came.time_since_epoch()).count());
      std::fflush(stdout);
    }
    seen = deliveries.delivered;
    last = came;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(const Options&)> commands = {
      {"produce", produce}, {"consume", consume}, {"one-at-a-time", oneAtATime}, {"latency", latency}, {"gaps", gaps}};
  try {
    const auto command = commands.find(argc > 1 ? argv[1] : "");
    if (command == commands.end())
      throw std::runtime_error("expected produce, consume, one-at-a-time, latency or gaps");
    command->second(Options(argc - 2, argv + 2));
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "tidemark_bench_load: {}\n", e.what());
    return 1;
  }
}
