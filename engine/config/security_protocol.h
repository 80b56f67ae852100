#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::config {

/// What a listener speaks. The numbers are Kafka's (SecurityProtocol.id).
enum class SecurityProtocol : int16_t { Plaintext = 0, Ssl = 1, SaslPlaintext = 2, SaslSsl = 3 };

/// "PLAINTEXT", "SASL_SSL", …
std::string_view securityProtocolName(SecurityProtocol protocol) noexcept;
std::optional<SecurityProtocol> parseSecurityProtocol(std::string_view name) noexcept;

}  // namespace tidemark::config
