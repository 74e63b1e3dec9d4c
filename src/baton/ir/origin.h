#pragma once
// Origins: which operators of the user's program a node was derived from. See docs/design/0001-origins.md.
// | An Origin is made once, when an operator call is built outside any pass (parser, importer, Python). Nodes
// carry OriginSets. Passes never set them directly: a Rewriter opens an OriginScope for the node it rewrites,
// and nodes built inside get the scope's set (ir/origin_scope.h). Where an operator is in what the user wrote
// beyond its text, an OriginPlace says: docs/design/0045-views.md.
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/ir/attrs.h"
#include "baton/support/ref.h"
#include "baton/support/source.h"

namespace baton {

class OriginSet;

/// A line of the user's program.
struct SourceLine {
  std::string file = {};  ///< as it was recorded, perhaps on another machine; empty: not known
  uint32_t line = 0;
  std::string function = {};  ///< "forward"; empty: not known
  std::string text = {};      ///< of the line, without blanks around it; empty: not known

  explicit operator bool() const { return !file.empty() && line > 0; }
  auto operator<=>(const SourceLine&) const = default;
};

/// Operators at one place share it, so that each takes a pointer. Immutable.
class OriginPlace final : public RefCounted {
 public:
  explicit OriginPlace(std::string module, SourceLine line = {})
      : module_(std::move(module)), line_(std::move(line)) {}
  const std::string& module() const { return module_; }  ///< "layer1/0/conv1"; empty: none
  const SourceLine& line() const { return line_; }

 private:
  std::string module_;
  SourceLine line_;
};

/// Gives equal places one object.
class PlaceTable {
 public:
  /// Null where nothing is known.
  Ref<const OriginPlace> place(std::string_view module, SourceLine line);

 private:
  std::map<std::pair<std::string, SourceLine>, Ref<const OriginPlace>> known_;
};

/// "encoder/layer0" of "encoder" and "layer0"; either may be empty.
std::string joined_path(std::string_view outer, std::string_view inner);

/// What an OriginSet points to: one Origin, or a list of them.
class OriginRep : public RefCounted {
 protected:
  friend class OriginSet;
  explicit OriginRep(bool many) : many_(many) {}

 private:
  bool many_;
};

/// One operator call of the user's program. Compared by identity; modules assign it an OriginId. `serial`
/// increases with creation and gives a stable order within a process.
class Origin final : public OriginRep {
 public:
  static Ref<const Origin> create(std::string op, Attrs attrs, Span span, std::string source_name = {},
                                  Ref<const OriginPlace> place = {});

  const std::string& op() const { return *op_; }             ///< "nn.relu"
  const Attrs& attrs() const { return attrs_; }              ///< as the user gave them; may be null
  const Span& span() const { return span_; }                 ///< its location in the source text
  const std::string& source_name() const;                    ///< e.g. the ONNX node; may be empty
  const OriginPlace* place() const { return place_.get(); }  ///< null: not known
  uint64_t serial() const { return serial_; }

 private:
  friend class OriginSet;
  Origin(const std::string& op, Attrs attrs, Span span, std::string source_name,
         Ref<const OriginPlace> place);
  const std::string* op_;                           // interned
  std::unique_ptr<const std::string> source_name_;  // null: none
  Attrs attrs_;
  Span span_;
  uint64_t serial_;
  const Origin* self_ = this;  // so that a one-origin set can return a span without own storage
  Ref<const OriginPlace> place_;
  template <class T, class... Args>
  friend Ref<T> make_ref(Args&&...);
};

/// The operators that one IR node was derived from: several after fusion; the same one on several nodes after
/// a split. A node added by the compiler has no origins but `causes` and a `reason`. Variables, constants and
/// tuples of the user's program have neither: OriginSet::none(). Immutable; one pointer.
class OriginSet {
 public:
  /// For nodes that are not operator calls: variables, tuples, functions, the user's constants.
  static OriginSet none() { return OriginSet(Ref<const OriginRep>()); }
  static OriginSet of(const Ref<const Origin>& origin);
  /// For nodes added by the compiler, e.g. a layout change. `causes`: the operators that required it (its
  /// origins and its causes are both used). Neither `causes` nor `reason` may be empty.
  static OriginSet made_for(const OriginSet& causes, std::string_view reason);

  /// The union of origins; the union of causes minus the origins; both reasons. Commutative.
  [[nodiscard]] OriginSet merge(const OriginSet& other) const;
  /// `merge` of many sets, in O(n log n) of their total size.
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
