// Any bytes give a module or diagnostics. A module prints as text that can be read back and prints the same
// again (it need not be the same module: numbers are printed with six digits, as TVM prints them), and it
// types, or there are diagnostics.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "baton/driver/initialize.h"
#include "baton/support/diagnostic.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"
#include "baton/types/infer_type.h"

using namespace baton;

namespace {

std::string text_of(const IRModule& module) {
  PrintOptions options;
  options.spans = false;  // they name the text that was read
  return print(*module, options);
}

void round_trip(const IRModule& module) {
  const std::string text = text_of(module);
  std::string again;
  try {
    again = text_of(parse_module(text));
  } catch (const Error& error) {
    std::fprintf(stderr, "what was printed cannot be read: %s\n%s\n", error.what(), text.c_str());
    std::abort();
  }
  if (again == text) return;
  std::fprintf(stderr, "what was printed and read prints otherwise:\n%s\n---\n%s\n", text.c_str(),
               again.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  initialize();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  IRModule module;
  try {
    module = parse_module(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const Error&) {
    return 0;
  }
  round_trip(module);
  try {
    infer_types(module);
  } catch (const Error&) {
  }
  return 0;
}
