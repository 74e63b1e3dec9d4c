#pragma once
// A StoreQuery as SQL.
#include <optional>
#include <string>
#include <vector>

#include "baton/store/database.h"
#include "baton/store/store_query.h"

namespace baton {

/// A condition on the table `measurement`, called m, with the values of its parameters.
class Selection {
 public:
  explicit Selection(const StoreQuery& query);
  /// "WHERE ... ORDER BY m.id LIMIT ...", or less.
  std::string order_and_limit() const;
  void bind(Statement& statement) const;

 private:
  /// The value of a parameter.
  struct Value {
    StoreCell cell;
    std::optional<Digest> digest;  ///< instead of `cell`
  };
  void select_works(const StoreQuery& query);
  void add(const std::string& sql);
  void condition(const std::string& sql, const StoreCell& value);
  void value(const StoreCell& value) { values_.push_back({value, {}}); }
  void digest(const std::string& sql, const std::string& hex);

  std::string where_;
  std::vector<Value> values_;
  int64_t limit_ = 0;
};

}  // namespace baton
