#pragma once
// IRModule: functions and data types by name, and a table of all origins ever entered.
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

/// Why an origin has no nodes any more.
struct Retired {
  std::string pass, reason;
};

/// The origins of a module in order of entry (post-order within functions, functions by name). Copy-on-write:
/// copies share storage until one adds an origin.
class OriginTable {
 public:
  size_t size() const { return known_->origins.size(); }
  const Origin& at(OriginId id) const { return *known_->origins.at(index(id)); }
  /// The id of `origin`; nullopt when it was never entered.
  std::optional<OriginId> find(const Origin* origin) const;
  OriginId add(const Ref<const Origin>& origin);  ///< the existing id when already entered
  void retire(OriginId id, Retired why);
  /// Null while some node carries the origin.
  const Retired* retired(OriginId id) const;
  const std::map<uint32_t, Retired>& all_retired() const { return *retired_; }
  /// Whether both tables share storage, i.e. neither added an origin since the copy.
  bool shares_origins_with(const OriginTable& other) const { return known_ == other.known_; }

 private:
  struct Known {
    std::vector<Ref<const Origin>> origins;
    PointerIndex ids;
  };
  // Both are copy-on-write, shared by copies of a module.
  std::shared_ptr<Known> known_ = std::make_shared<Known>();
  std::shared_ptr<std::map<uint32_t, Retired>> retired_ = std::make_shared<std::map<uint32_t, Retired>>();
};

class IRModuleNode;
using IRModule = Ref<IRModuleNode>;

/// Mutable, shared by reference as in Python. Passes take a copy (cheap: functions are shared) and return it.
class IRModuleNode final : public RefCounted {
 public:
  const std::map<std::string, Function>& functions() const { return functions_; }  ///< sorted by name
  /// The function of that name, or null.
  Function find(const std::string& name) const;
  /// Adds or replaces a function; origins of its calls are entered in the table.
  void set(const std::string& name, Function function);
  /// Replaces a function by one with the same operators (e.g. only typed); the origin table is unchanged.
  void replace(const std::string& name, Function function);
  void remove(const std::string& name);
  /// The global variable `name`: the same object in a module and its copies.
  GlobalVar global_var(const std::string& name);

  const std::map<std::string, TypeData>& type_defs() const { return type_defs_; }  ///< sorted by name
  /// The definition of the named data type, or null.
  TypeData find_type(const std::string& name) const;
  /// Adds or replaces a data type.
  void set_type(TypeData type);
  /// The type variable of a data type: the same object in a module and its copies.
  GlobalTypeVar global_type_var(const std::string& name);

  const OriginTable& origins() const { return origins_; }
  OriginTable& origins() { return origins_; }

  /// Whether infer_types() has typed it, and nothing was entered or removed since: then no node is looked at
  /// again. Copies are as typed as the module.
  bool is_typed() const { return is_typed_; }
  void set_typed() { is_typed_ = true; }

  IRModule copy() const;

 private:
  std::map<std::string, TypeData> type_defs_;
  std::map<std::string, GlobalTypeVar> global_type_vars_;
  std::map<std::string, Function> functions_;
  std::map<std::string, GlobalVar> global_vars_;
  OriginTable origins_;
  bool is_typed_ = false;
};

IRModule make_module();
/// A module whose `main` is `body` if that is a function; otherwise a function over the free variables of
/// `body`.
IRModule module_from_expr(const Expr& body);

}  // namespace baton
