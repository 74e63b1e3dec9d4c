#pragma once
// What the two JSON readers share: limits, and what an operator's attributes must be.
#include <string>

#include "baton/ir/attr_objects.h"
#include "baton/ir/op.h"
#include "baton/text/json/json.h"
#include "baton/text/json/json_tape.h"

namespace baton::text {

inline constexpr int kMaxJsonNesting = 1000;  ///< of types, patterns and lists of attributes, as in texts

/// The attributes' type of that key, or null: every operator's are known.
const AttrSchema* find_schema(std::string_view type_key);
/// `attrs` as the callee needs them: its defaults when there are none. Throws Error when they are another
/// operator's.
Attrs fitting_attrs(const Expr& callee, Attrs attrs);
/// The element type of that name. Throws Error when there is none.
DType dtype_named(std::string_view name);

/// Types may be shared, and then hold more parts than their text has. Keeps their size in bounds, and the
/// time that looking at all of them takes.
class TypeSizes {
 public:
  explicit TypeSizes(size_t bytes) : budget_(100 * static_cast<uint64_t>(bytes) + 10'000'000) {}
  struct Size {
    uint32_t depth = 0, parts = 0;
  };
  /// `outer` has `inner` as a part. Throws Error when it is too deep or too large then.
  static void add(Size& outer, const Size& inner);
  /// Says that a program has a type of that size once more. Throws Error when all are too many.
  void use(const Size& size) { use(uint64_t{size.parts} + 1); }
  /// The same for anything else that is shared, and met at every place where it is named.
  void use(uint64_t parts);

 private:
  uint64_t budget_;
};

/// Throws Error when a module gives names to far more functions than its file has nodes: a name alone is a
/// few bytes there, and hundreds in memory.
void check_names(size_t names, size_t nodes);
/// Throws Error when `constructor` is of a data type that `module` defines, but is none of its constructors.
void check_constructor(const IRModuleNode& module, const ConstructorNode& constructor);

Saved read_baton_json(const JsonTape& tape, size_t bytes, bool types);
Saved read_tvm_json(const JsonTape& tape, size_t bytes);

}  // namespace baton::text
