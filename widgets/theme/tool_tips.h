#pragma once

#include <QHelpEvent>
#include <QToolTip>
#include <QWidget>

namespace tidemark::widgets {

/// Shows what `textAt` says of the point that a ToolTip event asks about; if it says nothing, what was shown goes.
/// False: it is another event.
template <class TextAt>
bool showToolTip(QEvent* event, QWidget* widget, const TextAt& textAt) {
  if (event->type() != QEvent::ToolTip) return false;
  const auto* help = static_cast<QHelpEvent*>(event);
  const QString text = textAt(help->pos());
  if (text.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(help->globalPos(), text, widget);
  return true;
}

}  // namespace tidemark::widgets
