#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cluster/cluster.h"

namespace tidemark::app {

/// Of nodes, partitions and faults what decides whether the cluster is whole.
nlohmann::json statusOf(const observe::ClusterSnapshot& cluster);

/// {"faults": […], "over": […]}: those that are set, and those that are over with what they leave behind.
nlohmann::json faultsOf(const faults::FaultBook::Lists& lists);

/// {"fault": NUMBER, "note": what it names and nobody is now, if there is such a thing}.
nlohmann::json placedOf(const cluster::Cluster::PlacedFault& placed);

/// {"event": "records-at-risk", "from": …}: an unclean election; whether anything is lost by it nobody knows yet.
/// {"event": "records-lost", …}: from and to (exclusive) of the offsets that a replica gave up and knew as committed,
/// `atLeast` so many; `atMost` all that it gave up.
nlohmann::json lostOf(const TopicPartition& partition, const events::RecordsLost& lost);

/// {"healed": NUMBER} or, `which` being 0, {"healed": "all", "count": …}, and who is down all the same.
nlohmann::json healedOf(int which, const observe::Healed& healed);

}  // namespace tidemark::app
