#pragma once

#include <memory>

#include "observe/cluster_source.h"

namespace tidemark {

/// The brokers behind the window.
std::unique_ptr<observe::ClusterSource> makeClusterSource();

}  // namespace tidemark
