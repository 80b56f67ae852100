#pragma once

#include <QStyledItemDelegate>

#include "models/fault_model.h"
#include "models/fault_over_model.h"

namespace tidemark::widgets {

/// A card for each fault of a list: what, since when, how long still, what it has met, the words that heal and step it,
/// what it has done to files, and, if it meets nothing, why.
class FaultCards : public QStyledItemDelegate {
 public:
  explicit FaultCards(const FaultModel& model, QObject* parent = nullptr)
      : QStyledItemDelegate(parent), m_model(model) {}

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  /// Where the words stand that heal and step the fault whose card is in that place.
  static QRectF healArea(const FaultRow& row, const QRectF& place);
  static QRectF stepArea(const FaultRow& row, const QRectF& place);
  /// Its title as it stands on a card that is so wide with its margins.
  static QStringList titleLines(const FaultRow& row, double width);
  /// What it keeps back and has met. Where there is little room what is kept back stays, as it can be stepped.
  static QString footText(const FaultRow& row);

 private:
  const FaultModel& m_model;
};

/// A smaller one for each fault that is over: when and how it ended, what it has met, what it left behind.
class FaultOverCards : public QStyledItemDelegate {
 public:
  explicit FaultOverCards(const FaultOverModel& model, QObject* parent = nullptr)
      : QStyledItemDelegate(parent), m_model(model) {}

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  const FaultOverModel& m_model;
};

}  // namespace tidemark::widgets
