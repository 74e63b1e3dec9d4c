#include "baton/predict/term_base.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "baton/ir/rules/cost.h"
#include "baton/predict/dataset.h"
#include "baton/predict/kernel_facts.h"
#include "baton/predict/least_squares.h"
#include "baton/support/base/statistics.h"

namespace baton {

namespace {

constexpr int kFits = 3;  // after each but the last, kernels that are far off are left out
constexpr double kFarOff = 0.1, kTimesMedian = 4;
constexpr double kLeastIntensity = 0.3;

/// What a kernel computes and moves beside its heaviest operator.
struct TermFacts : KernelFacts {
  double elementwise = 0;  ///< elements of results of the operators beside the anchor
  double functions = 0;    ///< polynomials and divisions, in the elements of all operators

  explicit TermFacts(const KernelCase& of) : KernelFacts(of) {
    for (const DescribedOperator& op : of.kernel.operators) {
      double elements = 0;
      for (const DescribedTensor& each : op.results) elements += each.elements();
      if (&op != anchor) elementwise += elements;
      functions += elements * functions_of(op.op);
    }
  }

  double computed(double operations) const { return operations / rates.gflops / 1e3; }
  double moved(double bytes) const { return bytes / rates.cache_gbytes / 1e3; }
  double from_l3(double bytes, double between) const {
    return bytes * part_lost(between, rates.cache_bytes) / rates.l3_gbytes / 1e3;
  }
  double from_memory(double bytes, double between) const {
    return bytes * part_lost(between, rates.l3_bytes) / rates.memory_gbytes / 1e3;
  }
  double operations() const { return winograd.multiplies > 0 ? 2 * winograd.multiplies : of.kernel.flops; }
  double loads() const {
    return loops.steps() /
           std::max(kLeastIntensity, loops.rows * loops.columns / (loops.rows + loops.columns));
  }
  double model() const { return std::max(of.kernel.bytes, of.model.working_set); }
  double all_results() const { return std::max(of.kernel.bytes, of.model.distinct); }
  double halo() const {
    return (e.in_h + 2 * e.padding_h) * (e.in_w + 2 * e.padding_w) / (e.in_h * e.in_w) - 1;
  }
  bool weights_beyond_l1() const {
    return loops.depth * loops.columns * lanes() * sizeof(float) > static_cast<double>(of.sheet->l1_bytes);
  }
};

constexpr double kAnyFactor = std::numeric_limits<double>::infinity();

struct Term {
  const char* name;
  double (*us)(const TermFacts&);
  /// Of its factor. Training with small models has next to no bytes that a cache has lost; a factor of 40
  /// would fit these as well as any other, and make large models ten times too long.
  double most = kAnyFactor;
};

// How many times as long as at the sheet's rate a level of memory may take.
constexpr double kMostOfWeights = 2.5, kMostOfActivations = 4;

constexpr Term kTerms[] = {
    {"operations", [](const TermFacts& f) { return f.computed(f.operations()); }},
    {"operations of whole tiles", [](const TermFacts& f) { return f.rounded_compute_us(); }},
    {"roofline of memory", [](const TermFacts& f) { return f.roofline.memory_us; }},
    {"weights", [](const TermFacts& f) { return f.moved(f.weight_bytes); }},
    {"data", [](const TermFacts& f) { return f.moved(f.in_bytes); }},
    {"results", [](const TermFacts& f) { return f.moved(f.out_bytes); }},
    {"register tiles", [](const TermFacts& f) { return f.computed(f.loops.tiles * 32); }},
    {"steps of register tiles", [](const TermFacts& f) { return f.computed(f.loops.steps() * 32); }},
    {"loads of register tiles", [](const TermFacts& f) { return f.computed(f.loads() * 32); }},
    {"steps with weights beyond L1",
     [](const TermFacts& f) { return f.weights_beyond_l1() ? f.computed(f.loops.steps() * 32) : 0.0; }},
    {"rows of results",
     [](const TermFacts& f) { return f.computed(f.e.batch * f.e.out_h * std::max(1.0, f.e.out / 16) * 32); }},
    {"elementwise", [](const TermFacts& f) { return f.computed(f.elementwise); }},
    {"functions", [](const TermFacts& f) { return f.computed(f.functions * kOperationsOfFunction); }},
    {"once", [](const TermFacts&) { return 1.0; }},
    {"transformed tiles", [](const TermFacts& f) { return f.moved(f.winograd.transformed_bytes(f.e)); }},
    {"transforms", [](const TermFacts& f) { return f.computed(f.loops.transforms * 32); }},
    {"weights from L3", [](const TermFacts& f) { return f.from_l3(f.weight_bytes, f.model()); },
     kMostOfWeights},
    {"weights from memory", [](const TermFacts& f) { return f.from_memory(f.weight_bytes, f.model()); },
     kMostOfWeights},
    {"weights from L3, past all results",
     [](const TermFacts& f) { return f.from_l3(f.weight_bytes, f.all_results()); }, kMostOfWeights},
    {"weights from memory, past all results",
     [](const TermFacts& f) { return f.from_memory(f.weight_bytes, f.all_results()); }, kMostOfWeights},
    // A sheet's L3 is as large as programs that still read at its rate: of larger ones some is there, too.
    {"weights from memory, past two L3",
     [](const TermFacts& f) { return f.from_memory(f.weight_bytes, f.model() / 2); }, kMostOfWeights},
    {"weights from memory, past all results and two L3",
     [](const TermFacts& f) { return f.from_memory(f.weight_bytes, f.all_results() / 2); }, kMostOfWeights},
    {"activations beyond L1",
     [](const TermFacts& f) {
       return f.moved((f.in_bytes + f.out_bytes) *
                      part_lost(f.of.kernel.bytes, static_cast<double>(f.of.sheet->l1_bytes)));
     }},
    {"activations from L3",
     [](const TermFacts& f) { return f.from_l3(f.in_bytes + f.out_bytes, f.of.kernel.bytes); },
     kMostOfActivations},
    {"activations from memory",
     [](const TermFacts& f) { return f.from_memory(f.in_bytes + f.out_bytes, f.of.kernel.bytes); },
     kMostOfActivations},
    {"padding", [](const TermFacts& f) { return f.moved(f.in_bytes * std::max(0.0, f.halo())); }},
    {"elements", [](const TermFacts& f) { return f.computed(f.e.rows * f.e.columns); }},
    {"elements of sums",
     [](const TermFacts& f) { return f.computed(f.e.rows * f.e.columns * f.e.reduction); }},
};
constexpr size_t kCount = std::size(kTerms);

std::vector<double> most_factors() {
  std::vector<double> all;
  for (const Term& term : kTerms) all.push_back(term.most);
  return all;
}

std::vector<double> terms_of(const TermFacts& facts) {
  std::vector<double> values;
  for (const Term& term : kTerms) {
    const double value = term.us(facts);
    values.push_back(std::isfinite(value) ? value : 0);
  }
  return values;
}

/// Schedules with the same loops. Where a library chooses, its operator says the most.
std::string kind_of(const KernelFacts& facts) {
  const KernelCase& kernel = facts.of;
  if (kernel.template_name.empty()) return std::string(facts.kind);
  if (facts.winograd.multiplies <= 0) return kernel.template_name;
  return kernel.template_name + " " + std::to_string(static_cast<int>(facts.winograd.down)) + "x" +
         std::to_string(static_cast<int>(facts.winograd.across));
}

double sum_of(const std::vector<double>& terms, const std::vector<double>& factors) {
  double sum = 0;
  for (size_t i = 0; i < terms.size(); ++i) sum += terms[i] * factors[i];
  return sum;
}

/// Parts of the time, in the mean over kernels, from which on a kind tells a term's factor to others, and up
/// to which it takes theirs.
constexpr double kTellsPart = 0.02, kTakesPart = 0.01;

/// Kernels of one kind.
struct KernelsOfKind {
  std::vector<std::vector<double>> terms;
  std::vector<double> us, weights;

  void add(const std::vector<double>& its_terms, double its_us, double weight) {
    terms.push_back(its_terms);
    us.push_back(its_us);
    weights.push_back(weight);
  }

  std::vector<double> fit() const {
    std::vector<bool> kept(us.size(), true);
    std::vector<double> factors;
    for (int round = 0; round < kFits; ++round) {
      RelativeSquares squares(kCount);
      for (size_t i = 0; i < us.size(); ++i)
        if (kept[i]) squares.add(terms[i], us[i], weights[i]);
      factors = squares.not_negative(most_factors());
      std::vector<double> errors;
      for (size_t i = 0; i < us.size(); ++i)
        errors.push_back(std::abs(sum_of(terms[i], factors) / us[i] - 1));
      const double most = std::max(kFarOff, kTimesMedian * median(errors));
      for (size_t i = 0; i < us.size(); ++i) kept[i] = errors[i] < most;
    }
    return factors;
  }

  /// Which part of the kernels' time the term would be, in the mean.
  double part_of(size_t term, double factor) const {
    double sum = 0;
    for (size_t i = 0; i < us.size(); ++i) sum += factor * terms[i][term] / us[i];
    return sum / static_cast<double>(us.size());
  }
};

/// Where next to no kernel of a kind has a term, what little there is decides its factor, and kernels in
/// which it is much are far off: sigmoids of elementwise kernels, where training had only reciprocal roots of
/// one column. Such terms have the factor that they have elsewhere, in the median.
void share_factors(const std::map<std::string, KernelsOfKind>& kinds,
                   std::map<std::string, std::vector<double>>& factors) {
  for (size_t term = 0; term < kCount; ++term) {
    std::vector<double> told;
    for (const auto& [name, mine] : factors)
      if (kinds.at(name).part_of(term, mine[term]) >= kTellsPart) told.push_back(mine[term]);
    if (told.empty()) continue;
    const double usual = median(told);
    for (auto& [name, mine] : factors)
      if (kinds.at(name).part_of(term, usual) <= kTakesPart) mine[term] = usual;
  }
}

}  // namespace

std::vector<std::string> base_terms() {
  std::vector<std::string> names;
  for (const Term& term : kTerms) names.emplace_back(term.name);
  return names;
}

TermBase TermBase::fit(std::span<const KernelCase* const> cases, std::span<const double> us,
                       std::span<const double> weights) {
  std::map<std::string, KernelsOfKind> kinds, classes;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (weights[i] <= 0) continue;
    const TermFacts facts(*cases[i]);
    const std::vector<double> terms = terms_of(facts);
    kinds[kind_of(facts)].add(terms, us[i], weights[i]);
    classes[std::string(facts.kind)].add(terms, us[i], weights[i]);
  }
  TermBase base;
  const auto fit_all = [&](const std::map<std::string, KernelsOfKind>& all) {
    for (const auto& [name, kernels] : all)
      if (kernels.us.size() >= kLeastOfKind && !base.factors.count(name))
        base.factors.emplace(name, kernels.fit());
  };
  fit_all(kinds);
  share_factors(kinds, base.factors);
  fit_all(classes);
  return base;
}

double TermBase::us(const KernelCase& kernel) const {
  const TermFacts facts(kernel);
  auto at = factors.find(kind_of(facts));
  if (at == factors.end()) at = factors.find(std::string(facts.kind));
  if (at != factors.end())
    if (const double sum = sum_of(terms_of(facts), at->second); sum > 0) return sum;
  return facts.roofline.us;
}

}  // namespace baton
