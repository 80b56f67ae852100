#pragma once

#include <QWidget>

#include "segments/partition_check.h"

class QLabel;
class QPushButton;

namespace tidemark::widgets {

/// How far the check of a partition is, in a line: what was checked, and the button that begins it, ends it or goes on.
class CheckLine : public QWidget {
  Q_OBJECT

 public:
  explicit CheckLine(PartitionCheck& check, QWidget* parent = nullptr);
  QString text() const;
  /// Begins, ends or goes on, as the button says.
  void press();

 private:
  void take();

  PartitionCheck& m_check;
  QLabel* m_text;
  QPushButton* m_button;
};

}  // namespace tidemark::widgets
