#pragma once

#include "observe/snapshot.h"
#include "testing/fake_cluster.h"

namespace tidemark::widgets::fake {

/// The cluster that the pictures of the design show, `secondsBefore` its moment (0: at it): three brokers, orders-0 in
/// epoch 5 under broker 1, broker 3 paused for 12.4 s and out of the ISR for 2.3 s, two produces parked.
observe::ClusterSnapshot mockMoment(double secondsBefore);

/// The events of that moment.
void appendMockEvents(FakeCluster& cluster);

}  // namespace tidemark::widgets::fake
