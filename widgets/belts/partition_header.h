#pragma once

#include <optional>

#include <QWidget>

#include "bridge/engine_bridge.h"

class QAbstractButton;
class QButtonGroup;
class QLabel;
class QPushButton;

namespace tidemark::widgets {

/// The numbers of the partition that stand above the belts: leader epoch, high watermark, last stable offset, ISR,
/// min.insync, log start, and which colour is which epoch. Painted, since they change with each frame.
class PartitionFigures : public QWidget {
  Q_OBJECT

 public:
  explicit PartitionFigures(QWidget* parent = nullptr);
  void setFigures(const observe::TopicSnapshot* topic, const observe::PartitionSnapshot* partition);
  void setLegend(std::vector<LeaderEpoch> epochs);
  QSize sizeHint() const override { return {620, 34}; }
  QSize minimumSizeHint() const override { return {200, 34}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  struct Figure {
    QString name;
    QString value;
    bool strong = false;
    bool bad = false;
    friend bool operator==(const Figure&, const Figure&) = default;
  };
  std::vector<Figure> m_figures;
  std::vector<LeaderEpoch> m_legend;
};

/// Topic name, one pill for each partition (a menu for those that find no room), and the figures.
class PartitionHeader : public QWidget {
  Q_OBJECT

 public:
  explicit PartitionHeader(EngineBridge& bridge, QWidget* parent = nullptr);

  void setPartition(const std::optional<TopicPartition>& partition);
  /// Pills and figures give way: what is left of them depends on the width.
  QSize minimumSizeHint() const override { return {200, 54}; }
  void setLegend(std::vector<LeaderEpoch> epochs) { m_figures->setLegend(std::move(epochs)); }

 Q_SIGNALS:
  void partitionPicked(int partition);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void take(const observe::ClusterSnapshot& cluster);
  void makePills(int count);

  EngineBridge& m_bridge;
  std::optional<TopicPartition> m_partition;
  QLabel* m_title;
  QWidget* m_pills;
  QPushButton* m_more;
  PartitionFigures* m_figures;
  std::vector<QPushButton*> m_buttons;
  int m_count = -1;
  int m_room = -1;
};

}  // namespace tidemark::widgets
