#include "transactions/transactions_page.h"

#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "text/format.h"
#include "theme/tables.h"
#include "transactions/transactions_view.h"
#include "views/page_parts.h"

namespace tidemark::widgets {

using namespace std::chrono_literals;

TransactionsPage::TransactionsPage(EngineBridge& bridge, QWidget* parent)
    : QWidget(parent),
      m_bridge(bridge),
      m_note(new QLabel),
      m_spans(new QComboBox),
      m_abort(new QPushButton(tr("Abort…"))),
      m_nothing(new QLabel),
      m_view(new TransactionsView) {
  m_model = new RowsModel<TransactionRow>(
      {{tr("transaction"), [](const TransactionRow& row, int) { return QStringLiteral("T%1").arg(row.number); }},
       {tr("transactional id"), [](const TransactionRow& row, int) { return row.id; }},
       {tr("producer"), [](const TransactionRow& row, int) { return QString::number(row.producer.value()); }, true},
       {tr("epoch"), [](const TransactionRow& row, int) { return QString::number(row.epoch.value()); }, true},
       {tr("became"), [](const TransactionRow& row, int) { return row.state; }},
       {tr("began"), [](const TransactionRow& row, int) { return row.began; }},
       {tr("took"), [](const TransactionRow& row, int) { return row.took; }, true},
       {tr("partitions"), [](const TransactionRow& row, int) { return row.partitions; }},
       {tr("markers"), [](const TransactionRow& row, int) { return row.markers; }}},
      this);
  m_fencingModel =
      new RowsModel<FencingRow>({{tr("time"), [](const FencingRow& row, int) { return row.time; }},
                                 {tr("epoch"), [](const FencingRow& row, int) { return row.epoch; }, true},
                                 {tr("what happened"), [](const FencingRow& row, int) { return row.text; }}},
                                this);
  for (const auto& [span, text] : {std::pair{10s, tr("10 s")}, std::pair{30s, tr("30 s")}, std::pair{60s, tr("1 min")},
                                   std::pair{300s, tr("5 min")}, std::pair{1800s, tr("30 min")}})
    m_spans->addItem(text, static_cast<qlonglong>(span.count()));
  m_spans->setCurrentIndex(2);
  m_spans->setAccessibleName(tr("Time that is shown"));
  QWidget* head = pageHead(this, tr("Transactions"), m_note, {m_spans, m_abort});

  m_stack = new QStackedWidget(this);
  auto* drawn = new QWidget(m_stack);
  auto* scroll = new QScrollArea(drawn);
  scrollDown(*scroll, m_view);
  auto* drawnDown = new QVBoxLayout(drawn);
  drawnDown->setContentsMargins(24, 0, 24, 16);
  drawnDown->addWidget(scroll);
  auto* tables = new QWidget(m_stack);
  m_table = new QTableView(tables);
  m_fencingTable = new QTableView(tables);
  auto* tablesDown = new QVBoxLayout(tables);
  tablesDown->setContentsMargins(24, 0, 24, 16);
  tablesDown->setSpacing(8);
  frameTwin(*m_table, m_model, tr("Transactions"));
  frameTwin(*m_fencingTable, m_fencingModel, tr("Epochs and fencing"));
  for (QTableView* table : {m_table, m_fencingTable}) table->horizontalHeader()->setStretchLastSection(true);
  m_table->setColumnWidth(1, 180);
  m_table->setColumnWidth(7, 300);
  m_fencingTable->setColumnWidth(0, 120);
  tablesDown->addWidget(m_table, 3);
  tablesDown->addWidget(m_fencingTable, 1);
  m_stack->addWidget(drawn);
  m_stack->addWidget(tables);
  placeNothing(*m_nothing);
  m_stack->addWidget(m_nothing);
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(0, 0, 0, 0);
  down->setSpacing(0);
  down->addWidget(head);
  down->addWidget(m_stack, 1);
  setFocusProxy(m_view);

  connect(m_spans, &QComboBox::currentIndexChanged, this,
          [this] { setSpan(std::chrono::seconds(m_spans->currentData().toLongLong())); });
  connect(m_abort, &QPushButton::clicked, this, &TransactionsPage::askToAbort);
  connect(m_view, &TransactionsView::picked, this, &TransactionsPage::pick);
  connect(m_view, &TransactionsView::stepped, this, &TransactionsPage::step);
  connect(m_view, &TransactionsView::eventWanted, this, &TransactionsPage::eventWanted);
  connect(m_fencingTable, &QTableView::activated, this, [this](const QModelIndex& index) {
    Q_EMIT eventWanted(m_fencingModel->rows()[static_cast<size_t>(index.row())].event);
  });
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
    if (index.isValid() && index.row() < static_cast<int>(m_model->rows().size()))
      pick(m_model->rows()[static_cast<size_t>(index.row())].number);
  });
  connect(&bridge, &EngineBridge::live, this, &TransactionsPage::onFrame);
  // Another moment is shown, or the present again.
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& shown) {
    if (m_active && (m_bridge.moment() || m_then) && shown.snapshot != shown.previous) fill();
  });
  // The time axis moves with the time.
  connect(&bridge, &EngineBridge::second, this, [this] {
    if (m_active) fill();
  });
}

const TransactionPast& TransactionsPage::past() const {
  const auto& moment = m_bridge.moment();
  if (!moment) {
    m_then.reset();
    return m_past;
  }
  if (!m_then || m_then->first != *moment) m_then.emplace(*moment, m_past.until(m_bridge.recording(), *moment));
  return m_then->second;
}

TransactionTime TransactionsPage::now() const {
  return m_bridge.snapshot()->wall + std::chrono::duration_cast<platform::WallClock::duration>(m_bridge.age());
}

void TransactionsPage::onFrame(const Frame& frame) {
  if (frame.anotherCluster) {
    m_past.clear();
    m_picked = 0;
  }
  const bool news = m_past.add(*frame.snapshot, frame.events.events);
  const bool other = frame.snapshot->transactions != frame.previous->transactions;
  if (m_active && (news || other || frame.anotherCluster)) fill();
}

void TransactionsPage::setActive(bool active) {
  m_active = active;
  if (active) fill();
}

void TransactionsPage::showTable(bool table) {
  m_asTable = table;
  if (m_active) fill();
  (table ? static_cast<QWidget*>(m_table) : m_view)->setFocus();
}

void TransactionsPage::setSpan(platform::Duration span) {
  m_span = span;
  const int index =
      m_spans->findData(static_cast<qlonglong>(std::chrono::duration_cast<std::chrono::seconds>(span).count()));
  if (index >= 0 && index != m_spans->currentIndex()) m_spans->setCurrentIndex(index);
  if (m_active) fill();
}

void TransactionsPage::pick(int number) {
  m_picked = number;
  m_pickedByHand = true;
  if (m_active) fill();
}

void TransactionsPage::step(int by) {
  const auto& all = past().transactions();
  if (all.empty()) return;
  const auto found = std::ranges::find(all, m_picked, &Transaction::number);
  // From the newest on, as the table lists them.
  const auto index = found == all.end() ? static_cast<ptrdiff_t>(all.size()) : found - all.begin();
  pick(all[static_cast<size_t>(std::clamp<ptrdiff_t>(index - by, 0, static_cast<ptrdiff_t>(all.size()) - 1))].number);
}

void TransactionsPage::fill() {
  const observe::ClusterSnapshot& cluster = *m_bridge.snapshot();
  const auto& all = past().transactions();
  const auto open = std::ranges::count(all, observe::TransactionFate::Open, &Transaction::fate);
  QStringList notes{tr("%n transactional id(s)", nullptr, static_cast<int>(cluster.transactions.size())),
                    tr("%n open", nullptr, static_cast<int>(open))};
  const auto refused = std::ranges::count_if(past().happenings(), [](const FencingHappening& one) {
    return std::holds_alternative<events::ProducerFenced>(one.what);
  });
  if (refused > 0) notes << tr("%n refused write(s) of fenced producers", nullptr, static_cast<int>(refused));
  const QString note = notes.join(QStringLiteral(" · "));
  if (m_note->text() != note) m_note->setText(note);
  const bool nothing = all.empty() && cluster.transactions.empty() && past().happenings().empty();
  m_nothing->setText(
      m_bridge.moment()
          ? tr("Up to that moment there was no transaction.")
          : tr("No transaction yet. A producer with a transactional.id makes one appear here: give it %1 as "
               "bootstrap.servers.")
                .arg(fromUtf8(cluster.bootstrap)));
  m_stack->setCurrentIndex(nothing ? 2 : m_asTable ? 1 : 0);
  // Somebody looks at what is open, if nothing else was picked.
  if (past().find(m_picked) == nullptr) m_pickedByHand = false;
  if (!m_pickedByHand) {
    m_picked = 0;
    for (const Transaction& one : all)
      if (one.fate == observe::TransactionFate::Open && m_picked == 0) m_picked = one.number;
    if (m_picked == 0 && !all.empty()) m_picked = all.back().number;
  }
  const QString hindrance = m_bridge.hindrance();
  m_abort->setEnabled(!abortable().empty());
  m_abort->setToolTip(hindrance.isEmpty()
                          ? tr("Fences the producer of the transaction that is picked, which aborts it (A)")
                          : hindrance);
  if (m_asTable) {
    const QSignalBlocker quiet(m_table->selectionModel());
    m_model->setRows(transactionRows(past(), now()));
    TransactionScene scene = transactionScene(cluster, past(), m_picked, now(), m_span);
    m_fencingModel->setRows(std::move(scene.fencing));
    m_table->viewport()->update();
  }
  m_view->setScene(transactionScene(cluster, past(), m_picked, now(), m_span));
}

std::string TransactionsPage::abortable() const {
  if (!m_bridge.hindrance().isEmpty()) return {};
  const Transaction* transaction = m_past.find(m_picked);
  if (transaction == nullptr || transaction->fate != observe::TransactionFate::Open) return {};
  return m_past.idOf(transaction->producer);
}

void TransactionsPage::askToAbort() {
  const std::string id = abortable();
  if (id.empty()) return;
  QMessageBox box(
      QMessageBox::Warning, tr("Abort T%1?").arg(m_picked),
      tr("The producer of %1 is fenced by a newer epoch: what it has open is aborted, and its next write is refused.")
          .arg(fromUtf8(id)),
      QMessageBox::Cancel, this);
  QPushButton* go = box.addButton(tr("Fence and abort"), QMessageBox::DestructiveRole);
  box.setDefaultButton(QMessageBox::Cancel);
  box.exec();
  if (box.clickedButton() == go) abortPicked();
}

void TransactionsPage::abortPicked() {
  const std::string id = abortable();
  if (id.empty()) return;
  m_bridge.abortTransaction(id, this, [this, name = fromUtf8(id)](const Result<void>& done) {
    Q_EMIT told(done ? tr("%1 is fenced, its transaction aborted").arg(name)
                     : tr("Not aborted: %1").arg(errorText(done.error())));
  });
}

void TransactionsPage::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(m_view->asText());
    return;
  }
  switch (event->key()) {
    case Qt::Key_A:
      return askToAbort();
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return m_spans->setCurrentIndex(std::max(0, m_spans->currentIndex() - 1));
    case Qt::Key_Minus:
      return m_spans->setCurrentIndex(std::min(m_spans->count() - 1, m_spans->currentIndex() + 1));
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace tidemark::widgets
