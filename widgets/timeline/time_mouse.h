#pragma once

#include <optional>

#include <QObject>
#include <QPointF>

#include "timeline/time_axis.h"

class QWidget;

namespace tidemark::widgets {

/// Mouse and wheel over anything that shows time from left to right: the wheel zooms where the pointer stands, sideways
/// it pans, a drag pans, moving sets the cursor. Belongs to the widget whose events it filters.
class TimeMouse : public QObject {
  Q_OBJECT

 public:
  TimeMouse(TimeAxis& axis, QWidget* watched);

  double xOf(platform::WallTime time) const;
  platform::WallTime timeAt(double x) const;

 Q_SIGNALS:
  void hovered(const QPointF& at);
  void clicked(const QPointF& at);
  void left();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  double width() const;

  TimeAxis& m_axis;
  QWidget* m_widget;
  std::optional<QPointF> m_dragFrom;
  bool m_dragged = false;
};

}  // namespace tidemark::widgets
