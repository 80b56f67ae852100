#pragma once

#include <QString>

namespace tidemark::widgets {

/// Milliseconds from label to label on an axis of time that shows so many on so many pixels: a step that clocks have,
/// and with room for its text.
double momentStep(double milliseconds, double pixels);
/// A moment since 1970 as a label of that step says it: no two are the same.
QString momentText(double milliseconds, double step);

}  // namespace tidemark::widgets
