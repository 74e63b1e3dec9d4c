// Converts an ElementProgram to a StridedProgram. Values are computed on demand backwards from the result, so
// offset computations and dead branches leave no steps. Where the program selects by a position (such as the
// rows of a small matrix), that axis is unrolled: its results become results of one position and share common
// values.
#include "baton/codegen/evaluate/make_strided.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "baton/codegen/evaluate/index_form.h"
#include "baton/codegen/evaluate/strided_axes.h"

namespace baton {
namespace {

constexpr int64_t kMostUnrolled = 64;
constexpr size_t kMostSteps = 4000;

/// These variables must be unrolled for their values to be known.
struct Undecided {
  std::set<int> variables;
};

/// The value of a register: an integer function of positions, or a register of the result program.
struct Value {
  bool is_index = false;
  IndexForm index;
  int reg = -1;
};

class Strider {
 public:
  explicit Strider(const ElementProgram& program) : program_(program) {
    definitions_.assign(program.num_registers, nullptr);
    variables_.assign(program.num_registers, -1);
    for (const Instruction& i : program.body) {
      if (i.op == Opcode::kLoop) throw NotStrided{"a reduction"};
      definitions_[i.dst] = &i;
    }
    for (size_t v = 0; v < program.variables.size(); ++v)
      variables_[program.variables[v]] = static_cast<int>(v);
  }

  StridedProgram run() {
    for (;;) {
      try {
        unroll();
        break;
      } catch (const Undecided& undecided) {
        const size_t before = unrolled_.size();
        unrolled_.insert(undecided.variables.begin(), undecided.variables.end());
        if (unrolled_.size() == before) throw NotStrided{"an index that is not known"};
        int64_t times = 1;
        for (int v : unrolled_)
          if ((times *= program_.extents[v]) > kMostUnrolled) throw NotStrided{"it chooses by position"};
      }
    }
    make_axes(program_.extents, fixed_, accesses_, result_);
    allocate_registers(num_values_, result_);
    result_.tables = program_.tables;
    result_.result_kind = program_.result_kind;
    return std::move(result_);
  }

 private:
  /// Emits one copy of the program for each position along the unrolled axes.
  void unroll() {
    result_ = {};
    accesses_.clear();
    numbers_.clear();
    num_values_ = 0;
    std::vector<int64_t> out_stride(program_.extents.size() + 1, 1);
    for (size_t v = 0; v < program_.extents.size(); ++v)
      out_stride[v + 1] = out_stride[v] * program_.extents[v];
    fixed_.assign(program_.extents.size(), -1);
    for (int v : unrolled_) fixed_[v] = 0;
    for (;;) {
      values_.assign(program_.num_registers, std::nullopt);
      StridedProgram::Step store;
      store.kind = StridedProgram::Step::Kind::kStore;
      store.instruction.a = in_register(value(program_.result), program_.result_kind);
      for (int v : unrolled_) store.base += fixed_[v] * out_stride[v];
      result_.steps.push_back(store);
      auto v = unrolled_.begin();
      for (; v != unrolled_.end() && ++fixed_[*v] == program_.extents[*v]; ++v) fixed_[*v] = 0;
      if (v == unrolled_.end()) return;
    }
  }

  const Value& value(int reg) {
    std::optional<Value>& known = values_[reg];
    if (!known) {
      Value found = variables_[reg] >= 0 ? variable(variables_[reg]) : compute(*definitions_[reg]);
      values_[reg] = std::move(found);
    }
    return *values_[reg];
  }

  Value variable(int v) const {
    if (fixed_[v] >= 0) return {true, {fixed_[v], {}}, -1};
    return {true, IndexForm::variable(v, program_.extents[v]), -1};
  }

  static Value index(IndexForm form, const Instruction& i) {
    // Positions are int32; values outside their type's range would have to wrap.
    const int bits = i.wrap_bits > 0 ? i.wrap_bits : i.kind == RegKind::kI64 ? 62 : 32;
    const bool is_unsigned = i.wrap_bits > 0 && i.wrap_unsigned;
    const int64_t most = (int64_t{1} << (is_unsigned ? bits : bits - 1)) - 1;
    if (form.min() < (is_unsigned ? 0 : -most - 1) || form.max() > most)
      throw NotStrided{"an index overflows"};
    return {true, std::move(form), -1};
  }

  static Value truth(bool holds) { return {true, {holds, {}}, -1}; }

  [[noreturn]] static void undecided(const IndexForm& form) {
    Undecided result;
    for (const IndexForm::Term& term : form.terms) result.variables.insert(term.var);
    throw result;
  }

  Value compute(const Instruction& i) {
    switch (i.op) {
      case Opcode::kConstant:
        if (i.kind == RegKind::kI32 || i.kind == RegKind::kI64) return {true, {i.integer, {}}, -1};
        return emit(i);
      case Opcode::kLoad:
        return load(i);
      case Opcode::kSelect:
        return select(i);
      case Opcode::kAnd:
      case Opcode::kOr:
        return logic(i);
      case Opcode::kCopy:
      case Opcode::kLoop:
        throw NotStrided{"a reduction"};
      default:
        break;
    }
    const Value a = i.a >= 0 ? value(i.a) : Value(), b = i.b >= 0 ? value(i.b) : Value();
    if (a.is_index && (i.b < 0 || b.is_index))
      if (const std::optional<Value> known = on_indices(i, a.index, b.index)) return *known;
    Instruction same = i;
    const bool from_is_kind =
        i.op == Opcode::kCast || i.op == Opcode::kReinterpret || (i.op >= Opcode::kEq && i.op <= Opcode::kLe);
    const RegKind operand = from_is_kind ? i.from : i.op == Opcode::kNot ? RegKind::kI32 : i.kind;
    same.a = in_register(a, operand);
    if (i.b >= 0) same.b = in_register(b, operand);
    return emit(same);
  }

  static std::optional<Value> on_indices(const Instruction& i, const IndexForm& a, const IndexForm& b) {
    switch (i.op) {
      case Opcode::kAdd:
        return index(add(a, b), i);
      case Opcode::kSub:
        return index(add(a, b, -1), i);
      case Opcode::kMul:
        if (b.is_constant()) return index(scale(a, b.constant), i);
        if (a.is_constant()) return index(scale(b, a.constant), i);
        throw NotStrided{"a product of positions"};
      case Opcode::kDiv:
      case Opcode::kMod:
        return quotient(i, a, b, i.op == Opcode::kMod);
      case Opcode::kShiftRight:
        if (!b.is_constant() || b.constant < 0 || b.constant > 30) return std::nullopt;
        return quotient(i, a, {int64_t{1} << b.constant, {}}, false);
      case Opcode::kBitAnd:
        // A bitwise and with a mask of low bits is a remainder.
        if (!b.is_constant() || b.constant < 0 || (b.constant & (b.constant + 1)) != 0) return std::nullopt;
        return quotient(i, a, {b.constant + 1, {}}, true);
      case Opcode::kMin:
      case Opcode::kMax: {
        const IndexForm difference = add(a, b, -1);
        if (difference.max() <= 0) return index(i.op == Opcode::kMin ? a : b, i);
        if (difference.min() >= 0) return index(i.op == Opcode::kMin ? b : a, i);
        undecided(difference);
      }
      case Opcode::kEq:
      case Opcode::kNe:
      case Opcode::kLt:
      case Opcode::kLe:
        return compared(i.op, add(a, b, -1));
      case Opcode::kNot:
        if (!a.is_constant()) undecided(a);
        return truth(a.constant == 0);
      case Opcode::kCast:
        if (i.kind != RegKind::kI32 && i.kind != RegKind::kI64) return std::nullopt;
        if (i.truth) return compared(Opcode::kNe, a);
        return index(a, i);
      default:
        return std::nullopt;
    }
  }

  static Value quotient(const Instruction& i, const IndexForm& a, const IndexForm& b, bool rest) {
    if (!b.is_constant() || b.constant <= 0) throw NotStrided{"a division by a position"};
    const std::optional<Division> divided = divide(a, b.constant);
    if (!divided) undecided(a);
    return index(rest ? divided->rest : divided->quotient, i);
  }

  /// Folds the comparison of a difference with zero.
  static Value compared(Opcode op, const IndexForm& difference) {
    const int64_t min = difference.min(), max = difference.max();
    if (op == Opcode::kLt && (max < 0 || min >= 0)) return truth(max < 0);
    if (op == Opcode::kLe && (max <= 0 || min > 0)) return truth(max <= 0);
    if (op == Opcode::kEq || op == Opcode::kNe) {
      if (difference.is_constant()) return truth((difference.constant == 0) == (op == Opcode::kEq));
      if (max < 0 || min > 0) return truth(op == Opcode::kNe);
    }
    undecided(difference);
  }

  Value select(const Instruction& i) {
    const Value condition = value(i.a);
    if (condition.is_index) {
      if (!condition.index.is_constant()) undecided(condition.index);
      return value(condition.index.constant != 0 ? i.b : i.c);
    }
    Instruction same = i;
    same.a = condition.reg;
    same.b = in_register(value(i.b), i.kind);
    same.c = in_register(value(i.c), i.kind);
    return emit(same);
  }

  Value logic(const Instruction& i) {
    const Value a = value(i.a);
    const bool absorbs = i.op == Opcode::kOr;  // `a or true` is true, `a and false` false
    if (a.is_index && a.index.is_constant() && (a.index.constant != 0) == absorbs) return truth(absorbs);
    const Value b = value(i.b);
    if (b.is_index && b.index.is_constant() && (b.index.constant != 0) == absorbs) return truth(absorbs);
    if (a.is_index && b.is_index) return truth(!absorbs);
    Instruction same = i;
    same.a = in_register(a, RegKind::kI32);
    same.b = in_register(b, RegKind::kI32);
    return emit(same);
  }

  Value load(const Instruction& i) {
    const Value at = value(i.a);
    if (!at.is_index) throw NotStrided{"it reads where its data says"};
    // Out-of-range offsets are clamped by the interpreter, which would need a condition here.
    if (at.index.min() < 0 || at.index.max() >= program_.tables[i.table].count) undecided(at.index);
    StridedProgram::Step step;
    step.kind = StridedProgram::Step::Kind::kLoad;
    step.instruction = i;
    step.instruction.a = -1;
    step.base = at.index.constant;
    std::vector<int64_t> key = {-1, i.table, step.base};
    for (const IndexForm::Term& term : at.index.terms)
      key.insert(key.end(), {term.var, term.div, term.mod, term.coef});
    return number(std::move(key), step, &at.index);
  }

  Value emit(const Instruction& i) {
    StridedProgram::Step step;
    step.instruction = i;
    int64_t real;
    std::memcpy(&real, &i.real, sizeof real);
    return number({static_cast<int64_t>(i.op), static_cast<int64_t>(i.kind), static_cast<int64_t>(i.from),
                   i.wrap_bits, i.wrap_unsigned * 2 + i.truth, i.a, i.b, i.c, i.integer, real,
                   reinterpret_cast<int64_t>(i.unary), reinterpret_cast<int64_t>(i.binary)},
                  step, nullptr);
  }

  /// The value of an existing equal step, or of `step`.
  Value number(std::vector<int64_t> key, StridedProgram::Step step, const IndexForm* access) {
    const auto [at, fresh] = numbers_.emplace(std::move(key), num_values_);
    if (fresh) {
      step.instruction.dst = num_values_++;
      if (step.instruction.op == Opcode::kConstant) {
        result_.constants.push_back(step.instruction);
      } else {
        if (access) accesses_.push_back({result_.steps.size(), access->terms});
        result_.steps.push_back(step);
        if (result_.steps.size() > kMostSteps) throw NotStrided{"too many instructions"};
      }
    }
    return {false, {}, at->second};
  }

  int in_register(const Value& value, RegKind kind) {
    if (!value.is_index) return value.reg;
    if (!value.index.is_constant()) throw NotStrided{"a position is a value"};
    Instruction constant;
    constant.op = Opcode::kConstant;
    constant.kind = kind;
    constant.integer = value.index.constant;
    constant.real = static_cast<double>(value.index.constant);
    return emit(constant).reg;
  }

  const ElementProgram& program_;
  std::vector<const Instruction*> definitions_;  // by register
  std::vector<int> variables_;                   // by register: the variable it holds, or -1
  std::set<int> unrolled_;
  std::vector<int64_t> fixed_;  // by variable: its position along an unrolled axis, or -1
  std::vector<std::optional<Value>> values_;
  std::map<std::vector<int64_t>, int> numbers_;
  std::vector<StridedAccess> accesses_;
  int num_values_ = 0;
  StridedProgram result_;
};

}  // namespace

std::optional<StridedProgram> make_strided(const ElementProgram& program, std::string* why) {
  try {
    return Strider(program).run();
  } catch (const NotStrided& refusal) {
    if (why) *why = refusal.why;
    return std::nullopt;
  }
}

}  // namespace baton
