#pragma once

#include <QDialog>
#include <QTimer>

#include "bridge/engine_bridge.h"
#include "clients/producer_load.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;

namespace tidemark::widgets {

/// Starts and stops the window's own load. The load belongs to the main window: it goes on when the dialog is closed.
class ProduceDialog : public QDialog {
  Q_OBJECT

 public:
  ProduceDialog(EngineBridge& bridge, ProducerLoad& load, QWidget* parent = nullptr);
  void setTopic(const QString& topic);
  ProduceOptions options() const;

 private:
  void fillTopics();
  void toggle();
  void fill(const ProduceOptions& options);
  void refresh();

  EngineBridge& m_bridge;
  ProducerLoad& m_load;
  QTimer m_timer;
  QComboBox* m_topic;
  QSpinBox* m_rate;
  QSpinBox* m_size;
  QSpinBox* m_keys;
  QComboBox* m_acks;
  QComboBox* m_codec;
  QCheckBox* m_idempotent;
  QLabel* m_figures;
  QLabel* m_note;
  QPushButton* m_start;
};

}  // namespace tidemark::widgets
