#pragma once

#include <expected>
#include <string>
#include <utility>

#include "base/error_code.h"

namespace tidemark {

/// Why something failed. `code` is what a Kafka client would be told; `message` says what is wrong with which input and
/// what to do about it, in one sentence without a trailing stop.
struct Error {
  ErrorCode code = ErrorCode::UnknownServerError;
  std::string message;
};

/// The value, or why there is none. Bad input, files and peers are reported this way; see invariant.h for what cannot
/// be.
template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string message = {}) {
  return std::unexpected(Error{code, std::move(message)});
}
inline std::unexpected<Error> fail(Error error) {
  return std::unexpected(std::move(error));
}

}  // namespace tidemark

#define TIDEMARK_CONCAT_INNER(a, b) a##b
#define TIDEMARK_CONCAT(a, b) TIDEMARK_CONCAT_INNER(a, b)

/// Evaluates a Result expression and returns its error from the enclosing function, if it has one.
#define TIDEMARK_TRY(expression)                                  \
  do {                                                            \
    if (auto tidemark_result = (expression); !tidemark_result)    \
      return std::unexpected(std::move(tidemark_result).error()); \
  } while (false)

/// `TIDEMARK_ASSIGN(auto file, open(path));`: the value of a Result, or a return with its error.
#define TIDEMARK_ASSIGN(target, expression)                                                 \
  auto TIDEMARK_CONCAT(tidemark_result_, __LINE__) = (expression);                          \
  if (!TIDEMARK_CONCAT(tidemark_result_, __LINE__))                                         \
    return std::unexpected(std::move(TIDEMARK_CONCAT(tidemark_result_, __LINE__)).error()); \
  target = std::move(*TIDEMARK_CONCAT(tidemark_result_, __LINE__))
