#pragma once

#include <optional>

#include <QDialog>

#include "bridge/engine_bridge.h"
#include "faults/fault.h"

class QLabel;
class QListWidget;
class QPushButton;

namespace tidemark::widgets {

class FaultForm;

/// Any fault with all it takes: a list of kinds at the left, those that are impossible here greyed with the reason;
/// what the kind takes at the right. What is wrong is said at once, in the words of the engine that would refuse it.
class FaultDialog : public QDialog {
  Q_OBJECT

 public:
  explicit FaultDialog(EngineBridge& bridge, QWidget* parent = nullptr);

  /// Begins with that one.
  void setFault(const faults::Fault& fault);
  FaultForm& form() noexcept { return *m_form; }
  QListWidget& kinds() noexcept { return *m_kinds; }
  /// What the fields say, or what is wrong with it.
  Result<faults::Fault> fault() const;
  QString note() const;

 Q_SIGNALS:
  /// It is set, under that number.
  void wasSet(int id, const QString& title);

 private:
  void fillKinds();
  void takePossible();
  void check();
  void set();
  void pickKind(faults::Kind kind);

  EngineBridge& m_bridge;
  QListWidget* m_kinds;
  QLabel* m_title;
  QLabel* m_meaning;
  FaultForm* m_form;
  QLabel* m_note;
  QPushButton* m_set;
  bool m_waits = false;
  /// What the engine said to these fields; it stays until one of them changes.
  QString m_refusal;
};

}  // namespace tidemark::widgets
