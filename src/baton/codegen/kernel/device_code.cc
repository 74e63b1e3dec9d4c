#include "baton/codegen/kernel/device_code.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "baton/support/error.h"

namespace baton {

namespace hi = Halide::Internal;

namespace {

constexpr std::string_view kSourceSuffix = "_gpu_source_kernels";

/// A number as the bytes that a device function gets.
std::optional<uint64_t> bits_of(const Halide::Expr& value) {
  if (const auto* number = value.as<hi::IntImm>()) return static_cast<uint64_t>(number->value);
  if (const auto* number = value.as<hi::UIntImm>()) return number->value;
  const auto* number = value.as<hi::FloatImm>();
  if (!number) return std::nullopt;
  uint64_t bits = 0;
  if (value.type().bits() == 64) {
    std::memcpy(&bits, &number->value, sizeof(double));
  } else if (value.type().bits() == 32) {
    const auto narrow = static_cast<float>(number->value);
    std::memcpy(&bits, &narrow, sizeof narrow);
  } else {
    return std::nullopt;
  }
  return bits;
}

/// Executes the host's part of a module at compile time: collects memory and launches.
class HostPart final : public hi::IRVisitor {
 public:
  explicit HostPart(const Halide::Module& module) {
    for (const Halide::Buffer<>& buffer : module.buffers()) {
      buffers_[buffer.name()] = buffer;
      if (buffer.name().ends_with(kSourceSuffix))
        code.source.assign(reinterpret_cast<const char*>(buffer.data()), buffer.size_in_bytes());
    }
    while (!code.source.empty() && code.source.back() == '\0') code.source.pop_back();
    const hi::LoweredFunc& kernel = module.functions().back();
    for (const hi::LoweredArgument& argument : kernel.args) {
      if (!argument.is_buffer()) continue;
      memory_[argument.name] = {DeviceArgument::Kind::kTensor, code.tensors++, 0, 0};
    }
    kernel.body.accept(this);
  }

  DeviceCode code;

 private:
  using IRVisitor::visit;

  [[noreturn]] static void fail(const std::string& what) {
    throw InternalError(__FILE__, __LINE__, "a GPU kernel " + what);
  }

  Halide::Expr value_of(const Halide::Expr& expr) const {
    return hi::simplify(hi::substitute(values_, expr));
  }

  uint64_t number_of(const Halide::Expr& expr, const char* what) const {
    const Halide::Expr value = value_of(expr);
    const std::optional<uint64_t> number = bits_of(value);
    if (!number) {
      std::ostringstream text;
      text << value;
      fail(std::string("has ") + what + " that is not a constant: " + text.str());
    }
    return *number;
  }

  template <class Let>
  void visit_let(const Let* node) {
    node->value.accept(this);
    const Halide::Expr value = node->value.type().is_handle() ? Halide::Expr() : value_of(node->value);
    const bool known = value.defined() && bits_of(value);
    if (known) values_[node->name] = value;
    node->body.accept(this);
    if (known) values_.erase(node->name);
  }
  void visit(const hi::LetStmt* node) override { visit_let(node); }
  void visit(const hi::Let* node) override { visit_let(node); }

  void visit(const hi::Allocate* node) override {
    uint64_t bytes = static_cast<uint64_t>(node->type.bytes());
    for (const Halide::Expr& extent : node->extents) bytes *= number_of(extent, "an extent");
    memory_[node->name] = {DeviceArgument::Kind::kScratch, static_cast<uint32_t>(code.scratch.size()), 0, 0};
    code.scratch.push_back(bytes);
    node->body.accept(this);
  }

  void visit(const hi::For* node) override {
    constexpr int64_t kMostIterations = 1 << 16;
    const auto first = static_cast<int64_t>(number_of(node->min, "a loop's begin"));
    const auto count = static_cast<int64_t>(number_of(node->extent, "a loop's extent"));
    if (count > kMostIterations) fail("has a loop of " + std::to_string(count) + " launches");
    for (int64_t i = first; i < first + count; ++i) {
      values_[node->name] = hi::make_const(Halide::Int(32), i);
      node->body.accept(this);
    }
    values_.erase(node->name);
  }

  void visit(const hi::IfThenElse* node) override {
    if (number_of(node->condition, "a condition")) {
      node->then_case.accept(this);
    } else if (node->else_case.defined()) {
      node->else_case.accept(this);
    }
  }

  void visit(const hi::Store* node) override { fail("stores `" + node->name + "` on the host"); }

  void visit(const hi::Call* node) override {
    if (node->name.starts_with("halide_") && node->name.ends_with("_run") && node->args.size() == 12) {
      add_launch(*node);
    } else if (node->name == "halide_copy_to_host") {
      fail("reads a result on the host");
    } else {
      IRVisitor::visit(node);
    }
  }

  static const hi::Call& list_of(const Halide::Expr& expr) {
    Halide::Expr inner = expr;
    while (const auto* cast = inner.as<hi::Cast>()) inner = cast->value;
    const auto* list = inner.as<hi::Call>();
    if (!list || !list->is_intrinsic(hi::Call::make_struct)) fail("is launched in an unknown way");
    return *list;
  }

  void add_launch(const hi::Call& call) {
    // module state, name, blocks (3), threads (3), bytes of shared memory, sizes, arguments, which are
    // buffers
    DeviceLaunch launch;
    const auto* name = call.args[1].as<hi::StringImm>();
    if (!name) fail("is launched by an unknown name");
    launch.function = name->value;
    for (int axis = 0; axis < 3; ++axis) {
      launch.blocks[axis] = static_cast<uint32_t>(number_of(call.args[2 + axis], "a number of blocks"));
      launch.threads[axis] = static_cast<uint32_t>(number_of(call.args[5 + axis], "a number of threads"));
    }
    launch.shared_bytes = static_cast<uint32_t>(number_of(call.args[8], "a size of shared memory"));
    const hi::Call &sizes = list_of(call.args[9]), &arguments = list_of(call.args[10]),
                   &are_buffers = list_of(call.args[11]);
    for (size_t i = 0; i + 1 < sizes.args.size(); ++i) {  // the last one is 0
      if (number_of(are_buffers.args.at(i), "a kind of argument")) {
        launch.arguments.push_back(memory_named(arguments.args.at(i)));
      } else {
        Halide::Expr value = arguments.args.at(i);
        while (const auto* list = value.as<hi::Call>()) value = list->args.at(0);
        launch.arguments.push_back({DeviceArgument::Kind::kNumber, 0,
                                    static_cast<uint32_t>(number_of(sizes.args[i], "a size")),
                                    number_of(value, "an argument")});
      }
    }
    for (const uint32_t count : launch.blocks)
      if (count == 0) return;  // there is nothing to compute
    code.launches.push_back(std::move(launch));
  }

  /// The memory behind the variable `NAME.buffer`.
  DeviceArgument memory_named(Halide::Expr expr) {
    while (const auto* cast = expr.as<hi::Cast>()) expr = cast->value;
    const auto* variable = expr.as<hi::Variable>();
    if (!variable || !variable->name.ends_with(".buffer")) fail("has an argument that is no buffer");
    const std::string name = variable->name.substr(0, variable->name.size() - std::strlen(".buffer"));
    if (const auto at = memory_.find(name); at != memory_.end()) return at->second;
    const auto at = buffers_.find(name);
    if (at == buffers_.end()) fail("has an argument `" + name + "` of unknown memory");
    const DeviceArgument constant = {DeviceArgument::Kind::kConstant,
                                     static_cast<uint32_t>(code.constants.size()), 0, 0};
    code.constants.emplace_back(reinterpret_cast<const char*>(at->second.data()), at->second.size_in_bytes());
    return memory_[name] = constant;
  }

  std::map<std::string, Halide::Expr> values_;
  std::map<std::string, DeviceArgument> memory_;
  std::map<std::string, Halide::Buffer<>> buffers_;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

/// Whether a name goes on with a stage, or with a Func that Halide makes of another one.
bool is_part_of_func(std::string_view rest) {
  for (const std::string_view made : {"_global_wrapper", "_in_", "_intm_"})
    if (rest.starts_with(made)) return true;
  return rest.size() > 2 && rest.starts_with("_s") && is_digit(rest[2]);
}

/// "_pad_s1_r20__x" -> "_pad_s1_r__x", "_sum__3" -> "_sum", "_sum_3_s0_x" -> "_sum_s0_x", "_158" -> "_t":
/// without the numbers that Halide gives unnamed loops, temporaries, and names seen before. Names of the
/// language do not begin with "_".
std::string without_counts(std::string_view name) {
  if (!name.starts_with('_')) return std::string(name);
  if (name.size() > 1 && std::all_of(name.begin() + 1, name.end(), is_digit)) return "_t";
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    size_t end = i;
    while (end < name.size() && is_digit(name[end])) ++end;
    const bool number = end > i && i >= 2 && !is_digit(name[i - 1]);
    const bool after_two = number && name[i - 1] == '_' && name[i - 2] == '_';
    // In names of kernels: "_sum_2_s0_..."; a stage follows, or what Halide makes of a Func.
    const bool before_stage = number && name[i - 1] == '_' && is_part_of_func(name.substr(end));
    // And of those that were compiled before: "_kernel_.._block_id_x_3", with "_param_0" behind it in PTX.
    const std::string_view before = name.substr(0, i);
    const bool after_block =
        number && (before.ends_with("_id_x_") || before.ends_with("_id_y_") || before.ends_with("_id_z_"));
    const bool loop = number && std::strchr("rtvf", name[i - 1]) && name[i - 2] == '_';
    if (!after_two && !before_stage && !after_block && !loop) {
      text += name[i];
      continue;
    }
    while (!loop && text.ends_with('_')) text.pop_back();  // a name that was not seen before has none
    i = end - 1;
  }
  return text;
}

/// Gives the identifiers of the source names without counts, in the order in which they are first seen.
class StableIdentifiers {
 public:
  std::string rewrite(std::string_view source) {
    std::string text;
    for (size_t at = 0; at < source.size();) {
      const std::string_view word = word_at(source, at);
      text += word.empty() ? std::string(1, source[at]) : renamed(std::string(word));
      at += std::max<size_t>(1, word.size());
    }
    return text;
  }

  std::string renamed(const std::string& word) {
    const auto [at, fresh] = names_.try_emplace(word);
    if (!fresh) return at->second;
    std::string name = without_counts(word);
    const std::string base = name;
    // In the order of their first use, whichever of them had a count.
    for (int& n = counts_[base]; !taken_.insert(name).second;) name = base + "_" + std::to_string(++n);
    return at->second = name;
  }

 private:
  /// Numbers count as words too; they have no letters and stay.
  static std::string_view word_at(std::string_view text, size_t at) {
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    return text.substr(at, end - at);
  }

  std::map<std::string, std::string> names_;
  std::map<std::string, int> counts_;
  std::set<std::string> taken_;
};

/// The source without its comments behind `//`: they name loops and stages with counts of the process.
std::string without_comments(std::string_view source) {
  std::string text;
  while (!source.empty()) {
    const size_t end = std::min(source.find('\n'), source.size());
    std::string_view line = source.substr(0, end);
    source.remove_prefix(std::min(end + 1, source.size()));
    line = line.substr(0, line.find("//"));
    line = line.substr(0, line.find_last_not_of(" \t") + 1);
    if (!line.empty()) text.append(line) += '\n';
  }
  return text;
}

}  // namespace

DeviceCode device_code(const Halide::Module& module) {
  DeviceCode code = std::move(HostPart(module).code);
  StableIdentifiers stable;
  code.source = stable.rewrite(without_comments(code.source));
  for (DeviceLaunch& launch : code.launches) launch.function = stable.renamed(launch.function);
  return code;
}

}  // namespace baton
