#pragma once

#include <map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace tidemark::client {

/// What all brokers of a cluster were asked for: what those have that answered, and why the others did not. With one of
/// these missing it is not the whole.
template <class T>
struct Gathered {
  std::vector<T> all;
  std::map<NodeId, Error> missing;
};

}  // namespace tidemark::client
