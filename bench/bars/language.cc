// Bars of the language: how fast text is printed and parsed, how fast types are inferred and how that grows
// with the program, and how much stack a chain of a million calls needs. Prints `bar, measured, ok` and exits
// with 1 when one does not hold. CPU time, minimum over bursts.
//
//   language [BURSTS]                 all bars
//   language infer GRAPH LENGTH       one inference in a process of its own, for profilers
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include <pthread.h>
#include <sys/mman.h>

#include "baton/ir/op.h"
#include "baton/ir/structural.h"
#include "baton/ops/register.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"
#include "baton/types/infer_type.h"

#include "bars/bar.h"
#include "bars/measure.h"

namespace baton {
namespace {

using bars::alone;
using bars::cpu_ns;
using bars::report;
using bars::report_least;

constexpr int kShort = 100'000, kLong = 1'000'000;

// ---- Programs

/// A network of `layers` convolutions with everything around them, as relay.testing builds one, with the
/// types printed.
std::string network(int layers) {
  std::string text = "#[version = \"0.0.5\"]\ndef @main(%data: Tensor[(1, 64, 56, 56), float32]";
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    text +=
        ", %conv" + n + "_weight: Tensor[(64, 64, 3, 3), float32], %bn" + n + "_gamma: Tensor[(64), float32]";
  }
  text += ") -> Tensor[(1, 64, 56, 56), float32] {\n";
  const std::string type = " /* ty=Tensor[(1, 64, 56, 56), float32] */;\n";
  std::string last = "%data";
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i), a = "%" + std::to_string(3 * i),
                      b = "%" + std::to_string(3 * i + 1), c = "%" + std::to_string(3 * i + 2);
    text += "  " + a + " = nn.conv2d(" + last + ", %conv" + n +
            "_weight, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3])" + type;
    text += "  " + b + " = nn.bias_add(" + a + ", %bn" + n + "_gamma)" + type;
    text += "  " + c + " = nn.relu(" + b + ")" + type;
    last = c;
  }
  return text + "  add(" + last + ", 1f)\n}\n";
}

/// The shortest lines there are: all work is in the nodes.
std::string chain_text(int calls) {
  std::string text = "#[version = \"0.0.5\"]\ndef @main(%x: float32) {\n  %0 = nn.relu(%x);\n";
  for (int i = 1; i < calls; ++i)
    text += "  %" + std::to_string(i) + " = nn.relu(%" + std::to_string(i - 1) + ");\n";
  return text + "  nn.relu(%" + std::to_string(calls - 1) + ")\n}\n";
}

IRModule chain(int length) {
  const Var x = var("x", tensor_type(std::vector<int64_t>{1, 64, 56, 56}, DType::float_(32)));
  const Var y = var("y", tensor_type(std::vector<int64_t>{64, 1, 1}, DType::float_(32)));
  Expr at = x;
  for (int i = 0; i < length; ++i) at = i % 2 ? call("nn.relu", {at}) : call("add", {at, y});
  return module_from_expr(Expr(function({x, y}, std::move(at))));
}

/// Every node is used twice by the next: 2^length paths.
IRModule diamond(int length) {
  const Var x = var("x", tensor_type(std::vector<int64_t>{1, 64, 56, 56}, DType::float_(32)));
  Expr at = x;
  for (int i = 0; i < length; ++i) at = call(i % 2 ? "multiply" : "add", {at, at});
  return module_from_expr(Expr(function({x}, std::move(at))));
}

// ---- Text

void measure_text(int bursts) {
  const std::array<std::pair<const char*, std::string>, 2> texts = {
      {{"a network of 3,001 calls", network(1000)}, {"a chain of 100,000 calls", chain_text(kShort)}}};
  PrintOptions options;
  options.spans = false;
  for (const auto& [name, text] : texts) {
    const IRModule module = parse_module(text);
    double printing = 1e300, parsing = 1e300;
    size_t printed = 0;
    for (int burst = 0; burst < 2 * bursts; ++burst) {
      std::string out;
      printing = std::min(printing, cpu_ns([&] { out = print(*module, options); }));
      printed = out.size();
      IRModule read;
      parsing = std::min(parsing, cpu_ns([&] { read = parse_module(text); }));
    }
    report_least((std::string("print ") + name).c_str(), 50, static_cast<double>(printed) / printing * 1e3,
                 "MB/s");
    report_least((std::string("parse ") + name).c_str(), 30, static_cast<double>(text.size()) / parsing * 1e3,
                 "MB/s");
  }
}

// ---- Types

using Graph = IRModule (*)(int);

double infer_ns(Graph graph, int length) {
  IRModule module = graph(length);
  return cpu_ns([&] { module = infer_types(std::move(module)); });
}

void measure_growth(const char* name, Graph graph, int bursts) {
  // Both sizes by turns, so that what else the machine does meets both.
  double few = 1e300, many = 1e300;
  for (int burst = 0; burst < bursts; ++burst) {
    for (int i = 0; i < 5; ++i) few = std::min(few, alone([&] { return infer_ns(graph, kShort); }));
    many = std::min(many, alone([&] { return infer_ns(graph, kLong); }));
  }
  const std::string what = std::string("InferType, ") + name + " of ";
  report_least((what + "100,000 nodes").c_str(), 1, kShort / few * 1e3, "M/s");
  std::printf("%-62s %30.3f\n", (what + "1,000,000 nodes, M/s").c_str(), kLong / many * 1e3);
  report((what + "100,000 to 1,000,000: exponent").c_str(), 1.1, std::log(many / few) / std::log(10.0), "");
}

// ---- A million calls on 8 MB

/// Each node is made, printed, parsed, typed, compared and freed here. 0 when something is wrong.
void* million_calls(void*) {
  bool right = false;
  {
    const std::string text = chain_text(kLong - 1);
    PrintOptions options;
    options.types = options.spans = false;
    IRModule module = parse_module(text);
    right = print(*module, options) == text;
    const IRModule again = parse_module(text);
    right = right && structural_equal(*module, *again) && structural_hash(*module) == structural_hash(*again);
    module = infer_types(std::move(module));
    right = right && type_text(module->find("main")->ret_type()) == "float32";
  }
  return reinterpret_cast<void*>(right ? 1 : 0);
}

/// Bytes of stack that `work` used, of 8 MB; more when it could not be run or did not return 1.
double stack_bytes(void* (*work)(void*)) {
  constexpr size_t kStack = 8 << 20;
  void* stack = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return 1e300;
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstack(&attr, stack, kStack);
  pthread_t thread;
  void* right = nullptr;
  const bool ran = pthread_create(&thread, &attr, work, nullptr) == 0 && pthread_join(thread, &right) == 0;
  pthread_attr_destroy(&attr);
  const auto* bytes = static_cast<const unsigned char*>(stack);  // it grows downwards from zeros
  const auto* lowest = std::find_if(bytes, bytes + kStack, [](unsigned char byte) { return byte != 0; });
  const auto unused = static_cast<size_t>(lowest - bytes);
  munmap(stack, kStack);
  return ran && right ? static_cast<double>(kStack - unused) : 1e300;
}

int run(int argc, char** argv) {
  register_all_ops();
  if (argc == 4 && std::strcmp(argv[1], "infer") == 0) {
    const Graph graph = std::strcmp(argv[2], "diamond") == 0 ? diamond : chain;
    std::printf("%.3f ms\n", infer_ns(graph, std::atoi(argv[3])) * 1e-6);
    return 0;
  }
  const int bursts = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  measure_growth("a chain", chain, bursts);
  measure_growth("diamonds", diamond, bursts);
  measure_text(bursts);
  report("a chain of 1,000,000 calls, from text to text and freed: stack", 8,
         stack_bytes(million_calls) / (1 << 20), "MB");
  return bars::all_hold ? 0 : 1;
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) { return baton::run(argc, argv); }
