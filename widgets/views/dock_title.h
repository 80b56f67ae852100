#pragma once

#include <QWidget>

namespace tidemark::widgets {

/// The head of a dock: its name in small capitals. Dragging it moves the dock.
class DockTitle : public QWidget {
  Q_OBJECT

 public:
  DockTitle(const QString& text, int left, int height, QWidget* parent = nullptr);
  QSize sizeHint() const override { return {100, height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString m_text;
  int m_left;
};

/// A head that holds widgets of its own; only its ground and the line above are painted.
class DockHead : public QWidget {
  Q_OBJECT

 public:
  using QWidget::QWidget;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace tidemark::widgets
