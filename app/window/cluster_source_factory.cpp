#include "cluster_source_factory.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "testing/fake_cluster.h"

namespace tidemark {

namespace {

/// Stands in for real brokers until the cluster can be linked here: numbers that move with the clock, and nothing on a
/// port.
class MovingCluster : public widgets::fake::FakeCluster {
 public:
  MovingCluster() {
    m_clock.start();
    m_timer.setInterval(20);
    QObject::connect(&m_timer, &QTimer::timeout, &m_timer, [this] {
      setLoad(1.6);
      advance(std::chrono::milliseconds(m_clock.restart()));
    });
    m_timer.start();
  }

 private:
  QTimer m_timer;
  QElapsedTimer m_clock;
};

}  // namespace

std::unique_ptr<observe::ClusterSource> makeClusterSource() {
  return std::make_unique<MovingCluster>();
}

}  // namespace tidemark
