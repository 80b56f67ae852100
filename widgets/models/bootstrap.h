#pragma once

#include <QString>

#include "observe/snapshot.h"

namespace tidemark::widgets {

/// Where a client may begin: the address of the first broker that answers, or of the first one if none does.
QString firstAddress(const observe::ClusterSnapshot& cluster);

/// Those of all brokers, with commas between them, as clients want them in bootstrap.servers: any that lives will do.
QString allAddresses(const observe::ClusterSnapshot& cluster);

}  // namespace tidemark::widgets
