#pragma once

#include <string>
#include <string_view>

#include "faults/fault.h"

namespace tidemark::faults {

/// A fault from a JSON object, as scripts and scenarios write it:
///
///   {"kind": "delay", "target": "link 1->3", "delayMs": 50, "jitterMs": 20, "durationMs": 10000,
///    "trigger": {"afterMs": 1000, "probability": 0.1, "seed": 7}}
///
/// InvalidRequest says what is malformed (with its place), unknown, missing, of the wrong type or impossible.
Result<Fault> parseFault(std::string_view json);

/// The object that parseFault() takes: what is as it is by default is left out.
std::string toJson(const Fault& fault);

}  // namespace tidemark::faults
