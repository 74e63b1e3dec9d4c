#include "baton/driver/load_json.h"

#include <algorithm>

#include "baton/support/error.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

// Passes trust the types of typed nodes, so those that a file gives are checked here.
bool is_right(const IRModuleNode& module) {
  const bool typed = std::all_of(module.functions().begin(), module.functions().end(),
                                 [](const auto& each) { return bool(each.second->checked_type()); });
  if (!typed) return false;
  try {
    return types_are_right(module);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

Saved load_json(std::string_view text) {
  Saved saved = from_json(text);
  if (saved.module && is_right(*saved.module)) return saved;
  // New nodes without types: the old ones cannot be stripped, they are immutable.
  saved = {};
  saved = from_json(text, false);
  try {
    if (saved.module)
      infer_types(saved.module);
    else
      saved.expr = infer_type(saved.expr);
  } catch (const Error&) {
    // What does not type can be looked at, printed, and saved again.
  }
  return saved;
}

}  // namespace baton
