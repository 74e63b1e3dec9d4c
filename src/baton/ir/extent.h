#pragma once
// Symbolic extents: variables, and sums, products and rounded quotients of them, as in `Tensor[(n, 2*n +
// 1)]`. Kept in normal form, so that equal ones (n + 1 and 1 + n) are one Dim. They live as long as the
// process.
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/type.h"
#include "baton/support/error.h"

namespace baton {

/// A symbolic extent, or `?`, where a number is needed: a program with numbers instead would be computed.
class NeedsNumbers : public NotSupported {
 public:
  using NotSupported::NotSupported;
};
/// `dim` as a number. Throws NeedsNumbers, which says what is needed, such as "a number for axis 2".
int64_t number_of(Dim dim, const std::string& what);

/// TVM's tir.Var or, with `is_size`, tir.SizeVar. Each made is another, whatever its name.
struct ExtentVar {
  std::string name;
  DType dtype = DType::int_(32);
  bool is_size = false;
};
Dim extent_var(ExtentVar var);
/// The variable that `dim` is; null when it is none.
const ExtentVar* as_extent_var(Dim dim);

/// `?` with anything is `?`. So is a result outside of 64 bits, or of more than 64 terms. Quotients are
/// rounded down; they need by > 0.
Dim operator+(Dim a, Dim b);
Dim operator-(Dim a, Dim b);
Dim operator*(Dim a, Dim b);
Dim floor_div(Dim dim, int64_t by);

/// A symbolic extent that is no variable, as an operation on two smaller ones.
enum class ExtentOp : uint8_t { kAdd, kSub, kMul, kFloorDiv };
struct ExtentParts {
  ExtentOp op;
  Dim a, b;
};
ExtentParts extent_parts(Dim dim);
/// The inverse of extent_parts, for any a and b; `?` for a quotient unless b is a positive number.
Dim make_extent(const ExtentParts& parts);

/// `dim` with every variable replaced by `value` of it.
Dim replace_extent_vars(Dim dim, FunctionRef<Dim(Dim)> value);
/// Calls `visit` for every variable, perhaps several times.
void visit_extent_vars(Dim dim, FunctionRef<void(Dim)> visit);
/// `type` with the variables of its extents replaced; the same object when it has none.
Type replace_extent_vars(const Type& type, FunctionRef<Dim(Dim)> value);

/// `dim` with `value` of each variable; `?` stays `?`, and what leaves 64 bits becomes it.
Dim extent_at(Dim dim, FunctionRef<int64_t(Dim)> value);

/// The number that a variable of an extent stands for where something is chosen by size before it is known: a
/// layout, an algorithm, a schedule.
inline constexpr int64_t kUsualExtent = 64;
/// The same for the batch of layers: what is chosen for one image serves several, the other way round not.
inline constexpr int64_t kUsualBatch = 1;
/// The extents of a layer's data as numbers, a batch (the first one) that is open as kUsualBatch; nullopt
/// where another one is open.
std::optional<std::vector<int64_t>> extents_but_batch(const std::vector<Dim>& shape);
/// The extents of `type` as numbers, variables and `?` at kUsualExtent; what is no constant is at least 1.
std::vector<int64_t> usual_extents(const TensorTypeNode& type);

/// What `dim` is at least where its variables are at least 1; INT64_MIN when that is not known.
int64_t least_extent(Dim dim);

/// What `dim` is at most where its variables are at least 0 and at most `most` of them (none: no bound);
/// nullopt when that is not known.
std::optional<int64_t> most_extent(Dim dim, FunctionRef<std::optional<int64_t>(Dim)> most);

/// "4", "?", "n", "2*n + 1", "(n + 1)//2"
std::string extent_text(Dim dim);
/// The widest of its variables; int32 without any.
DType extent_dtype(Dim dim);
/// TVM's class of a symbolic extent: "tir.Var", "tir.SizeVar", "tir.Add", ...
std::string extent_type_key(Dim dim);
/// Does not depend on which variables they are.
uint64_t extent_hash(Dim dim);
/// Whether both are equal up to partners in `pairs`, to which partners are added when it allows that.
bool same_extent(Dim a, Dim b, TypePairs& pairs);

}  // namespace baton
