#include "clients/record_reader.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include <librdkafka/rdkafka.h>

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
  static void failedAltogether(rd_kafka_t*, int code, const char* reason, void* opaque) {
    static_cast<Worker*>(opaque)->complain(QStringLiteral("%1: %2").arg(
        QString::fromUtf8(rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(code))), QString::fromUtf8(reason)));
  }
  static void ignoreLog(const rd_kafka_t*, int, const char*, const char*) {}

  bool make(QString* reason) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    const auto set = [&](const char* key, const QString& value) {
      char text[512];
      if (rd_kafka_conf_set(conf, key, value.toUtf8().constData(), text, sizeof text) == RD_KAFKA_CONF_OK) return true;
      *reason = QString::fromUtf8(text);
      return false;
    };
    // No group: no coordinator is asked for, no offsets topic comes into being.
    bool ok = set("bootstrap.servers", options.bootstrap) &&
              set("client.id", QLatin1String(kOwnClientPrefix) + QStringLiteral("-consumer")) &&
              set("enable.auto.commit", QStringLiteral("false")) &&
              set("auto.offset.reset", options.fromBeginning ? QStringLiteral("earliest") : QStringLiteral("latest")) &&
              set("isolation.level",
                  options.readCommitted ? QStringLiteral("read_committed") : QStringLiteral("read_uncommitted")) &&
              set("reconnect.backoff.max.ms", QStringLiteral("500")) &&
              set("topic.metadata.refresh.interval.ms", QStringLiteral("5000")) &&
              set("fetch.wait.max.ms", QStringLiteral("500"));
    rd_kafka_conf_set_opaque(conf, this);
    rd_kafka_conf_set_error_cb(conf, &Worker::failedAltogether);
    rd_kafka_conf_set_log_cb(conf, &Worker::ignoreLog);
    char text[512];
    if (ok) client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
    if (client != nullptr) return true;
    if (ok) *reason = QString::fromUtf8(text);
    rd_kafka_conf_destroy(conf);
    return false;
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
