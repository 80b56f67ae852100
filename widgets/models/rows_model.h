#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include <QAbstractTableModel>
#include <QFont>

namespace tidemark::widgets {

/// A table over immutable rows that are shared with whoever made them. New rows are told as the difference to the old
/// ones: what both have at the beginning and at the end is not touched, what is changed in between is dataChanged, the
/// rest is inserted or removed in one stretch. So a log that grows inserts, one whose head is deleted removes.
template <class Row>
class RowsModel : public QAbstractTableModel {
 public:
  using Rows = std::shared_ptr<const std::vector<Row>>;
  struct Column {
    QString head;
    std::function<QString(const Row& row, int index)> text;
    /// Numbers stand at the right.
    bool right = false;
    /// Empty: the view's own colour.
    std::function<QVariant(const Row& row)> color;
  };

  explicit RowsModel(std::vector<Column> columns, QObject* parent = nullptr)
      : QAbstractTableModel(parent), m_columns(std::move(columns)), m_rows(std::make_shared<std::vector<Row>>()) {}

  const std::vector<Row>& rows() const noexcept { return *m_rows; }

  void setRows(std::vector<Row> rows) { setRows(std::make_shared<const std::vector<Row>>(std::move(rows))); }
  void setRows(Rows next) {
    if (next == m_rows) return;
    const Rows held = m_rows;
    const std::vector<Row>& now = *held;
    const std::vector<Row>& then = *next;
    const size_t shorter = std::min(now.size(), then.size());
    size_t front = 0;
    while (front < shorter && now[front] == then[front]) ++front;
    size_t back = 0;
    while (back < shorter - front && now[now.size() - 1 - back] == then[then.size() - 1 - back]) ++back;
    const size_t gone = now.size() - front - back;
    const size_t come = then.size() - front - back;
    const size_t changed = std::min(gone, come);
    const int first = static_cast<int>(front + changed);
    if (changed > 0) {
      // Rows that stay where they are change before any other row comes or goes.
      if (gone == come) {
        m_rows = next;
      } else {
        auto between = std::make_shared<std::vector<Row>>(now);
        std::copy_n(then.begin() + static_cast<std::ptrdiff_t>(front), changed,
                    between->begin() + static_cast<std::ptrdiff_t>(front));
        m_rows = std::move(between);
      }
      Q_EMIT dataChanged(index(static_cast<int>(front), 0), index(first - 1, columnCount() - 1));
    }
    if (come > gone) {
      beginInsertRows({}, first, static_cast<int>(front + come) - 1);
      m_rows = std::move(next);
      endInsertRows();
    } else if (gone > come) {
      beginRemoveRows({}, first, static_cast<int>(front + gone) - 1);
      m_rows = std::move(next);
      endRemoveRows();
    } else {
      m_rows = std::move(next);
    }
  }

  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(m_rows->size());
  }
  int columnCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(m_columns.size());
  }
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const Column& column = m_columns[static_cast<size_t>(index.column())];
    const Row& row = (*m_rows)[static_cast<size_t>(index.row())];
    if (role == Qt::DisplayRole) return column.text(row, index.row());
    if (role == Qt::TextAlignmentRole && column.right) return int(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::ForegroundRole && column.color) return column.color(row);
    return {};
  }
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    const Column& column = m_columns[static_cast<size_t>(section)];
    if (role == Qt::DisplayRole) return column.head;
    if (role == Qt::TextAlignmentRole) return int((column.right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
  }

 private:
  const std::vector<Column> m_columns;
  Rows m_rows;
};

}  // namespace tidemark::widgets
