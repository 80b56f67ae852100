#include "log_fixture.h"

// A batch is appended while a reader looks for the place of its bound, which it does without the log's lock.

namespace tidemark::log {
namespace {

class ReadMeanwhile : public LogFixture {
 protected:
  ReadMeanwhile() {
    open();
    for (int i = 0; i < 2; ++i) append({.count = 2});
    // As a leader raises it, who knows the offset and not the place.
    log_->maybeIncrementHighWatermark({.offset = Offset(4)}, NodeId(2));
    process_->disk().failWhen([this](platform::FileCall call, const std::string& path) {
      if (appended_ || call != platform::FileCall::Read || !path.ends_with(".log")) return false;
      appended_ = true;
      append({.count = 3,
              .producer = ProducerId(7),
              .producerEpoch = ProducerEpoch(0),
              .baseSequence = 0,
              .transactional = true});
      return false;
    });
  }

  Offset endOfRead(FetchIsolation isolation) {
    const auto headers = readHeaders(*log_, Offset(0), isolation);
    EXPECT_TRUE(appended_) << "nothing was appended meanwhile";
    return headers.empty() ? Offset(0) : headers.back().nextOffset();
  }

  bool appended_ = false;
};

TEST_F(ReadMeanwhile, WhoReadsToTheHighWatermarkDoesNotGetWhatIsNotCommitted) {
  EXPECT_EQ(endOfRead(FetchIsolation::HighWatermark), Offset(4));
  EXPECT_EQ(endOfRead(FetchIsolation::HighWatermark), Offset(4)) << "the false place was kept";
}

TEST_F(ReadMeanwhile, WhoReadsCommittedDoesNotGetAnOpenTransaction) {
  EXPECT_EQ(endOfRead(FetchIsolation::Committed), Offset(4));
  log_->maybeIncrementHighWatermark({.offset = Offset(7)}, NodeId(2));
  EXPECT_EQ(endOfRead(FetchIsolation::Committed), Offset(4));
}

TEST_F(ReadMeanwhile, WhoWaitsAtTheEndIsToldThePlaceOfTheNextBatch) {
  const int64_t end = log_->segments().back().sizeInBytes;
  const auto read = log_->read(Offset(4), 1000, FetchIsolation::HighWatermark, true);
  ASSERT_TRUE(read);
  ASSERT_TRUE(appended_);
  EXPECT_EQ(read->slice.length, 0);
  EXPECT_EQ(read->start.position, end);
}

}  // namespace
}  // namespace tidemark::log
