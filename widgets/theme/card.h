#pragma once

#include <QWidget>

namespace tidemark::widgets {

/// A widget that stands on a card. The card is drawn, so that splitters and labels in it keep the style sheet's own.
class Card : public QWidget {
 public:
  using QWidget::QWidget;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace tidemark::widgets
