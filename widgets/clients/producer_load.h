#pragma once

#include <memory>

#include <QObject>

#include "clients/client_options.h"

namespace tidemark::widgets {

/// Writes records into a topic at a steady rate through librdkafka, as any client would, on a thread of its own; from
/// start() until stop() or its end. Belongs to the window's thread; figures are read there at any time.
class ProducerLoad : public QObject {
  Q_OBJECT

 public:
  struct Figures {
    qint64 sent = 0;
    qint64 acknowledged = 0;
    qint64 failed = 0;
    qint64 bytes = 0;
    /// Of the records acknowledged in the last second, from produce to acknowledgement.
    double meanLatencyMs = 0;
    double maxLatencyMs = 0;
    /// The newest error, or empty: forgotten once records are acknowledged again.
    QString error;
    /// Of the newest record that was not written: when, where and why. Stays until the next start.
    QString lastFailure;
  };

  explicit ProducerLoad(QObject* parent = nullptr);
  ~ProducerLoad() override;

  /// An error if the client cannot be made.
  bool start(const ProduceOptions& options, QString* error);
  /// Takes effect at once on a load that runs.
  void setRate(double recordsPerSecond);
  /// Gives outstanding records up to two seconds, in the background; `stopped` comes when the thread has ended.
  void stop();
  bool isRunning() const;
  const ProduceOptions& options() const noexcept { return m_options; }
  Figures figures() const;

 Q_SIGNALS:
  void stopped();

 private:
  struct Worker;
  ProduceOptions m_options;
  std::shared_ptr<Worker> m_worker;
};

}  // namespace tidemark::widgets
