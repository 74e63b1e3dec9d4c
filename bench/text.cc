// Parsing and printing are on the path of every command. Bars: print >= 50 MB/s, parse >= 30 MB/s.
#include <string>

#include <benchmark/benchmark.h>

#include "baton/ops/register.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"

namespace {

using namespace baton;

// A network of `layers` convolutions with everything around them, as relay.testing builds one.
std::string network(int layers) {
  std::string text = "#[version = \"0.0.5\"]\ndef @main(%data: Tensor[(1, 64, 56, 56), float32]";
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    text +=
        ", %conv" + n + "_weight: Tensor[(64, 64, 3, 3), float32], %bn" + n + "_gamma: Tensor[(64), float32]";
  }
  text += ") -> Tensor[(1, 64, 56, 56), float32] {\n";
  const std::string type = " /* ty=Tensor[(1, 64, 56, 56), float32] */;\n";
  int number = 0;
  std::string last = "%data";
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i), a = "%" + std::to_string(number),
                      b = "%" + std::to_string(number + 1), c = "%" + std::to_string(number + 2);
    text += "  " + a + " = nn.conv2d(" + last + ", %conv" + n +
            "_weight, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3])" + type;
    text += "  " + b + " = nn.bias_add(" + a + ", %bn" + n + "_gamma)" + type;
    text += "  " + c + " = nn.relu(" + b + ")" + type;
    last = c;
    number += 3;
  }
  return text + "  add(" + last + ", 1f)\n}\n";
}

// The shortest lines there are: all work is in the nodes.
std::string chain(int calls) {
  std::string text = "#[version = \"0.0.5\"]\ndef @main(%x: float32) {\n  %0 = nn.relu(%x);\n";
  for (int i = 1; i < calls; ++i)
    text += "  %" + std::to_string(i) + " = nn.relu(%" + std::to_string(i - 1) + ");\n";
  return text + "  nn.relu(%" + std::to_string(calls - 1) + ")\n}\n";
}

void parse(benchmark::State& state, const std::string& text) {
  register_all_ops();
  for (auto _ : state) benchmark::DoNotOptimize(parse_module(text));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}

void print(benchmark::State& state, const std::string& text) {
  register_all_ops();
  const IRModule module = parse_module(text);
  PrintOptions options;
  options.spans = false;
  size_t size = 0;
  for (auto _ : state) {
    const std::string out = baton::print(*module, options);
    size = out.size();
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(size));
}

void BM_ParseNetwork(benchmark::State& state) { parse(state, network(static_cast<int>(state.range(0)))); }
void BM_PrintNetwork(benchmark::State& state) { print(state, network(static_cast<int>(state.range(0)))); }
void BM_ParseChain(benchmark::State& state) { parse(state, chain(static_cast<int>(state.range(0)))); }
void BM_PrintChain(benchmark::State& state) { print(state, chain(static_cast<int>(state.range(0)))); }

BENCHMARK(BM_ParseNetwork)->Arg(20)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_PrintNetwork)->Arg(20)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ParseChain)->Arg(1000)->Arg(1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_PrintChain)->Arg(1000)->Arg(1000000)->Unit(benchmark::kMillisecond);

}  // namespace
