#include "properties/random_patterns.h"

#include "properties/dice.h"

namespace baton::properties {

namespace {

const std::string kTensor = "Tensor[(2), float32]";
const std::string kPair = "(" + kTensor + ", " + kTensor + ")";
const std::string kNested = "(" + kPair + ", " + kTensor + ", Tree)";
const std::string kChain = "Chain[" + kTensor + "]";
const std::string kPairs = "Chain[" + kPair + "]";
const std::string kTypes = "type Tree {\n  Leaf(" + kTensor + "),\n  Node(Tree, " + kTensor +
                           ", Tree),\n  Both(" + kPair +
                           "),\n  Nothing,\n}\ntype Chain[A] {\n  Link(A, Chain[A]),\n  End,\n}\n";

/// The parts of a type's values: of a tuple its fields, of a data type those of a constructor.
struct ValueForm {
  std::string constructor;  ///< "" for a tuple
  std::vector<std::string> parts;
};

std::vector<ValueForm> shapes_of(const std::string& type) {
  if (type == kPair) return {{"", {kTensor, kTensor}}};
  if (type == kNested) return {{"", {kPair, kTensor, "Tree"}}};
  if (type == "Tree")
    return {{"Leaf", {kTensor}}, {"Node", {"Tree", kTensor, "Tree"}}, {"Both", {kPair}}, {"Nothing", {}}};
  if (type == kChain) return {{"Link", {kTensor, kChain}}, {"End", {}}};
  if (type == kPairs) return {{"Link", {kPair, kPairs}}, {"End", {}}};
  return {};
}

class PatternWriter {
 public:
  explicit PatternWriter(uint64_t seed) : dice_(seed) {}

  std::string write() {
    scope_ = {{"%p0", kTensor}, {"%p1", kTensor}};
    std::string lines;
    for (int i = 0, count = dice_.below(3); i < count; ++i) lines += shared(2);
    std::string body = lines + block(kTensor, 3);
    return "#[version = \"0.0.5\"]\n" + kTypes + "def @main(%p0: " + kTensor + ", %p1: " + kTensor + ") {\n" +
           body + "\n}\n";
  }

 private:
  struct Variable {
    std::string name, type;
  };

  std::string fresh(const char* stem) { return "%" + std::string(stem) + std::to_string(count_++); }
  std::string any_type() { return dice_.word({kTensor, kPair, kNested, "Tree", "Tree", kChain, kPairs}); }

  // A value for several readers: graph, not let.
  std::string shared(int depth) {
    const std::string type = any_type(), value = expression(type, depth);
    const std::string name = "%" + std::to_string(numbered_++);
    scope_.push_back({name, type});
    return name + " = " + value + ";\n";
  }

  /// Lets and shared values, then an expression.
  std::string block(const std::string& type, int depth) {
    const size_t outer = scope_.size();
    std::string lines;
    for (int i = 0, count = dice_.below(3); i < count && depth > 0; ++i) {
      if (dice_.chance(20)) {
        lines += closure(depth - 1);
      } else if (dice_.chance(40)) {
        lines += shared(depth - 1);
      } else {
        const std::string bound = any_type(), value = expression(bound, depth - 1), name = fresh("l");
        lines += "let " + name + " = " + value + ";\n";
        scope_.push_back({name, bound});
      }
    }
    lines += expression(type, depth);
    scope_.resize(outer);
    return lines;
  }

  // let %f = fn (..) {..}; a value of it.
  std::string closure(int depth) {
    const size_t outer = scope_.size();
    const std::string from = any_type(), to = any_type(), name = fresh("f"), param = fresh("a");
    scope_.push_back({param, from});
    const std::string body = block(to, depth);
    scope_.resize(outer);
    const std::string argument = expression(from, 1), result = fresh("l");
    scope_.push_back({result, to});
    return "let " + name + " = fn (" + param + ": " + from + ") -> " + to + " {\n" + body + "\n};\nlet " +
           result + " = " + name + "(" + argument + ");\n";
  }

  std::string variable(const std::string& type) {
    std::vector<std::string> fitting;
    for (const Variable& each : scope_) {
      if (each.type == type) fitting.push_back(each.name);
      const std::vector<ValueForm> shapes = shapes_of(each.type);
      if (shapes.size() != 1) continue;
      for (size_t i = 0; i < shapes[0].parts.size(); ++i)
        if (shapes[0].parts[i] == type) fitting.push_back(each.name + "." + std::to_string(i));
    }
    return fitting.empty() ? "" : dice_.one_of(fitting);
  }

  std::string expression(const std::string& type, int depth) {
    const std::string known = variable(type);
    if (!known.empty() && (depth <= 0 || dice_.chance(25))) return known;
    if (depth > 0 && dice_.chance(45)) return match(type, depth);
    if (depth > 0 && dice_.chance(15)) return branch(type, depth);
    if (type == kTensor) return tensor(depth);
    return made(type, depth);
  }

  std::string tensor(int depth) {
    if (depth <= 0) return variable(kTensor);
    if (dice_.chance(40))
      return dice_.word({"tanh(", "negative(", "copy("}) + expression(kTensor, depth - 1) + ")";
    return dice_.word({"add(", "maximum(", "subtract("}) + expression(kTensor, depth - 1) + ", " +
           expression(kTensor, depth - 1) + ")";
  }

  std::string made(const std::string& type, int depth) {
    std::vector<ValueForm> shapes = shapes_of(type);
    // The type of End alone is not known.
    const bool chain = shapes.back().constructor == "End";
    if (chain) shapes.pop_back();
    if (depth <= 0 && shapes.size() > 1) shapes = {shapes.back()};  // without parts
    const ValueForm shape = dice_.one_of(shapes);
    std::string parts;
    for (const std::string& part : shape.parts) {
      const bool ends = chain && part == type && (depth <= 0 || dice_.chance(50));
      parts += (parts.empty() ? "" : ", ") + (ends ? "End" : expression(part, depth - 1));
    }
    if (!shape.constructor.empty() && shape.parts.empty()) return shape.constructor;
    return shape.constructor + "(" + parts + ")";
  }

  std::string branch(const std::string& type, int depth) {
    const std::string flag = "less(sum(" + expression(kTensor, 0) + "), 0.1f)";
    const std::string then = block(type, depth - 1);
    return "if (" + flag + ") {\n" + then + "\n} else {\n" + block(type, depth - 1) + "\n}";
  }

  std::string match(const std::string& type, int depth) {
    const std::string data = dice_.word({kPair, kNested, "Tree", "Tree", kChain, kPairs, kTensor});
    std::string text = "match (" + expression(data, depth - 1) + ") {\n";
    const int clauses = dice_.below(3);
    for (int i = 0; i < clauses; ++i) text += clause(pattern_or_any(data, 2), type, depth);
    return text + clause(dice_.chance(50) ? "_" : bound(data), type, depth) + "}";
  }
  std::string clause(const std::string& pattern, const std::string& type, int depth) {
    scope_.insert(scope_.end(), bound_.begin(), bound_.end());
    const size_t bound = bound_.size();
    bound_.clear();
    const std::string body = block(type, depth - 1);
    scope_.resize(scope_.size() - bound);
    return pattern + " => {\n" + body + "\n},\n";
  }

  std::string bound(const std::string& type) {
    const std::string name = fresh("b");
    bound_.push_back({name, type});
    return name;
  }
  std::string pattern_or_any(const std::string& type, int depth) {
    const std::vector<ValueForm> shapes = shapes_of(type);
    if (shapes.empty() || depth == 0 || dice_.chance(25)) return dice_.chance(30) ? "_" : bound(type);
    const ValueForm shape = dice_.one_of(shapes);
    std::string parts;
    for (const std::string& part : shape.parts)
      parts += (parts.empty() ? "" : ", ") + pattern_or_any(part, depth - 1);
    if (!shape.constructor.empty() && shape.parts.empty()) return shape.constructor;
    return shape.constructor + "(" + parts + ")";
  }

  Dice dice_;
  int count_ = 0, numbered_ = 0;
  std::vector<Variable> scope_, bound_;
};

}  // namespace

std::string random_patterns(uint64_t seed) { return PatternWriter(seed).write(); }

}  // namespace baton::properties
