#pragma once

#include <QWidget>

#include "belts/growth_meter.h"
#include "bridge/engine_bridge.h"

namespace tidemark::widgets {

/// The line at the bottom: size of the cluster, traffic, what is under-replicated; where the data lies, what was lost.
class StatusLine : public QWidget {
  Q_OBJECT

 public:
  explicit StatusLine(EngineBridge& bridge, QWidget* parent = nullptr);
  /// A word on what just happened, for a few seconds.
  void say(const QString& text);
  QString leftText() const { return m_left; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void take();
  EngineBridge& m_bridge;
  GrowthMeter m_produced;
  GrowthMeter m_fetched;
  QString m_left, m_right, m_said;
  bool m_trouble = false;
  int m_saying = 0;
};

}  // namespace tidemark::widgets
