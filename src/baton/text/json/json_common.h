#pragma once
// Shared by the two JSON readers: limits and checks.
#include <string>

#include "baton/ir/attr_objects.h"
#include "baton/ir/op.h"
#include "baton/text/json/json.h"
#include "baton/text/json/json_tape.h"

namespace baton::text {

inline constexpr int kMaxJsonNesting = 1000;  ///< of types, patterns and lists of attributes, as in texts

/// The attribute schema of that type key, or null.
const AttrSchema* find_schema(std::string_view type_key);
/// `attrs`, or the callee's defaults when null. Throws Error when they are another operator's.
Attrs fitting_attrs(const Expr& callee, Attrs attrs);
/// The element type of that name. Throws Error when there is none.
DType dtype_named(std::string_view name);

/// Bounds the size of types, and the time to visit them: shared types may be exponentially larger than their
/// text.
class TypeSizes {
 public:
  explicit TypeSizes(size_t bytes) : budget_(100 * static_cast<uint64_t>(bytes) + 10'000'000) {}
  struct Size {
    uint32_t depth = 0, parts = 0;
  };
  /// Records that `outer` contains `inner`. Throws Error when it becomes too deep or too large.
  static void add(Size& outer, const Size& inner);
  /// Records one more use of a type of that size. Throws Error when the total is too large.
  void use(const Size& size) { use(uint64_t{size.parts} + 1); }
  /// The same for other shared values, which are visited at every reference.
  void use(uint64_t parts);

 private:
  uint64_t budget_;
};

/// Throws Error when a module binds far more function names than its file has nodes: a name takes a few bytes
/// in the file, but hundreds in memory.
void check_names(size_t names, size_t nodes);
/// Throws Error when `constructor` belongs to a data type defined in `module`, but is not one of its
/// constructors.
void check_constructor(const IRModuleNode& module, const ConstructorNode& constructor);

Saved read_baton_json(const JsonTape& tape, size_t bytes, bool types);
Saved read_tvm_json(const JsonTape& tape, size_t bytes);

}  // namespace baton::text
