#pragma once

#include <optional>
#include <vector>

#include <QColor>
#include <QWidget>

#include "models/timeline_past.h"
#include "timeline/time_axis.h"

class QCustomPlot;

namespace tidemark::widgets {

/// How many records copies of a partition were behind their leader over the stretch of time that all views look at,
/// with marks where one went down or left the ISR.
class LagPlot : public QWidget {
  Q_OBJECT

 public:
  explicit LagPlot(QWidget* parent = nullptr);
  struct Line {
    NodeId broker;
    const TimelineCopy* copy = nullptr;
  };
  /// A moment that is worth a word.
  struct Mark {
    platform::WallTime at;
    QString word;
    bool grave = false;
  };
  /// Draws at once if something is new; time alone moves it once a second.
  void draw(const std::vector<Line>& lines, const std::vector<Mark>& marks, const TimeAxis& axis);
  QSize sizeHint() const override { return {264, 96}; }
  /// How the line of a broker looks among several: for a legend.
  static QColor colorOf(NodeId broker);
  static QString strokeOf(NodeId broker);

 private:
  void colorize();
  QCustomPlot* m_plot;
  platform::WallTime m_drawn;
  platform::WallTime m_drawnBegin;
  std::optional<platform::WallTime> m_drawnCursor;
  std::vector<NodeId> m_drawnBrokers;
  int64_t m_drawnDigest = 0;
  const void* m_drawnCopy = nullptr;
};

}  // namespace tidemark::widgets
