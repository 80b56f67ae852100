#include "belts/belt_viewport.h"

#include <algorithm>
#include <cmath>

namespace tidemark::widgets {

namespace {

/// So many seconds of writing are in sight while the tail is followed.
constexpr double kSecondsInSight = 6;

}  // namespace

double niceStep(double least) {
  if (least <= 1) return 1;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (factor * power >= least - 1e-9) return factor * power;
  return 10 * power;
}

double BeltViewport::automaticScale() const {
  // Powers of two below the default, and no change before the wish is clearly another: the scale must not flicker.
  const double wished = m_growth <= 0 ? kDefaultScale : m_width / (m_growth * kSecondsInSight);
  const double current = m_scale.isKnown() ? m_scale.target() : kDefaultScale;
  if (wished > current * 0.7 && wished < current * 2.4 && current <= kDefaultScale) return current;
  return std::clamp(kDefaultScale * std::exp2(std::floor(std::log2(wished / kDefaultScale))), kMinScale, kDefaultScale);
}

void BeltViewport::reset() {
  m_known = false;
  m_follow = true;
  m_automaticScale = true;
  m_growth = 0;
  m_scale = Motion();
  m_first = Motion();
}

void BeltViewport::setRange(int64_t begin, int64_t end, double growthPerSecond, qint64 now, int motion) {
  m_begin = static_cast<double>(begin);
  m_end = static_cast<double>(end);
  m_growth = growthPerSecond;
  if (m_automaticScale && m_follow) m_scale.moveTo(automaticScale(), now, m_known ? motion : 0);
  if (m_follow) m_first.moveTo(tailFirst(m_scale.target()), now, m_known ? motion : 0);
  m_known = true;
}

void BeltViewport::followTail(qint64 now, int motion) {
  m_follow = true;
  m_first.moveTo(tailFirst(m_scale.target()), now, motion);
}

void BeltViewport::scrollBy(double pixels, qint64 now, int motion) {
  const double scale = m_scale.target();
  const double tail = tailFirst(scale);
  const double least = std::min(tail, m_begin - 40 / scale);
  double wished = m_first.target() + pixels / scale;
  m_follow = wished >= tail - 0.5 / scale;
  wished = m_follow ? tail : std::max(wished, least);
  m_first.moveTo(wished, now, motion);
}

void BeltViewport::zoomBy(double factor, double x, qint64 now, int motion) {
  const double scale = m_scale.target();
  const double next = std::clamp(scale * factor, kMinScale, kMaxScale);
  m_automaticScale = false;
  const double held = m_first.target() + x / scale;
  m_scale.moveTo(next, now, motion);
  m_first.moveTo(m_follow ? tailFirst(next) : held - x / next, now, motion);
}

void BeltViewport::zoomAutomatically(qint64 now, int motion) {
  m_automaticScale = true;
  m_follow = true;
  m_scale.moveTo(automaticScale(), now, motion);
  m_first.moveTo(tailFirst(m_scale.target()), now, motion);
}

void BeltViewport::showOffset(int64_t offset, qint64 now, int motion) {
  const double scale = m_scale.target();
  const double wished = static_cast<double>(offset) - m_width / scale / 3;
  const double tail = tailFirst(scale);
  m_follow = wished >= tail;
  m_first.moveTo(std::min(wished, tail), now, motion);
}

}  // namespace tidemark::widgets
