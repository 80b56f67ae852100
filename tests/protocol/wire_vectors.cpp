#include "protocol/wire_vectors.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "protocol/framing.h"
#include "protocol/generated/all_messages.h"
#include "protocol/message.h"

namespace tidemark::protocol::test {
namespace {

template <class M>
Result<void> decodeInto(M& message, ByteView bytes, int16_t version) {
  Reader reader(bytes);
  TIDEMARK_TRY(message.read(reader, version));
  if (reader.remaining() != 0) return fail(ErrorCode::CorruptMessage, "trailing bytes");
  return {};
}

template <class M>
Result<void> decodeOnly(ByteView bytes, int16_t version) {
  M message;
  return decodeInto(message, bytes, version);
}

template <class M>
Result<ByteVector> again(ByteView bytes, int16_t version) {
  M message;
  TIDEMARK_TRY(decodeInto(message, bytes, version));
  return encode(message, version);
}

template <class M>
Result<size_t> sizeOf(ByteView bytes, int16_t version) {
  M message;
  TIDEMARK_TRY(decodeInto(message, bytes, version));
  return encodedSize(message, version);
}

template <class M>
Result<ByteVector> copied(ByteView bytes, int16_t version) {
  ByteVector frame(bytes.begin(), bytes.end());
  M message;
  TIDEMARK_TRY(decodeInto(message, frame, version));
  const M copy = message;
  std::fill(frame.begin(), frame.end(), uint8_t{0xee});
  return encode(copy, version);
}

template <class M>
Result<bool> equal(ByteView bytes, int16_t version) {
  M first;
  M second;
  TIDEMARK_TRY(decodeInto(first, bytes, version));
  TIDEMARK_TRY(decodeInto(second, bytes, version));
  TIDEMARK_ASSIGN(const ByteVector defaults, encode(M(), version));
  return first == second && (first == M()) == (asText(defaults) == asText(bytes));
}

template <class M>
Result<ByteVector> framed(ByteView bytes, int16_t version) {
  M message;
  TIDEMARK_TRY(decodeInto(message, bytes, version));
  const MessageSchema& schema = M::schema();
  if constexpr (requires { M::kRecordType; }) {
    if (schema.kind == MessageKind::CoordinatorKey) return encodeCoordinatorKey(message);
    if (schema.kind == MessageKind::Metadata) return encodeMetadataRecord(message, version);
  }
  return encodeVersioned(message, version);
}

#define TIDEMARK_ANY(M) {#M, decodeOnly<M>, again<M>, sizeOf<M>, copied<M>, equal<M>, framed<M>},
constexpr AnyMessage kMessages[] = {TIDEMARK_FOR_EACH_MESSAGE(TIDEMARK_ANY)};

std::vector<WireVector> load() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TIDEMARK_TEST_DATA) + "/wire"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<WireVector> vectors;
  for (const auto& file : files) {
    std::ifstream input(file);
    for (std::string line; std::getline(input, line);) {
      const auto json = nlohmann::json::parse(line);
      WireVector vector;
      vector.message = json["message"];
      vector.version = json["version"];
      vector.variant = json["variant"];
      vector.json = json["json"].dump();
      vector.bytes = fromHex(json["hex"].get<std::string>());
      if (json.contains("framed")) vector.framed = fromHex(json["framed"].get<std::string>());
      vector.schema = findMessage(vector.message);
      if (vector.schema == nullptr) throw std::runtime_error("no message is called " + vector.message);
      vectors.push_back(std::move(vector));
    }
  }
  return vectors;
}

}  // namespace

std::string WireVector::title() const { return fmt::format("{} version {} {}", message, version, variant); }

const std::vector<WireVector>& wireVectors() {
  static const std::vector<WireVector> vectors = load();
  return vectors;
}

const AnyMessage& anyMessage(std::string_view name) {
  for (const AnyMessage& message : kMessages)
    if (message.name == name) return message;
  throw std::runtime_error(fmt::format("no message is called {}", name));
}

ByteVector fromHex(std::string_view hex) {
  ByteVector bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

std::string toHex(ByteView bytes) {
  std::string hex;
  for (const uint8_t byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

}  // namespace tidemark::protocol::test
