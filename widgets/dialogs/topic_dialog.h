#pragma once

#include <QDialog>

#include "bridge/engine_bridge.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace tidemark::widgets {

/// Creates a topic. Stays open when the cluster refuses, and says why.
class TopicDialog : public QDialog {
  Q_OBJECT

 public:
  explicit TopicDialog(EngineBridge& bridge, QWidget* parent = nullptr);
  observe::TopicOptions topic() const;
  QString problem() const;

 Q_SIGNALS:
  void created(const QString& topic);

 private:
  void changed();
  void create();
  EngineBridge& m_bridge;
  QLineEdit* m_name;
  QSpinBox* m_partitions;
  QSpinBox* m_factor;
  QSpinBox* m_minInSync;
  QComboBox* m_cleanup;
  QLabel* m_note;
  QPushButton* m_create;
};

}  // namespace tidemark::widgets
