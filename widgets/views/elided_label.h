#pragma once

#include <QLabel>

namespace tidemark::widgets {

/// One line that gives way: it asks for no width, and what has no room is told by an ellipsis; the whole of it is the
/// tool tip then, unless there is another.
class ElidedLabel : public QLabel {
  Q_OBJECT

 public:
  explicit ElidedLabel(Qt::TextElideMode mode = Qt::ElideRight, QWidget* parent = nullptr);
  /// What is drawn.
  QString shownText() const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  const Qt::TextElideMode m_mode;
};

}  // namespace tidemark::widgets
