#include <cstdio>
#include <cstdlib>

#include "targets.h"

// The program that libFuzzer drives: `FUZZ_TARGET=batch tidemark_fuzz CORPUS…`.

namespace {
const tidemark::fuzz::Target* target = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("FUZZ_TARGET");
  target = name == nullptr ? nullptr : tidemark::fuzz::findTarget(name);
  if (target != nullptr) return 0;
  std::fprintf(stderr, "FUZZ_TARGET names one of:");
  for (const auto& known : tidemark::fuzz::targets())
    std::fprintf(stderr, " %.*s", static_cast<int>(known.name.size()), known.name.data());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  target->run({data, size});
  return 0;
}
