#include "clients/record_reader.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "clients/kafka_conf.h"

namespace tidemark::widgets {

struct RecordReader::Worker {
  ConsumeOptions options;
  RecordReader* owner = nullptr;
  rd_kafka_t* client = nullptr;
  // Of the worker's thread.
  rd_kafka_topic_t* topic = nullptr;
  rd_kafka_queue_t* queue = nullptr;
  std::vector<int> read;
  std::thread thread;
  std::atomic<bool> running{true};

  mutable std::mutex mutex;
  std::condition_variable room;
  bool stopping = false;
  bool told = false;
  std::deque<ReadRecord> records;
  QString error;

  void complain(const QString& text) {
    const std::lock_guard lock(mutex);
    error = text;
  }
  bool make(QString* reason) {
    // No group: no coordinator is asked for, no offsets topic comes into being.
    KafkaConf conf(this, options.bootstrap, "consumer");
    conf.set({{"enable.auto.commit", QStringLiteral("false")},
              {"auto.offset.reset", options.fromBeginning ? QStringLiteral("earliest") : QStringLiteral("latest")},
              {"isolation.level",
               options.readCommitted ? QStringLiteral("read_committed") : QStringLiteral("read_uncommitted")},
              {"fetch.wait.max.ms", QStringLiteral("500")}});
    client = conf.make(RD_KAFKA_CONSUMER, reason);
    return client != nullptr;
  }

  bool isStopping() const {
    const std::lock_guard lock(mutex);
    return stopping;
  }

  /// Partitions are asked for until they are known: the topic may come into being later.
  bool assign() {
    const QByteArray name = options.topic.toUtf8();
    rd_kafka_topic_t* handle = rd_kafka_topic_new(client, name.constData(), nullptr);
    int count = 0;
    while (!isStopping() && count == 0) {
      const rd_kafka_metadata_t* metadata = nullptr;
      if (rd_kafka_metadata(client, 0, handle, &metadata, 1000) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (metadata->topic_cnt == 1 && metadata->topics[0].err == RD_KAFKA_RESP_ERR_NO_ERROR)
          count = metadata->topics[0].partition_cnt;
        else if (metadata->topic_cnt == 1)
          complain(QString::fromUtf8(rd_kafka_err2str(metadata->topics[0].err)));
        rd_kafka_metadata_destroy(metadata);
      }
      if (count == 0) {
        std::unique_lock lock(mutex);
        room.wait_for(lock, std::chrono::milliseconds(200), [this] { return stopping; });
      }
    }
    if (count == 0) {
      rd_kafka_topic_destroy(handle);
      return false;
    }
    topic = handle;
    queue = rd_kafka_queue_new(client);
    for (int i = 0; i < count; ++i) {
      if (options.partition >= 0 && options.partition != i) continue;
      if (rd_kafka_consume_start_queue(
              topic, i, options.fromBeginning ? RD_KAFKA_OFFSET_BEGINNING : RD_KAFKA_OFFSET_END, queue) == 0)
        read.push_back(i);
      else
        complain(QString::fromUtf8(rd_kafka_err2str(rd_kafka_last_error())));
    }
    if (options.partition >= count) complain(RecordReader::tr("the topic has no partition %1").arg(options.partition));
    return !read.empty();
  }

  void run() {
    if (assign())
      while (!isStopping()) {
        // Errors of connections come this way.
        rd_kafka_poll(client, 0);
        rd_kafka_message_t* message = rd_kafka_consume_queue(queue, 100);
        if (message == nullptr) continue;
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
          push(*message);
        else
          complain(QString::fromUtf8(rd_kafka_message_errstr(message)));
        rd_kafka_message_destroy(message);
      }
    for (const int partition : read) rd_kafka_consume_stop(topic, partition);
    if (queue != nullptr) rd_kafka_queue_destroy(queue);
    if (topic != nullptr) rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(client);
    running = false;
  }

  void push(const rd_kafka_message_t& message) {
    ReadRecord record;
    record.partition = message.partition;
    record.offset = message.offset;
    rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
    record.timestamp = rd_kafka_message_timestamp(&message, &type);
    record.keyIsNull = message.key == nullptr;
    record.valueIsNull = message.payload == nullptr;
    record.key = QByteArray(static_cast<const char*>(message.key), static_cast<qsizetype>(message.key_len));
    record.value = QByteArray(static_cast<const char*>(message.payload),
                              static_cast<qsizetype>(std::min<size_t>(message.len, kValueShown)));
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(&message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR)
      record.headers = static_cast<int>(rd_kafka_header_cnt(headers));
    std::unique_lock lock(mutex);
    room.wait(lock, [this] { return stopping || records.size() < kQueue; });
    if (stopping) return;
    records.push_back(std::move(record));
    error.clear();
    if (std::exchange(told, true)) return;
    QMetaObject::invokeMethod(owner, &RecordReader::arrived, Qt::QueuedConnection);
  }
};

RecordReader::RecordReader(QObject* parent) : QObject(parent) {}

RecordReader::~RecordReader() {
  stop();
  if (m_worker && m_worker->thread.joinable()) m_worker->thread.join();
}

bool RecordReader::start(const ConsumeOptions& options, QString* error) {
  stop();
  if (m_worker && m_worker->thread.joinable()) m_worker->thread.join();
  auto worker = std::make_shared<Worker>();
  worker->options = options;
  worker->owner = this;
  QString reason;
  if (!worker->make(&reason)) {
    if (error != nullptr) *error = reason;
    return false;
  }
  m_worker = worker;
  worker->thread = std::thread([this, worker] {
    worker->run();
    QMetaObject::invokeMethod(this, &RecordReader::stopped, Qt::QueuedConnection);
  });
  return true;
}

void RecordReader::stop() {
  if (!m_worker) return;
  {
    const std::lock_guard lock(m_worker->mutex);
    m_worker->stopping = true;
  }
  m_worker->room.notify_all();
}

bool RecordReader::isRunning() const {
  return m_worker && m_worker->running;
}

std::vector<ReadRecord> RecordReader::take() {
  if (!m_worker) return {};
  std::vector<ReadRecord> taken;
  {
    const std::lock_guard lock(m_worker->mutex);
    taken.assign(std::make_move_iterator(m_worker->records.begin()), std::make_move_iterator(m_worker->records.end()));
    m_worker->records.clear();
    m_worker->told = false;
  }
  m_worker->room.notify_all();
  return taken;
}

QString RecordReader::error() const {
  if (!m_worker) return {};
  const std::lock_guard lock(m_worker->mutex);
  return m_worker->error;
}

}  // namespace tidemark::widgets
