#include "timeline/time_mouse.h"

#include <cmath>

#include <QApplication>
#include <QMouseEvent>
#include <QWheelEvent>
#include <QWidget>

#include "timeline/timeline_marks.h"

namespace tidemark::widgets {

namespace {

constexpr double kNotch = 120;

}  // namespace

TimeMouse::TimeMouse(TimeAxis& axis, QWidget* watched) : QObject(watched), m_axis(axis), m_widget(watched) {
  watched->setMouseTracking(true);
  watched->installEventFilter(this);
}

double TimeMouse::width() const {
  return std::max(1.0, m_widget->width() - kTimelineLeft - kTimelineRight);
}

double TimeMouse::xOf(platform::WallTime time) const {
  return kTimelineLeft + m_axis.part(time) * width();
}

platform::WallTime TimeMouse::timeAt(double x) const {
  return m_axis.at((x - kTimelineLeft) / width());
}

bool TimeMouse::eventFilter(QObject*, QEvent* event) {
  switch (event->type()) {
    case QEvent::Wheel: {
      const auto* wheel = static_cast<QWheelEvent*>(event);
      const QPoint by = wheel->angleDelta();
      if (std::abs(by.x()) > std::abs(by.y()))
        m_axis.pan(
            TimeAxis::Span(static_cast<int64_t>(-by.x() / kNotch * 0.1 * static_cast<double>(m_axis.span().count()))));
      else
        m_axis.zoom(std::pow(0.8, by.y() / kNotch), timeAt(wheel->position().x()));
      return true;
    }
    case QEvent::MouseButtonPress: {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      if (mouse->button() != Qt::LeftButton) return false;
      m_dragFrom = mouse->position();
      m_dragged = false;
      return false;
    }
    case QEvent::MouseMove: {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      if (m_dragFrom && (mouse->buttons() & Qt::LeftButton)) {
        const double by = m_dragFrom->x() - mouse->position().x();
        if (!m_dragged && std::abs(by) < QApplication::startDragDistance()) return true;
        m_dragged = true;
        m_widget->setCursor(Qt::ClosedHandCursor);
        m_dragFrom = mouse->position();
        m_axis.pan(TimeAxis::Span(static_cast<int64_t>(by / width() * static_cast<double>(m_axis.span().count()))));
        return true;
      }
      const double x = mouse->position().x();
      const bool inside = x >= kTimelineLeft && x <= kTimelineLeft + width();
      m_axis.setCursor(inside ? std::optional(timeAt(x)) : std::nullopt);
      Q_EMIT hovered(mouse->position());
      return true;
    }
    case QEvent::MouseButtonRelease: {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      const bool was = m_dragFrom.has_value() && !m_dragged;
      m_dragFrom.reset();
      m_widget->setCursor(Qt::ArrowCursor);
      if (was && mouse->button() == Qt::LeftButton) Q_EMIT clicked(mouse->position());
      return true;
    }
    case QEvent::Leave:
      m_axis.setCursor(std::nullopt);
      Q_EMIT left();
      return false;
    default:
      return false;
  }
}

}  // namespace tidemark::widgets
