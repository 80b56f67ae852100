#pragma once

#include <string>
#include <string_view>

namespace tidemark {

/// The text as a terminal may show it: control characters and bytes that are no UTF-8 become `\xNN`. For what files and
/// peers have put into a message.
std::string printable(std::string_view text);

}  // namespace tidemark
