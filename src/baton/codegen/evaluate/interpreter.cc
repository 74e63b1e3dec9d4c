// Translates the Halide expressions of a compute into an ElementProgram. Pure Funcs are inlined; a Func with
// reductions becomes a loop that computes, for each element of the chunk, the requested value. Common
// subexpressions are merged (value numbering), and each instruction is hoisted to the outermost loop that its
// operands allow.
#include "baton/codegen/evaluate/interpreter.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "baton/codegen/evaluate/interpreter_program.h"
#include "baton/codegen/evaluate/make_strided.h"
#include "baton/codegen/kernel/lower.h"
#include "baton/runtime/thread_pool.h"

namespace baton {
namespace {

namespace hi = Halide::Internal;

/// Thrown for an unsupported expression; the caller then compiles instead.
struct Unknown {
  std::string what;
};

constexpr size_t kMostInstructions = 4000;
// Measured time per instruction and element; a division or exp counts as 8.
constexpr double kSecondsPerStep = 0.6e-9;
constexpr double kSecondsPerStridedStep = 0.2e-9;

std::string type_name(Halide::Type type) {
  return (type.is_float() ? "float" : type.is_int() ? "int" : "uint") + std::to_string(type.bits());
}

bool is_truth(Halide::Type type) { return type.is_uint() && type.bits() == 1; }

RegKind kind_of(Halide::Type type) {
  if (type.lanes() != 1) throw Unknown{"vectors"};
  if (type.is_float() && type.bits() == 32) return RegKind::kF32;
  if (type.is_float() && type.bits() == 64) return RegKind::kF64;
  if (type.is_int() && type.bits() <= 32) return RegKind::kI32;
  if (type.is_uint() && type.bits() <= 16) return RegKind::kI32;
  if ((type.is_int() && type.bits() == 64) || (type.is_uint() && type.bits() == 32)) return RegKind::kI64;
  throw Unknown{"type " + type_name(type)};
}

LoadTable::Element element_of(Halide::Type type) {
  using Element = LoadTable::Element;
  if (type.is_float() && type.bits() == 32) return Element::kF32;
  if (type.is_float() && type.bits() == 64) return Element::kF64;
  if (type.is_uint() && type.bits() <= 8) return Element::kU8;
  if (type.is_int() && type.bits() == 8) return Element::kI8;
  if (type.is_int() && type.bits() == 16) return Element::kI16;
  if (type.is_uint() && type.bits() == 16) return Element::kU16;
  if (type.is_int() && type.bits() == 32) return Element::kI32;
  if (type.is_uint() && type.bits() == 32) return Element::kU32;
  if (type.is_int() && type.bits() == 64) return Element::kI64;
  throw Unknown{"type " + type_name(type)};
}

double (*unary_function(const std::string& name))(double) {
  static const std::map<std::string, double (*)(double)> known = {
      {"exp", std::exp},     {"log", std::log},     {"sqrt", std::sqrt},       {"sin", std::sin},
      {"cos", std::cos},     {"tan", std::tan},     {"asin", std::asin},       {"acos", std::acos},
      {"atan", std::atan},   {"sinh", std::sinh},   {"cosh", std::cosh},       {"tanh", std::tanh},
      {"asinh", std::asinh}, {"acosh", std::acosh}, {"atanh", std::atanh},     {"ceil", std::ceil},
      {"floor", std::floor}, {"trunc", std::trunc}, {"round", std::nearbyint}, {"abs", std::fabs},
  };
  const auto at = known.find(name);
  return at == known.end() ? nullptr : at->second;
}

double (*binary_function(const std::string& name))(double, double) {
  if (name == "pow") return std::pow;
  if (name == "atan2") return std::atan2;
  return nullptr;
}

void set_wrap(Instruction& i, Halide::Type type) {
  if (!type.is_int_or_uint() || is_truth(type)) return;
  const int held = kind_of(type) == RegKind::kI32 ? 32 : 64;
  if (type.bits() == held && type.is_int()) return;
  i.wrap_bits = static_cast<uint8_t>(type.bits());
  i.wrap_unsigned = type.is_uint();
}

int64_t bits_of(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Writes instructions into the body of the program and its loops, each as far out as its operands are. Equal
/// instructions share a register.
class InstructionWriter {
  /// A block being emitted: the body (-1) or a loop.
  struct Block {
    int loop;
    std::vector<Instruction>* code;
  };

 public:
  InstructionWriter() { open_.push_back({-1, &program_.body}); }

  ElementProgram& program() { return program_; }
  ElementProgram finish() {
    for (Loop& loop : loops_) program_.loops.push_back(std::move(loop));
    return std::move(program_);
  }

  int fresh_register(int depth) {
    depth_.push_back(depth);
    return program_.num_registers++;
  }

  /// The number of loops around the innermost of these registers; negative ones are none.
  int depth_of(std::span<const int> registers) const {
    int depth = 0;
    for (const int reg : registers)
      if (reg >= 0) depth = std::max(depth, depth_[static_cast<size_t>(reg)]);
    return depth;
  }

  int depth_of(int reg) const { return depth_[static_cast<size_t>(reg)]; }

  /// Puts it into the block of its operands. Returns its register, or that of an equal instruction.
  int emit(Instruction i) {
    const int depth = depth_of(std::array{i.a, i.b, i.c});
    const std::array<int64_t, 12> key = {
        int64_t(i.op),
        int64_t(i.kind),
        int64_t(i.from),
        i.wrap_bits,
        i.wrap_unsigned * 2 + i.truth,
        i.a,
        i.b,
        i.c,
        i.table,
        i.integer,
        bits_of(i.real),
        int64_t(reinterpret_cast<intptr_t>(i.unary)) ^ int64_t(reinterpret_cast<intptr_t>(i.binary))};
    const auto [at, fresh] = numbers_.emplace(key, -1);
    if (!fresh) return at->second;
    if (numbers_.size() > kMostInstructions)
      throw Unknown{"more than " + std::to_string(kMostInstructions) + " instructions"};
    i.dst = fresh_register(depth);
    open_[depth].code->push_back(i);
    return at->second = i.dst;
  }

  int constant(RegKind kind, int64_t integer, double real) {
    Instruction i;
    i.op = Opcode::kConstant;
    i.kind = kind;
    i.integer = integer;
    i.real = real;
    const int reg = emit(i);
    constants_[reg] = integer;
    return reg;
  }

  int arithmetic(Opcode op, Halide::Type type, int a, int b) {
    Instruction i;
    i.op = op;
    i.kind = kind_of(type);
    i.a = a;
    i.b = b;
    // Blocked layouts often divide by powers of two; a shift rounds down, as required.
    const auto power = constants_.find(b);
    if (type.is_int() && (op == Opcode::kDiv || op == Opcode::kMod) && power != constants_.end() &&
        power->second > 0 && (power->second & (power->second - 1)) == 0) {
      const int64_t value = power->second;
      i.op = op == Opcode::kDiv ? Opcode::kShiftRight : Opcode::kBitAnd;
      i.b =
          constant(i.kind, op == Opcode::kDiv ? __builtin_ctzll(static_cast<uint64_t>(value)) : value - 1, 0);
    }
    if (is_truth(type) && op != Opcode::kMin && op != Opcode::kMax && op != Opcode::kBitAnd &&
        op != Opcode::kBitOr && op != Opcode::kBitXor)
      throw Unknown{"arithmetic on bool"};
    set_wrap(i, type);
    return emit(i);
  }

  int compare(Opcode op, RegKind of, int a, int b) {
    Instruction i;
    i.op = op;
    i.kind = RegKind::kI32;
    i.from = of;
    i.a = a;
    i.b = b;
    return emit(i);
  }

  int logic(Opcode op, int a, int b) {
    Instruction i;
    i.op = op;
    i.a = a;
    i.b = b;
    return emit(i);
  }

  int select(Halide::Type type, int condition, int yes, int no) {
    if (yes == no) return yes;
    Instruction i;
    i.op = Opcode::kSelect;
    i.kind = kind_of(type);
    i.a = condition;
    i.b = yes;
    i.c = no;
    return emit(i);
  }

  int mathematics(Halide::Type type, double (*function)(double), int a) {
    Instruction i;
    i.op = Opcode::kUnary;
    i.kind = kind_of(type);
    i.unary = function;
    i.a = a;
    if (i.kind != RegKind::kF32 && i.kind != RegKind::kF64) throw Unknown{"mathematics of that type"};
    return emit(i);
  }

  int table_of(const LoadTable& table) {
    for (size_t i = 0; i < program_.tables.size(); ++i)
      if (program_.tables[i].data == table.data && program_.tables[i].element == table.element)
        return static_cast<int>(i);
    program_.tables.push_back(table);
    return static_cast<int>(program_.tables.size()) - 1;
  }

  /// A copy of a register in the loop that is opened next at this depth, which may change it.
  int accumulator_of(int reg, int depth) {
    Instruction start;
    start.op = Opcode::kCopy;
    start.dst = fresh_register(depth + 1);
    start.a = reg;
    open_[depth].code->push_back(start);
    return start.dst;
  }

  using Numbers = std::map<std::array<int64_t, 12>, int>;
  /// What waits until a loop in an outer block is done.
  struct Deeper {
    int loop;  ///< the one that is opened
    std::vector<Block> blocks;
    Numbers numbers;
  };
  Deeper open_loop(int depth) {
    Deeper deeper{static_cast<int>(loops_.size()), {open_.begin() + depth + 1, open_.end()}, {}};
    open_.resize(static_cast<size_t>(depth) + 1);
    deeper.numbers = take_deeper(numbers_, depth);
    loops_.emplace_back();
    return deeper;
  }
  /// What follows, until the loop is closed, is in its body.
  void begin_body(const Deeper& deeper) {
    code_.push_back(std::make_unique<std::vector<Instruction>>());
    open_.push_back({deeper.loop, code_.back().get()});
  }
  void close_loop(Loop loop, Deeper deeper) {
    loop.body = std::move(*open_.back().code);
    open_.pop_back();
    const int depth = static_cast<int>(open_.size()) - 1;
    take_deeper(numbers_, depth);  // values inside the loop are out of scope now
    Instruction run;
    run.op = Opcode::kLoop;
    run.table = deeper.loop;
    open_.back().code->push_back(run);
    for (const int reg : loop.accumulators) depth_[reg] = depth;
    loops_[deeper.loop] = std::move(loop);
    open_.insert(open_.end(), deeper.blocks.begin(), deeper.blocks.end());
    numbers_.merge(deeper.numbers);
  }

  /// Removes entries in loops deeper than `depth`.
  template <class Map>
  Map take_deeper(Map& from, int depth) const {
    Map taken;
    for (auto at = from.begin(); at != from.end();) {
      const auto next = std::next(at);
      if (depth_of(at->second) > depth) taken.insert(from.extract(at));
      at = next;
    }
    return taken;
  }

 private:
  ElementProgram program_;
  std::vector<Block> open_;  // by depth
  std::vector<int> depth_;   // of each register: number of enclosing loops
  Numbers numbers_;
  std::unordered_map<int, int64_t> constants_;  // registers holding an integer constant
  std::vector<Loop> loops_;
  std::vector<std::unique_ptr<std::vector<Instruction>>> code_;
};

using NamedInputs = std::map<std::string, const NDArray*>;

/// The elements that a call reads, and the strides of their dimensions.
std::pair<LoadTable, std::vector<int64_t>> table_of(const hi::Call& e, const NamedInputs& inputs) {
  LoadTable table;
  std::vector<int64_t> strides;
  if (e.image.defined()) {
    table.data = e.image.data();
    table.count = static_cast<int64_t>(e.image.number_of_elements());
    table.element = element_of(e.image.type());
    for (int d = 0; d < e.image.dimensions(); ++d) strides.push_back(e.image.dim(d).stride());
  } else {
    const auto at = inputs.find(e.param.name());
    if (at == inputs.end()) throw Unknown{"image " + e.param.name()};
    const NDArray& array = *at->second;
    table.data = array.data();
    table.count = array.size();
    table.element = element_of(halide_type(array.dtype()));
    int64_t stride = 1;
    for (int d = array.ndim() - 1; d >= 0; --d) {
      strides.push_back(stride);
      stride *= array.shape()[d];
    }
  }
  if (table.count <= 0 || table.count > INT32_MAX) throw Unknown{"an array of that size"};
  return {table, strides};
}

class Translator {
 public:
  Translator(const LoweredKernel& kernel, const std::vector<NDArray>& inputs) {
    for (size_t i = 0; i < kernel.inputs.size(); ++i) inputs_[kernel.inputs[i].name()] = &inputs[i];
  }

  ElementProgram run(const Tensor& output) {
    ElementProgram& program = code_.program();
    const std::vector<Halide::Var> args = output.func().args();
    Environment env;
    for (size_t d = 0; d < args.size(); ++d) {
      const int reg = code_.fresh_register(0);
      program.variables.push_back(reg);
      program.extents.push_back(static_cast<int32_t>(output.extent(output.rank() - 1 - static_cast<int>(d))));
      env.variables[args[d].name()] = reg;
    }
    std::vector<int> at;
    for (const Halide::Var& arg : args) at.push_back(env.variables[arg.name()]);
    program.result = call(output.func().function(), at, 0);
    program.result_kind = kind_of(output.func().types().front());
    return code_.finish();
  }

 private:
  /// The variables in scope, and the translated expressions of one definition.
  struct Environment {
    std::unordered_map<std::string, int> variables;
    std::unordered_map<const hi::IRNode*, int> done;
    // In an update definition: the function itself, at these positions, is the accumulator.
    std::string self;
    std::vector<int> self_at, accumulators;
  };

  int comparison(Opcode op, const Halide::Expr& a, const Halide::Expr& b, Environment& env) {
    const int left = eval(a, env), right = eval(b, env);
    return code_.compare(op, kind_of(a.type()), left, right);
  }

  int eval(const Halide::Expr& expr, Environment& env) {
    const auto known = env.done.find(expr.get());
    if (known != env.done.end()) return known->second;
    const int reg = translate(expr, env);
    env.done[expr.get()] = reg;
    return reg;
  }

  template <class Node>
  int two(Opcode op, const Node* node, Environment& env) {
    const int a = eval(node->a, env), b = eval(node->b, env);
    return code_.arithmetic(op, node->type, a, b);
  }

  int translate(const Halide::Expr& expr, Environment& env) {
    const Halide::Type type = expr.type();
    if (const auto* e = expr.as<hi::IntImm>()) return code_.constant(kind_of(type), e->value, 0);
    if (const auto* e = expr.as<hi::UIntImm>())
      return code_.constant(kind_of(type), static_cast<int64_t>(e->value), 0);
    if (const auto* e = expr.as<hi::FloatImm>()) return code_.constant(kind_of(type), 0, e->value);
    if (const auto* e = expr.as<hi::Variable>()) return variable(*e, env);
    if (const auto* e = expr.as<hi::Cast>()) return cast(type, e->value, env);
    if (const auto* e = expr.as<hi::Reinterpret>()) return reinterpret(type, e->value, env);
    if (const auto* e = expr.as<hi::Add>()) return two(Opcode::kAdd, e, env);
    if (const auto* e = expr.as<hi::Sub>()) return two(Opcode::kSub, e, env);
    if (const auto* e = expr.as<hi::Mul>()) return two(Opcode::kMul, e, env);
    if (const auto* e = expr.as<hi::Div>()) return two(Opcode::kDiv, e, env);
    if (const auto* e = expr.as<hi::Mod>()) return two(Opcode::kMod, e, env);
    if (const auto* e = expr.as<hi::Min>()) return two(Opcode::kMin, e, env);
    if (const auto* e = expr.as<hi::Max>()) return two(Opcode::kMax, e, env);
    if (const auto* e = expr.as<hi::EQ>()) return comparison(Opcode::kEq, e->a, e->b, env);
    if (const auto* e = expr.as<hi::NE>()) return comparison(Opcode::kNe, e->a, e->b, env);
    if (const auto* e = expr.as<hi::LT>()) return comparison(Opcode::kLt, e->a, e->b, env);
    if (const auto* e = expr.as<hi::LE>()) return comparison(Opcode::kLe, e->a, e->b, env);
    if (const auto* e = expr.as<hi::GT>()) return comparison(Opcode::kLt, e->b, e->a, env);
    if (const auto* e = expr.as<hi::GE>()) return comparison(Opcode::kLe, e->b, e->a, env);
    if (const auto* e = expr.as<hi::And>())
      return code_.logic(Opcode::kAnd, eval(e->a, env), eval(e->b, env));
    if (const auto* e = expr.as<hi::Or>()) return code_.logic(Opcode::kOr, eval(e->a, env), eval(e->b, env));
    if (const auto* e = expr.as<hi::Not>()) return code_.logic(Opcode::kNot, eval(e->a, env), -1);
    if (const auto* e = expr.as<hi::Select>()) {
      const int condition = eval(e->condition, env), yes = eval(e->true_value, env),
                no = eval(e->false_value, env);
      return code_.select(type, condition, yes, no);
    }
    if (const auto* e = expr.as<hi::Let>()) {
      Environment inner = env;
      inner.done.clear();  // the name may be bound differently outside
      inner.variables[e->name] = eval(e->value, env);
      return eval(e->body, inner);
    }
    if (const auto* e = expr.as<hi::Call>()) return call_node(*e, env);
    throw Unknown{"an expression of kind " + std::to_string(static_cast<int>(expr.node_type()))};
  }

  static int variable(const hi::Variable& e, Environment& env) {
    const auto at = env.variables.find(e.name);
    if (at == env.variables.end()) throw Unknown{"variable " + e.name};
    return at->second;
  }

  int cast(Halide::Type to, const Halide::Expr& value, Environment& env) {
    const Halide::Type from = value.type();
    const int a = eval(value, env);
    if (to == from) return a;
    Instruction i;
    i.op = Opcode::kCast;
    i.kind = kind_of(to);
    i.from = kind_of(from);
    i.a = a;
    i.truth = is_truth(to);
    set_wrap(i, to);
    // A no-op: values of a narrower type of the same sign are values of the wider type.
    if (i.kind == i.from && from.is_int_or_uint() && !is_truth(to) && i.wrap_bits == 0) return a;
    return code_.emit(i);
  }

  int reinterpret(Halide::Type to, const Halide::Expr& value, Environment& env) {
    const Halide::Type from = value.type();
    const int a = eval(value, env);
    if (to == from) return a;
    // Narrower types are held in wider registers: their bits are elsewhere.
    if (to.bits() < 32 || from.bits() != to.bits()) throw Unknown{"bits of " + type_name(from)};
    Instruction i;
    i.op = Opcode::kReinterpret;
    i.kind = kind_of(to);
    i.from = kind_of(from);
    i.a = a;
    set_wrap(i, to);
    return code_.emit(i);
  }

  int call_node(const hi::Call& e, Environment& env) {
    if (e.call_type == hi::Call::Halide) return call_halide(e, env);
    if (e.call_type == hi::Call::Image) return load(e, env);
    if (e.is_intrinsic()) return intrinsic(e, env);
    return library(e, env);
  }

  int call_halide(const hi::Call& e, Environment& env) {
    std::vector<int> at;
    for (const Halide::Expr& arg : e.args) at.push_back(eval(arg, env));
    if (!env.self.empty() && e.name == env.self) {
      if (at != env.self_at) throw Unknown{"a scan"};  // reads other elements of itself
      return env.accumulators.at(e.value_index);
    }
    return call(hi::Function(e.func), at, e.value_index);
  }

  int call(const hi::Function& function, const std::vector<int>& at, int value_index) {
    std::vector<int64_t> key(at.begin(), at.end());
    const auto known = calls_.find({function.name(), key});
    if (known != calls_.end()) return known->second.at(value_index);
    if (function.has_extern_definition() || !function.has_pure_definition()) throw Unknown{"an extern stage"};
    Environment env;
    for (size_t i = 0; i < at.size(); ++i) env.variables[function.args()[i]] = at[i];
    std::vector<int> values;
    for (const Halide::Expr& value : function.values()) values.push_back(eval(value, env));
    for (const hi::Definition& update : function.updates())
      values = reduce(function, update, at, std::move(values));
    calls_[{function.name(), key}] = values;
    return values.at(value_index);
  }

  std::vector<int> reduce(const hi::Function& function, const hi::Definition& update,
                          const std::vector<int>& at, std::vector<int> values) {
    for (size_t i = 0; i < update.args().size(); ++i) {
      const auto* arg = update.args()[i].as<hi::Variable>();
      if (!arg || arg->name != function.args()[i]) throw Unknown{"a scatter"};
    }
    // The loop is placed in the block of its operands; deeper blocks are suspended until it is done.
    const int depth = std::max(code_.depth_of(at), code_.depth_of(values));
    InstructionWriter::Deeper deeper = code_.open_loop(depth);
    auto hidden_calls = code_.take_deeper(calls_, depth);

    Environment env;
    env.self = function.name();
    env.self_at = at;
    for (size_t i = 0; i < at.size(); ++i) env.variables[function.args()[i]] = at[i];
    Loop loop;
    for (const hi::ReductionVariable& r : update.schedule().rvars()) {
      const auto min = hi::as_const_int(hi::simplify(r.min)),
                 extent = hi::as_const_int(hi::simplify(r.extent));
      if (!min || !extent || *extent <= 0 || *extent > INT32_MAX)
        throw Unknown{"a reduction without constant bounds"};
      const int reg = code_.fresh_register(depth + 1);
      loop.variables.push_back({reg, static_cast<int32_t>(*min), static_cast<int32_t>(*extent)});
      env.variables[r.var] = reg;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      loop.accumulators.push_back(code_.accumulator_of(values[i], depth));
      loop.kinds.push_back(kind_of(update.values()[i].type()));
    }
    env.accumulators = loop.accumulators;
    code_.begin_body(deeper);
    for (const Halide::Expr& value : update.values()) loop.next.push_back(eval(value, env));
    if (!hi::is_const_one(update.predicate())) loop.predicate = eval(update.predicate(), env);
    code_.close_loop(std::move(loop), std::move(deeper));
    code_.take_deeper(calls_, depth);
    calls_.merge(hidden_calls);
    return env.accumulators;
  }

  int load(const hi::Call& e, Environment& env) {
    const auto [table, strides] = table_of(e, inputs_);
    int offset = code_.constant(RegKind::kI32, 0, 0);
    const int zero = offset;
    for (size_t d = 0; d < e.args.size(); ++d) {
      int step = eval(e.args[d], env);
      if (kind_of(e.args[d].type()) != RegKind::kI32) step = cast(Halide::Int(32), e.args[d], env);
      if (step == zero) continue;
      if (strides[d] != 1)
        step = code_.arithmetic(Opcode::kMul, Halide::Int(32), step,
                                code_.constant(RegKind::kI32, strides[d], 0));
      offset = offset == zero ? step : code_.arithmetic(Opcode::kAdd, Halide::Int(32), offset, step);
    }
    Instruction i;
    i.op = Opcode::kLoad;
    i.kind = kind_of(e.type);
    i.a = offset;
    i.table = code_.table_of(table);
    return code_.emit(i);
  }

  int intrinsic(const hi::Call& e, Environment& env) {
    using C = hi::Call;
    const auto arg = [&](int i) { return eval(e.args.at(i), env); };
    if (e.is_intrinsic({C::likely, C::likely_if_innermost, C::promise_clamped})) return arg(0);
    if (e.is_intrinsic(C::strict_add)) return code_.arithmetic(Opcode::kAdd, e.type, arg(0), arg(1));
    if (e.is_intrinsic(C::strict_sub)) return code_.arithmetic(Opcode::kSub, e.type, arg(0), arg(1));
    if (e.is_intrinsic(C::strict_mul)) return code_.arithmetic(Opcode::kMul, e.type, arg(0), arg(1));
    if (e.is_intrinsic(C::strict_div)) return code_.arithmetic(Opcode::kDiv, e.type, arg(0), arg(1));
    // NaN and a number give the second operand, as in kernels; kMin and kMax take the first.
    if (e.is_intrinsic({C::strict_min, C::strict_max})) {
      const int first = arg(0), second = arg(1);
      return code_.arithmetic(e.is_intrinsic(C::strict_min) ? Opcode::kMin : Opcode::kMax, e.type, second,
                              first);
    }
    if (e.is_intrinsic(C::strict_eq)) return comparison(Opcode::kEq, e.args[0], e.args[1], env);
    if (e.is_intrinsic(C::strict_lt)) return comparison(Opcode::kLt, e.args[0], e.args[1], env);
    if (e.is_intrinsic(C::strict_le)) return comparison(Opcode::kLe, e.args[0], e.args[1], env);
    if (e.is_intrinsic(C::if_then_else) && e.args.size() == 3)
      return code_.select(e.type, arg(0), arg(1), arg(2));
    if (e.is_intrinsic(C::bitwise_and)) return code_.arithmetic(Opcode::kBitAnd, e.type, arg(0), arg(1));
    if (e.is_intrinsic(C::bitwise_or)) return code_.arithmetic(Opcode::kBitOr, e.type, arg(0), arg(1));
    if (e.is_intrinsic(C::bitwise_xor)) return code_.arithmetic(Opcode::kBitXor, e.type, arg(0), arg(1));
    if (e.is_intrinsic({C::shift_left, C::shift_right}))
      return code_.arithmetic(e.is_intrinsic(C::shift_left) ? Opcode::kShiftLeft : Opcode::kShiftRight,
                              e.type, arg(0), cast(e.type, e.args[1], env));
    if (e.is_intrinsic(C::abs)) {
      const Halide::Type from = e.args[0].type();
      if (!from.is_float()) throw Unknown{"abs of integers"};
      return code_.mathematics(from, unary_function("abs"), arg(0));
    }
    if (e.is_intrinsic(C::round)) return code_.mathematics(e.type, unary_function("round"), arg(0));
    if (e.is_intrinsic(C::mux)) {
      const int which = arg(0);
      int value = eval(e.args.back(), env);
      for (size_t i = e.args.size() - 1; i-- > 1;) {
        const int number = code_.constant(RegKind::kI32, static_cast<int64_t>(i) - 1, 0);
        value = code_.select(e.type, code_.compare(Opcode::kEq, RegKind::kI32, which, number),
                             eval(e.args[i], env), value);
      }
      return value;
    }
    throw Unknown{"intrinsic " + e.name};
  }

  /// Math library calls: "exp_f32" -> exp, ...
  int library(const hi::Call& e, Environment& env) {
    const size_t suffix = e.name.rfind("_f");
    if (suffix != std::string::npos && e.args.size() == 1 && e.name.substr(0, suffix) == "is_nan") {
      const int value = eval(e.args[0], env);
      return code_.compare(Opcode::kNe, kind_of(e.args[0].type()), value, value);
    }
    if (suffix == std::string::npos || !e.type.is_float()) throw Unknown{"function " + e.name};
    const std::string name = e.name.substr(0, suffix);
    if (e.args.size() == 1 && e.args[0].type() == e.type && e.type.is_float()) {
      if (const auto function = unary_function(name))
        return code_.mathematics(e.type, function, eval(e.args[0], env));
    }
    if (e.args.size() == 2) {
      if (const auto function = binary_function(name)) {
        Instruction i;
        i.op = Opcode::kBinaryMath;
        i.kind = kind_of(e.type);
        i.binary = function;
        i.a = eval(e.args[0], env);
        i.b = eval(e.args[1], env);
        return code_.emit(i);
      }
    }
    throw Unknown{"function " + e.name};
  }

  InstructionWriter code_;
  NamedInputs inputs_;
  std::map<std::pair<std::string, std::vector<int64_t>>, std::vector<int>> calls_;
};

template <class Stored, class Held>
void store_as(NDArray& output, const std::vector<int64_t>& registers, int reg, int64_t begin, int count) {
  const Held* from = reinterpret_cast<const Held*>(registers.data() + static_cast<size_t>(reg) * kChunk);
  Stored* to = static_cast<Stored*>(output.data()) + begin;
  for (int k = 0; k < count; ++k) to[k] = static_cast<Stored>(from[k]);
}

void store(NDArray& output, const std::vector<int64_t>& registers, const ElementProgram& program,
           int64_t begin, int count) {
  const int reg = program.result;
  switch (element_of(halide_type(output.dtype()))) {
    case LoadTable::Element::kF32:
      return store_as<float, float>(output, registers, reg, begin, count);
    case LoadTable::Element::kF64:
      return store_as<double, double>(output, registers, reg, begin, count);
    case LoadTable::Element::kI8:
      return store_as<int8_t, int32_t>(output, registers, reg, begin, count);
    case LoadTable::Element::kU8:
      return store_as<uint8_t, int32_t>(output, registers, reg, begin, count);
    case LoadTable::Element::kI16:
      return store_as<int16_t, int32_t>(output, registers, reg, begin, count);
    case LoadTable::Element::kU16:
      return store_as<uint16_t, int32_t>(output, registers, reg, begin, count);
    case LoadTable::Element::kI32:
      return store_as<int32_t, int32_t>(output, registers, reg, begin, count);
    case LoadTable::Element::kU32:
      return store_as<uint32_t, int64_t>(output, registers, reg, begin, count);
    case LoadTable::Element::kI64:
      return store_as<int64_t, int64_t>(output, registers, reg, begin, count);
  }
}

/// All chunks of one output, in parallel when there are many.
struct Job {
  const ElementProgram& program;
  NDArray& output;
  int64_t chunks, tasks;
  std::atomic<bool> undefined = false;

  static int run_task(void*, int task, uint8_t* closure) {
    Job& job = *reinterpret_cast<Job*>(closure);
    std::vector<int64_t> registers(static_cast<size_t>(job.program.num_registers) * kChunk);
    for (int64_t chunk = job.chunks * task / job.tasks; chunk < job.chunks * (task + 1) / job.tasks;
         ++chunk) {
      const int64_t begin = chunk * kChunk;
      job.program.run(registers, begin);
      store(job.output, registers, job.program, begin,
            static_cast<int>(std::min<int64_t>(kChunk, job.output.size() - begin)));
    }
    if (take_undefined_conversion()) job.undefined = true;
    return 0;
  }

  /// False after an undefined conversion.
  bool run() {
    parallel_for(run_task, nullptr, 0, static_cast<int>(tasks), reinterpret_cast<uint8_t*>(this));
    return !undefined;
  }
};

double expected_seconds(const ElementProgram& program, const std::optional<StridedProgram>& strided,
                        int64_t elements) {
  if (strided) return strided->work() * static_cast<double>(strided->positions()) * kSecondsPerStridedStep;
  return program.work() * static_cast<double>(elements) * kSecondsPerStep;
}

}  // namespace

bool interpret(const FunctionNode& function, const std::vector<NDArray>& inputs,
               std::vector<NDArray>& outputs, const InterpretOptions& options, std::string* why) {
  static std::atomic<uint64_t> serial{0};
  std::vector<ElementProgram> programs;
  std::vector<std::optional<StridedProgram>> strided;
  try {
    const LoweredKernel kernel = lower(function, {"baton_interpreted" + std::to_string(serial++), {}});
    double seconds = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      programs.push_back(Translator(kernel, inputs).run(kernel.outputs[i]));
      std::string refusal = "strides are not wanted";
      strided.push_back(options.strided ? make_strided(programs.back(), &refusal) : std::nullopt);
      if (!strided.back() && !options.elementwise) throw Unknown{refusal};
      seconds += expected_seconds(programs.back(), strided.back(), outputs[i].size());
    }
    if (seconds / current_threads() > options.limit_s) {
      if (why) *why = "it would take " + std::to_string(seconds) + " s";
      return false;
    }
  } catch (const Unknown& unknown) {
    if (why) *why = unknown.what;
    return false;
  } catch (const Halide::Error& error) {
    if (why) *why = error.what();
    return false;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].size() == 0) continue;
    const int64_t chunks = (outputs[i].size() + kChunk - 1) / kChunk;
    const int64_t tasks = std::min<int64_t>(chunks, chunks < 64 ? 1 : 4 * current_threads());
    const bool defined = strided[i]
                             ? strided[i]->run(element_of(halide_type(outputs[i].dtype())), outputs[i].data())
                             : Job{programs[i], outputs[i], chunks, tasks}.run();
    if (defined) continue;
    if (why) *why = "it converts NaN, or a float beyond the integers of a type, to that type";
    return false;
  }
  return true;
}

}  // namespace baton
