#pragma once

#include <memory>
#include <vector>

#include <QByteArray>
#include <QObject>

#include "clients/client_options.h"

namespace tidemark::widgets {

/// A record as a consumer gets it.
struct ReadRecord {
  int partition = 0;
  qint64 offset = 0;
  /// Milliseconds since 1970; -1: none.
  qint64 timestamp = -1;
  QByteArray key;
  QByteArray value;
  bool keyIsNull = true;
  bool valueIsNull = true;
  int headers = 0;
};

/// Reads a topic through librdkafka, without a group and without committing, on a thread of its own. What it has read
/// waits in a bounded queue until take(); a full queue holds the reading back, nothing is dropped.
class RecordReader : public QObject {
  Q_OBJECT

 public:
  static constexpr size_t kQueue = 2'000;
  /// Longer values are cut for the list.
  static constexpr int kValueShown = 2'000;

  explicit RecordReader(QObject* parent = nullptr);
  ~RecordReader() override;

  bool start(const ConsumeOptions& options, QString* error);
  void stop();
  bool isRunning() const;
  std::vector<ReadRecord> take();
  QString error() const;

 Q_SIGNALS:
  /// Something waits to be taken: once until the next take().
  void arrived();
  void stopped();

 private:
  struct Worker;
  std::shared_ptr<Worker> m_worker;
};

}  // namespace tidemark::widgets
