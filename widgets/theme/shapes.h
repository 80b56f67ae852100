#pragma once

#include <QBrush>
#include <QColor>
#include <QPainterPath>
#include <QPointF>
#include <QString>

#include "observe/snapshot.h"

class QPainter;

namespace tidemark::widgets {

/// The shapes that tell a state without its colour (legend: widgets/README.md).
enum class StateShape {
  None,
  /// In sync, ok.
  Disc,
  /// Behind, out of the ISR.
  HalfDisc,
  /// Paused.
  Bars,
  /// Fenced.
  BarredRing,
  /// Down, cut, aborted.
  Cross,
  /// A fault.
  Triangle,
  /// Leader, active controller.
  Crown,
  /// Candidate, observer, waiting.
  Ring,
  /// High watermark, parked.
  ClockRing,
  /// Segment edge.
  Square,
  /// Epochs of metadata.
  Lozenge,
};

/// A state as it is drawn: always a shape, a colour and a word.
struct StateLook {
  StateShape shape = StateShape::None;
  QColor color;
  QColor textColor;
  /// Behind a pill of it.
  QColor soft;
  QString word;
};

/// `size` is the diameter of the disc; every other shape has the same weight to the eye.
void drawShape(QPainter& painter, StateShape shape, const QPointF& center, double size, const QColor& color);

/// With its foot at the left bottom corner of (0, 0) – (width, width / 2).
QPainterPath crownPath(const QPointF& leftBottom, double width);

/// Diagonal lines over a ground, at one device-independent scale.
QBrush hatch(const QColor& ground, const QColor& lineColor, double step = 7, double width = 1.2);

/// How the state of a broker, and of a copy of a partition, looks.
StateLook lookOf(observe::BrokerState state);
/// The same; one that runs without a log directory that failed is told apart.
StateLook lookOf(observe::BrokerState state, bool lacksDirectory);
StateLook lookOf(const observe::BrokerSnapshot& broker);
StateLook lookOf(const observe::ReplicaSnapshot& replica, observe::BrokerState broker);
/// Its broker runs and its log does not.
inline bool isOffline(const observe::ReplicaSnapshot& replica) noexcept {
  return !replica.offlineReason.empty();
}

/// The program's mark, 32 × 24.
void drawLogo(QPainter& painter, const QPointF& topLeft, double scale = 1);

}  // namespace tidemark::widgets
