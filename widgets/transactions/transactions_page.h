#pragma once

#include <QWidget>

#include "bridge/engine_bridge.h"
#include "models/rows_model.h"
#include "transactions/transaction_scene.h"

class QComboBox;
class QLabel;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace tidemark::widgets {

class TransactionsView;

/// The Transactions view: drawn, or as tables (T). ↑ ↓ go through the transactions, A aborts the one that is picked, +
/// and − show less or more time. Fed with each snapshot and the events of each frame, also while it is not shown.
class TransactionsPage : public QWidget {
  Q_OBJECT

 public:
  explicit TransactionsPage(EngineBridge& bridge, QWidget* parent = nullptr);

  void setActive(bool active);
  bool showsTable() const noexcept { return m_asTable; }
  void showTable(bool table);
  TransactionsView& view() noexcept { return *m_view; }
  /// What is remembered at the moment that is shown.
  const TransactionPast& past() const;
  QTableView& table() noexcept { return *m_table; }
  QTableView& fencing() noexcept { return *m_fencingTable; }
  /// 0: none.
  int picked() const noexcept { return m_picked; }
  void pick(int number);
  void setSpan(platform::Duration span);
  platform::Duration span() const noexcept { return m_span; }
  /// Without a question: aborts what the picked transaction's producer has open.
  void abortPicked();

 Q_SIGNALS:
  void eventWanted(uint64_t number);
  void told(const QString& text);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void onFrame(const Frame& frame);
  void fill();
  void step(int by);
  void askToAbort();
  /// The transactional id whose open transaction is picked; empty: there is nothing that could be aborted.
  std::string abortable() const;
  TransactionTime now() const;

  EngineBridge& m_bridge;
  TransactionPast m_past;
  /// The same at a moment of the past, if one is shown.
  mutable std::optional<std::pair<observe::Recording::Moment, TransactionPast>> m_then;
  bool m_active = false;
  bool m_asTable = false;
  int m_picked = 0;
  /// Else what is open is looked at by itself.
  bool m_pickedByHand = false;
  platform::Duration m_span = std::chrono::seconds(60);
  QLabel* m_note;
  QComboBox* m_spans;
  QPushButton* m_abort;
  QStackedWidget* m_stack = nullptr;
  QLabel* m_nothing;
  TransactionsView* m_view;
  QTableView* m_table = nullptr;
  QTableView* m_fencingTable = nullptr;
  RowsModel<TransactionRow>* m_model;
  RowsModel<FencingRow>* m_fencingModel;
};

}  // namespace tidemark::widgets
