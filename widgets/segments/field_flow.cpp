#include "segments/field_flow.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>

#include "text/format.h"
#include "theme/draw.h"
#include "theme/theme.h"
#include "theme/tool_tips.h"

namespace tidemark::widgets {

namespace {

constexpr double kChip = 26;
constexpr double kFieldRow = FieldFlow::kRowHeight;
constexpr double kGap = 5;
constexpr double kLeastBox = 40;

QFont hexFont() {
  return Theme::mono(11.5, QFont::Medium);
}
QFont nameFont() {
  return Theme::body(11);
}
QFont valueFont() {
  return Theme::mono(12, QFont::DemiBold);
}

QString hexOf(ByteView bytes, int most) {
  static constexpr char kDigits[] = "0123456789abcdef";
  QString text;
  const auto add = [&text](uint8_t byte) {
    if (!text.isEmpty()) text += QLatin1Char(' ');
    text += QLatin1Char(kDigits[byte >> 4]);
    text += QLatin1Char(kDigits[byte & 15]);
  };
  if (static_cast<int64_t>(bytes.size()) <= most) {
    for (const uint8_t byte : bytes) add(byte);
    return text;
  }
  for (const uint8_t byte : bytes.first(static_cast<size_t>(most) - 3)) add(byte);
  text += QStringLiteral(" …");
  for (const uint8_t byte : bytes.last(2)) add(byte);
  return text;
}

}  // namespace

QColor fieldColor(const BatchPicture& batch, int field) {
  const Palette& p = colors();
  const FieldEntry& entry = batch.fields[static_cast<size_t>(field)];
  if (entry.bad) return p.badField;
  int index = field;
  if (entry.record >= 0) index -= batch.records[static_cast<size_t>(entry.record)].firstField;
  return p.fields[static_cast<size_t>(index) % p.fields.size()];
}

FieldFlow::FieldFlow(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setAccessibleName(tr("Fields of the batch. Arrow keys go from field to field."));
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void FieldFlow::setBatch(BatchPicturePtr batch, int record) {
  if (batch == m_batch && record == m_record) return;
  if (batch != m_batch) {
    m_headerRow.reset();
    m_measured = 0;
  }
  m_recordRows.fill(std::nullopt);
  m_batch = std::move(batch);
  m_record = record;
  m_hovered = -1;
  m_heights.clear();
  arrange();
}

void FieldFlow::arrange() {
  int height = 0;
  m_boxes = boxesAt(width(), &height);
  m_heights[width()] = height;
  if (height != minimumHeight()) {
    setFixedHeight(height);
    Q_EMIT heightChanged(height);
  }
  update();
}

int FieldFlow::heightForWidth(int width) const {
  // Layouts ask again and again, for the same few widths.
  const auto [known, isNew] = m_heights.try_emplace(width);
  if (isNew) boxesAt(width, &known->second);
  return known->second;
}

FieldFlow::Box FieldFlow::makeBox(int index, const Cut& cut) const {
  const FieldEntry& field = m_batch->fields[static_cast<size_t>(index)];
  const ByteView all = field.payload ? m_batch->anatomy.records.view() : m_batch->anatomy.bytes.view();
  ++m_measured;
  Box box;
  box.field = index;
  box.hex = hexOf(all.subspan(static_cast<size_t>(field.begin), static_cast<size_t>(field.length)), cut.bytes);
  // Behind the count of the headers nothing else is numbered.
  const auto known = static_cast<int>(inspect::nameOf(inspect::FieldKind::Header).size());
  box.name = inspect::isOfHeader(field.kind) ? field.name.mid(known) : field.name;
  box.value = QFontMetricsF(valueFont()).elidedText(field.value, Qt::ElideRight, cut.value);
  // The names stand side by side as well.
  const double wide = std::max({textWidth(box.hex, hexFont()) + 9, textWidth(box.name, nameFont()) + 6,
                                textWidth(box.value, valueFont()) + 8, kLeastBox});
  box.rect = QRectF(0, 0, std::ceil(wide), kFieldRow);
  return box;
}

const FieldFlow::Row& FieldFlow::measured(std::optional<Row>& row, int first, int count, const Cut& cut) const {
  if (row) return *row;
  row.emplace();
  for (int i = first; i < first + count; ++i) row->push_back(makeBox(i, cut));
  return *row;
}

const FieldFlow::Row& FieldFlow::headerRow() const {
  return measured(m_headerRow, 0, m_batch->headerFields, kCuts[0]);
}

const FieldFlow::Row& FieldFlow::recordRow(const RecordEntry& record, size_t cut) const {
  return measured(m_recordRows[cut], record.firstField, record.fieldCount, kCuts[cut]);
}

std::vector<FieldFlow::Box> FieldFlow::boxesAt(int width, int* height) const {
  std::vector<Box> boxes;
  *height = static_cast<int>(kFieldRow);
  if (!m_batch) return boxes;
  const BatchPicture& batch = *m_batch;
  double y = 0;
  // Rows of fields from `y` on, which is left at the last of them.
  const auto flow = [&](const Row& row) {
    double x = 0;
    for (const Box& box : row) {
      if (x > 0 && x + box.rect.width() > width) {
        x = 0;
        y += kFieldRow + kRowGap;
      }
      boxes.push_back(box);
      boxes.back().rect.moveTopLeft({x, y});
      x += box.rect.width() + kGap;
    }
  };
  flow(headerRow());
  if (m_record >= 0 && m_record < static_cast<int>(batch.records.size())) {
    const RecordEntry& record = batch.records[static_cast<size_t>(m_record)];
    y += kFieldRow + kRowGap + kCaptionHeight;
    // A record stands in one row if its key and value can be cut that short. No cut makes a box narrower than the
    // least.
    const bool couldFit = record.fieldCount * (kLeastBox + kGap) - kGap <= width;
    const auto fits = [width](const Row& row) {
      double needed = -kGap;
      for (const Box& box : row) needed += box.rect.width() + kGap;
      return needed <= width;
    };
    size_t cut = 0;
    while (couldFit && cut < kCuts.size() && !fits(recordRow(record, cut))) ++cut;
    flow(recordRow(record, cut < kCuts.size() ? cut : 0));
  }
  *height = static_cast<int>(std::ceil(y + kFieldRow));
  return boxes;
}

void FieldFlow::resizeEvent(QResizeEvent*) {
  arrange();
}

QRectF FieldFlow::boxOf(int field) const {
  const auto found = std::ranges::find(m_boxes, field, &Box::field);
  return found == m_boxes.end() ? QRectF() : found->rect;
}

int FieldFlow::fieldAt(const QPointF& point) const {
  for (const Box& box : m_boxes)
    if (box.rect.contains(point)) return box.field;
  return -1;
}

void FieldFlow::setHovered(int field) {
  if (field == m_hovered) return;
  m_hovered = field;
  update();
}

void FieldFlow::mouseMoveEvent(QMouseEvent* event) {
  const int field = fieldAt(event->position());
  if (field == m_hovered) return;
  setHovered(field);
  Q_EMIT fieldHovered(field);
}

void FieldFlow::leaveEvent(QEvent*) {
  if (m_hovered < 0) return;
  setHovered(-1);
  Q_EMIT fieldHovered(-1);
}

void FieldFlow::keyPressEvent(QKeyEvent* event) {
  if (m_boxes.empty() || (event->key() != Qt::Key_Left && event->key() != Qt::Key_Right)) {
    QWidget::keyPressEvent(event);
    return;
  }
  const auto now = std::ranges::find(m_boxes, m_hovered, &Box::field);
  size_t next = 0;
  if (now != m_boxes.end()) {
    const auto index = static_cast<size_t>(now - m_boxes.begin());
    next = event->key() == Qt::Key_Right ? std::min(index + 1, m_boxes.size() - 1) : index == 0 ? 0 : index - 1;
  } else if (event->key() == Qt::Key_Left) {
    next = m_boxes.size() - 1;
  }
  setHovered(m_boxes[next].field);
  Q_EMIT fieldHovered(m_hovered);
}

bool FieldFlow::event(QEvent* event) {
  const auto textAt = [this](const QPoint& at) {
    const int index = fieldAt(at);
    if (index < 0) return QString();
    const FieldEntry& field = m_batch->fields[static_cast<size_t>(index)];
    QString text =
        QStringLiteral("<b>%1</b> %2").arg(field.name.toHtmlEscaped(), field.value.left(400).toHtmlEscaped());
    if (!field.note.isEmpty()) text += QStringLiteral("<br>%1").arg(field.note.toHtmlEscaped());
    text += QStringLiteral("<br>%1").arg(
        tr("bytes %1 – %2, %3 long")
            .arg(grouped(field.begin), grouped(field.begin + field.length - 1), grouped(field.length)));
    return text;
  };
  return showToolTip(event, this, textAt) || QWidget::event(event);
}

void FieldFlow::paintEvent(QPaintEvent* event) {
  if (!m_batch) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = colors();
  bool captioned = false;
  m_painted = 0;
  const QRectF wanted = event->rect();
  for (const Box& box : m_boxes) {
    // With its caption above and its outline.
    if (!box.rect.adjusted(-2, -kCaptionHeight, 2, 2).intersects(wanted)) continue;
    ++m_painted;
    const FieldEntry& field = m_batch->fields[static_cast<size_t>(box.field)];
    if (field.record >= 0 && !captioned) {
      captioned = true;
      const RecordEntry& record = m_batch->records[static_cast<size_t>(field.record)];
      const QString where = field.payload ? tr("in the decompressed records") : tr("in the file");
      drawLine(painter, 0, box.rect.top() - 8,
               tr("record %1 · %2 bytes %3").arg(grouped(record.offset), grouped(record.whole.length), where),
               Theme::body(11, QFont::Bold), p.heads);
    }
    const bool lit = box.field == m_hovered;
    const QRectF chip(box.rect.left(), box.rect.top(), box.rect.width(), kChip);
    painter.setPen(lit ? QPen(p.accent, 2) : field.bad ? QPen(p.bad, 1.4) : QPen(Qt::NoPen));
    painter.setBrush(fieldColor(*m_batch, box.field));
    painter.drawRoundedRect(lit || field.bad ? chip.adjusted(1, 1, -1, -1) : chip, 4, 4);
    drawLine(painter, chip.center().x(), chip.top() + 17.5, box.hex, hexFont(), p.ink, Qt::AlignHCenter);
    drawLine(painter, chip.center().x(), chip.top() + 40, box.name, nameFont(), lit ? p.accent : p.muted,
             Qt::AlignHCenter);
    drawLine(painter, chip.center().x(), chip.top() + 55, box.value, valueFont(), field.bad ? p.badText : p.ink,
             Qt::AlignHCenter);
  }
  if (hasFocus() && m_hovered < 0) {
    painter.setPen(QPen(p.accent, 1, Qt::DotLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
  }
}

}  // namespace tidemark::widgets
