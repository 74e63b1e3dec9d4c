#include "baton/codegen/debug/place_of.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace baton {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

/// "12_for_x"  ->  "for_x": removes Halide's counter.
std::string uncounted(const std::string& name) {
  size_t at = 0;
  while (at < name.size() && is_digit(name[at])) ++at;
  return at > 0 && at < name.size() && name[at] == '_' ? name.substr(at + 1) : name;
}

/// The segment that a block is named after, or -1. LLVM appends words: ".preheader", ".loopexit".
int segment_of(const std::string& name, const std::vector<CodeSegment>& segments) {
  int best = -1;
  for (size_t i = 0; i < segments.size(); ++i) {
    const std::string& candidate = segments[i].name;
    const bool fits =
        name.starts_with(candidate) && (name.size() == candidate.size() || name[candidate.size()] == '.');
    if (fits && (best < 0 || candidate.size() > segments[best].name.size())) best = static_cast<int>(i);
  }
  return best;
}

/// The contents of the basic block that begins with a segment: its own code and that of the segments merged
/// into it.
struct Content {
  HeldStage main;
  std::vector<HeldStage> others;
};

class Places {
 public:
  Places(const FunctionShape& shape, const AssemblyFunction& function)
      : segments_(shape.segments), present_(segments_.size()) {
    for (const AssemblyBlock& block : function.blocks)
      if (const int at = segment_of(block.name, segments_); at >= 0) present_[at] = true;
    // A loop that is present has an end segment, even when LLVM dropped the name of the block after it.
    for (size_t i = 0; i < segments_.size(); ++i)
      if (const int end = end_of(i); present_[i] && end >= 0) present_[end] = true;
  }

  /// The segment after a loop's; -1 when it is not a loop's.
  int end_of(size_t segment) const {
    const std::string& name = segments_[segment].name;
    const size_t at = name.find("_for_");
    if (at == std::string::npos || !is_digit(name[at - 1])) return -1;
    const std::string end = name.substr(0, at) + "_end" + name.substr(at);
    for (size_t i = segment + 1; i < segments_.size(); ++i)
      if (segments_[i].name == end) return static_cast<int>(i);
    return -1;
  }

  Content content(size_t first) const {
    std::vector<HeldStage> stores = segments_[first].stores;
    for (size_t i = first + 1; i < segments_.size() && !present_[i]; ++i)
      stores.insert(stores.end(), segments_[i].stores.begin(), segments_[i].stores.end());
    // Results are stored last, by the enclosing stage. A block without stores counts or branches.
    Content out{stores.empty() ? segments_[first].own : stores.back(), {}};
    for (const HeldStage& stage : stores)
      if (!(stage == out.main) && stage.block >= 0 &&
          std::find(out.others.begin(), out.others.end(), stage) == out.others.end())
        out.others.push_back(stage);
    return out;
  }

 private:
  const std::vector<CodeSegment>& segments_;
  std::vector<bool> present_;
};

CodePlace place_of(const Content& content, const KernelShape& shape) {
  CodePlace place{content.main.stage, content.main.block, content.others, {}};
  std::set<int> blocks;
  const auto add = [&](const HeldStage& stage) {
    if (stage.block >= 0) blocks.insert(stage.block);
    for (const StageBlocks& known : shape.stages)
      if (known.stage == stage) blocks.insert(known.blocks.begin(), known.blocks.end());
  };
  add(content.main);
  for (const HeldStage& stage : content.others) add(stage);
  place.blocks.assign(blocks.begin(), blocks.end());
  return place;
}

}  // namespace

std::vector<CodePlace> places_of(const AssemblyFunction& function, const KernelShape& shape) {
  const auto known = std::find_if(shape.functions.begin(), shape.functions.end(),
                                  [&](const FunctionShape& each) { return each.symbol == function.symbol; });
  if (known == shape.functions.end()) return std::vector<CodePlace>(function.blocks.size());
  const Places places(*known, function);
  std::vector<CodePlace> result;
  size_t last = 0;  // the segment "entry"
  int depth = 0;
  for (const AssemblyBlock& block : function.blocks) {
    const int segment = segment_of(block.name, known->segments);
    const int end = places.end_of(last);
    if (segment >= 0)
      last = static_cast<size_t>(segment);
    else if (block.depth == 0 && !block.name.empty())
      last = 0;  // "destructor_block", "call_destructor.exit"
    else if (block.depth < depth && end >= 0)
      last = static_cast<size_t>(end);
    depth = block.depth;
    result.push_back(place_of(places.content(last), shape));
  }
  return result;
}

std::string shown_label(const std::string& name, const std::string& prefix) {
  std::string text = uncounted(name), out;
  for (const char* kind : {"end_for_", "for_", "produce_", "consume_"}) {
    if (!text.starts_with(kind)) continue;
    out = kind;
    text = text.substr(out.size());
    out.back() = ' ';
    std::replace(out.begin(), out.end() - 1, '_', ' ');
    if (text.starts_with(prefix + "_")) text = text.substr(prefix.size() + 1);
    break;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '$' && i + 1 < text.size() && is_digit(text[i + 1])) {
      while (i + 1 < text.size() && is_digit(text[i + 1])) ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace baton
