#pragma once

// Only for index_plot.cpp and index_overlay.cpp: QCustomPlot's header is written with Qt's keywords.
#include <qcustomplot.h>

#include <span>

#include "segments/index_plot.h"

namespace tidemark::widgets {

/// What lies over the curve: entries, damage, and the lookup as far as it was stepped.
class IndexOverlay : public QCPLayerable {
 public:
  IndexOverlay(const IndexPlot& owner, QCustomPlot* plot);
  size_t dots() const noexcept { return m_dots; }

 protected:
  void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
  void draw(QCPPainter* painter) override;
  QRect clipRect() const override;

 private:
  bool offsets() const { return m_owner.m_which == IndexPlot::Which::Offsets; }
  /// In pixels; nothing if the entry is not one of this segment and index.
  std::optional<QPointF> place(const log::LookupStep& step) const;
  QPointF at(double key, double value) const;
  QRectF inside() const;
  std::span<const log::LookupStep> shownSteps() const;
  QString axisName() const;
  void drawDamage(QCPPainter& painter) const;
  void drawRange(QCPPainter& painter) const;
  void drawScan(QCPPainter& painter) const;
  void drawTarget(QCPPainter& painter) const;
  void drawEntries(QCPPainter& painter);
  void drawProbes(QCPPainter& painter) const;

  const IndexPlot& m_owner;
  size_t m_dots = 0;
};

}  // namespace tidemark::widgets
