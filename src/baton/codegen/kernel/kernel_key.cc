#include "baton/codegen/kernel/kernel_key.h"

#include <Halide.h>

#include "baton/codegen/kernel/canonical_form.h"
#include "baton/codegen/kernel/source_hash.h"
#include "baton/support/error.h"

namespace baton {
namespace {

void add_number(std::string& bytes, uint64_t value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void add_text(std::string& bytes, std::string_view text) {
  add_number(bytes, text.size());
  bytes += text;
}

/// Numbers of fixed size and texts with their lengths: no two variants have the same bytes.
void add_variant(std::string& bytes, const KernelVariant& variant) {
  for (const bool flag : {variant.marked, variant.doubled, variant.within}) add_number(bytes, flag);
  add_number(bytes, variant.merged.size());
  for (const std::string& name : variant.merged) add_text(bytes, name);
  add_number(bytes, variant.ablated.size());
  for (const int block : variant.ablated) add_number(bytes, static_cast<uint64_t>(block));
  add_number(bytes, static_cast<uint64_t>(variant.twin));
  add_text(bytes, variant.debug_lines);
}

}  // namespace

KernelKey kernel_key(const KernelRequest& request, const DeviceSheet& sheet) {
  for (const Var& param : request.function->params())
    BATON_CHECK(type_of(*param), "a kernel's parameter has no type: " + param->name());
  BATON_CHECK(request.function->body()->checked_type(), "a kernel's function is not typed");
  std::string bytes = canonical_form(*request.function);
  add_number(bytes, bytes.size());
  add_number(bytes, kSourceHash);
  add_number(bytes, sheet.code_hash());
  add_text(bytes, request.template_name);
  add_number(bytes, request.params.size());
  for (const auto& [name, value] : request.params) {
    add_text(bytes, name);
    add_number(bytes, static_cast<uint64_t>(value));
  }
  add_variant(bytes, request.variant);
  add_number(bytes, request.strict);
  add_number(bytes, HALIDE_VERSION_MAJOR * 10000 + HALIDE_VERSION_MINOR * 100 + HALIDE_VERSION_PATCH);
  return digest128(bytes.data(), bytes.size());
}

std::string kernel_symbol(const KernelKey& key) { return "baton_k" + key.hex(); }

}  // namespace baton
