#pragma once

#include <QFrame>

#include "segments/segments_controller.h"

class QLabel;
class QPushButton;

namespace tidemark::widgets {

/// What is damaged, one finding at a time, over the Segments view: where it is and what is wrong, and a way there. Gone
/// while nothing is.
class FindingsBar : public QFrame {
  Q_OBJECT

 public:
  explicit FindingsBar(SegmentsController& controller, QWidget* parent = nullptr);
  QString text() const;
  /// To the finding that is told; once there, to the next one.
  void showNext();

 private:
  void take();
  std::vector<FindingEntry> severe() const;

  SegmentsController& m_controller;
  QLabel* m_text;
  QPushButton* m_next;
  /// Which of severe() is told.
  size_t m_told = 0;
  /// The view stands there.
  bool m_there = false;
};

}  // namespace tidemark::widgets
