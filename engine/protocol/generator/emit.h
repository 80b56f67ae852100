#pragma once

#include <string>
#include <vector>

#include "schema.h"

namespace generator {

/// Codec files that the messages are spread over.
inline constexpr size_t kCodecFiles = 14;

std::string emitApiKeys(const std::vector<Api>& apis);
std::string emitForward(const std::vector<Message>& messages);
/// All headers, and a macro over all messages.
std::string emitAll(const std::vector<Message>& messages);
/// The struct of one message; `messages` tells whether its counterpart exists.
std::string emitHeader(const Message& message, const std::vector<Message>& messages);
/// read() and write() of some messages.
std::string emitCodecs(const std::vector<const Message*>& messages);
std::string emitSchemasHeader(const std::vector<Message>& messages);
std::string emitSchemas(const std::vector<Message>& messages);
std::string emitApis(const std::vector<Api>& apis, const std::vector<Message>& messages);

/// What a nested struct is called in the namespace; inside its message it has an alias with its own name.
std::string cppStruct(const Message& message, const Struct& structure);
/// The type of a field's value or element: "int32_t", "Text", "PartitionData".
std::string cppElement(const Field& field);
/// Lines of code a message takes, roughly, to balance the files.
size_t weight(const Message& message);

}  // namespace generator
