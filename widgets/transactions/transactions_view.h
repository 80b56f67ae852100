#pragma once

#include <QWidget>

#include "transactions/transaction_scene.h"

namespace tidemark::widgets {

/// The transactions, painted: spans over the partitions that they touch, the same on the logs, fencing, what is
/// aborted. ↑ ↓ go through the transactions. It is as high as what it shows; repainted when its scene is another one.
class TransactionsView : public QWidget {
  Q_OBJECT

 public:
  explicit TransactionsView(QWidget* parent = nullptr);

  void setScene(TransactionScene scene);
  const TransactionScene& scene() const noexcept { return m_scene; }
  int paintings() const noexcept { return m_paintings; }
  QString asText() const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {620, 360}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 Q_SIGNALS:
  /// Of the list of all, an older (+1) or a newer one (−1).
  void stepped(int by);
  void picked(int number);
  void eventWanted(uint64_t number);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Spot {
    QRectF rect;
    int transaction = 0;
    uint64_t event = 0;
    QString tip;
  };
  double layOut(QPainter* painter, double width);
  double paintSpans(QPainter* painter, const QRectF& card);
  void paintSpan(QPainter& painter, const SpanScene& span, const QRectF& place) const;
  void paintFacts(QPainter* painter, const QRectF& card);
  void paintLogs(QPainter* painter, const QRectF& card);
  void paintLegend(QPainter& painter, double left, double y) const;
  void paintFencing(QPainter* painter, const QRectF& card);
  void paintAborted(QPainter* painter, const QRectF& card);
  double spansHeight() const;
  double logsHeight() const;

  TransactionScene m_scene;
  std::vector<Spot> m_spots;
  int m_paintings = 0;
};

}  // namespace tidemark::widgets
