// Any bytes give a value or an error that names its place. A value is written as JSON that gives the same
// again, and the runtime's document takes what the value takes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "baton/support/base/json.h"
#include "baton/support/json.h"

using namespace baton;

namespace {

void require(bool holds, const char* what, const std::string& text) {
  if (holds) return;
  std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  Json value;
  try {
    value = Json::parse(bytes);
  } catch (const JsonError& error) {
    require(std::string_view(error.what()).starts_with("line "), "an error without its place", error.what());
    return 0;
  }
  require(JsonDocument::parse(bytes).has_value(), "a value that is no document", bytes);
  for (const int indent : {-1, 2}) {
    const std::string text = value.dump(indent);
    require(Json::parse(text) == value, "what was written and read differs", text);
    require(Json::parse(text).dump(indent) == text, "what was written and read is written otherwise", text);
  }
  return 0;
}
