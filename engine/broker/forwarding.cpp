#include "broker/forwarding.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "broker/requests.h"
#include "protocol/framing.h"
#include "protocol/generated/default_principal_data.h"
#include "protocol/generated/envelope_request.h"
#include "protocol/generated/envelope_response.h"

namespace tidemark::broker {
namespace {

std::optional<std::array<uint8_t, 4>> parseV4(std::string_view text) {
  std::array<uint8_t, 4> bytes{};
  for (size_t i = 0; i < 4; ++i) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes[i]);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (i < 3) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
  }
  if (!text.empty()) return std::nullopt;
  return bytes;
}

std::optional<std::vector<uint16_t>> parseGroups(std::string_view text) {
  std::vector<uint16_t> groups;
  while (!text.empty()) {
    uint16_t group = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), group, 16);
    if (error != std::errc{}) return std::nullopt;
    groups.push_back(group);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) break;
    if (!text.starts_with(':') || text.size() == 1) return std::nullopt;
    text.remove_prefix(1);
  }
  return groups;
}

std::optional<ByteVector> parseV6(std::string_view text) {
  text = text.substr(0, text.find('%'));
  const size_t gap = text.find("::");
  auto head = parseGroups(text.substr(0, gap));
  auto tail =
      gap == std::string_view::npos ? std::optional(std::vector<uint16_t>()) : parseGroups(text.substr(gap + 2));
  if (!head || !tail) return std::nullopt;
  const size_t given = head->size() + tail->size();
  if (gap == std::string_view::npos ? given != 8 : given > 7) return std::nullopt;
  head->resize(8 - tail->size());
  head->insert(head->end(), tail->begin(), tail->end());
  ByteVector bytes(16);
  for (size_t i = 0; i < 8; ++i) writeBigEndian(bytes.data() + 2 * i, (*head)[i]);
  return bytes;
}

}  // namespace

ByteVector addressBytes(const std::string& host) {
  if (const auto v4 = parseV4(host)) return ByteVector(v4->begin(), v4->end());
  if (auto v6 = parseV6(host)) return *std::move(v6);
  return {};
}

Forwarding::Forwarding(platform::Process& process, std::shared_ptr<platform::Executor> executor, FindController find,
                       NodeId self)
    : executor_(executor),
      channel_(process, executor, std::move(find), {.clientId = fmt::format("broker-{}-forwarding", self)}) {}

Forwarding::~Forwarding() = default;

void Forwarding::forward(network::RequestPtr request) {
  executor_->post([this, held = std::move(request)]() mutable {
    const network::RequestContext& context = held->context();
    protocol::EnvelopeRequest envelope;
    envelope.requestData = protocol::Blob(ByteVector(held->frame()->bytes().begin(), held->frame()->bytes().end()));
    const std::string& principal = *context.principal;
    const size_t colon = principal.find(':');
    auto encoded =
        protocol::encodeVersioned(protocol::DefaultPrincipalData{.type = protocol::Text(principal.substr(0, colon)),
                                                                 .name = protocol::Text(principal.substr(colon + 1)),
                                                                 .tokenAuthenticated = false},
                                  0);
    if (encoded) envelope.requestPrincipal = protocol::Blob(*encoded);
    envelope.clientHostAddress = protocol::Blob(addressBytes(context.peer->address.host));
    held->releaseFrame();
    channel_.send(std::move(envelope), [held = std::move(held)](Result<protocol::EnvelopeResponse> response) mutable {
      if (!response || response->errorCode != 0 || !response->responseData) {
        held->close("the controller did not answer the forwarded request");
        return;
      }
      const ByteView answer = response->responseData->view();
      ByteVector frame(protocol::kFrameLengthSize + answer.size());
      writeBigEndian(frame.data(), static_cast<int32_t>(answer.size()));
      std::memcpy(frame.data() + protocol::kFrameLengthSize, answer.data(), answer.size());
      // The controller answered the broker's envelope; the correlation inside is the client's own.
      std::vector<platform::Piece> pieces;
      pieces.emplace_back(SharedBytes(std::move(frame)));
      held->respondPieces(std::move(pieces));
    });
  });
}

void Forwarding::createTopics(protocol::CreateTopicsRequest request,
                              std::move_only_function<void(Result<protocol::CreateTopicsResponse>)> done) {
  executor_->post([this, request = std::move(request), done = std::move(done)]() mutable {
    channel_.send(std::move(request), std::move(done));
  });
}

void Forwarding::wake() {
  executor_->post([this] { channel_.wake(); });
}

void Forwarding::close() {
  executor_->post([this] { channel_.close(); });
}

void handleForwarded(BrokerContext& broker, network::RequestPtr request) {
  broker.forwarding.forward(std::move(request));
}

}  // namespace tidemark::broker
