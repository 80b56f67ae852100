#pragma once

#include "observe/snapshot.h"
#include "testing/fake_cluster.h"

namespace tidemark::widgets::fake {

/// The groups of the design's picture: billing gathers for its generation 9 and waits for c-2; search-index moves
/// payments-4 from s-2 to s-3 and is at epoch 12; thumbnails shares orders.
void addMockGroups(observe::ClusterSnapshot& cluster);
/// What led there, up to the moment of `cluster`.
void appendMockGroupEvents(FakeCluster& into, const observe::ClusterSnapshot& cluster);

/// Three transactional ids on orders-0 and payments-1; ledger-sync holds back what billing-tx-1 has committed.
void addMockTransactions(observe::ClusterSnapshot& cluster);
void appendMockTransactionEvents(FakeCluster& into, const observe::ClusterSnapshot& cluster);

}  // namespace tidemark::widgets::fake
