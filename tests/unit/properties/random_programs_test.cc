// Random programs with control flow, functions, data types and open shapes: the virtual machine gives what
// the interpreter gives.
//
// BATON_RANDOM_SEED=S: only the program of that seed, shown.
#include <cstdlib>
#include <iostream>
#include <map>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/driver/pipeline.h"
#include "baton/driver/vm/build_program.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/interpreter/interpreted_program.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"

#include "driver/program_values.h"
#include "properties/dice.h"

namespace baton::properties {
namespace {

using program::Value;

/// Writes an expression of a kind of type: i int32, b bool, t a static tensor, d one with an open axis, p a
/// tuple, l a list, f a function of int32.
class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : dice_(seed) {}

  std::string text() {
    std::string all = R"(#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil, }
def @open(%x: Tensor[(?, 3), float32]) -> Tensor[(?, 3), float32] { %x }
def @sum(%l: List[int32], %acc: int32) -> int32 {
  match (%l) { Cons(%h, %t) => @sum(%t, add(%acc, %h)), Nil => %acc, }
}
def @upto(%n: int32) -> List[int32] { if (less(%n, 1)) { Nil } else { Cons(%n, @upto(subtract(%n, 1))) } }
def @map(%f: fn (int32) -> int32, %l: List[int32]) -> List[int32] {
  match (%l) { Cons(%h, %t) => Cons(%f(%h), @map(%f, %t)), Nil => Nil, }
}
)";
    for (int i = 0; i < 2; ++i) {
      vars_ = {{'i', "%n"}, {'t', "%x"}, {'d', "%y"}};
      all += "def @helper" + std::to_string(i) +
             "(%n: int32, %x: Tensor[(2, 3), float32], %y: Tensor[(?, 3), float32]) -> int32 {\n" +
             block('i', 3, 2) + "\n}\n";
      ++helpers_;
    }
    vars_ = {{'i', "%n"}, {'b', "%c"}, {'t', "%x"}, {'d', "%y"}};
    return all +
           "def @main(%n: int32, %c: bool, %x: Tensor[(2, 3), float32], %y: Tensor[(?, 3), float32]) {\n" +
           block(0, 4, 5) + "\n}\n";
  }

 private:
  struct Variable {
    char kind;
    std::string name;
  };

  std::string block(char result, int depth, int lets) {
    std::string text;
    for (int i = 0; i < lets; ++i) {
      const char kind = dice_.one_of(std::vector<char>{'i', 'i', 'b', 't', 't', 'd', 'd', 'p', 'l', 'f'});
      const std::string name = "%v" + std::to_string(next_++);
      text += "  let " + name + " = " + expr(kind, depth) + ";\n";
      vars_.push_back({kind, name});
    }
    if (result) return text + "  " + expr(result, depth);
    return text + "  (" + expr('i', 2) + ", " + expr('t', 2) + ", " + expr('d', 2) + ", " + expr('l', 2) +
           ", " + expr('p', 2) + ", " + expr('b', 2) + ")";
  }

  std::string variable(char kind) {
    std::vector<std::string> names;
    for (const Variable& each : vars_)
      if (each.kind == kind) names.push_back(each.name);
    return names.empty() ? "" : dice_.one_of(names);
  }

  std::string expr(char kind, int depth) {
    if (const std::string name = variable(kind); !name.empty() && (depth <= 0 || dice_.chance(35)))
      return name;
    const int d = depth - 1;
    if (depth > 0 && dice_.chance(12) && kind != 'f') return branch_value(kind, d);
    switch (kind) {
      case 'i':
        switch (depth <= 0 ? 0 : dice_.below(9)) {
          case 0:
            return std::to_string(dice_.below(9));
          case 1:
            return "add(" + expr('i', d) + ", " + expr('i', d) + ")";
          case 2:
            return "subtract(" + expr('i', d) + ", " + expr('i', d) + ")";
          case 3:
            return "multiply(" + expr('i', d) + ", " + expr('i', 0) + ")";
          case 4:
            return "minimum(" + expr('i', d) + ", 6)";
          case 5:
            return "@sum(" + expr('l', d) + ", " + expr('i', 0) + ")";
          case 6:
            return call_of_function(d);
          case 7:
            return expr('p', 0) + ".0";
          default:
            if (helpers_ == 0) return "3";
            return "@helper" + std::to_string(dice_.below(helpers_)) + "(minimum(" + expr('i', 0) + ", 3), " +
                   expr('t', d) + ", " + expr('d', 0) + ")";
        }
      case 'b':
        switch (depth <= 0 ? 0 : dice_.below(4)) {
          case 0:
            return dice_.chance(50) ? "True" : "False";
          case 1:
            return "less(" + expr('i', d) + ", " + expr('i', d) + ")";
          case 2:
            return "logical_and(" + expr('b', d) + ", " + expr('b', d) + ")";
          default:
            return "equal(" + expr('i', d) + ", " + expr('i', 0) + ")";
        }
      case 't':
        switch (depth <= 0 ? 0 : dice_.below(6)) {
          case 0:
            return "%x";
          case 1:
            return "add(" + expr('t', d) + ", " + expr('t', d) + ")";
          case 2:
            return "nn.relu(multiply(" + expr('t', d) + ", -0.5f))";
          case 3:
            return expr('p', 0) + ".1";
          case 4:
            return "reshape(transpose(" + expr('t', d) + "), newshape=[2, 3])";
          default:
            return "multiply(" + expr('t', d) + ", cast(minimum(" + expr('i', 0) +
                   ", 3), dtype=\"float32\"))";
        }
      case 'd':
        switch (depth <= 0 ? 0 : dice_.below(6)) {
          case 0:
            return "@open(%y)";
          case 1:
            return "@open(concatenate((" + expr('d', d) + ", " + expr('d', 0) + "), axis=0))";
          case 2:
            return "@open(add(" + expr('d', d) + ", 1f))";
          case 3:
            return "@open(" + expr('t', d) + ")";
          case 4:
            return "@open(nn.softmax(" + expr('d', d) + "))";
          default:
            return "@open(strided_slice(" + expr('d', d) + ", begin=[0], end=[1], strides=[1], axes=[0]))";
        }
      case 'p':
        return "(" + expr('i', d) + ", " + expr('t', d) + ")";
      case 'l':
        switch (depth <= 0 ? 0 : dice_.below(4)) {
          case 0:
            return "@upto(3)";
          case 1:
            return "Cons(" + expr('i', d) + ", " + expr('l', d) + ")";
          case 2:
            return "@upto(minimum(" + expr('i', d) + ", 7))";
          default:
            return "@map(" + function(d) + ", " + expr('l', d) + ")";
        }
      default:
        return function(d);
    }
  }

  /// An if as an operand is bound by a let in braces, which the text does not have: a function without
  /// arguments is called.
  std::string branch_value(char kind, int depth) {
    static const std::map<char, std::string> types = {{'i', "int32"},
                                                      {'b', "bool"},
                                                      {'t', "Tensor[(2, 3), float32]"},
                                                      {'d', "Tensor[(?, 3), float32]"},
                                                      {'p', "(int32, Tensor[(2, 3), float32])"},
                                                      {'l', "List[int32]"}};
    const auto around = vars_;
    std::string text = "fn () -> " + types.at(kind) + " { if (" + expr('b', depth) + ") { ";
    text += block(kind, depth, dice_.below(2));  // what it binds is not seen before it
    vars_ = around;
    text += " } else { " + block(kind, depth, dice_.below(2)) + " } }()";
    vars_ = around;
    return "(" + text + ")";
  }

  std::string function(int depth) {
    const std::string name = "%a" + std::to_string(next_++);
    const auto around = vars_;
    vars_.push_back({'i', name});
    const std::string text = "fn (" + name + ": int32) -> int32 { " + expr('i', std::min(depth, 1)) + " }";
    vars_ = around;
    return text;
  }
  std::string call_of_function(int depth) {
    const std::string name = variable('f');
    return name.empty() ? "add(" + expr('i', depth) + ", 1)" : name + "(" + expr('i', depth) + ")";
  }

  Dice dice_;
  std::vector<Variable> vars_;
  int next_ = 0, helpers_ = 0;
};

/// False for a program that does not type-check.
bool check(uint64_t seed, bool show) {
  const std::string text = RandomProgram(seed).text();
  SCOPED_TRACE("seed " + std::to_string(seed));
  if (show) std::cerr << text;
  const BuildContext context = host_context();
  std::unique_ptr<program::InterpretedProgram> interpreted;
  try {
    interpreted = std::make_unique<program::InterpretedProgram>(parse_module(text), optimize, context);
  } catch (const Error& why) {
    if (show) std::cerr << why.what() << '\n';
    return false;
  }
  const auto built = RunnableProgram::create(build_program(parse_module(text), {.context = context}));
  for (const int n : {0, 3, -2}) {
    const std::vector<Value> args = {test::number(n), test::truth(n > 0), test::floats("x", {2, 3}),
                                     test::floats("y", {n == 3 ? 5 : 1, 3})};
    const Value wanted = interpreted->run(args, context);
    test::expect_equal(built->run("main", args, context), wanted);
    test::expect_equal(built->run("main", args, context), wanted);  // with what the first run left
  }
  return true;
}

void check_all(uint64_t first, uint64_t count) {
  initialize();
  if (const char* only = std::getenv("BATON_RANDOM_SEED")) {
    check(std::strtoull(only, nullptr, 10), true);
    return;
  }
  uint64_t done = 0;
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed)
    done += check(seed, false);
  EXPECT_GT(done, count * 9 / 10);  // else the generator writes wrong programs
}

TEST(RandomPrograms, AsInterpreted) { check_all(0, 30); }
TEST(RandomPrograms, SlowAThousand) { check_all(1000, 1000); }

}  // namespace
}  // namespace baton::properties
