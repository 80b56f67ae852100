#pragma once

#include <QDialog>

#include "bridge/engine_bridge.h"
#include "models/rows_model.h"

class QComboBox;
class QDateTimeEdit;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QSpinBox;
class QStackedWidget;
class QTableView;

namespace tidemark::widgets {

/// Resets, edits or forgets what a group has committed. Nothing is written before what would change was shown; beside
/// it stands what a shell would be told to do the same.
class OffsetsDialog : public QDialog {
  Q_OBJECT

 public:
  OffsetsDialog(EngineBridge& bridge, std::string group, QWidget* parent = nullptr);

  enum class Action { Earliest, Latest, Current, Offset, ShiftBy, Datetime, Forget };
  void setAction(Action action);
  void setValue(qint64 value);
  /// Ticks these partitions and no others.
  void setPartitions(const std::vector<TopicPartition>& partitions);
  const std::vector<observe::OffsetEdit>& preview() const noexcept { return m_model->rows(); }
  QString commandLine() const;
  QString note() const;
  bool canApply() const;
  void apply();

 private:
  Action action() const;
  std::vector<TopicPartition> ticked() const;
  observe::OffsetResetRequest request() const;
  const observe::GroupSnapshot* group() const;
  /// Asks anew what would change.
  void plan();
  void take(const Result<std::vector<observe::OffsetEdit>>& planned);
  void refuse(const QString& text);

  EngineBridge& m_bridge;
  const std::string m_id;
  QComboBox* m_action;
  QStackedWidget* m_values;
  QLineEdit* m_number;
  QDateTimeEdit* m_time;
  QListWidget* m_partitions;
  QTableView* m_table;
  RowsModel<observe::OffsetEdit>* m_model;
  QLineEdit* m_command;
  QLabel* m_note;
  QPushButton* m_apply;
  /// Answers of earlier plans come too late.
  int m_plan = 0;
  bool m_planned = false;
};

}  // namespace tidemark::widgets
