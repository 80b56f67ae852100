#include "sim/tape.h"

namespace tidemark::sim {

void Tape::on(const Seen& seen) {
  writer_.add(observe::ObservedEvent{
      .number = 0, .event = seen.event, .topic = seen.partition.topic, .partition = seen.partition.partition});
}

void Tape::look(platform::MonotonicTime now) {
  // What the lab does itself, no broker tells.
  const observe::EventBatch batch = cluster_.drainEvents(told_, SIZE_MAX);
  told_ = batch.last;
  for (const observe::ObservedEvent& event : batch.events) writer_.add(event);
  if (writer_.wantsSnapshot(now)) writer_.add(*cluster_.describeNow());
}

}  // namespace tidemark::sim
