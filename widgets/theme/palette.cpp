#include "theme/palette.h"

#include <algorithm>
#include <cmath>

namespace tidemark::widgets {
namespace {

QColor rgb(unsigned value) {
  return QColor::fromRgb(value);
}

Palette makeLight() {
  Palette p;
  p.dark = false;
  p.background = rgb(0xf6f7f9);
  p.panel = rgb(0xffffff);
  p.sunken = rgb(0xf3f5f8);
  p.hover = rgb(0xf0f4f8);
  p.statusBar = rgb(0xeef1f4);
  p.plot = rgb(0xfbfcfd);
  p.line = rgb(0xdfe3e8);
  p.softLine = rgb(0xeef1f4);
  p.grid = rgb(0xe4e8ed);
  p.ink = rgb(0x1b2430);
  p.muted = rgb(0x5f6b7a);
  p.heads = rgb(0x647081);
  p.accent = rgb(0x0b7285);
  p.button = rgb(0x0b7285);
  p.onButton = rgb(0xffffff);
  p.selection = rgb(0xe3f4f6);
  p.selectionLine = rgb(0xbfe0e4);
  p.ok = rgb(0x2b8a3e);
  p.okText = rgb(0x237a35);
  p.okSoft = rgb(0xe6f6ea);
  p.warn = rgb(0xe67700);
  p.warnText = rgb(0xa85400);
  p.warnSoft = rgb(0xfff1e0);
  p.fenced = rgb(0x6741d9);
  p.fencedSoft = rgb(0xefeafc);
  p.bad = rgb(0xc92a2a);
  p.badText = rgb(0xc92a2a);
  p.badSoft = rgb(0xfdf0f0);
  p.badLine = rgb(0xf1b5b5);
  p.fault = rgb(0xe67700);
  p.leaderCrown = rgb(0xb7791f);
  p.controllerCrown = rgb(0x6741d9);
  p.ring = rgb(0x0b7285);
  p.highWatermark = rgb(0xc2410c);
  p.onHighWatermark = rgb(0xffffff);
  p.violet = rgb(0x6741d9);
  p.onViolet = rgb(0xffffff);
  p.fields = {rgb(0xd7ecef), rgb(0xe6e9f5), rgb(0xcfe8d5), rgb(0xfdebd3), rgb(0xf3dcea), rgb(0xeee3fb), rgb(0xe3f0d8)};
  p.badField = rgb(0xf9d0d0);
  p.epochs = {rgb(0xa794c0), rgb(0x7c8fb5), rgb(0x2a9d8f), rgb(0xc8ab72), rgb(0xcf8aa5), rgb(0x93b565), rgb(0x5fb8e0)};
  p.epochsSoft = {rgb(0xdcd3e8), rgb(0xcdd6e8), rgb(0xbfe5df), rgb(0xeee3cc),
                  rgb(0xf2d9e2), rgb(0xdde9cb), rgb(0xcfe9f5)};
  p.onEpoch = rgb(0x0d1a24);
  p.recordShine = QColor(255, 255, 255, 71);
  p.rail = rgb(0xe4e8ed);
  p.roller = rgb(0xc9d0d9);
  p.axis = rgb(0xb4bdc8);
  p.hatchGround = rgb(0xf3f4f6);
  p.hatchLine = rgb(0xd6dae0);
  p.arrow = rgb(0x1098ad);
  p.indexTick = rgb(0x0b7285);
  p.purgatory = rgb(0xfff8f1);
  p.purgatoryLine = rgb(0xf3d7bd);
  p.stripIn = rgb(0xcfe8d5);
  p.stripOut = rgb(0xffe3c2);
  p.stripDown = rgb(0xf4b6b6);
  p.stripUnknown = rgb(0xeef1f4);
  p.brokers = {rgb(0x0b7285), rgb(0x6741d9), rgb(0xae2e83)};
  return p;
}

Palette makeDark() {
  Palette p;
  p.dark = true;
  p.background = rgb(0x10151c);
  p.panel = rgb(0x171e27);
  p.sunken = rgb(0x1e2731);
  p.hover = rgb(0x1f2934);
  p.statusBar = rgb(0x0c1117);
  p.plot = rgb(0x131a22);
  p.line = rgb(0x2f3a47);
  p.softLine = rgb(0x232d38);
  p.grid = rgb(0x2a3541);
  p.ink = rgb(0xe6ebf2);
  p.muted = rgb(0xa3afbf);
  p.heads = rgb(0x93a0b1);
  p.accent = rgb(0x5cc0d0);
  p.button = rgb(0x0d7d91);
  p.onButton = rgb(0xffffff);
  p.selection = rgb(0x143840);
  p.selectionLine = rgb(0x1f5863);
  p.ok = rgb(0x4cc06e);
  p.okText = rgb(0x5fd080);
  p.okSoft = rgb(0x16301f);
  p.warn = rgb(0xffa53d);
  p.warnText = rgb(0xffb04d);
  p.warnSoft = rgb(0x3a2a14);
  p.fenced = rgb(0xb39bff);
  p.fencedSoft = rgb(0x2a2244);
  p.bad = rgb(0xff6b6b);
  p.badText = rgb(0xff8080);
  p.badSoft = rgb(0x351c20);
  p.badLine = rgb(0x6b3238);
  p.fault = rgb(0xffa53d);
  p.leaderCrown = rgb(0xe5b44d);
  p.controllerCrown = rgb(0xb39bff);
  p.ring = rgb(0x5cc0d0);
  p.highWatermark = rgb(0xff9b63);
  p.onHighWatermark = rgb(0x2a1206);
  p.violet = rgb(0xb39bff);
  p.onViolet = rgb(0x170f2e);
  p.fields = {rgb(0x173c44), rgb(0x2a3352), rgb(0x1d4030), rgb(0x473419), rgb(0x46263d), rgb(0x382c58), rgb(0x314020)};
  p.badField = rgb(0x5c2329);
  p.epochs = {rgb(0x9a7cb4), rgb(0x6c83b8), rgb(0x2a9d8f), rgb(0xb4945a), rgb(0xc27693), rgb(0x7fa253), rgb(0x45a3cf)};
  p.epochsSoft = {rgb(0x423a55), rgb(0x333f5a), rgb(0x1e4a48), rgb(0x4a3f2a),
                  rgb(0x50343f), rgb(0x384729), rgb(0x22465a)};
  p.onEpoch = rgb(0x0d1a24);
  p.recordShine = QColor(255, 255, 255, 54);
  p.rail = rgb(0x2a3541);
  p.roller = rgb(0x3b4857);
  p.axis = rgb(0x4a5767);
  p.hatchGround = rgb(0x19212a);
  p.hatchLine = rgb(0x2b3643);
  p.arrow = rgb(0x3fa9bb);
  p.indexTick = rgb(0x5cc0d0);
  p.purgatory = rgb(0x241b15);
  p.purgatoryLine = rgb(0x5a3d29);
  p.stripIn = rgb(0x24503a);
  p.stripOut = rgb(0x5b4220);
  p.stripDown = rgb(0x6b2f33);
  p.stripUnknown = rgb(0x1e2731);
  p.brokers = {rgb(0x5cc0d0), rgb(0xb39bff), rgb(0xf07cc4)};
  return p;
}

double luminance(const QColor& color) noexcept {
  const auto linear = [](double channel) {
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

}  // namespace

const Palette& Palette::light() {
  static const Palette palette = makeLight();
  return palette;
}

const Palette& Palette::darkOne() {
  static const Palette palette = makeDark();
  return palette;
}

double contrast(const QColor& a, const QColor& b) noexcept {
  const double one = luminance(a);
  const double two = luminance(b);
  return (std::max(one, two) + 0.05) / (std::min(one, two) + 0.05);
}

}  // namespace tidemark::widgets
