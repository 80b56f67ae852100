#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tidemark::app {

/// The nearest of some names, if it takes at most two letters (changed, left out, put in) to get there; else empty.
std::string nearest(std::string_view typed, std::span<const std::string> names);

/// Whether it is an address of this machine.
bool canListen(const std::string& host);
/// The first port from `port` on, in steps of ten, from which a cluster of so many nodes finds all its ports free.
std::optional<uint16_t> freePort(const std::string& host, uint16_t port, int nodes);

}  // namespace tidemark::app
