#include "baton/map/milp.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>

#include <coin/Cbc_C_Interface.h>
#include <dlfcn.h>

#include "baton/support/error.h"

namespace baton {

namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// CBC's functions. It is loaded on first use: with what it needs itself it takes longer to load than Baton.
struct Cbc {
#define BATON_CBC(function) \
  decltype(&Cbc_##function) function = load<decltype(&Cbc_##function)>("Cbc_" #function)
  BATON_CBC(newModel);
  BATON_CBC(deleteModel);
  BATON_CBC(setLogLevel);
  BATON_CBC(addCol);
  BATON_CBC(addRow);
  BATON_CBC(setMaximumSeconds);
  BATON_CBC(setAllowableFractionGap);
  BATON_CBC(setParameter);
  BATON_CBC(solve);
  BATON_CBC(isProvenInfeasible);
  BATON_CBC(getBestPossibleObjValue);
  BATON_CBC(numberSavedSolutions);
  BATON_CBC(getColSolution);
#undef BATON_CBC

 private:
  template <class Function>
  static Function load(const char* name) {
    static void* const library = dlopen("libCbcSolver.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      throw Error(std::string("the solver CBC cannot be loaded: ") + dlerror() +
                  "\n  on Debian: apt-get install coinor-libcbc3");
    void* const found = dlsym(library, name);
    if (!found) throw Error(std::string("the solver CBC has no ") + name + ": Baton needs CBC 2.10");
    return reinterpret_cast<Function>(found);
  }
};

const Cbc& cbc() {
  static const Cbc functions;
  return functions;
}

// Columns and rows of the program. For each value and format: what is produced in it (a sum of candidates),
// what one conversion makes of that, and what a second one makes of those.
class Program {
 public:
  explicit Program(const MappingProblem& problem)
      : problem_(problem), index_(problem), model_(cbc().newModel(), cbc().deleteModel) {
    cbc().setLogLevel(model_.get(), 0);
    for (const MappingCandidate& candidate : problem.candidates) {
      candidates_.push_back(column(candidate.us));
      values_.push_back(index_.values_of(candidate.nodes));
    }
    cover();
    for (size_t v = 0; v < problem.values.size(); ++v) conversions(static_cast<int>(v));
    limits();
  }

  /// Some of these candidates must go: they wait for each other.
  void exclude(const std::vector<int>& circle) {
    Row row;
    for (const int c : circle) row[candidates_[static_cast<size_t>(c)]] = 1;
    add(row, 'L', static_cast<double>(circle.size()) - 1);
  }

  Cbc_Model* model() const { return model_.get(); }

  std::vector<int> chosen() const {
    const double* x = cbc().getColSolution(model_.get());
    std::vector<int> list;
    for (size_t c = 0; c < candidates_.size(); ++c)
      if (x[candidates_[c]] > 0.5) list.push_back(static_cast<int>(c));
    return list;
  }

 private:
  using Row = std::map<int, double>;  ///< column -> factor

  int column(double us) {
    cbc().addCol(model_.get(), ("x" + std::to_string(columns_)).c_str(), 0, 1, us, 1, 0, nullptr, nullptr);
    return columns_++;
  }

  void add(const Row& row, char sense, double right) {
    std::vector<int> columns;
    std::vector<double> factors;
    for (const auto& [at, factor] : row) {
      columns.push_back(at);
      factors.push_back(factor);
    }
    cbc().addRow(model_.get(), ("r" + std::to_string(rows_++)).c_str(), static_cast<int>(columns.size()),
                 columns.data(), factors.data(), sense, right);
  }

  void cover() {
    std::vector<Row> rows(static_cast<size_t>(problem_.nodes));
    for (size_t c = 0; c < candidates_.size(); ++c)
      for (const int node : problem_.candidates[c].nodes) rows[static_cast<size_t>(node)][candidates_[c]] = 1;
    for (const Row& row : rows) add(row, 'E', 1);
  }

  // What makes `v` available in each format: produced, once converted, twice converted.
  void conversions(int v) {
    const size_t count = problem_.formats.size();
    const MappingValue& value = problem_.values[static_cast<size_t>(v)];
    std::vector<Row> produced(count);
    std::vector<double> given(count, 0);  // constants
    if (value.producer < 0) given[static_cast<size_t>(value.given)] = 1;
    std::map<int, std::vector<Row>> needed;  // by consuming node, each format's candidates
    for (size_t c = 0; c < candidates_.size(); ++c) {
      const auto& outputs = values_[c].outputs;
      const auto out = std::lower_bound(outputs.begin(), outputs.end(), v);
      if (out != outputs.end() && *out == v)
        produced[static_cast<size_t>(problem_.candidates[c].output_formats[static_cast<size_t>(
            out - outputs.begin())])][candidates_[c]] = 1;
      const auto& inputs = values_[c].inputs;
      const auto in = std::lower_bound(inputs.begin(), inputs.end(), v);
      if (in == inputs.end() || *in != v) continue;
      const auto format =
          static_cast<size_t>(problem_.candidates[c].input_formats[static_cast<size_t>(in - inputs.begin())]);
      for (const int node : problem_.candidates[c].nodes)
        if (std::binary_search(value.consumers.begin(), value.consumers.end(), node)) {
          auto& rows = needed.try_emplace(node, std::vector<Row>(count)).first->second;
          rows[format][candidates_[c]] = 1;
        }
    }
    std::vector<Row> available = produced;
    std::vector<Row> once(count);
    for (int step = 0; step < 2; ++step) {
      const std::vector<Row>& from = step == 0 ? produced : once;
      std::vector<Row> made(count);
      for (size_t f = 0; f < count; ++f) {
        const double constant = step == 0 ? given[f] : 0;
        if (from[f].empty() && constant == 0) continue;
        for (size_t g = 0; g < count; ++g) {
          const double us = problem_.conversion_us(v, static_cast<int>(f), static_cast<int>(g));
          if (f == g || !std::isfinite(us)) continue;
          const int taken = column(us);
          made[g][taken] = 1;
          available[g][taken] = 1;
          Row row = negative(from[f]);
          row[taken] = 1;
          add(row, 'L', constant);
        }
      }
      if (step == 0) once = std::move(made);
    }
    for (const auto& [node, formats] : needed)
      for (size_t g = 0; g < count; ++g)
        if (!formats[g].empty()) {
          Row row = negative(available[g]);
          for (const auto& [at, factor] : formats[g]) row[at] += factor;
          add(row, 'L', given[g]);
        }
    for (const int g : value.required)
      add(negative(available[static_cast<size_t>(g)]), 'L', given[static_cast<size_t>(g)] - 1);
  }

  static Row negative(const Row& row) {
    Row result;
    for (const auto& [at, factor] : row) result[at] = -factor;
    return result;
  }

  void limits() {
    for (size_t d = 0; d < problem_.memory_limits.size(); ++d) {
      if (problem_.memory_limits[d] <= 0) continue;
      Row row;  // in parts of the limit: bytes and ones in one program are ill conditioned
      for (size_t c = 0; c < candidates_.size(); ++c)
        if (problem_.candidates[c].device == static_cast<int>(d) && problem_.candidates[c].memory > 0)
          row[candidates_[c]] = problem_.candidates[c].memory / problem_.memory_limits[d];
      add(row, 'L', 1);
    }
    if (problem_.max_candidates > 0) {
      Row row;
      for (const int at : candidates_) row[at] = 1;
      add(row, 'L', problem_.max_candidates);
    }
  }

  const MappingProblem& problem_;
  MappingIndex index_;
  std::unique_ptr<Cbc_Model, void (*)(Cbc_Model*)> model_;
  std::vector<int> candidates_;  ///< columns
  std::vector<CandidateValues> values_;
  int columns_ = 0, rows_ = 0;
};

// Candidates that wait for each other, directly or through others; empty: none do.
std::vector<int> circle_in(const MappingProblem& problem, const std::vector<int>& chosen) {
  std::vector<int> owner(static_cast<size_t>(problem.nodes), -1);
  for (const int c : chosen)
    for (const int node : problem.candidates[static_cast<size_t>(c)].nodes)
      owner[static_cast<size_t>(node)] = c;
  std::map<int, std::vector<int>> after;
  std::map<int, int> waits;
  for (const int c : chosen) waits[c];
  for (const MappingValue& value : problem.values)
    for (const int consumer : value.consumers)
      if (value.producer >= 0) {
        const int from = owner[static_cast<size_t>(value.producer)],
                  to = owner[static_cast<size_t>(consumer)];
        if (from == to) continue;
        after[to].push_back(from);
      }
  // Walk against the edges: a candidate seen again on the way closes a circle.
  std::map<int, int> state;  // 1: on the way, 2: done
  for (const int start : chosen) {
    std::vector<std::pair<int, size_t>> way{{start, 0}};
    if (state[start]) continue;
    state[start] = 1;
    while (!way.empty()) {
      auto& [c, next] = way.back();
      if (next == after[c].size()) {
        state[c] = 2;
        way.pop_back();
        continue;
      }
      const int to = after[c][next++];
      if (state[to] == 1) {
        std::vector<int> circle;
        for (size_t i = way.size(); i-- > 0;) {
          circle.push_back(way[i].first);
          if (way[i].first == to) return circle;
        }
      }
      if (state[to] == 0) {
        state[to] = 1;
        way.emplace_back(to, 0);
      }
    }
  }
  return {};
}

}  // namespace

MilpResult solve_milp(const MappingProblem& problem, const MilpOptions& options) {
  std::vector<std::vector<int>> circles;
  MilpResult result;
  const double end = now_s() + options.seconds;
  for (;;) {
    const double left = end - now_s();
    if (left <= 0) return result;
    // Built anew each time: CBC's interface does not take rows after it has solved.
    Program program(problem);
    for (const std::vector<int>& circle : circles) program.exclude(circle);
    cbc().setMaximumSeconds(program.model(), left);
    cbc().setAllowableFractionGap(program.model(), options.gap);
    if (options.start)
      cbc().setParameter(program.model(), "cutoff",
                         std::to_string(options.start->us * (1 + 1e-9) + 1e-9).c_str());
    cbc().solve(program.model());
    if (cbc().isProvenInfeasible(program.model())) {
      result.infeasible = !options.start;
      if (options.start) {  // nothing is faster than the start
        result.solution = options.start;
        result.bound_us = result.solution->bound_us = options.start->us;
      }
      return result;
    }
    result.bound_us = std::max(result.bound_us, cbc().getBestPossibleObjValue(program.model()));
    if (!cbc().numberSavedSolutions(program.model())) return result;
    const std::vector<int> chosen = program.chosen();
    if (std::vector<int> circle = circle_in(problem, chosen); !circle.empty()) {
      circles.push_back(std::move(circle));
      continue;
    }
    result.solution = price(problem, chosen);
    BATON_CHECK(result.solution, "CBC's mapping cannot run");
    result.solution->bound_us = std::min(result.bound_us, result.solution->us);
    result.solution->method = "CBC";
    return result;
  }
}

}  // namespace baton
