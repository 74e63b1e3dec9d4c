// Any bytes give a module, an expression or an error; the corpus has both forms, ours and TVM 0.11.1's. What
// was read is written as JSON that gives the same again.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "baton/driver/initialize.h"
#include "baton/driver/load_json.h"
#include "baton/support/error.h"

using namespace baton;

namespace {

std::string json_of(const Saved& saved) {
  return saved.module ? to_json(*saved.module) : to_json(saved.expr);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  initialize();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string text;
  try {
    text = json_of(from_json(bytes));
    load_json(bytes);
  } catch (const Error&) {
    return 0;
  }
  std::string again;
  try {
    again = json_of(from_json(text));
  } catch (const Error& error) {
    std::fprintf(stderr, "what was written cannot be read: %s\n%s\n", error.what(), text.c_str());
    std::abort();
  }
  if (again == text) return 0;
  std::fprintf(stderr, "what was written and read is written otherwise:\n%s\n---\n%s\n", text.c_str(),
               again.c_str());
  std::abort();
}
