#pragma once

#include <QWidget>

#include "bridge/engine_bridge.h"
#include "bridge/process_usage.h"

class QHBoxLayout;
class QPushButton;

namespace tidemark::widgets {

/// The bar at the top: mark and name, the actions, where clients connect, who is connected, what it costs.
class TopBar : public QWidget {
  Q_OBJECT

 public:
  explicit TopBar(EngineBridge& bridge, QWidget* parent = nullptr);

  /// With a cluster, or the first page's: "no cluster is running".
  void setRunning(bool running);
  /// What is shown happened once: nothing can be done about it.
  void setRecorded();
  /// "Produce…" shows that a load is being written.
  void setProducing(bool producing);
  /// The same for "Consume…".
  void setConsuming(bool consuming);

  QPushButton* clusterButton() const noexcept { return m_cluster; }
  QPushButton* menuButton() const noexcept { return m_menu; }
  QPushButton* faultButton() const noexcept { return m_fault; }

 Q_SIGNALS:
  void topicWanted();
  void produceWanted();
  void consumeWanted();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// Words give way to the buttons.
  static constexpr int kCompactBelow = 1180;
  class Bootstrap;
  class Usage;
  void take();

  EngineBridge& m_bridge;
  QPushButton* m_cluster;
  QPushButton* m_topic;
  QPushButton* m_produce;
  QPushButton* m_consume;
  QPushButton* m_fault;
  QPushButton* m_menu;
  Bootstrap* m_bootstrap;
  Usage* m_usage;
  ProcessUsage m_process;
  bool m_running = false;
  bool m_compact = false;
};

}  // namespace tidemark::widgets
