#pragma once

#include "transactions/transaction_scene.h"
#include "views/scene_view.h"

namespace tidemark::widgets {

/// The transactions, painted: spans over the partitions that they touch, the same on the logs, fencing, what is
/// aborted. ↑ ↓ go through the transactions. Repainted when its scene is another one.
class TransactionsView : public SceneView {
  Q_OBJECT

 public:
  explicit TransactionsView(QWidget* parent = nullptr);

  void setScene(TransactionScene scene);
  const TransactionScene& scene() const noexcept { return m_scene; }
  QString asText() const override;

 Q_SIGNALS:
  /// Of the list of all, an older (+1) or a newer one (−1); picked() tells a number.
  void stepped(int by);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  double layOut(QPainter* painter, double width) override;

 private:
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
};

}  // namespace tidemark::widgets
