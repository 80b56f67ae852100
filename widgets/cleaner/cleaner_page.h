#pragma once

#include <QWidget>

#include "bridge/engine_bridge.h"
#include "cleaner/cleaner_rows.h"
#include "models/rows_model.h"

class QButtonGroup;
class QCheckBox;
class QHBoxLayout;
class QLabel;
class QSettings;
class QStackedWidget;
class QTableView;

namespace tidemark::widgets {

class Card;
class CleanerList;

/// The last pass over a log: records kept and dropped as a bar, tombstones, horizon, bytes and segments. Painted.
class PassCard : public QWidget {
  Q_OBJECT

 public:
  explicit PassCard(EngineBridge& bridge, QWidget* parent = nullptr);
  void setRow(const std::optional<CleanerRow>& row);
  QString asText() const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {180, 100}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  EngineBridge& m_bridge;
  std::optional<CleanerRow> m_row;
};

/// The Cleaner view: each compacted log with its clean and dirty part, what the last pass kept and dropped, tombstones
/// and their horizon. Fed with each snapshot. Enter or a double click opens the log's segments where it is dirty.
class CleanerPage : public QWidget {
  Q_OBJECT

 public:
  explicit CleanerPage(EngineBridge& bridge, QWidget* parent = nullptr);

  void setActive(bool active);
  bool showsTable() const noexcept { return m_asTable; }
  void showTable(bool table);
  CleanerList& list() noexcept { return *m_list; }
  QTableView& table() noexcept { return *m_table; }
  QString asText() const;

  void save(QSettings& settings) const;
  void restore(const QSettings& settings);

 Q_SIGNALS:
  /// Somebody wants to see these segments.
  void segmentsWanted(const tidemark::TopicPartition& partition, tidemark::NodeId broker, tidemark::Offset offset);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void fill();
  /// Why there is nothing to show, and what to do about it.
  QString nothingText(const observe::ClusterSnapshot& cluster) const;
  void makeBrokers(const observe::ClusterSnapshot& cluster);
  void takeCurrent();

  EngineBridge& m_bridge;
  bool m_active = false;
  bool m_asTable = false;
  NodeId m_broker = kNoNode;
  QWidget* m_head;
  QLabel* m_note;
  QHBoxLayout* m_brokerRow;
  QButtonGroup* m_brokers;
  std::vector<NodeId> m_known;
  QCheckBox* m_empty;
  QStackedWidget* m_stack;
  QWidget* m_picture;
  Card* m_card;
  CleanerList* m_list;
  PassCard* m_pass;
  QWidget* m_tables;
  QTableView* m_table;
  QLabel* m_nothing;
  RowsModel<CleanerRow>* m_model;
};

}  // namespace tidemark::widgets
