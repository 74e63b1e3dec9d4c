#include "baton/pass/pass_list.h"

#include <string_view>

#include "baton/support/error.h"
#include "baton/text/parser.h"

namespace baton {

namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Splits at commas outside brackets and quotes.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != ',' || depth > 0) continue;
    parts.push_back(trim(text.substr(start, i - start)));
    start = i + 1;
  }
  parts.push_back(trim(text.substr(start)));
  return parts;
}

}  // namespace

std::vector<Pass> parse_passes(const std::string& list) {
  std::vector<Pass> passes;
  for (const std::string_view item : split(list)) {
    if (item.empty())
      throw UsageError("a name is missing in the list of passes `" + list +
                       "`; write it like InferType,FuseOps(fuse_opt_level=0)");
    const size_t open = item.find('(');
    if (open == std::string_view::npos) {
      passes.push_back(make_pass(std::string(item)));
      continue;
    }
    if (item.back() != ')') throw UsageError("pass `" + std::string(item) + "` has no closing parenthesis");
    const std::string_view args = item.substr(open + 1, item.size() - open - 2);
    passes.push_back(
        make_pass(std::string(trim(item.substr(0, open))), parse_attributes(std::string(args), "--passes")));
  }
  return passes;
}

}  // namespace baton
