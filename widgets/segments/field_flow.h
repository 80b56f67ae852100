#pragma once

#include <array>
#include <map>
#include <optional>
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
  /// Boxes whose texts were measured since another batch came, of each cut of a field one.
  int boxesMeasured() const noexcept { return m_measured; }

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
    int bytes;
    /// Pixels of its value; all of it stands in the tool tip and in the table.
    double value;
  };
  /// From the widest, which is the rule.
  static constexpr std::array<Cut, 4> kCuts = {Cut{kBytesShown, 190}, Cut{kBytesShown, 130}, Cut{6, 100}, Cut{5, 80}};
  using Row = std::vector<Box>;

  Box makeBox(int field, const Cut& cut) const;
  /// Fields as boxes that have no place yet. Texts are measured when they are asked for first, whatever the width.
  const Row& measured(std::optional<Row>& row, int first, int count, const Cut& cut) const;
  const Row& headerRow() const;
  const Row& recordRow(const RecordEntry& record, size_t cut) const;
  std::vector<Box> boxesAt(int width, int* height) const;
  void arrange();
  int fieldAt(const QPointF& point) const;

  BatchPicturePtr m_batch;
  int m_record = -1;
  int m_hovered = -1;
  std::vector<Box> m_boxes;
  mutable std::optional<Row> m_headerRow;
  /// By kCuts.
  mutable std::array<std::optional<Row>, kCuts.size()> m_recordRows;
  mutable int m_measured = 0;
  /// By width.
  mutable std::map<int, int> m_heights;
  int m_painted = 0;
};

/// The colour behind the bytes of a field.
QColor fieldColor(const BatchPicture& batch, int field);

}  // namespace tidemark::widgets
