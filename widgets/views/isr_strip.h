#pragma once

#include <optional>

#include <QWidget>

#include "bridge/engine_bridge.h"
#include "models/partition_past.h"

namespace tidemark::widgets {

/// Who was in the ISR of the shown partition, and who led it, over the last two minutes: one row for each broker.
class IsrStrip : public QWidget {
  Q_OBJECT

 public:
  IsrStrip(EngineBridge& bridge, const PartitionPast& past, QWidget* parent = nullptr);
  void setPartition(const std::optional<TopicPartition>& partition);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {60, 75}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Rows;
  double rowHeight() const;
  EngineBridge& m_bridge;
  const PartitionPast& m_past;
  std::optional<TopicPartition> m_partition;
};

}  // namespace tidemark::widgets
