#include "baton/codegen/kernel/kernel_key.h"

#include <cstdio>

#include <Halide.h>

#include "baton/codegen/kernel/source_hash.h"
#include "baton/ir/structural.h"
#include "baton/support/error.h"
#include "baton/support/hash.h"

namespace baton {

uint64_t kernel_key(const KernelRequest& request, const DeviceSheet& sheet) {
  Hasher hash(kSourceHash);
  hash.add(structural_hash(Expr(request.function)));
  for (const Var& param : request.function->params()) {
    const Type& type = type_of(*param);
    BATON_CHECK(type, "a kernel's parameter has no type: " + param->name());
    hash.add(type_hash(type));
  }
  BATON_CHECK(request.function->body()->checked_type(), "a kernel's function is not typed");
  hash.add(type_hash(request.function->body()->checked_type()));
  hash.add(sheet.code_hash());
  hash.add_text(request.template_name);
  for (const auto& [name, value] : request.params) {
    hash.add_text(name);
    hash.add(static_cast<uint64_t>(value));
  }
  const KernelVariant& variant = request.variant;
  hash.add(variant.marked);
  hash.add(variant.doubled);
  hash.add(variant.merged.size());
  for (const std::string& name : variant.merged) hash.add_text(name);
  hash.add(variant.ablated.size());
  for (int block : variant.ablated) hash.add(static_cast<uint64_t>(block));
  hash.add(static_cast<uint64_t>(variant.twin));
  hash.add(variant.within);
  if (!variant.debug_lines.empty()) hash.add_text(variant.debug_lines);
  hash.add(HALIDE_VERSION_MAJOR * 10000 + HALIDE_VERSION_MINOR * 100 + HALIDE_VERSION_PATCH);
  return hash.value();
}

std::string kernel_symbol(uint64_t key) {
  char text[32];
  std::snprintf(text, sizeof text, "baton_k%016llx", static_cast<unsigned long long>(key));
  return text;
}

}  // namespace baton
