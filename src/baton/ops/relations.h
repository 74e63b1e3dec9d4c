#pragma once
// Common type relations, and checks to build relations from. A failed check reports a diagnostic through the
// context; its caller then returns kFailed.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baton/ir/extent.h"
#include "baton/ir/layout.h"
#include "baton/ir/op.h"

namespace baton {

using RelationStatus = RelationContext::Status;

/// The result has the type of input 0.
RelationStatus identity_relation(RelationContext& ctx);
/// Two tensors of one dtype, broadcast; the result has that dtype, or `result_dtype` unless void.
RelationStatus broadcast_relation(RelationContext& ctx, DType result_dtype = DType::void_());
/// The result has the shape of input 0 and the given dtype.
RelationStatus same_shape_relation(RelationContext& ctx, DType result_dtype);

/// Relay's broadcast of two shapes, right-aligned: 1 and `?` yield the other side's extent; a symbolic extent
/// fits those and itself. Nullopt when they are incompatible; `axis` is then the failing axis of the result.
std::optional<std::vector<Dim>> broadcast_shapes(const std::vector<Dim>& a, const std::vector<Dim>& b,
                                                 int* axis = nullptr);

/// `axis` normalized to 0..rank-1; reports when it is out of range.
std::optional<int> checked_axis(RelationContext& ctx, int64_t axis, int rank, int arg = 0);
/// Reports unless the tensor of input `arg` has `rank` axes.
bool check_rank(RelationContext& ctx, const TensorTypeNode& tensor, int rank, int arg);
/// Reports unless axis `axis` of the tensor of input `arg` may have extent `want`. `what`: what that is, "as
/// many anchors as scores".
bool check_extent(RelationContext& ctx, const TensorTypeNode& tensor, int axis, Dim want, int arg,
                  const std::string& what);
/// Reports unless the tensor of input `arg` may have shape `want`, or one that broadcasts to it.
bool check_shape(RelationContext& ctx, const TensorTypeNode& tensor, const std::vector<Dim>& want, int arg,
                 const std::string& what);
bool check_broadcasts(RelationContext& ctx, const TensorTypeNode& tensor, const std::vector<Dim>& want,
                      int arg, const std::string& what);
/// Reports unless the elements of input `arg` are integers.
bool check_integers(RelationContext& ctx, const TensorTypeNode& tensor, int arg);
/// Reports unless attribute `name` has `count` values.
bool check_count(RelationContext& ctx, const char* name, const std::vector<int64_t>& values, size_t count);
bool check_count(RelationContext& ctx, const char* name, const std::vector<double>& values, size_t count);
/// Reports unless all `values` are at least `least`.
bool check_least(RelationContext& ctx, const char* name, std::span<const int64_t> values, int64_t least);
/// Reports an unsupported value of attribute `name`, with the reason.
RelationStatus fail_attr(RelationContext& ctx, const char* name, const std::string& value,
                         const std::string& why);
/// Reports that input `arg` is unsupported, with the reason.
RelationStatus fail_arg(RelationContext& ctx, int arg, const std::string& why);

/// The fields of input `arg`, a tuple of tensors; empty while one is incomplete (defer) or after a report
/// (`failed`).
std::vector<const TensorTypeNode*> tensor_fields(RelationContext& ctx, int arg, bool* failed);

/// Parses a layout attribute whose axes must be those of `canonical`; reports an invalid one.
std::optional<Layout> checked_layout(RelationContext& ctx, const char* name, const std::string& text,
                                     const char* canonical);

/// Reports unless the tensor of input `arg` has the rank of `layout`, and on its split axes the extents that
/// it names: the `4c` of NCHW4c.
bool check_in_layout(RelationContext& ctx, const TensorTypeNode& tensor, const Layout& layout, int arg);

/// Whether `a` and `b` may be equal: not when they are different numbers, or differ by one as n and n + 1 do.
bool may_equal(Dim a, Dim b);

/// Saturating products; `?` times anything is `?`.
Dim times(Dim a, Dim b);
Dim product(std::span<const Dim> dims);

/// "(1, 3, 8, 8)"
std::string shape_text(const std::vector<Dim>& shape);

}  // namespace baton
