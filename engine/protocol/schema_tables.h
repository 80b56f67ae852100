#pragma once

#include <cstddef>

#include "protocol/api.h"
#include "protocol/reflect.h"

/// The generated tables behind api.h and reflect.h.
namespace tidemark::protocol {

extern const ApiInfo kApis[];
extern const size_t kApiCount;
/// Sorted by name.
extern const MessageSchema* const kAllSchemas[];
extern const size_t kSchemaCount;

}  // namespace tidemark::protocol
