#pragma once

#include <vector>

#include "events/event.h"
#include "events/recorder.h"
#include "metadata/image.h"
#include "metadata/records.h"

namespace tidemark::metadata {

/// What `records` did, as events: topics created and deleted, leaders elected and why, configurations changed. `before`
/// and `after` are the images around them; topics are tagged by `recorder`.
std::vector<events::Payload> eventsOf(events::Recorder& recorder, const Image& before, const Image& after,
                                      const Records& records);

}  // namespace tidemark::metadata
