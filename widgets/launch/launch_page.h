#pragma once

#include <optional>

#include <QScrollArea>
#include <QTimer>

#include "bridge/engine_bridge.h"
#include "launch/port_check.h"

class QBoxLayout;
class QButtonGroup;
class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QRadioButton;
class QSpinBox;

namespace tidemark::widgets {

class LaunchPicture;
class SettingChips;

/// The first page: how many brokers, with which controllers, where, on which folder, with which first topic. Enter
/// starts. What cannot start says why beside the choice that is wrong.
class LaunchPage : public QScrollArea {
  Q_OBJECT

 public:
  explicit LaunchPage(EngineBridge& bridge, QWidget* parent = nullptr);

  observe::LaunchOptions options() const;
  /// Records a second to be written into the first topic once it is there; 0: none.
  double load() const;
  /// Why it cannot start; empty if it can.
  QString problem() const { return m_problem; }
  void setOptions(const observe::LaunchOptions& options);
  /// How many controllers of their own are chosen; 0: each broker is one.
  int separateControllers() const;
  /// As it was at the last start; a number that is not offered changes nothing.
  void setSeparateControllers(int count);
  /// The folder that the line "A folder" names, chosen or not.
  QString folder() const { return m_folder; }
  bool isFolderChosen() const;
  /// As it was at the last start; an empty path: the usual one.
  void setFolder(const QString& path, bool chosen);
  /// The brokers are coming up: nothing can be changed.
  void setStarting(bool starting);
  bool isStarting() const noexcept { return m_starting; }
  void showError(const QString& text);
  /// Why the last launch failed, as the page shows it; empty once something was changed.
  QString error() const;
  /// No error: the reader wanted it so.
  void showCancelled();
  /// Looks at ports and folder now, not in a moment.
  void check();

 Q_SIGNALS:
  void startWanted(const tidemark::observe::LaunchOptions& options, double load);
  /// While the brokers are coming up.
  void cancelWanted();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeCard(QWidget* parent);
  QWidget* makeRow(QWidget* card, const QString& name, QLayout* content, bool last = false);
  void changed();
  /// Says what follows from the choices.
  void describe();
  void chooseFolder();
  void start();
  /// Each looks, says what there is to say beside the choice, and answers why it cannot start; empty if it can.
  QString checkAddress();
  QString checkFolder();
  /// Looks into the chosen folder: a cluster that lies there decides how many brokers there are, and where.
  void takeStored();
  void showProgress();

  EngineBridge& m_bridge;
  QTimer m_checkSoon;
  /// Ports are taken and given back by others: looked at again while the page is in sight.
  QTimer m_checkAgain;
  static constexpr int kCheckAgainMs = 2000;
  PortCheck m_ports;
  /// Of the chosen folder.
  std::optional<observe::StoredCluster> m_stored;
  /// How many brokers the cluster in the folder has, chosen or not; 0: none there.
  int m_storedBrokers = 0;
  QString m_folderProblem;
  QString m_problem;
  bool m_starting = false;

  QWidget* m_inside;
  QWidget* m_page;
  QBoxLayout* m_columns;
  QWidget* m_form;
  QButtonGroup* m_brokers;
  QLabel* m_brokersNote;
  QButtonGroup* m_controllers;
  QLabel* m_quorumNote;
  QLineEdit* m_host;
  QSpinBox* m_port;
  QLabel* m_portNote;
  QLabel* m_hostNote;
  QRadioButton* m_temporary;
  QRadioButton* m_chosen;
  QLabel* m_folderNote;
  QPushButton* m_choose;
  QString m_folder;
  QCheckBox* m_withTopic;
  QLineEdit* m_topic;
  QSpinBox* m_partitions;
  QLabel* m_topicNote;
  QCheckBox* m_withLoad;
  QSpinBox* m_load;
  QLabel* m_settingsNote;
  SettingChips* m_settings;
  QPushButton* m_start;
  QPushButton* m_cancel;
  QLabel* m_enter;
  QLabel* m_startNote;
  QLabel* m_command;
  /// The whole of it, for the clipboard.
  QString m_commandText;
  QLabel* m_error;
  LaunchPicture* m_picture;
};

/// Empty if the name may be a topic's, else why not (Kafka's rules: 1–249 of a–z A–Z 0–9 . _ -).
QString topicNameProblem(const QString& name);

}  // namespace tidemark::widgets
