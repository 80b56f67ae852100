#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

namespace tidemark::app {

/// A whole number from `least` to `most`. (CLI11 takes what is negative or too large for another.)
CLI::Validator wholeNumber(int64_t least, int64_t most);
/// One that fits 64 bits without a sign, from `least` on.
CLI::Validator wholeNumber(uint64_t least);
/// A number from `least` to `most`.
CLI::Validator number(double least, double most);

/// The first option of `app` or of its commands that was given without a value (`--topic ''`, as a script writes whose
/// variable is not set): nothing good is meant by it. Null if there is none.
const CLI::Option* emptyOption(const CLI::App& app);

/// Whether writing to both would mix them in one file, whatever they are called.
bool isSameFile(const std::string& one, const std::string& other);
/// Whether `path` lies in the folder or is it, also if it is not there yet.
bool isInside(const std::string& path, const std::string& folder);

}  // namespace tidemark::app
