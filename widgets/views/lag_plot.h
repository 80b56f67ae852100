#pragma once

#include <optional>
#include <vector>

#include <QColor>
#include <QWidget>

#include "models/partition_past.h"

class QCustomPlot;

namespace tidemark::widgets {

/// How many records copies of a partition were behind their leader over the last thirty seconds, with marks where one
/// went down or left the ISR.
class LagPlot : public QWidget {
  Q_OBJECT

 public:
  explicit LagPlot(QWidget* parent = nullptr);
  struct Line {
    NodeId broker;
    const PartitionPast::Copy* copy = nullptr;
  };
  /// Draws at once if something is new, at most ten times a second; `now` is the right edge.
  void draw(const std::vector<Line>& lines, platform::WallTime now);
  QSize sizeHint() const override { return {264, 96}; }
  /// How the line of a broker looks among several: for a legend.
  static QColor colorOf(NodeId broker);
  static QString strokeOf(NodeId broker);

 private:
  void colorize();
  QCustomPlot* m_plot;
  platform::WallTime m_drawn;
  std::vector<NodeId> m_drawnBrokers;
  int64_t m_drawnDigest = 0;
  const void* m_drawnCopy = nullptr;
  size_t m_marks = 0;
};

}  // namespace tidemark::widgets
