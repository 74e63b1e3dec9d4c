#pragma once
// Arguments of passes by name: FuseOps(fuse_opt_level=0), from the command line, Python and `required`.
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/attrs.h"

namespace baton {

/// In the order given. A dictionary is encoded as a list of [key, value] lists.
using PassArgs = std::vector<std::pair<std::string, AttrValue>>;

/// Reads the arguments of one pass; finish() rejects arguments that were never read. All throw UsageError.
class PassArgReader {
 public:
  PassArgReader(std::string pass, const PassArgs& args)
      : pass_(std::move(pass)), args_(args), read_(args.size()) {}
  int64_t integer(const std::string& name, int64_t fallback);
  /// The same between `least` and `most`; UsageError outside.
  int64_t integer(const std::string& name, int64_t fallback, int64_t least, int64_t most = INT64_MAX);
  bool flag(const std::string& name, bool fallback);
  std::string text(const std::string& name, const std::string& fallback);
  std::vector<std::string> texts(const std::string& name, std::vector<std::string> fallback);
  /// The raw value, or null.
  const AttrValue* value(const std::string& name);
  void finish();

 private:
  [[noreturn]] void wrong(const std::string& name, const std::string& expects, const AttrValue& value) const;
  std::string pass_;
  const PassArgs& args_;
  std::vector<bool> read_;
  std::vector<std::string> known_;
};

}  // namespace baton
