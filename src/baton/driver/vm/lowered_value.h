#pragma once
// What a variable of a program is while its function is lowered.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/driver/vm/code_builder.h"
#include "baton/ir/adt.h"
#include "baton/runtime/plan.h"

namespace baton::vm {

struct LoweredValue;
using LoweredRef = std::shared_ptr<LoweredValue>;

struct LoweredValue {
  enum class Kind {
    kRegister,     ///< in `where`
    kPending,      ///< a tensor that the next piece computes
    kTuple,        ///< of `fields`, not made yet
    kConstant,     ///< Program::constants[where]
    kFunction,     ///< a function whose code is known: Program::functions[where], with `captured`
    kConstructor,  ///< Program::constructors[where], as a function
  };
  Kind kind = Kind::kRegister;
  int32_t where = 0;
  Type type = {};
  std::vector<LoweredRef> fields = {};
  std::vector<Var> captured = {};
  /// DLPack's type of where a tensor is. Of a tuple or a value of a data type in a register: of the tensors
  /// in it that stay on devices.
  int device = 1;
  std::string name = {};              ///< of the variable, for messages; may be empty
  std::optional<EntryId> entry = {};  ///< of the plan that reports read, where a node computed it
};

/// The device of a value of this type where values that stay on devices are on `device`: numbers that
/// registers hold, and tensors with extents that are not known, are in the memory of the host.
int device_for(const Type& type, int device);

/// `device`: of what it is part of.
LoweredRef in_register(Register where, Type type, int device = 1);
LoweredRef pending_of(const Type& type, int device = 1);  ///< a tensor, or a tuple of them
LoweredRef tuple_of(std::vector<LoweredRef> fields, Type type);

/// Its tensors, tuples flattened.
void flatten(const LoweredRef& value, std::vector<LoweredRef>& out);
/// Whether it, or a field of it, is pending.
bool is_pending(const LoweredValue& value);

}  // namespace baton::vm
