#include "faults/target.h"

#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace tidemark::faults {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Takes `word` off the front.
bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::optional<int32_t> number(std::string_view text) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

Result<NodeName> parseNode(std::string_view text) {
  const std::string_view whole = text;
  if (text == "the active controller" || text == "active controller")
    return NodeName{.by = NodeName::By::ActiveController, .id = {}, .partition = {}};
  if (take(text, "the leader of ") || take(text, "leader of ")) {
    const size_t dash = text.rfind('-');
    const auto index = dash == std::string_view::npos ? std::nullopt : number(text.substr(dash + 1));
    if (!index || dash == 0)
      return fail(ErrorCode::InvalidRequest,
                  fmt::format("\"{}\" names no partition: write leader of TOPIC-PARTITION", whole));
    return NodeName{.by = NodeName::By::LeaderOf,
                    .id = {},
                    .partition = {std::string(text.substr(0, dash)), PartitionIndex(*index)}};
  }
  take(text, "broker ");
  const auto id = number(text);
  if (!id)
    return fail(
        ErrorCode::InvalidRequest,
        fmt::format(
            "\"{}\" is no node: write broker N, controller N, leader of TOPIC-PARTITION or the active controller",
            whole));
  return NodeName{.by = NodeName::By::Number, .id = NodeId(*id), .partition = {}};
}

/// Nothing if the text is about no clients.
Result<std::optional<std::string>> parseClients(std::string_view text) {
  if (text == "clients") return std::string();
  // What stood behind the last word may have been blank.
  if (text == "clients named" || text == "client")
    return fail(ErrorCode::InvalidRequest, "clients named what? Write clients named CLIENT-ID, or clients for all");
  if (!take(text, "clients named ") && !take(text, "client ")) return std::nullopt;
  return std::string(trimmed(text));
}

Result<LinkEnd> parseEnd(std::string_view text) {
  LinkEnd end;
  TIDEMARK_ASSIGN(const auto clients, parseClients(text));
  if (clients) {
    end.isClients = true;
    end.client = *clients;
    return end;
  }
  // "broker 3" is its broker's listener, "3" is all of it.
  std::string_view rest = text;
  if (take(rest, "controller ")) {
    end.port = Port::Controller;
  } else if (text.starts_with("broker ")) {
    end.port = Port::Broker;
  }
  TIDEMARK_ASSIGN(end.node, parseNode(rest));
  return end;
}

Result<Target> parseLink(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, bool>, 4> kArrows{
      {{"<->", true}, {"\u2194", true}, {"->", false}, {"\u2192", false}}};
  for (const auto& [arrow, bothWays] : kArrows) {
    const size_t at = text.find(arrow);
    if (at == std::string_view::npos) continue;
    LinkName link{.from = {}, .to = {}, .bothWays = bothWays};
    TIDEMARK_ASSIGN(link.from, parseEnd(trimmed(text.substr(0, at))));
    TIDEMARK_ASSIGN(link.to, parseEnd(trimmed(text.substr(at + arrow.size()))));
    if (link.from.isClients && link.to.isClients)
      return fail(ErrorCode::InvalidRequest, "clients do not talk to each other: one end of a link is a broker");
    if (!link.from.isClients && link.from.node == link.to.node && !link.to.isClients)
      return fail(ErrorCode::InvalidRequest, "both ends of the link are the same broker");
    return link;
  }
  return fail(ErrorCode::InvalidRequest,
              fmt::format("\"link {}\" has no direction: write link A->B or link A<->B", text));
}

std::string textOf(const NodeName& node) {
  switch (node.by) {
    case NodeName::By::Number:
      return fmt::format("{}", node.id);
    case NodeName::By::LeaderOf:
      return fmt::format("leader of {}", node.partition);
    case NodeName::By::ActiveController:
      return "the active controller";
  }
  return {};
}

std::string textOf(const LinkEnd& end) {
  if (end.isClients) return end.client.empty() ? "clients" : "clients named " + end.client;
  const std::string_view port = end.port == Port::Any ? "" : end.port == Port::Broker ? "broker " : "controller ";
  return fmt::format("{}{}", port, textOf(end.node));
}

}  // namespace

Result<Target> parseTarget(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return Target{};
  if (take(text, "link ")) return parseLink(trimmed(text));
  TIDEMARK_ASSIGN(const auto clients, parseClients(text));
  if (clients) return ClientsName{*clients};
  // An arrow says that it is one.
  if (text.find("->") != std::string_view::npos || text.find("\u2194") != std::string_view::npos ||
      text.find("\u2192") != std::string_view::npos)
    return parseLink(text);
  if (std::string_view rest = text; take(rest, "controller ")) {
    const auto id = number(rest);
    if (!id)
      return fail(ErrorCode::InvalidRequest,
                  fmt::format("\"{}\" is no controller: write controller N or the active controller", text));
    return NodeName{.by = NodeName::By::Number, .id = NodeId(*id), .partition = {}, .isController = true};
  }
  TIDEMARK_ASSIGN(NodeName node, parseNode(text));
  return node;
}

std::string textOf(const Target& target) {
  if (const auto* node = std::get_if<NodeName>(&target))
    return node->by != NodeName::By::Number ? textOf(*node)
                                            : (node->isController ? "controller " : "broker ") + textOf(*node);
  if (const auto* link = std::get_if<LinkName>(&target))
    return fmt::format("link {}{}{}", textOf(link->from), link->bothWays ? "<->" : "->", textOf(link->to));
  if (const auto* clients = std::get_if<ClientsName>(&target))
    return clients->client.empty() ? "clients" : "clients named " + clients->client;
  return {};
}

}  // namespace tidemark::faults
