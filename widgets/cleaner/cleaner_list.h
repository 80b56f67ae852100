#pragma once

#include <QAbstractScrollArea>

#include "cleaner/cleaner_rows.h"

namespace tidemark::widgets {

/// The compacted logs as bars: clean, dirty and not cleanable yet, to scale, with the offsets between them and the
/// ratio at which a log is cleaned. Only the rows in sight are painted. ↑/↓, Home, End and Page keys go through them.
class CleanerList : public QAbstractScrollArea {
  Q_OBJECT

 public:
  static constexpr double kRow = 84;

  explicit CleanerList(QWidget* parent = nullptr);

  void setRows(std::vector<CleanerRow> rows);
  const std::vector<CleanerRow>& rows() const noexcept { return m_rows; }
  /// −1: none.
  int current() const noexcept { return m_current; }
  void setCurrent(int row);
  int rowsPainted() const noexcept { return m_painted; }
  /// The bar of a row, in the viewport.
  QRectF barOf(int row) const;

 Q_SIGNALS:
  void currentChanged(int row);
  /// Somebody wants to see its segments.
  void activated(int row);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  int rowAt(double y) const;
  void settleScroll();
  void paintRow(QPainter& painter, int row, double top) const;

  std::vector<CleanerRow> m_rows;
  /// Bytes of the largest log: the bars' common scale.
  int64_t m_most = 1;
  int m_current = -1;
  int m_painted = 0;
};

}  // namespace tidemark::widgets
