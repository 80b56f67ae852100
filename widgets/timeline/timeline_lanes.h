#pragma once

#include <optional>
#include <vector>

#include <QWidget>

#include "models/timeline_past.h"
#include "timeline/time_axis.h"
#include "timeline/time_mouse.h"
#include "timeline/timeline_marks.h"

class QPainter;

namespace tidemark::widgets {

/// The upper half of the timeline, painted: a bar for each fault, a row for each copy with its leadership and its place
/// in the ISR, and below them the partition's epochs. What holds at the cursor stands at the right.
class TimelineLanes : public QWidget {
  Q_OBJECT

 public:
  TimelineLanes(TimeAxis& axis, const TimelinePast& past, QWidget* parent = nullptr);

  void setPartition(const std::optional<TopicPartition>& partition);
  void setMarks(std::vector<TimelineMark> marks);
  /// Drawn with a ring.
  void setCurrent(const std::optional<TimelineMark>& mark);
  /// The mark nearest to a point: in the rows within some pixels, of a fault anywhere on its bar.
  std::optional<TimelineMark> markAt(const QPointF& at) const;
  /// Of the partition's own, the one nearest to that place in time.
  std::optional<TimelineMark> markNear(double x) const { return markAt({x, epochsTop() + 1}); }
  platform::WallTime timeAt(double x) const { return m_mouse->timeAt(x); }
  /// A fault in sight: the span in which it acted as far as it is in sight, and where its title stands; empty: there is
  /// no room for it.
  struct Bar {
    const TimelineFault* fault;
    QRectF rect;
    QRectF label;
    bool inside = false;
  };
  /// As they are drawn, oldest first.
  std::vector<Bar> bars() const;
  /// What the right column tells of: where somebody points, else the moment that is shown, else the right edge.
  platform::WallTime moment() const { return m_axis.cursor().value_or(m_axis.end()); }
  /// Which one that is: "now", or "at 14:02:09.017".
  QString momentText() const;
  /// How a fault stood at that moment, as the right column tells it.
  static QString stateOf(const TimelineFault& fault, platform::WallTime at);
  /// Where it is drawn.
  QPointF placeOf(const TimelineMark& mark) const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {420, sizeHint().height()}; }

 Q_SIGNALS:
  void markHovered(const std::optional<tidemark::widgets::TimelineMark>& mark, const QPointF& at);
  void markClicked(const tidemark::widgets::TimelineMark& mark);
  /// Where there is no mark.
  void timeClicked(tidemark::platform::WallTime at);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// How many rows the faults in sight take: the rest stands below them.
  void measure();
  double isrTop() const;
  double rowTop(int row) const;
  double epochsTop() const;
  const TimelinePartition* shown() const;
  void paintFaults(QPainter& painter) const;
  /// Which of the bars the right column tells of.
  std::vector<const Bar*> told(const std::vector<Bar>& all) const;
  void paintShades(QPainter& painter) const;
  void paintRows(QPainter& painter) const;
  void paintStretch(QPainter& painter, const TimelineStretch& stretch, const QRectF& box) const;
  void paintEpochs(QPainter& painter) const;
  /// What time it is, at the lower edge: the plot below may be out of sight.
  void paintTimes(QPainter& painter) const;
  void paintCursor(QPainter& painter) const;

  TimeAxis& m_axis;
  const TimelinePast& m_past;
  TimeMouse* m_mouse;
  std::optional<TopicPartition> m_partition;
  std::vector<TimelineMark> m_marks;
  std::optional<TimelineMark> m_current;
  int m_faultRows = 1;
};

}  // namespace tidemark::widgets
