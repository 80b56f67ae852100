#pragma once

#include <qcustomplot.h>

#include "timeline/moment_steps.h"

namespace tidemark::widgets {

/// Moments since 1970 along an axis. Only sources that see QCustomPlot include it.
class MomentTicker : public QCPAxisTicker {
 public:
  /// `perMillisecond`: how much of the axis that is.
  MomentTicker(const QCPAxis& axis, double perMillisecond) : m_axis(axis), m_perMillisecond(perMillisecond) {}

 protected:
  double getTickStep(const QCPRange& range) override {
    m_step = momentStep(range.size() / m_perMillisecond, m_axis.axisRect()->width());
    return m_step * m_perMillisecond;
  }
  int getSubTickCount(double) override { return 0; }
  QString getTickLabel(double tick, const QLocale&, QChar, int) override {
    return momentText(tick / m_perMillisecond, m_step);
  }

 private:
  const QCPAxis& m_axis;
  double m_perMillisecond;
  double m_step = 1;
};

}  // namespace tidemark::widgets
