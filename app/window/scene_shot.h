#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <QElapsedTimer>
#include <QObject>
#include <QStringList>
#include <QTimer>

#include "base/ids.h"
#include "clients/record_reader.h"
#include "observe/snapshot.h"
#include "shot_clients.h"
#include "shot_wait.h"

namespace tidemark::widgets {

class MainWindow;

/// Brings a window into a state and takes its picture: for view checks, on any platform of Qt, offscreen as well.
/// `launch`: the first page. `steady`: three brokers, orders with three partitions, a load, a consumer, every ISR full.
/// `killed`: its leader was killed, another leads, records go on. `recovered`: it was started again, the ISR is full.
/// `table`: the table twin of steady. `partition`: steady with the partition in the inspector. `idle`: three brokers
/// that nobody writes to, after forty seconds: to measure what the window takes. `segments`: a lookup in a sealed
/// segment of orders-0, and the batch that it found; `segments-table`: its table twin. `cleaner`: orders is compacted,
/// and has been cleaned. `map`: steady, as the cluster map; `map-broken`: with a broker paused, a link cut and one
/// slowed; `faults`: the same beside the belts; `timeline`: a leader was killed and came back, a broker was paused, and
/// the card says why it left the ISR; `history`: the moment at which the leader had been killed and nobody led yet, in
/// the belts. `lost`: the only replica in sync was killed, and one that lacked its last records was elected;
/// `truncated`: it came back, and gave them up. `groups`: a group gathers for its next generation and waits for a
/// member that is busy. `transactions`: committed, aborted and open ones, an instance that another one has fenced.
class SceneShot : public QObject {
  Q_OBJECT

 public:
  SceneShot(MainWindow& window, QString condition, QString file, uint16_t port, QObject* parent = nullptr);
  static QStringList conditions();
  void begin();
  QString problem() const { return m_problem; }

 Q_SIGNALS:
  /// What it waits for, once it has waited for a while.
  void waits(const QString& line);
  /// 0: the picture is written.
  void finished(int code);

 private:
  /// The partition that pictures are of.
  inline static const TopicPartition kShown{"orders", PartitionIndex(0)};

  struct Step {
    QString what;
    /// Called again and again until it is true.
    std::function<bool()> reached;
  };
  void look();
  /// Begins to wait for the step that is next; of the last one for a still window.
  void await();
  void giveUp(const QString& problem);
  void take();
  /// What of the cluster is not as a picture wants it; empty if all of it is.
  QString missing() const;
  bool isrIsFull() const;
  int64_t logEnd() const;
  /// True once `ms` have gone since this step began.
  bool held(int ms) const { return m_inStep.elapsed() >= ms; }

  void addTraffic();
  void addLoad(double rate, int size, int lingerMs, int keys, int tombstoneEvery);
  void addSegments();
  void addSegmentsPast();
  void addCleaner();

  // scene_faults.cpp
  /// Sets a fault as `tidemark serve` takes it.
  void set(const char* json);
  void addFaults();
  void addTimeline();
  void addHistory();
  void addLoss();

  // scene_clients.cpp
  /// The group of the picture, once it is there.
  const observe::GroupSnapshot* group() const;
  void addGroups();
  void addTransactions();

  MainWindow& m_window;
  RecordReader m_reader;
  ShotConsumers m_consumers;
  std::unique_ptr<ShotProducers> m_producers;
  const QString m_condition;
  const QString m_file;
  const uint16_t m_port;
  std::vector<Step> m_steps;
  size_t m_step = 0;
  QTimer m_timer;
  ShotWait m_wait;
  QElapsedTimer m_inStep;
  QString m_problem;
  NodeId m_victim;
  int64_t m_end = 0;
};

}  // namespace tidemark::widgets
