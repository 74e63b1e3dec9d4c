#include "baton/profile/report/diff.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <set>

#include "baton/clock/estimate.h"
#include "baton/driver/origins/record_json.h"
#include "baton/profile/measure/exchange.h"
#include "baton/profile/report/report_text.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton {
namespace {

using Ids = std::vector<uint32_t>;
using Samples = std::vector<double>;

std::string named(const ProfileReport& report, uint32_t id) { return operators_text(report, {id}); }

/// Source lines are not compared: a comment moves them.
bool same(const OperatorRow& a, const OperatorRow& b) {
  return a.op == b.op && a.attrs == b.attrs && a.type == b.type && a.inputs == b.inputs;
}

std::string what_differs(const OperatorRow& a, const OperatorRow& b) {
  if (a.op != b.op) return a.op + " and " + b.op;
  if (a.type != b.type) return "of type " + a.type + " and " + b.type;
  if (a.attrs != b.attrs) return "with " + attrs_json(a).dump() + " and " + attrs_json(b).dump();
  return "reading other operators' values";
}

void check_same_model(const ProfileReport& a, const ProfileReport& b, const DiffSide& a_side,
                      const DiffSide& b_side) {
  for (const auto& [report, side] : {std::pair(&a, &a_side), std::pair(&b, &b_side)})
    if (report->operators.empty())
      throw Error(side->label +
                  " names no operators: it is of a model without any, or its origins were stripped; there is "
                  "nothing to join by");
  const std::string models = a_side.label + " and " + b_side.label + " are of different models: ";
  for (size_t i = 0; i < std::min(a.operators.size(), b.operators.size()); ++i)
    if (!same(a.operators[i], b.operators[i]))
      throw Error(models + named(a, a.operators[i].id) + " (operator " + std::to_string(i) + ") and " +
                  named(b, b.operators[i].id) + " differ, they are " +
                  what_differs(a.operators[i], b.operators[i]));
  for (size_t i = 0; i < std::min(a.inputs.size(), b.inputs.size()); ++i)
    if (a.inputs[i].type != b.inputs[i].type)
      throw Error(a_side.label + " and " + b_side.label + " were measured on different inputs: " +
                  a.inputs[i].name + " is " + a.inputs[i].type + " and " + b.inputs[i].type);
  if (a.operators.size() != b.operators.size())
    throw Error(models + "they have " + std::to_string(a.operators.size()) + " and " +
                std::to_string(b.operators.size()) + " operators");
}

DiffSide side_of(const ProfileReport& report, const std::string& label) {
  return {label,     report.model, report.target,   report.version, report.threads, report.opt_level,
          report.cv, report.load,  report.precision};
}

/// Times of operator sets in one build: additive medians, and samples of every run.
class Build {
 public:
  explicit Build(const ProfileReport& report)
      : report(report), times(operator_times(report)), nodes_of(report.operators.size()) {
    for (size_t i = 0; i < report.kernels.size(); ++i)
      for (uint32_t id : report.kernels[i].origins) nodes_of.at(id).push_back(i);
  }

  const ProfileReport& report;
  std::vector<OperatorTime> times;
  std::vector<std::vector<size_t>> nodes_of;  ///< by operator: indices into report.kernels

  Ids nodes(const std::vector<size_t>& places) const {
    Ids out;
    for (size_t i : places) out.push_back(report.kernels[i].node);
    return out;
  }
  double us(const std::vector<size_t>& places) const {
    double sum = 0;
    for (size_t i : places) sum += report.kernels[i].median_us;
    return sum;
  }
  /// One number per round: the sum of the kernels' medians. Empty when the rounds are not known.
  template <class Share>
  Samples rounds(const std::vector<size_t>& places, const Share& share) const {
    if (places.empty()) return {};
    size_t count = report.kernels[places[0]].rounds_us.size();
    for (size_t i : places) count = std::min(count, report.kernels[i].rounds_us.size());
    Samples out(count);
    for (size_t i : places)
      for (size_t round = 0; round < count; ++round)
        out[round] += report.kernels[i].rounds_us[round] * share(report.kernels[i]);
    return out;
  }
  /// One number per run: the sum of the kernels' times. `share`: the fraction of each kernel.
  template <class Share>
  Samples samples(const std::vector<size_t>& places, const Share& share) const {
    if (places.empty()) return {};
    size_t runs = report.kernels[places[0]].samples_us.size();
    for (size_t i : places) runs = std::min(runs, report.kernels[i].samples_us.size());
    Samples out(runs);
    for (size_t i : places)
      for (size_t run = 0; run < runs; ++run)
        out[run] += report.kernels[i].samples_us[run] * share(report.kernels[i]);
    return out;
  }
  double rest(const std::vector<size_t>& places) const {
    double sum = 0;
    for (size_t i : places)
      for (const Portion& portion : portions(report.kernels[i]))
        if (portion.by == PortionBy::kRest) sum += portion.share * report.kernels[i].median_us;
    return sum;
  }
  /// The uncertainty of those that were measured beside other programs. Nullopt: of one it is not known.
  std::optional<double> loaded_us(const std::vector<size_t>& places) const {
    double sum = 0;
    for (size_t i : places) {
      const KernelRow& kernel = report.kernels[i];
      if (kernel.under_load.empty()) continue;
      if (!kernel.plus_minus_us) return std::nullopt;
      sum += *kernel.plus_minus_us;
    }
    return sum;
  }
  /// The uncertainty, in microseconds, of the split of the operator's kernels: of its parts where it is
  /// known, and the noise of ablation.
  double split_noise(uint32_t id) const {
    if (times[id].by != PortionBy::kSplit) return 0;
    double sum = 0;
    for (size_t i : nodes_of[id]) {
      const KernelRow& kernel = report.kernels[i];
      sum += kernel.noise * kernel.median_us;
      for (const InsideRow& part : kernel.inside)
        if (part.plus_minus_us && std::count(part.ids.begin(), part.ids.end(), id))
          sum += *part.plus_minus_us;
    }
    return sum;
  }
};

double share_of(const KernelRow& kernel, uint32_t id) {
  for (const Portion& portion : portions(kernel))
    if (portion.id == id) return portion.share;
  return 0;
}

DiffPlace place_of(const Build& build, uint32_t id) {
  const OperatorRow& row = build.report.operators[id];
  DiffPlace place{build.times[id].has_kernel, build.times[id].by, build.nodes(build.nodes_of[id]), ""};
  if (!place.has_kernel)
    place.instead = !row.retired_by.empty()    ? "retired"
                    : !row.nodes.empty()       ? "a view"
                    : !row.folded_into.empty() ? "folded"
                                               : "no kernel";
  return place;
}

std::set<uint32_t> companions(const Build& build, uint32_t id) {
  std::set<uint32_t> out;
  for (size_t i : build.nodes_of[id])
    out.insert(build.report.kernels[i].origins.begin(), build.report.kernels[i].origins.end());
  out.erase(id);
  return out;
}

class Differ {
 public:
  Differ(const ProfileReport& a, const ProfileReport& b, bool paired) : a_(a), b_(b), paired_(paired) {}

  DiffOperator of_operator(uint32_t id) const {
    const OperatorRow& row = a_.report.operators[id];
    DiffOperator out{id,
                     row.op,
                     row.source,
                     row.module,
                     row.line,
                     {a_.times[id].us, b_.times[id].us, {}},
                     place_of(a_, id),
                     place_of(b_, id),
                     {},
                     {}};
    const auto share = [&](const KernelRow& kernel) { return share_of(kernel, id); };
    judge(out.us, a_.nodes_of[id], b_.nodes_of[id], share);
    // The uncertainty of a split does not decrease with more samples.
    if (out.us.interval) *out.us.interval += a_.split_noise(id) + b_.split_noise(id);
    const std::set<uint32_t> with_a = companions(a_, id), with_b = companions(b_, id);
    // An operator without a kernel on one side has no companions to compare: `instead` reports that.
    if (out.a.has_kernel && out.b.has_kernel) {
      std::set_difference(with_a.begin(), with_a.end(), with_b.begin(), with_b.end(),
                          std::back_inserter(out.only_a));
      std::set_difference(with_b.begin(), with_b.end(), with_a.begin(), with_a.end(),
                          std::back_inserter(out.only_b));
    }
    return out;
  }

  Compared compared(const std::vector<size_t>& in_a, const std::vector<size_t>& in_b) const {
    Compared us{a_.us(in_a), b_.us(in_b)};
    judge(us, in_a, in_b, [](const KernelRow&) { return 1.0; });
    return us;
  }

  Compared end_to_end() const {
    Compared us{a_.report.end_to_end_us, b_.report.end_to_end_us};
    if (!a_.report.rounds_us.empty() && !b_.report.rounds_us.empty())
      set(us, rounds_difference(a_.report.rounds_us, b_.report.rounds_us, paired_));
    else
      us.interval = interval(a_.report.plain_us, b_.report.plain_us);
    const auto loaded = [](const ProfileReport& report) {
      return report.under_load.empty() ? 0.0 : report.end_to_end_plus_minus_us;
    };
    widen(us, loaded(a_.report), loaded(b_.report));
    return us;
  }

  /// Operators belong to one group when a kernel of either build computes both.
  std::vector<DiffGroup> groups() const {
    const size_t count = a_.report.operators.size();
    std::vector<size_t> parent(count);
    std::iota(parent.begin(), parent.end(), size_t{0});
    const auto root = [&](size_t i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    for (const Build* build : {&a_, &b_})
      for (const KernelRow& kernel : build->report.kernels)
        for (uint32_t id : kernel.origins) parent[root(id)] = root(kernel.origins[0]);
    std::map<size_t, size_t> place;  // by root
    std::vector<Ids> members;
    std::vector<std::vector<size_t>> in_a, in_b;
    const auto group_of = [&](const KernelRow& kernel) {
      const auto [at, fresh] = place.emplace(root(kernel.origins[0]), members.size());
      if (fresh) {
        members.emplace_back();
        in_a.emplace_back();
        in_b.emplace_back();
      }
      return at->second;
    };
    for (size_t i = 0; i < a_.report.kernels.size(); ++i)
      if (!a_.report.kernels[i].origins.empty()) in_a[group_of(a_.report.kernels[i])].push_back(i);
    for (size_t i = 0; i < b_.report.kernels.size(); ++i)
      if (!b_.report.kernels[i].origins.empty()) {
        const size_t group = group_of(b_.report.kernels[i]);
        in_b[group].push_back(i);
      }
    for (uint32_t id = 0; id < count; ++id)
      if (const auto at = place.find(root(id)); at != place.end()) members[at->second].push_back(id);
    std::vector<DiffGroup> out;
    for (size_t i = 0; i < members.size(); ++i)
      out.push_back({members[i],
                     a_.nodes(in_a[i]),
                     b_.nodes(in_b[i]),
                     compared(in_a[i], in_b[i]),
                     {a_.rest(in_a[i]), b_.rest(in_b[i]), {}}});
    return out;
  }

  std::vector<DiffOwn> own() const {
    std::map<std::pair<Ids, std::string>, std::pair<std::vector<size_t>, std::vector<size_t>>> found;
    std::vector<std::pair<Ids, std::string>> order;
    const auto collect = [&](const Build& build, auto side) {
      for (size_t i = 0; i < build.report.kernels.size(); ++i) {
        const KernelRow& kernel = build.report.kernels[i];
        if (!kernel.origins.empty()) continue;
        const std::pair key(kernel.made_for, kernel.reason);
        if (!found.count(key)) order.push_back(key);
        (found[key].*side).push_back(i);
      }
    };
    using Sides = std::pair<std::vector<size_t>, std::vector<size_t>>;
    collect(a_, &Sides::first);
    collect(b_, &Sides::second);
    std::vector<DiffOwn> out;
    for (const auto& key : order) {
      const auto& [in_a, in_b] = found[key];
      out.push_back({key.second, key.first, a_.nodes(in_a), b_.nodes(in_b), compared(in_a, in_b)});
    }
    return out;
  }

  Compared sums() const {
    std::vector<size_t> all_a(a_.report.kernels.size()), all_b(b_.report.kernels.size());
    std::iota(all_a.begin(), all_a.end(), size_t{0});
    std::iota(all_b.begin(), all_b.end(), size_t{0});
    return compared(all_a, all_b);
  }

 private:
  std::optional<double> interval(const Samples& a, const Samples& b) const {
    return difference_interval(a, b, paired_, a_.report.cv, b_.report.cv);
  }

  static void set(Compared& us, const DifferenceInterval& found) {
    us.interval = found.half;
    us.degrees = found.degrees;
  }

  /// By what the times of a side, measured beside other programs, may differ from those of a quiet machine.
  /// Nullopt: it is not known, and nothing is said about the difference.
  void widen(Compared& us, std::optional<double> a, std::optional<double> b) const {
    if (!a || !b) us.interval = std::nullopt;
    if (!us.interval) return;
    // In turn both sides are disturbed alike; what is left of it is in the spread of the rounds.
    const double part = paired_ ? kAlikeInTurn : 1;
    us.interval = std::hypot(*us.interval, part * *a, part * *b);
  }

  template <class Share>
  void judge(Compared& us, const std::vector<size_t>& in_a, const std::vector<size_t>& in_b,
             const Share& share) const {
    const Samples a = a_.rounds(in_a, share), b = b_.rounds(in_b, share);
    if ((in_a.empty() || !a.empty()) && (in_b.empty() || !b.empty()))
      set(us, rounds_difference(a, b, paired_));
    else
      us.interval = interval(a_.samples(in_a, share), b_.samples(in_b, share));
    widen(us, a_.loaded_us(in_a), b_.loaded_us(in_b));
  }

  Build a_, b_;
  bool paired_;
};

void add(Compared& total, const Compared& each) {
  total.a += each.a;
  total.b += each.b;
}

/// Whether the processors were nearer to each other in one of them.
bool placed_differently(const ProfileReport& a, const ProfileReport& b) {
  return !a.exchange_ns.empty() && !b.exchange_ns.empty() &&
         distances_differ(median(a.exchange_ns), median(b.exchange_ns));
}

std::vector<std::string> notes_of(const ProfileDiff& diff, const ProfileReport& a, const ProfileReport& b) {
  std::vector<std::string> notes;
  const auto has_split = [](const ProfileReport& report) {
    return std::ranges::any_of(report.kernels,
                               [](const KernelRow& kernel) { return !kernel.inside.empty(); });
  };
  if (has_split(a) != has_split(b))
    notes.push_back("only " + std::string(has_split(a) ? "A" : "B") +
                    " was split inside its kernels: compare groups, not the operators in them");
  if (a.version != b.version) notes.push_back("A was measured by baton " + a.version + ", B by " + b.version);
  if (a.target != b.target) notes.push_back("A is for " + a.target + ", B for " + b.target);
  if (a.precision != b.precision && !a.precision.empty() && !b.precision.empty())
    notes.push_back("A has the precision " + a.precision + ", B " + b.precision);
  if (!diff.paired)
    notes.push_back(
        "A and B were measured apart: the clock may have moved between them by more than their runs say");
  if (!diff.paired && placed_differently(a, b)) {
    char text[300];
    std::snprintf(
        text, sizeof text,
        "nothing is judged: a cache line went from one processor to another and back in %.0f ns in A "
        "and %.0f ns in B, so kernels on several threads differ without a cause in the model; measure "
        "both in turn (--a, --b), again, or with one thread",
        median(a.exchange_ns), median(b.exchange_ns));
    notes.push_back(text);
  }
  const auto loaded = [](const ProfileReport& report) {
    return std::ranges::count_if(report.kernels,
                                 [](const KernelRow& row) { return !row.under_load.empty(); });
  };
  for (const auto& [report, side] : {std::pair(&a, "A"), std::pair(&b, "B")})
    if (const auto count = loaded(*report))
      notes.push_back(std::string(side) + ": " + std::to_string(count) + " of " +
                      std::to_string(report->kernels.size()) +
                      " kernels were measured beside other programs: only large differences are marked");
  for (const auto& [report, side] : {std::pair(&a, "A"), std::pair(&b, "B")})
    for (const std::string& note : report->notes) notes.push_back(std::string(side) + ": " + note);
  return notes;
}

}  // namespace

ProfileDiff diff(const ProfileReport& a, const ProfileReport& b, const std::string& a_label,
                 const std::string& b_label, bool paired) {
  ProfileDiff out;
  out.a = side_of(a, a_label);
  out.b = side_of(b, b_label);
  out.paired = paired;
  check_same_model(a, b, out.a, out.b);
  const Differ differ(a, b, paired);
  for (uint32_t id = 0; id < a.operators.size(); ++id) {
    out.operators.push_back(differ.of_operator(id));
    add(out.operators_us, out.operators.back().us);
  }
  out.groups = differ.groups();
  for (const DiffGroup& group : out.groups) add(out.rest_us, group.rest);
  out.own = differ.own();
  for (const DiffOwn& own : out.own) add(out.own_us, own.us);
  out.sum_us = differ.sums();
  out.end_to_end_us = differ.end_to_end();
  std::vector<Compared*> rows;
  for (DiffOperator& row : out.operators) rows.push_back(&row.us);
  for (DiffGroup& row : out.groups) rows.push_back(&row.us);
  for (DiffOwn& row : out.own) rows.push_back(&row.us);
  if (!placed_differently(a, b) || paired) {
    mark_significant(rows);
    mark_significant({&out.sum_us});
    mark_significant({&out.end_to_end_us});
  }
  out.notes = notes_of(out, a, b);
  return out;
}

}  // namespace baton
