#include "protocol/wire_vectors.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "protocol/generated/all_messages.h"
#include "protocol/message.h"

namespace tidemark::protocol::test {
namespace {

template <class M>
void* construct() {
  return new M();
}
template <class M>
void* clone(const void* message) {
  return new M(*static_cast<const M*>(message));
}
template <class M>
void destroy(void* message) {
  delete static_cast<M*>(message);
}
template <class M>
bool same(const void* a, const void* b) {
  return *static_cast<const M*>(a) == *static_cast<const M*>(b);
}
template <class M>
Result<void> readAny(void* message, Reader& reader, int16_t version) {
  return static_cast<M*>(message)->read(reader, version);
}
template <class M>
Result<void> writeAny(const void* message, FrameWriter& writer, int16_t version) {
  return static_cast<const M*>(message)->write(writer, version);
}

#define TIDEMARK_ANY(M) {#M, construct<M>, clone<M>, destroy<M>, same<M>, readAny<M>, writeAny<M>, M::schema},
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

std::string WireVector::title() const {
  return fmt::format("{} version {} {}", message, version, variant);
}

const std::vector<WireVector>& wireVectors() {
  static const std::vector<WireVector> vectors = load();
  return vectors;
}

Result<std::shared_ptr<void>> AnyMessage::decode(ByteView bytes, int16_t version) const {
  Reader reader(bytes);
  std::shared_ptr<void> message = make();
  TIDEMARK_TRY(read(message.get(), reader, version));
  if (reader.remaining() != 0) return fail(detail::trailingBytes(schema(), reader));
  return message;
}

Result<ByteVector> AnyMessage::encode(const void* message, int16_t version) const {
  FrameWriter writer;
  TIDEMARK_TRY(write(message, writer, version));
  return writer.takeBytes();
}

Result<ByteVector> AnyMessage::again(ByteView bytes, int16_t version) const {
  TIDEMARK_ASSIGN(const std::shared_ptr<void> message, decode(bytes, version));
  return encode(message.get(), version);
}

Result<size_t> AnyMessage::size(ByteView bytes, int16_t version) const {
  TIDEMARK_ASSIGN(const std::shared_ptr<void> message, decode(bytes, version));
  FrameWriter counter{FrameWriter::CountOnly()};
  TIDEMARK_TRY(write(message.get(), counter, version));
  return counter.size();
}

Result<ByteVector> AnyMessage::copied(ByteView bytes, int16_t version) const {
  ByteVector frame(bytes.begin(), bytes.end());
  TIDEMARK_ASSIGN(const std::shared_ptr<void> message, decode(frame, version));
  const std::shared_ptr<void> copied = copy(message.get());
  std::fill(frame.begin(), frame.end(), uint8_t{0xee});
  return encode(copied.get(), version);
}

Result<bool> AnyMessage::equal(ByteView bytes, int16_t version) const {
  TIDEMARK_ASSIGN(const std::shared_ptr<void> first, decode(bytes, version));
  TIDEMARK_ASSIGN(const std::shared_ptr<void> second, decode(bytes, version));
  const std::shared_ptr<void> fresh = make();
  TIDEMARK_ASSIGN(const ByteVector defaults, encode(fresh.get(), version));
  return same(first.get(), second.get()) && same(first.get(), fresh.get()) == (asText(defaults) == asText(bytes));
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
