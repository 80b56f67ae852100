#pragma once

#include <map>
#include <vector>

#include <QWidget>

#include "segments/segment_types.h"

namespace tidemark::widgets {

/// The fields of a batch's header, and of the record that is picked, one after another as they lie in the file: the
/// bytes, below them the name and the value. Hovering one lights it up here and in the bytes beside; ←/→ do the same.
class FieldFlow : public QWidget {
  Q_OBJECT

 public:
  /// Bytes of a field that are written out; longer ones show their first and their last.
  static constexpr int kBytesShown = 8;

  explicit FieldFlow(QWidget* parent = nullptr);

  /// `record`: index of the record that is shown as well; −1: none.
  void setBatch(BatchPicturePtr batch, int record);
  /// −1: none.
  void setHovered(int field);
  /// Where a field is drawn; empty if it is not.
  QRectF boxOf(int field) const;
  /// The height of a row of fields: bytes, name and value.
  static constexpr int kRowHeight = 61;
  /// Between two rows, and above the caption of a record.
  static constexpr int kRowGap = 6;
  static constexpr int kCaptionHeight = 22;
  /// The fields that are drawn.
  size_t fieldsShown() const noexcept { return m_boxes.size(); }
  /// Of them, what the last painting took: those in sight.
  int fieldsPainted() const noexcept { return m_painted; }

  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override { return {600, heightForWidth(600)}; }
  QSize minimumSizeHint() const override { return {260, 64}; }

 Q_SIGNALS:
  void fieldHovered(int field);
  /// It needs so many pixels now.
  void heightChanged(int height);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Box {
    int field = 0;
    QRectF rect;
    QString hex;
    QString name;
    QString value;
  };
  /// How much of a long field is written out.
  struct Cut {
    /// Bytes of the field; longer ones show their first and their last.
    int bytes = kBytesShown;
    /// Pixels of its value; all of it stands in the tool tip and in the table.
    double value = 190;
  };
  Box makeBox(int field, const Cut& cut) const;
  std::vector<Box> boxesAt(int width, int* height) const;
  void arrange();
  int fieldAt(const QPointF& point) const;

  BatchPicturePtr m_batch;
  int m_record = -1;
  int m_hovered = -1;
  std::vector<Box> m_boxes;
  /// By width.
  mutable std::map<int, int> m_heights;
  int m_painted = 0;
};

/// The colour behind the bytes of a field.
QColor fieldColor(const BatchPicture& batch, int field);

}  // namespace tidemark::widgets
