#include <gtest/gtest.h>

#include "protocol/framing.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/metadata_request.h"

namespace tidemark::protocol::test {
namespace {

using platform::FileSlice;
using platform::Piece;

/// A file whose byte at position i is i.
class CountingFile : public platform::File {
 public:
  Result<size_t> readAt(uint64_t position, MutableBytes into) const override {
    for (size_t i = 0; i < into.size(); ++i) into[i] = static_cast<uint8_t>(position + i);
    return into.size();
  }
  Result<void> writeAt(uint64_t, std::span<const ByteView>) override { return {}; }
  Result<uint64_t> size() const override { return 256; }
  Result<void> truncate(uint64_t) override { return {}; }
  Result<void> sync() override { return {}; }
  Result<std::shared_ptr<const platform::Mapping>> map(uint64_t) const override { return nullptr; }
  const std::string& path() const noexcept override { return path_; }

 private:
  std::string path_ = "counting";
};

FetchResponse fetched(std::vector<Records> records) {
  FetchResponse response;
  FetchResponse::FetchableTopicResponse topic{.topic = "orders"};
  for (Records& part : records)
    topic.partitions.push_back(
        {.partitionIndex = static_cast<int32_t>(topic.partitions.size()), .records = std::move(part)});
  response.responses.push_back(std::move(topic));
  return response;
}

TEST(FrameWriter, HandsRecordsOnAsPieces) {
  auto file = std::make_shared<CountingFile>();
  const SharedBytes shared(ByteVector(5000, 0x33));
  FetchResponse response = fetched({});
  response.responses[0].partitions.push_back({.partitionIndex = 0, .records = Records(FileSlice{file, 10, 100})});
  response.responses[0].partitions.push_back({.partitionIndex = 1, .records = Records(shared)});
  FrameWriter writer;
  ASSERT_TRUE(writeResponseFrame(writer, response, 12, 77));
  const size_t size = writer.size();
  const std::vector<Piece> pieces = writer.takePieces();
  ASSERT_EQ(pieces.size(), 5u) << "own, file, own, shared, own";
  EXPECT_EQ(std::get<FileSlice>(pieces[1]).position, 10u);
  EXPECT_EQ(std::get<SharedBytes>(pieces[3]).view().data(), shared.view().data()) << "not copied";
  const ByteVector all = *Records(pieces).bytes();
  EXPECT_EQ(all.size(), size);
  EXPECT_EQ(readBigEndian<int32_t>(all.data()), static_cast<int32_t>(size - 4));

  Reader reader(ByteView(all).subspan(kFrameLengthSize));
  EXPECT_EQ(decodeResponseHeader(reader, ApiKey::Fetch, 12)->correlationId, 77);
  const Result<FetchResponse> again = decode<FetchResponse>(reader, 12);
  ASSERT_TRUE(again);
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_EQ(again->responses[0].partitions[0].records.view()[0], 10);
  EXPECT_EQ(again->responses[0].partitions[1].records, Records(shared));
}

TEST(FrameWriter, CopiesWhatIsSmallOrBorrowed) {
  const ByteVector frame(10'000, 0x11);
  FetchResponse response = fetched({});
  response.responses[0].partitions.push_back({.records = Records::borrowed(frame)});
  response.responses[0].partitions.push_back({.records = Records(ByteVector(100, 0x22))});
  FrameWriter writer;
  ASSERT_TRUE(response.write(writer, 11));
  EXPECT_EQ(writer.takePieces().size(), 1u);
  const FetchResponse copy = response;
  ASSERT_TRUE(copy.write(writer, 11));
  EXPECT_EQ(writer.takePieces().size(), 3u) << "what was borrowed is the copy's own, shared memory now";
}

TEST(FrameWriter, IsEmptyAfterItWasTaken) {
  FrameWriter writer(100);
  writer.int32(1);
  EXPECT_EQ(writer.takePieces().size(), 1u);
  EXPECT_EQ(writer.size(), 0u);
  writer.int16(2);
  EXPECT_EQ(*writer.takeBytes(), (ByteVector{0, 2}));
  EXPECT_TRUE(writer.takePieces().empty());
}

TEST(FrameWriter, CountsWithoutKeeping) {
  FrameWriter counter{FrameWriter::CountOnly()};
  for (int i = 0; i < 1000; ++i) counter.int64(i);
  counter.text("hello", true);
  EXPECT_EQ(counter.size(), 8006u);
  auto file = std::make_shared<CountingFile>();
  FetchResponse response = fetched({});
  response.responses[0].partitions.push_back({.records = Records(FileSlice{file, 0, 1000})});
  FrameWriter writer;
  ASSERT_TRUE(response.write(writer, 18));
  EXPECT_EQ(*encodedSize(response, 18), writer.size());
}

TEST(Encode, RefusesAFieldThatTheVersionLacks) {
  MetadataRequest request;
  request.allowAutoTopicCreation = false;
  const Result<ByteVector> refused = encode(request, 3);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::UnsupportedVersion);
  EXPECT_EQ(refused.error().message, "MetadataRequest.allowAutoTopicCreation is set, but version 3 has no such field");
  EXPECT_FALSE(encodedSize(request, 3));
  EXPECT_TRUE(encode(request, 4));
}

TEST(Encode, RefusesATaggedFieldThatTheVersionLacks) {
  FetchResponse response = fetched({Records()});
  response.responses[0].partitions[0].divergingEpoch.epoch = 3;
  EXPECT_EQ(encode(response, 11).error().message,
            "FetchResponse.PartitionData.divergingEpoch is set, but version 11 has no such field");
  EXPECT_TRUE(encode(response, 12));
}

TEST(Encode, DropsWhatIsIgnorable) {
  FetchResponse response;
  response.errorCode = 5;
  ASSERT_EQ(*encode(response, 6), *encode(FetchResponse(), 6));
  FetchRequest request;
  request.clusterId = "c";
  EXPECT_EQ(*encode(request, 11), *encode(FetchRequest(), 11));
}

TEST(Encode, RefusesNullWhereAVersionForbidsIt) {
  MetadataRequest request;
  request.topics.reset();
  EXPECT_EQ(encode(request, 0).error().message, "MetadataRequest.topics is null, which version 0 does not allow");
  EXPECT_TRUE(encode(request, 1));
}

TEST(Encode, RefusesStringsThatAreTooLong) {
  MetadataRequest request;
  request.topics = {{.name = std::string(32768, 'x')}};
  EXPECT_FALSE(encode(request, 0));
  EXPECT_FALSE(encode(request, 12));
  request.topics = {{.name = std::string(32767, 'x')}};
  EXPECT_TRUE(encode(request, 0));
  EXPECT_TRUE(encode(request, 12));
}

}  // namespace
}  // namespace tidemark::protocol::test
