#pragma once
// IRModule: functions and data types by name, and the table of all origins that ever entered it.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/adt.h"
#include "baton/ir/expr.h"
#include "baton/ir/origin.h"
#include "baton/ir/origin_scope.h"
#include "baton/support/pointer_index.h"

namespace baton {

/// Number of an origin in one module's table; never reused.
enum class OriginId : uint32_t {};
constexpr uint32_t index(OriginId id) { return static_cast<uint32_t>(id); }

/// Why no node carries an origin any more.
struct Retired {
  std::string pass, reason;
};

/// The origins of a module, in the order they entered (post-order of the functions by name). Copies share
/// them until one of them adds another.
class OriginTable {
 public:
  size_t size() const { return known_->origins.size(); }
  const Origin& at(OriginId id) const { return *known_->origins.at(index(id)); }
  /// The id of `origin`, or nothing when it never entered this module.
  std::optional<OriginId> find(const Origin* origin) const;
  OriginId add(const Ref<const Origin>& origin);  ///< the old id when it is there already
  void retire(OriginId id, Retired why);
  /// Null while some node carries it.
  const Retired* retired(OriginId id) const;
  const std::map<uint32_t, Retired>& all_retired() const { return *retired_; }
  /// Whether both have the same origins because neither has added one since it was copied.
  bool shares_origins_with(const OriginTable& other) const { return known_ == other.known_; }

 private:
  struct Known {
    std::vector<Ref<const Origin>> origins;
    PointerIndex ids;
  };
  // Both are shared by copies of a module until one of them is written to.
  std::shared_ptr<Known> known_ = std::make_shared<Known>();
  std::shared_ptr<std::map<uint32_t, Retired>> retired_ = std::make_shared<std::map<uint32_t, Retired>>();
};

class IRModuleNode;
using IRModule = Ref<IRModuleNode>;

/// A mutable reference, as in Python; passes take a copy (cheap: functions are shared) and return it.
class IRModuleNode final : public RefCounted {
 public:
  const std::map<std::string, Function>& functions() const { return functions_; }  ///< sorted by name
  /// The function of that name, or null.
  Function find(const std::string& name) const;
  /// Adds or replaces; origins of its calls enter the table.
  void set(const std::string& name, Function function);
  /// Replaces by a function with the same operators (one that was only typed, or printed): the table stays as
  /// it is.
  void replace(const std::string& name, Function function);
  void remove(const std::string& name);
  /// The variable for `name`: always the same object in a module and its copies.
  GlobalVar global_var(const std::string& name);

  const std::map<std::string, TypeData>& type_defs() const { return type_defs_; }  ///< sorted by name
  /// The definition of the data type of that name, or null.
  TypeData find_type(const std::string& name) const;
  /// Adds or replaces.
  void set_type(TypeData type);
  /// The name of a data type: always the same object in a module and its copies.
  GlobalTypeVar global_type_var(const std::string& name);

  const OriginTable& origins() const { return origins_; }
  OriginTable& origins() { return origins_; }

  IRModule copy() const;

 private:
  std::map<std::string, TypeData> type_defs_;
  std::map<std::string, GlobalTypeVar> global_type_vars_;
  std::map<std::string, Function> functions_;
  std::map<std::string, GlobalVar> global_vars_;
  OriginTable origins_;
};

IRModule make_module();
/// A module whose `main` is `body`: a function as it is, anything else as the body of a function over its
/// free variables.
IRModule module_from_expr(const Expr& body);

}  // namespace baton
