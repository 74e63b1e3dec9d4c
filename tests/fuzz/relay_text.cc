// Any bytes give a module or diagnostics. A module prints as text that reads back as the same module, and types, or
// the diagnostics of what is wrong with it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "baton/driver/initialize.h"
#include "baton/ir/structural.h"
#include "baton/support/diagnostic.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"
#include "baton/transform/infer_type.h"

using namespace baton;

namespace {

void round_trip(const IRModule& module) {
  const std::string text = astext(module);
  IRModule again;
  try {
    again = parse_module(text);
  } catch (const Error& error) {
    std::fprintf(stderr, "what was printed cannot be read: %s\n%s\n", error.what(), text.c_str());
    std::abort();
  }
  if (structural_equal(*module, *again)) return;
  std::fprintf(stderr, "what was printed reads as another module:\n%s\n---\n%s\n", text.c_str(), astext(again).c_str());
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
