#pragma once

#include <optional>

#include <QWidget>

#include "bridge/engine_bridge.h"
#include "timeline/time_travel.h"

namespace tidemark::widgets {

/// Who was in the ISR of the shown partition, and who led it, over the stretch of time that all views look at: one row
/// for each broker. Click or drag: every view shows that moment.
class IsrStrip : public QWidget {
  Q_OBJECT

 public:
  IsrStrip(EngineBridge& bridge, TimeTravel& travel, QWidget* parent = nullptr);
  void setPartition(const std::optional<TopicPartition>& partition);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {60, 75}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Rows;
  double rowHeight() const;
  platform::WallTime timeAt(double x) const;
  const TimelinePartition* past() const;
  EngineBridge& m_bridge;
  TimeTravel& m_travel;
  std::optional<TopicPartition> m_partition;
};

}  // namespace tidemark::widgets
