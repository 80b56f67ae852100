#include "bridge/process_usage.h"

#include <unistd.h>

#include <QByteArray>
#include <QFile>
#include <QList>

namespace tidemark::widgets {

std::optional<ProcessUsage::Sample> ProcessUsage::sample() {
  QFile file(QStringLiteral("/proc/self/stat"));
  if (!file.open(QIODevice::ReadOnly)) return std::nullopt;
  // The name may hold blanks; what follows its closing bracket is field 3 onwards (proc(5)).
  const QByteArray text = file.readAll();
  const QList<QByteArray> fields = text.mid(text.lastIndexOf(')') + 2).split(' ');
  if (fields.size() < 22) return std::nullopt;
  const int64_t ticks = fields[11].toLongLong() + fields[12].toLongLong();
  Sample sample;
  sample.residentBytes = fields[21].toLongLong() * sysconf(_SC_PAGESIZE);
  if (m_lastTicks >= 0 && m_since.elapsed() > 0)
    sample.cpuPercent = 100.0 * 1000.0 * static_cast<double>(ticks - m_lastTicks) /
                        static_cast<double>(sysconf(_SC_CLK_TCK)) / static_cast<double>(m_since.elapsed());
  m_lastTicks = ticks;
  m_since.restart();
  return sample;
}

}  // namespace tidemark::widgets
