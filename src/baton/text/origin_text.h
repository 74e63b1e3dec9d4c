#pragma once
// Text form of origins. A node with origins is followed by `/* from=4:8,5:8 made_for=6:8 "reason" */`, and a
// module's functions by a table of these names:
//
//   /* origins
//    * 4:8 = nn.dense(units=128) at "mlp.relay":4:8-4:16 name "fc1"
//    * "c1" = Conv() name "c1" in "layer1/0" written "net.py":31 "forward" "x = self.conv(x)"
//    * 7:3 = nn.dropout(rate=0.5) at "mlp.relay":7:3-7:13 retired by "SimplifyInference" "dropout is the
//    identity"
//    */
//
// Other parsers see comments. Parsing a text with the table restores the same origins in the same order.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "baton/ir/module.h"

namespace baton::text {

/// Assigns names to the origins of one text, and writes the comments.
class OriginWriter {
 public:
  /// Assigns names to a module's origins, in the order of its table.
  void add_table(const OriginTable& table);
  /// Appends ` /* from=... */`; nothing for an empty set.
  void comment(const OriginSet& origins, std::string& out);
  /// Appends the origin table; nothing when it is empty.
  void append_table(const OriginTable& table, std::string& out);

 private:
  const std::string& name(const Origin& origin);
  void names(std::span<const Origin* const> origins, std::string& out);
  std::unordered_map<const Origin*, std::string> names_;
  std::unordered_map<std::string, int> taken_;
};

/// Parses origin comments and the origin table.
class OriginReader {
 public:
  /// Parses `key=value, key=value` (text::parse_attributes, which is in a higher layer).
  using ReadAttributes = FunctionAttrs (*)(std::string text, std::string source_name);
  /// Parses the table in `text`; without a table, comments are ignored.
  OriginReader(std::string_view text, ReadAttributes read_attributes);
  bool has_table() const { return !origins_.empty(); }
  /// The origins of the comment ` from=...`; nullopt when it names an origin not in the table.
  std::optional<OriginSet> read(std::string_view comment) const;
  /// Enters the origins in the table of `module`, which must be new.
  void enter(IRModuleNode& module) const;

 private:
  std::vector<Ref<const Origin>> lookup(std::string_view list) const;
  std::vector<Ref<const Origin>> origins_;
  std::map<std::string, Ref<const Origin>, std::less<>> by_name_;
  std::vector<std::pair<size_t, Retired>> retired_;
};

/// Whether a comment's text, after `/*`, is an origin comment.
inline bool is_origin_comment(std::string_view text) {
  return text.starts_with(" from=") || text.starts_with(" made_for=");
}

}  // namespace baton::text
