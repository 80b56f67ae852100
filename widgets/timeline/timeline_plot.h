#pragma once

#include <optional>

#include <QElapsedTimer>
#include <QWidget>

#include "models/timeline_past.h"
#include "timeline/time_axis.h"
#include "timeline/timeline_marks.h"

class QCPAxisRect;
class QCPGraph;
class QCustomPlot;

namespace tidemark::widgets {

class TimeMouse;

/// The lower half of the timeline: high watermark and every copy's log end, below them the lag of each copy, with the
/// times at which something was broken shaded. Drawn anew when something in it has changed, ten times a second at most.
class TimelinePlot : public QWidget {
  Q_OBJECT

 public:
  TimelinePlot(TimeAxis& axis, const TimelinePast& past, QWidget* parent = nullptr);

  void setPartition(const std::optional<TopicPartition>& partition);
  /// Something may have changed.
  void take();
  /// How often it was drawn: a test counts.
  int drawings() const noexcept { return m_drawings; }
  /// A drawing was put off and is still to come.
  bool isDue() const noexcept { return m_due; }
  /// Points that the drawing took.
  int points() const noexcept { return m_points; }
  QCustomPlot& plot() noexcept { return *m_plot; }

 Q_SIGNALS:
  void hovered(const QPointF& at);
  void clicked(const QPointF& at);
  void left();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  class Readings;
  struct Bounds {
    double least = 0;
    double most = 0;
    bool any = false;
    void add(double value);
  };
  void makeRect(QCPAxisRect* rect, bool withTimes);
  void colorize();
  void draw();
  void addSeries(const TimelineSeries& series, QCPAxisRect* rect, const QPen& pen, bool peaks, Bounds& bounds);
  void addShades();
  const TimelinePartition* shown() const;

  TimeAxis& m_axis;
  const TimelinePast& m_past;
  std::optional<TopicPartition> m_partition;
  QCustomPlot* m_plot;
  QCPAxisRect* m_offsets = nullptr;
  QCPAxisRect* m_lags = nullptr;
  TimeMouse* m_mouse;
  Readings* m_readings;
  QElapsedTimer m_sinceDrawn;
  bool m_due = false;
  int m_drawings = 0;
  int m_points = 0;
};

}  // namespace tidemark::widgets
