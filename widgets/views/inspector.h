#pragma once

#include <optional>

#include <QScrollArea>

#include "bridge/engine_bridge.h"
#include "theme/shapes.h"
#include "timeline/time_travel.h"
#include "views/cluster_tree.h"
#include "views/fact_list.h"
#include "views/lag_plot.h"

class QGridLayout;
class QLabel;
class QPushButton;

namespace tidemark::widgets {

/// A pill that tells a state: its word in capitals on its soft colour, with its shape.
class StatePill : public QWidget {
  Q_OBJECT

 public:
  explicit StatePill(QWidget* parent = nullptr);
  void setLook(const StateLook& look);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  StateLook m_look;
};

/// All there is to know about what is picked, a plot of its lag, and what can be done to a broker. The buttons stand at
/// the foot, whatever is scrolled or comes above them, each always in its place: one that does not apply to the state
/// of the broker is disabled, or gives its place to its opposite.
class Inspector : public QScrollArea {
  Q_OBJECT

 public:
  Inspector(EngineBridge& bridge, TimeTravel& travel, QWidget* parent = nullptr);

  void setPicked(const Picked& picked);
  const Picked& picked() const noexcept { return m_picked; }
  /// The partition of the belts: its numbers on the picked broker are shown.
  void setPartition(const std::optional<TopicPartition>& partition);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 Q_SIGNALS:
  void commandWanted(tidemark::widgets::EngineBridge::BrokerCommand command, tidemark::NodeId broker);
  /// The common faults of the broker, under its button.
  void faultMenuWanted(tidemark::NodeId broker, const QPoint& globalPosition);

 private:
  void take();
  void showBroker(const observe::ClusterSnapshot& cluster, const observe::BrokerSnapshot& broker);
  /// Of a node that is a controller and nothing else; `facts` hold what went wrong with it.
  void showController(const observe::ClusterSnapshot& cluster, const observe::BrokerSnapshot& node,
                      std::vector<FactList::Fact> facts);
  void showQuorum(const observe::ClusterSnapshot& cluster);
  void showPartition(const observe::TopicSnapshot& topic, const observe::PartitionSnapshot& partition);
  void addWithoutLeader(const observe::PartitionSnapshot& partition, std::vector<FactList::Fact>& facts) const;
  const TimelineCopy* pastOf(const TopicPartition& partition, NodeId broker) const;
  void drawLags(const std::vector<LagPlot::Line>& lines, const std::vector<LagPlot::Mark>& marks);
  void showCommands(std::optional<observe::BrokerState> state);
  void placeCommands();
  QPushButton* makeButton(EngineBridge::BrokerCommand command, const QString& text, const QString& tip);

  EngineBridge& m_bridge;
  TimeTravel& m_travel;
  Picked m_picked;
  std::optional<TopicPartition> m_partition;
  QLabel* m_title;
  StatePill* m_pill;
  FactList* m_facts;
  QWidget* m_plotBox = nullptr;
  QLabel* m_plotTitle;
  QLabel* m_plotSpan;
  LagPlot* m_plot = nullptr;
  QWidget* m_commandBox;
  QPushButton* m_resume;
  QPushButton* m_start;
  QPushButton* m_pause;
  QPushButton* m_kill;
  QPushButton* m_restart;
  QPushButton* m_stop;
  QPushButton* m_faults;
  std::optional<observe::BrokerState> m_commandsFor;
};

}  // namespace tidemark::widgets
