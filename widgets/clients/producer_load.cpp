#include "clients/producer_load.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <QPointer>
#include <QTime>

#include "clients/kafka_conf.h"
#include "text/format.h"

namespace tidemark::widgets {

using Clock = std::chrono::steady_clock;

/// How long a record that was given up is spoken of once others are written again.
constexpr auto kRemembered = std::chrono::seconds(5);

/// All that the thread touches. Shared, so that a load that is given up may finish on its own.
struct ProducerLoad::Worker {
  ProduceOptions options;
  rd_kafka_t* client = nullptr;
  /// What rd_kafka_poll() waits at; null once the client is gone. Of the mutex from start to end.
  rd_kafka_queue_t* queue = nullptr;
  std::thread thread;
  std::atomic<bool> running{true};
  std::atomic<double> rate{0};
  /// How long outstanding records are waited for at the end; short if the window itself closes.
  std::atomic<int> lastWaitMs{2000};
  std::atomic<qint64> sent{0}, acknowledged{0}, failed{0}, bytes{0};

  std::mutex mutex;
  std::condition_variable wake;
  bool stopping = false;
  QString error;
  QString lastFailure;
  /// The error is of a record that was given up.
  bool errorOfRecord = false;
  Clock::time_point errorAt;
  double latencySumMs = 0, latencyMaxMs = 0;
  qint64 latencyCount = 0;
  double shownMeanMs = 0, shownMaxMs = 0;
  Clock::time_point latencySince = Clock::now();

  void complain(const QString& text, bool ofRecord = false) {
    const std::lock_guard lock(mutex);
    error = text;
    errorOfRecord = ofRecord;
    errorAt = Clock::now();
  }

  void fails(const QString& where, const QString& why) {
    ++failed;
    complain(why, true);
    const std::lock_guard lock(mutex);
    lastFailure =
        QStringLiteral("%1  %2: %3").arg(QTime::currentTime().toString(QStringLiteral("HH:mm:ss.zzz")), where, why);
  }

  static void delivered(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
    auto& self = *static_cast<Worker*>(opaque);
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      const QString topic = self.options.topic;
      // Given up before a partition was chosen for it.
      self.fails(message->partition < 0 ? topic : QStringLiteral("%1-%2").arg(topic).arg(message->partition),
                 QString::fromUtf8(rd_kafka_err2str(message->err)));
      return;
    }
    ++self.acknowledged;
    const double ms = static_cast<double>(rd_kafka_message_latency(message)) / 1000;
    const std::lock_guard lock(self.mutex);
    // Records arrive again: a lost connection is no news any more, a record that was given up is for a while.
    if (!self.errorOfRecord || Clock::now() - self.errorAt > kRemembered) self.error.clear();
    self.latencySumMs += ms;
    self.latencyMaxMs = std::max(self.latencyMaxMs, ms);
    ++self.latencyCount;
    if (Clock::now() - self.latencySince >= std::chrono::seconds(1)) {
      self.shownMeanMs = self.latencySumMs / static_cast<double>(self.latencyCount);
      self.shownMaxMs = self.latencyMaxMs;
      self.latencySumMs = self.latencyMaxMs = 0;
      self.latencyCount = 0;
      self.latencySince = Clock::now();
    }
  }
  bool make(QString* reason) {
    // Lost connections come back by themselves; they are told as long as nothing better is known.
    KafkaConf conf(this, options.bootstrap, "producer");
    conf.set({{"acks", options.acks == QStringLiteral("all") ? QStringLiteral("-1") : options.acks},
              {"compression.codec", options.codec},
              {"linger.ms", QString::number(options.lingerMs)},
              {"message.timeout.ms", QStringLiteral("30000")},
              {"queue.buffering.max.messages", QStringLiteral("100000")},
              {"retry.backoff.ms", QStringLiteral("50")}});
    if (options.idempotent) conf.set({{"enable.idempotence", QStringLiteral("true")}});
    rd_kafka_conf_set_dr_msg_cb(conf.get(), &Worker::delivered);
    client = conf.make(RD_KAFKA_PRODUCER, reason);
    if (client != nullptr) queue = rd_kafka_queue_get_main(client);
    return client != nullptr;
  }

  /// Something that run() looks at has changed. Any thread.
  void rouse() {
    const std::lock_guard lock(mutex);
    wake.notify_all();
    if (queue != nullptr) rd_kafka_queue_yield(queue);
  }

  void run() {
    const QByteArray topic = options.topic.toUtf8();
    std::vector<char> value(static_cast<size_t>(std::max(1, options.size)), '.');
    qint64 number = 0;
    auto due = Clock::now();
    while (true) {
      {
        std::unique_lock lock(mutex);
        if (stopping) break;
      }
      const double perSecond = rate.load();
      const auto now = Clock::now();
      if (perSecond > 0) {
        // Of a rate that was lower until now.
        due = std::min(due,
                       now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / perSecond)));
        if (now - due > std::chrono::seconds(1)) due = now;
        if (now < due) {
          // Acknowledgements are taken as they come: their latency ends here.
          rd_kafka_poll(client, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(due - now).count()));
          continue;
        }
        due += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / perSecond));
      }
      fill(value, number);
      const QByteArray key =
          options.keys > 0 ? QByteArray("key-") + QByteArray::number(number % options.keys) : QByteArray();
      const bool tombstone =
          options.tombstoneEvery > 0 && !key.isEmpty() && number % options.tombstoneEvery == options.tombstoneEvery - 1;
      const rd_kafka_resp_err_t code = rd_kafka_producev(
          client, RD_KAFKA_V_TOPIC(topic.constData()), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
          RD_KAFKA_V_VALUE(tombstone ? nullptr : value.data(), tombstone ? 0 : value.size()),
          RD_KAFKA_V_KEY(key.isEmpty() ? nullptr : key.constData(), static_cast<size_t>(key.size())), RD_KAFKA_V_END);
      if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        rd_kafka_poll(client, 20);
        continue;
      }
      if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        fails(options.topic, QString::fromUtf8(rd_kafka_err2str(code)));
        std::unique_lock lock(mutex);
        wake.wait_for(lock, std::chrono::milliseconds(200), [this] { return stopping; });
        continue;
      }
      ++sent;
      bytes += static_cast<qint64>(value.size());
      ++number;
      rd_kafka_poll(client, 0);
    }
    rd_kafka_flush(client, lastWaitMs.load());
    rd_kafka_purge(client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(client, 100);
    {
      const std::lock_guard lock(mutex);
      rd_kafka_queue_destroy(std::exchange(queue, nullptr));
    }
    rd_kafka_destroy(client);
    running = false;
  }

  /// `{"order":17,"total":42.10,"note":"...."}`: to be recognised wherever it is met, and of the size that was asked
  /// for.
  static void fill(std::vector<char>& value, qint64 number) {
    const qint64 cents = (number * 7919 + 4210) % 20'000;
    std::string text = fmt::format(R"({{"order":{},"total":{}.{:02})", number, cents / 100, cents % 100);
    const std::string_view note = R"(,"note":")";
    const size_t least = text.size() + note.size() + 2;
    if (value.size() >= least)
      text.append(note).append(value.size() - least, '.').append("\"}");
    else if (text.size() < value.size())
      text.append(value.size() - text.size() - 1, ' ').append("}");
    std::copy_n(text.begin(), std::min(text.size(), value.size()), value.begin());
  }
};

ProducerLoad::ProducerLoad(QObject* parent) : QObject(parent) {}

ProducerLoad::~ProducerLoad() {
  if (!m_worker) return;
  m_worker->lastWaitMs = 250;
  stop();
  if (m_worker->thread.joinable()) m_worker->thread.join();
}

bool ProducerLoad::start(const ProduceOptions& options, QString* error) {
  if (isRunning()) return true;
  if (m_worker && m_worker->thread.joinable()) m_worker->thread.join();
  auto worker = std::make_shared<Worker>();
  worker->options = options;
  worker->rate = options.rate;
  QString reason;
  if (!worker->make(&reason)) {
    if (error != nullptr) *error = reason;
    return false;
  }
  m_options = options;
  m_worker = worker;
  // Queued to the window's thread; destroying this object joins the thread first.
  worker->thread = std::thread([this, worker] {
    worker->run();
    QMetaObject::invokeMethod(this, &ProducerLoad::stopped, Qt::QueuedConnection);
  });
  return true;
}

void ProducerLoad::setRate(double recordsPerSecond) {
  m_options.rate = recordsPerSecond;
  if (!m_worker) return;
  m_worker->rate = recordsPerSecond;
  m_worker->rouse();
}

void ProducerLoad::stop() {
  if (!m_worker) return;
  {
    const std::lock_guard lock(m_worker->mutex);
    m_worker->stopping = true;
  }
  m_worker->rouse();
}

bool ProducerLoad::isRunning() const {
  return m_worker && m_worker->running;
}

ProducerLoad::Figures ProducerLoad::figures() const {
  Figures figures;
  if (!m_worker) return figures;
  figures.sent = m_worker->sent;
  figures.acknowledged = m_worker->acknowledged;
  figures.failed = m_worker->failed;
  figures.bytes = m_worker->bytes;
  const std::lock_guard lock(m_worker->mutex);
  figures.meanLatencyMs = m_worker->shownMeanMs;
  figures.maxLatencyMs = m_worker->shownMaxMs;
  figures.error = m_worker->error;
  figures.lastFailure = m_worker->lastFailure;
  return figures;
}

}  // namespace tidemark::widgets
