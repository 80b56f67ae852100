#pragma once

#include <QJsonObject>
#include <QWidget>

#include "faults/fault.h"
#include "observe/snapshot.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLineEdit;
class QSpinBox;

namespace tidemark::widgets {

/// All that a fault of one kind takes, as fields: those that its kind has no use for are absent. What stands in them is
/// given as the JSON object that the engine's own parser takes, so that what is wrong is said by whoever decides it.
class FaultForm : public QWidget {
  Q_OBJECT

 public:
  explicit FaultForm(QWidget* parent = nullptr);

  /// What names there are to choose from.
  void setCluster(const observe::ClusterSnapshot& cluster);
  void setKind(faults::Kind kind);
  /// Fields as the fault has them; what it leaves out becomes what is usual for its kind.
  void setFault(const faults::Fault& fault);
  faults::Kind kind() const noexcept { return m_kind; }
  QJsonObject toJson() const;
  /// The field of that parameter, null if the kind has none.
  QWidget* field(faults::Parameter parameter) const;

 Q_SIGNALS:
  void changed();

 private:
  void makeFields();
  void makeTrigger();
  void addRow(const QString& name, QWidget* field, const QString& tip = {});
  void show(QWidget* field, bool shown);
  void takeKind();
  QJsonValue groupOf(const QLineEdit* field) const;
  QString targetText() const;

  faults::Kind m_kind = faults::Kind::Cut;
  QFormLayout* m_form;
  QComboBox* m_node;
  QWidget* m_link;
  QComboBox* m_from;
  QComboBox* m_to;
  QComboBox* m_ways;
  QComboBox* m_who;
  QLineEdit* m_left;
  QLineEdit* m_right;
  QCheckBox* m_clients;
  QSpinBox* m_delay;
  QSpinBox* m_jitter;
  QSpinBox* m_width;
  QComboBox* m_path;
  QWidget* m_calls;
  QCheckBox* m_reads;
  QCheckBox* m_writes;
  QCheckBox* m_syncs;
  QSpinBox* m_offset;
  QDoubleSpinBox* m_rate;
  QWidget* m_clocks;
  QCheckBox* m_wall;
  QCheckBox* m_monotonic;
  QComboBox* m_api;
  QComboBox* m_topic;
  QSpinBox* m_partition;
  QComboBox* m_error;
  QWidget* m_occasions;
  QComboBox* m_which;
  QSpinBox* m_n;
  QDoubleSpinBox* m_chance;
  QSpinBox* m_seed;
  QDoubleSpinBox* m_after;
  QDoubleSpinBox* m_duration;
};

}  // namespace tidemark::widgets
