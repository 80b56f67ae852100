#pragma once

#include <memory>
#include <string>

#include "platform/file_system.h"
#include "platform/native/descriptor.h"
#include "platform/native/process_core.h"

namespace tidemark::platform::native {

/// An open POSIX file. The network takes its descriptor for sendfile.
class NativeFile final : public File {
 public:
  NativeFile(std::shared_ptr<ProcessCore> process, int descriptor, std::string path)
      : process_(std::move(process)), descriptor_(process_->descriptors(), descriptor), path_(std::move(path)) {}

  Result<size_t> readAt(uint64_t position, MutableBytes into) const override;
  Result<void> writeAt(uint64_t position, std::span<const ByteView> pieces) override;
  Result<uint64_t> size() const override;
  Result<uint64_t> nextData(uint64_t position) const override;
  Result<void> truncate(uint64_t size) override;
  void reserve(uint64_t size) override;
  void releaseReserved() override;
  Result<void> sync() override;
  Result<std::shared_ptr<const Mapping>> map(uint64_t length) const override;
  const std::string& path() const noexcept override { return path_; }

  int descriptor() const noexcept { return descriptor_.get(); }

 private:
  const std::shared_ptr<ProcessCore> process_;
  const Descriptor descriptor_;
  const std::string path_;
};

}  // namespace tidemark::platform::native
