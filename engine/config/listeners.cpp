#include <charconv>

#include <fmt/format.h>

#include "config/broker_config.h"

namespace tidemark::config {
namespace {

std::optional<uint16_t> parsePort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

/// HOST:PORT, the host in brackets if it holds colons.
bool splitHostAndPort(std::string_view text, std::string& host, uint16_t& port) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  std::string_view name = text.substr(0, colon);
  const std::optional<uint16_t> number = parsePort(text.substr(colon + 1));
  if (!number) return false;
  if (name.starts_with('[') && name.ends_with(']')) {
    name = name.substr(1, name.size() - 2);
  } else if (name.find_first_of(":[]") != std::string_view::npos) {
    return false;
  }
  host = name;
  port = *number;
  return true;
}

std::string upperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

}  // namespace

Result<std::vector<Listener>> parseListeners(std::string_view key, const std::vector<std::string>& entries) {
  std::vector<Listener> listeners;
  const auto refuse = [&](std::string_view entry, std::string_view reason) {
    return fail(ErrorCode::InvalidConfig, fmt::format("Invalid value {} for configuration {}: {}", entry, key, reason));
  };
  for (const std::string& entry : entries) {
    const size_t at = entry.find("://");
    Listener listener;
    if (at == std::string::npos || at == 0 ||
        !splitHostAndPort(std::string_view(entry).substr(at + 3), listener.host, listener.port)) {
      return refuse(entry, "Unable to parse it to a broker endpoint, which reads NAME://HOST:PORT");
    }
    listener.name = upperCase(std::string_view(entry).substr(0, at));
    for (const Listener& other : listeners) {
      if (other.name == listener.name) return refuse(entry, "Each listener must have a different name");
      if (listener.port != 0 && other.port == listener.port && other.host == listener.host && key == "listeners") {
        return refuse(entry, "Each listener must have a different port");
      }
    }
    listeners.push_back(std::move(listener));
  }
  return listeners;
}

Result<std::vector<QuorumAddress>> parseQuorumAddresses(std::string_view key, const std::vector<std::string>& entries,
                                                        bool withIds) {
  std::vector<QuorumAddress> addresses;
  for (const std::string& entry : entries) {
    QuorumAddress address;
    std::string_view rest = entry;
    bool good = true;
    if (withIds) {
      const size_t at = rest.find('@');
      int32_t id = -1;
      good = at != std::string_view::npos;
      if (good) {
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + at, id);
        good = error == std::errc() && end == rest.data() + at && id >= 0;
        rest.remove_prefix(at + 1);
      }
      address.id = NodeId(id);
    }
    if (!good || !splitHostAndPort(rest, address.host, address.port) || address.host.empty()) {
      return fail(ErrorCode::InvalidConfig,
                  fmt::format("Invalid value {} for configuration {}: Each entry should be in the form `{}host:port`",
                              entry, key, withIds ? "{id}@" : ""));
    }
    addresses.push_back(std::move(address));
  }
  return addresses;
}

}  // namespace tidemark::config
