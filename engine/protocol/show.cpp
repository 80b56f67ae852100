#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/utf8.h"
#include "base/uuid.h"
#include "protocol/reflect.h"

/// The two visitors that print: JSON as Kafka's converters write it, and a tree for a viewer.
namespace tidemark::protocol {
namespace {

std::string base64(ByteView bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? bytes[i + k] : 0);
    for (size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

/// Quoted and escaped; bytes that are not UTF-8 become U+FFFD, as in Kafka.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t length = utf8::characterAt(text, 0);
    const auto c = static_cast<unsigned char>(text[0]);
    if (length == 0)
      out += "\xef\xbf\xbd";
    else if (c == '"' || c == '\\')
      out += {'\\', text[0]};
    else if (c < 0x20)
      out += fmt::format("\\u{:04x}", c);
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<size_t>(1, length));
  }
  return out + '"';
}

Uuid uuidOf(ByteView bytes) {
  std::array<uint8_t, 16> value;
  std::copy_n(bytes.begin(), 16, value.begin());
  return Uuid(value);
}

std::string real(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  std::string text = fmt::format("{}", value);
  // As Java writes a double that is a whole number.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

class JsonVisitor : public Visitor {
 public:
  std::string take() { return std::move(out_) + '}'; }

  void value(const FieldValue& value) override {
    // Kafka's converters leave out what they do not know.
    if (value.field == nullptr) return;
    prefix(value);
    if (value.isNull) {
      out_ += "null";
      return;
    }
    switch (value.field->type) {
      case FieldType::Bool:
        out_ += value.number != 0 ? "true" : "false";
        break;
      case FieldType::Float64:
        out_ += real(value.real);
        break;
      case FieldType::Uuid:
        out_ += '"' + uuidOf(value.bytes).toString() + '"';
        break;
      case FieldType::String:
        out_ += quoted(asText(value.bytes));
        break;
      case FieldType::Bytes:
      case FieldType::Records:
        out_ += '"' + base64(value.bytes) + '"';
        break;
      default:
        out_ += std::to_string(value.number);
    }
  }
  void enterStruct(const FieldValue& value) override { open(value, '{'); }
  void leaveStruct(const FieldValue&) override { close('}'); }
  void enterArray(const FieldValue& value) override { open(value, '['); }
  void leaveArray(const FieldValue&) override { close(']'); }

 private:
  void prefix(const FieldValue& value) {
    if (!first_) out_ += ',';
    first_ = false;
    if (value.index < 0) out_ += fmt::format("\"{}\":", value.field->name);
  }
  void open(const FieldValue& value, char bracket) {
    prefix(value);
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }

  std::string out_ = "{";
  bool first_ = true;
};

class TreeVisitor : public Visitor {
 public:
  explicit TreeVisitor(size_t maxNodes) : left_(maxNodes) { open_.emplace_back(); }

  std::vector<FieldNode> take() { return std::move(open_.front().children); }

  void value(const FieldValue& value) override { add(node(value, text(value))); }
  void enterStruct(const FieldValue& value) override { open_.push_back(node(value, "")); }
  void leaveStruct(const FieldValue& value) override { close(value); }
  void enterArray(const FieldValue& value) override {
    open_.push_back(node(value, fmt::format("{} element{}", value.number, value.number == 1 ? "" : "s")));
  }
  void leaveArray(const FieldValue& value) override { close(value); }

 private:
  static FieldNode node(const FieldValue& value, std::string text) {
    FieldNode made;
    made.range = value.range;
    made.value = std::move(text);
    made.field = value.field;
    if (value.field == nullptr) {
      made.name = fmt::format("tag {}", value.tag);
      made.type = "unknown";
      return made;
    }
    made.name = value.index >= 0 ? fmt::format("[{}]", value.index) : std::string(value.field->name);
    made.type = value.field->typeName.substr(value.index >= 0 ? 2 : 0);
    made.entity = value.field->entity;
    return made;
  }

  static std::string text(const FieldValue& value) {
    if (value.isNull) return "null";
    if (value.field == nullptr) return fmt::format("{} bytes", value.bytes.size());
    switch (value.field->type) {
      case FieldType::Bool:
        return value.number != 0 ? "true" : "false";
      case FieldType::Float64:
        return fmt::format("{}", value.real);
      case FieldType::Uuid:
        return uuidOf(value.bytes).toString();
      case FieldType::String:
        return std::string(asText(value.bytes));
      case FieldType::Bytes:
      case FieldType::Records:
        return fmt::format("{} bytes", value.bytes.size());
      default:
        return std::to_string(value.number);
    }
  }

  void add(FieldNode&& node) {
    if (left_ == 0) return;
    --left_;
    open_.back().children.push_back(std::move(node));
  }
  void close(const FieldValue& value) {
    FieldNode done = std::move(open_.back());
    open_.pop_back();
    done.range = value.range;
    add(std::move(done));
  }

  /// The nodes that are entered and not left yet; the first is the message's own.
  std::vector<FieldNode> open_;
  size_t left_;
};

}  // namespace

Result<std::string> toJson(ByteView bytes, const MessageSchema& message, int16_t version) {
  JsonVisitor visitor;
  TIDEMARK_ASSIGN(const size_t taken, walk(bytes, message, version, visitor));
  if (taken != bytes.size())
    return fail(ErrorCode::CorruptMessage,
                fmt::format("{} ends at byte {}, but {} more follow", message.name, taken, bytes.size() - taken));
  return visitor.take();
}

Result<std::vector<FieldNode>> describe(ByteView bytes, const MessageSchema& message, int16_t version,
                                        size_t maxNodes) {
  TreeVisitor visitor(maxNodes);
  TIDEMARK_TRY(walk(bytes, message, version, visitor));
  return visitor.take();
}

}  // namespace tidemark::protocol
