#pragma once
// Origins: which operators of the user's program a node stands for. See docs/design/0001-origins.md.
//
// An Origin is made once, when a Call to an operator is built outside any pass (parser, importer,
// Python). Nodes carry OriginSets. Passes never write them: a Rewriter opens an OriginScope for what it
// rewrites, and nodes made inside get the scope's set (ir/origin_scope.h).
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/ir/attrs.h"
#include "baton/support/ref.h"
#include "baton/support/source.h"

namespace baton {

class OriginSet;

/// What an OriginSet points to: one Origin, or a list of them.
class OriginRep : public RefCounted {
 protected:
  friend class OriginSet;
  explicit OriginRep(bool many) : many_(many) {}

 private:
  bool many_;
};

/// One operator of the program as the user gave it. Its identity is the object; modules give it an
/// OriginId. `serial` grows with creation: a stable order within a process.
class Origin final : public OriginRep {
 public:
  static Ref<const Origin> create(std::string op, Attrs attrs, Span span, std::string source_name = {});

  const std::string& op() const { return *op_; }  ///< "nn.relu"
  const Attrs& attrs() const { return attrs_; }   ///< as the user gave them; may be null
  const Span& span() const { return span_; }      ///< where it stands in the text it was read from
  const std::string& source_name() const;         ///< e.g. the ONNX node; may be empty
  uint64_t serial() const { return serial_; }

 private:
  friend class OriginSet;
  Origin(const std::string& op, Attrs attrs, Span span, std::string source_name);
  const std::string* op_;                           // one for all origins of the operator
  std::unique_ptr<const std::string> source_name_;  // null: none
  Attrs attrs_;
  Span span_;
  uint64_t serial_;
  const Origin* self_ = this;  // lets a one-origin set hand out a span without storage of its own
  template <class T, class... Args>
  friend Ref<T> make_ref(Args&&...);
};

/// The operators that one IR node stands for: many after fusion, the same one on several nodes after a
/// split. What the compiler adds has no origins but `causes` and a `reason`. A variable, a constant or a
/// tuple of the user's own has neither: OriginSet::none(). Immutable; cheap to copy (one pointer).
class OriginSet {
 public:
  /// For structure that is no operator: variables, tuples, functions, the user's constants.
  static OriginSet none() { return OriginSet(Ref<const OriginRep>()); }
  static OriginSet of(const Ref<const Origin>& origin);
  /// For what the compiler adds on its own, e.g. a layout change. `causes`: the operators that made it
  /// necessary (both its origins and its causes count); must not be empty, nor may `reason`.
  static OriginSet made_for(const OriginSet& causes, std::string_view reason);

  /// The union of origins; the union of causes less the origins; both reasons. Order does not matter.
  [[nodiscard]] OriginSet merge(const OriginSet& other) const;
  /// The same over many sets; linear in their total size (but for sorting).
  static OriginSet merge_all(std::span<const OriginSet> sets);

  [[nodiscard]] std::span<const Origin* const> origins() const;  ///< ascending by serial
  [[nodiscard]] std::span<const Origin* const> causes() const;   ///< ascending, disjoint from origins
  [[nodiscard]] std::string_view reason() const;                 ///< empty unless made by the compiler
  [[nodiscard]] bool empty() const { return !rep_; }

  friend bool operator==(const OriginSet& a, const OriginSet& b);

 private:
  struct Many;
  explicit OriginSet(Ref<const OriginRep> rep) : rep_(std::move(rep)) {}
  static OriginSet build(std::vector<Ref<const Origin>> origins, std::vector<Ref<const Origin>> causes,
                         std::vector<std::string> reasons);
  const Many* many() const;
  Ref<const OriginRep> rep_;  // null, one Origin, or a Many
};

}  // namespace baton
