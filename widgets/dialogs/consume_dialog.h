#pragma once

#include <QDialog>
#include <QTimer>

#include "bridge/engine_bridge.h"
#include "clients/record_reader.h"
#include "models/record_model.h"

class QComboBox;
class QLabel;
class QPushButton;
class QTableView;

namespace tidemark::widgets {

/// Reads a topic and lists its records as they come. Reading goes on while it is closed; destroying it ends that.
class ConsumeDialog : public QDialog {
  Q_OBJECT

 public:
  explicit ConsumeDialog(EngineBridge& bridge, QWidget* parent = nullptr);
  void setTopic(const QString& topic);
  ConsumeOptions options() const;
  RecordModel& model() noexcept { return *m_model; }
  bool isReading() const { return m_reader.isRunning(); }

 Q_SIGNALS:
  void readingChanged(bool reads);

 private:
  void fillTopics();
  void fillPartitions();
  void toggle();
  void take();
  void refresh();

  EngineBridge& m_bridge;
  RecordReader m_reader;
  QTimer m_timer;
  RecordModel* m_model;
  QComboBox* m_topic;
  QComboBox* m_partition;
  QComboBox* m_from;
  QComboBox* m_isolation;
  QTableView* m_table;
  QLabel* m_note;
  QPushButton* m_start;
  bool m_reads = false;
};

}  // namespace tidemark::widgets
