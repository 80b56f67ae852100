#include "config/security_protocol.h"

namespace tidemark::config {

std::string_view securityProtocolName(SecurityProtocol protocol) noexcept {
  switch (protocol) {
    case SecurityProtocol::Plaintext:
      return "PLAINTEXT";
    case SecurityProtocol::Ssl:
      return "SSL";
    case SecurityProtocol::SaslPlaintext:
      return "SASL_PLAINTEXT";
    case SecurityProtocol::SaslSsl:
      return "SASL_SSL";
  }
  return "PLAINTEXT";
}

std::optional<SecurityProtocol> parseSecurityProtocol(std::string_view name) noexcept {
  for (SecurityProtocol protocol : {SecurityProtocol::Plaintext, SecurityProtocol::Ssl, SecurityProtocol::SaslPlaintext,
                                    SecurityProtocol::SaslSsl}) {
    if (securityProtocolName(protocol) == name) return protocol;
  }
  return std::nullopt;
}

}  // namespace tidemark::config
