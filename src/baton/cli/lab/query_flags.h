#pragma once
// Flags that select measurements.
#include <string>
#include <vector>

#include "baton/cli/verb.h"
#include "baton/store/store_query.h"

namespace baton::cli {

class QueryFlags {
 public:
  void add(Flags& flags);
  /// Throws UsageError for what is no value of its flag.
  StoreQuery query() const;
  bool any() const;

 private:
  std::string kind_, cache_, threads_;
  std::vector<std::string> operators_, fused_with_, attributes_;
  StoreQuery query_;
  int limit_ = 0;
};

/// "strides=2,2" and "nn.conv2d.strides=[2, 2]". Throws UsageError.
AttributeQuery attribute_query(const std::string& text);

/// The file that --store means: default_store_path() for "default".
std::string store_path(const std::string& given);

}  // namespace baton::cli
