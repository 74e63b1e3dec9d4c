#pragma once
// A StoreQuery as SQL.
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
  const std::string& where() const { return where_; }
  void bind(Statement& statement) const;

 private:
  void condition(const std::string& sql);
  void text(const std::string& sql, const std::string& value);
  void digest(const std::string& sql, const std::string& hex);
  void add_attributes(const std::vector<AttributeQuery>& attributes);

  std::string where_;
  std::vector<std::variant<StoreCell, Digest>> values_;
  int64_t limit_ = 0;
};

}  // namespace baton
