#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "emit.h"

// protocol_generator PROTOCOL_FOLDER OUTPUT_FOLDER: reads messages/*.txt, messages.cmake and apis.tsv of the first and
// writes headers, codecs and tables into the second. Files that would not change keep their time stamp.

namespace {

using namespace generator;
namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream input(path, std::ios::binary);
  std::stringstream text;
  text << input.rdbuf();
  return text.str();
}

void writeIfChanged(const fs::path& path, const std::string& text) {
  if (fs::exists(path) && contents(path) == text) return;
  std::ofstream output(path, std::ios::binary);
  output << text;
  if (!output.flush()) throw SchemaError(fmt::format("{}: cannot be written", path.string()));
}

/// The list in messages.cmake and the files must agree, or a build would miss a change.
void checkList(const fs::path& list, const std::vector<std::string>& names) {
  std::stringstream words(contents(list));
  std::set<std::string> listed;
  for (std::string word; words >> word;) {
    while (!word.empty() && word.back() == ')') word.pop_back();
    listed.insert(word);
  }
  for (const std::string& name : names)
    if (!listed.contains(name)) throw SchemaError(fmt::format("{}: {} is missing", list.string(), name));
}

/// "3-8:1,9-13:2" must be what flexibleVersions says.
void checkHeaders(const std::string& file, const Api& api, const Message& message, const std::string& column,
                  int plain) {
  std::stringstream parts(column);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t colon = part.find(':');
    const size_t dash = part.find('-');
    const int first = std::stoi(part);
    const int last = dash < colon ? std::stoi(part.substr(dash + 1)) : first;
    const int header = std::stoi(part.substr(colon + 1));
    for (int version = first; version <= last; ++version) {
      const bool flexible = message.flexible.contains(version) && !(api.name == "ApiVersions" && plain == 0);
      if (header != plain + (flexible ? 1 : 0))
        throw SchemaError(fmt::format("{}:{}: {} version {} has header {}, but its schema says otherwise", file,
                                      api.line, message.name, version, header));
    }
  }
}

void checkApis(const std::string& file, const std::vector<Api>& apis, const std::vector<Message>& messages) {
  for (const Message& message : messages) {
    if (!message.isApi()) continue;
    const bool request = message.kind == "request";
    const auto api = std::find_if(apis.begin(), apis.end(), [&](const Api& a) { return a.key == message.key; });
    if (api == apis.end()) throw SchemaError(fmt::format("{}: no API has key {}", message.file, message.key));
    if (message.name != api->name + (request ? "Request" : "Response"))
      throw SchemaError(fmt::format("{}: key {} belongs to {}", message.file, message.key, api->name));
    if (message.versions.first != api->versions.first || message.versions.last != api->versions.last)
      throw SchemaError(fmt::format("{}:{}: versions differ from those of {}", file, api->line, message.file));
    checkHeaders(file, *api, message, request ? api->requestHeaders : api->responseHeaders, request ? 1 : 0);
  }
}

/// Nested structs and messages share a namespace.
void checkNames(const std::vector<Message>& messages) {
  std::set<std::string> names;
  for (const Message& message : messages) {
    if (!names.insert(message.name).second)
      throw SchemaError(fmt::format("{}: the name {} is taken", message.file, message.name));
    for (const auto& structure : message.structs)
      if (!names.insert(cppStruct(message, *structure)).second)
        throw SchemaError(
            fmt::format("{}:{}: the name {} is taken", message.file, structure->line, cppStruct(message, *structure)));
  }
}

/// Spreads the messages, in their order, over files of about equal weight.
std::vector<std::vector<const Message*>> spread(const std::vector<Message>& messages) {
  const size_t total = std::accumulate(messages.begin(), messages.end(), size_t{0},
                                       [](size_t sum, const Message& m) { return sum + weight(m); });
  std::vector<std::vector<const Message*>> groups(kCodecFiles);
  size_t before = 0;
  for (const Message& message : messages) {
    groups[std::min(before * kCodecFiles / total, kCodecFiles - 1)].push_back(&message);
    before += weight(message);
  }
  return groups;
}

void generate(const fs::path& input, const fs::path& output) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(input / "messages"))
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  checkList(input / "messages.cmake", names);

  std::vector<Message> messages;
  for (const std::string& name : names) {
    Message message = parseMessage((input / "messages" / (name + ".txt")).string());
    // An API that was removed keeps its key, but has nothing to encode.
    if (!message.versions.empty()) messages.push_back(std::move(message));
  }
  checkNames(messages);
  const std::string apisFile = (input / "apis.tsv").string();
  const std::vector<Api> apis = parseApis(apisFile);
  checkApis(apisFile, apis, messages);

  fs::create_directories(output);
  writeIfChanged(output / "api_keys.h", emitApiKeys(apis));
  writeIfChanged(output / "forward.h", emitForward(messages));
  writeIfChanged(output / "all_messages.h", emitAll(messages));
  writeIfChanged(output / "schemas.h", emitSchemasHeader(messages));
  writeIfChanged(output / "schemas.cpp", emitSchemas(messages));
  writeIfChanged(output / "apis.cpp", emitApis(apis, messages));
  for (const Message& message : messages)
    writeIfChanged(output / (snakeCase(message.name) + ".h"), emitHeader(message, messages));
  const auto groups = spread(messages);
  for (size_t i = 0; i < groups.size(); ++i)
    writeIfChanged(output / fmt::format("codecs_{:02}.cpp", i), emitCodecs(groups[i]));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: protocol_generator PROTOCOL_FOLDER OUTPUT_FOLDER\n";
    return 2;
  }
  try {
    generate(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
