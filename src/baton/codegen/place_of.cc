#include "baton/codegen/place_of.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace baton {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

/// "12_for_x"  ->  "for_x": Halide counts.
std::string uncounted(const std::string& name) {
  size_t at = 0;
  while (at < name.size() && is_digit(name[at])) ++at;
  return at > 0 && at < name.size() && name[at] == '_' ? name.substr(at + 1) : name;
}

/// The segment that a block is named after, or -1. LLVM appends words: ".preheader", ".loopexit".
int segment_of(const std::string& block, const std::vector<CodeSegment>& segments) {
  const std::string name = uncounted(block);
  int best = -1;
  for (size_t i = 0; i < segments.size(); ++i) {
    const std::string& candidate = segments[i].name;
    const bool fits = name.starts_with(candidate) && (name.size() == candidate.size() || name[candidate.size()] == '.');
    if (fits && (best < 0 || candidate.size() > segments[best].name.size())) best = static_cast<int>(i);
  }
  return best;
}

/// What stands in the block that begins with a segment: its own code and that of the segments melted into it.
struct Content {
  HeldStage main;
  std::vector<HeldStage> others;
  bool stores = false;
};

void add_other(Content& content, const HeldStage& stage) {
  if (stage == content.main || stage.block < 0) return;
  if (std::find(content.others.begin(), content.others.end(), stage) == content.others.end()) content.others.push_back(stage);
}

class Places {
 public:
  Places(const FunctionShape& shape, const AssemblyFunction& function) : segments_(shape.segments) {
    for (const AssemblyBlock& block : function.blocks)
      if (const int at = segment_of(block.name, segments_); at >= 0) present_.insert(segments_[at].name);
    // A loop that is there has an end, even where the block behind it lost its name.
    for (const std::string& name : std::set<std::string>(present_))
      if (name.starts_with("for_")) present_.insert("end_" + name);
    for (size_t i = 0; i < segments_.size(); ++i)
      if (present_.count(segments_[i].name)) merge(contents_[segments_[i].name], content(i));
  }

  const Content* at(const std::string& segment) const {
    const auto found = contents_.find(segment);
    return found == contents_.end() ? nullptr : &found->second;
  }

 private:
  Content content(size_t first) const {
    std::vector<HeldStage> stores = segments_[first].stores;
    const bool own = !stores.empty();
    for (size_t i = first + 1; i < segments_.size() && !present_.count(segments_[i].name); ++i)
      stores.insert(stores.end(), segments_[i].stores.begin(), segments_[i].stores.end());
    // Where the segment itself stores nothing (the end of a loop, say), its code is what follows.
    Content out{stores.empty() || own ? segments_[first].own : stores.back(), {}, !stores.empty()};
    for (const HeldStage& stage : stores) add_other(out, stage);
    return out;
  }

  // The same loop may stand in a function several times: Halide splits off first and last rounds.
  static void merge(Content& into, Content next) {
    if (into.main.block < 0 || (!into.stores && next.stores)) std::swap(into, next);
    if (next.main.block < 0 && next.others.empty()) return;
    add_other(into, next.main);
    for (const HeldStage& stage : next.others) add_other(into, stage);
  }

  const std::vector<CodeSegment>& segments_;
  std::set<std::string> present_;
  std::map<std::string, Content> contents_;
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
  const Content* entry = places.at("entry");
  const Content outside;
  std::vector<CodePlace> result;
  const Content* last = entry ? entry : &outside;
  std::string last_segment = "entry";
  int depth = 0;
  for (const AssemblyBlock& block : function.blocks) {
    const int segment = segment_of(block.name, known->segments);
    if (segment >= 0) {
      last_segment = known->segments[segment].name;
      if (const Content* here = places.at(last_segment)) last = here;
    } else if (block.depth < depth && last_segment.starts_with("for_")) {
      last_segment = "end_" + last_segment;
      if (const Content* behind = places.at(last_segment)) last = behind;
    } else if (block.depth == 0 && !block.name.empty()) {
      last = entry ? entry : &outside;  // "destructor_block", "call_destructor.exit"
    }
    depth = block.depth;
    result.push_back(place_of(*last, shape));
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
