#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QWidget>

#include "segments/segment_types.h"

class QCustomPlot;

namespace tidemark::widgets {

class IndexOverlay;

/// A sparse index as a curve: each entry a dot, the batches between them a line, and the lookup on top of it, as far as
/// the reader has stepped: probes by number, the slots that are still possible, the floor entry and what is read from
/// there on. Offset index: offset → position in the `.log`; time index: time → offset.
///
/// Wheel zooms, drag moves, double click shows all. Whatever the number of entries, only as many points are drawn as
/// can be told apart.
class IndexPlot : public QWidget {
  Q_OBJECT

 public:
  enum class Which { Offsets, Times };
  /// Dots and points of the line that are drawn at most.
  static constexpr size_t kMostDots = 240;
  static constexpr size_t kMostPoints = 1'200;

  explicit IndexPlot(QWidget* parent = nullptr);
  ~IndexPlot() override;

  void setSegment(SegmentPicturePtr segment);
  /// What is wrong in it.
  void setFindings(std::vector<FindingEntry> findings);
  void setWhich(Which which);
  Which which() const noexcept { return m_which; }
  /// `step`: up to which step of the lookup is shown; −1: none.
  void setLookup(LookupPicturePtr lookup, int step);

  void showAll();
  void zoomBy(double factor);
  void panBy(double part);

  /// What the last drawing took: bounded by kMost….
  size_t dotsDrawn() const noexcept;
  size_t pointsDrawn() const noexcept { return m_points; }
  /// The visible stretch of the horizontal axis.
  std::pair<double, double> visible() const;

 protected:
  bool event(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  friend class IndexOverlay;

  void colorize();
  void refill();
  void keepInside();
  std::pair<double, double> extent() const;
  QString toolTipAt(const QPointF& point) const;
  void redrawOverlay();

  QCustomPlot* m_plot;
  IndexOverlay* m_overlay;
  SegmentPicturePtr m_segment;
  std::vector<FindingEntry> m_findings;
  LookupPicturePtr m_lookup;
  int m_step = -1;
  Which m_which = Which::Offsets;
  size_t m_points = 0;
  bool m_all = true;
  bool m_filling = false;
};

}  // namespace tidemark::widgets
