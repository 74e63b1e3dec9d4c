#include "baton/codegen/evaluate/strided_axes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>

namespace baton {
namespace {

/// Merges two axes that all accesses traverse as one.
void join_axes(StridedProgram& program) {
  std::vector<int64_t>& extents = program.extents;
  for (size_t k = 0; k + 1 < extents.size();) {
    const bool join = std::all_of(program.strides.begin(), program.strides.end(),
                                  [&](const auto& along) { return along[k + 1] == along[k] * extents[k]; });
    if (!join) {
      ++k;
      continue;
    }
    extents[k] *= extents[k + 1];
    extents.erase(extents.begin() + static_cast<ptrdiff_t>(k) + 1);
    for (auto& along : program.strides) along.erase(along.begin() + static_cast<ptrdiff_t>(k) + 1);
  }
}

}  // namespace

void make_axes(const std::vector<int>& extents, const std::vector<int64_t>& fixed,
               const std::vector<StridedAccess>& accesses, StridedProgram& program) {
  const size_t variables = extents.size();
  std::vector<std::set<int64_t>> cuts(variables);
  for (const StridedAccess& access : accesses)
    for (const IndexForm::Term& term : access.terms) cuts[term.var].insert({term.div, term.div * term.mod});
  struct Axis {
    int var;
    int64_t unit, extent, stride;
  };
  std::vector<Axis> axes;
  int64_t stride = 1;
  for (size_t v = 0; v < variables; ++v) {
    cuts[v].insert({1, extents[v]});
    if (fixed[v] < 0) {
      for (auto at = cuts[v].begin(); *at != extents[v]; ++at) {
        const int64_t next = *std::next(at);
        if (next % *at != 0) throw NotStrided{"an axis is split in two ways"};
        axes.push_back({static_cast<int>(v), *at, next / *at, stride * *at});
      }
    }
    stride *= extents[v];
  }
  std::vector<std::vector<int64_t>>& strides = program.strides;
  strides.emplace_back();
  for (const Axis& axis : axes) {
    program.extents.push_back(axis.extent);
    strides[0].push_back(axis.stride);
  }
  for (const StridedAccess& access : accesses) {
    std::vector<int64_t> along(axes.size(), 0);
    for (const IndexForm::Term& term : access.terms)
      for (size_t k = 0; k < axes.size(); ++k)
        if (axes[k].var == term.var && axes[k].unit >= term.div && axes[k].unit < term.div * term.mod)
          along[k] += term.coef * (axes[k].unit / term.div);
    const auto same = std::find(strides.begin() + 1, strides.end(), along);
    program.steps[access.step].group = static_cast<int>(same - strides.begin());
    if (same == strides.end()) strides.push_back(std::move(along));
  }
  join_axes(program);
}

void allocate_registers(int num_values, StridedProgram& program) {
  std::vector<size_t> last(static_cast<size_t>(num_values), 0);
  for (size_t s = 0; s < program.steps.size(); ++s)
    for (int operand :
         {program.steps[s].instruction.a, program.steps[s].instruction.b, program.steps[s].instruction.c})
      if (operand >= 0) last[operand] = s;
  std::vector<int> place(static_cast<size_t>(num_values), -1), free;
  for (Instruction& constant : program.constants) {
    last[constant.dst] = SIZE_MAX;
    constant.dst = place[constant.dst] = program.num_registers++;
  }
  for (size_t s = 0; s < program.steps.size(); ++s) {
    Instruction& i = program.steps[s].instruction;
    const std::array<int, 3> operands = {i.a, i.b, i.c};
    for (int* operand : {&i.a, &i.b, &i.c})
      if (*operand >= 0) *operand = place[*operand];
    if (program.steps[s].kind != StridedProgram::Step::Kind::kStore) {
      // Not the register of an operand: the result may be wider and would overwrite unread input.
      if (free.empty()) free.push_back(program.num_registers++);
      i.dst = place[i.dst] = free.back();
      free.pop_back();
    }
    for (int operand : operands)
      if (operand >= 0 && last[operand] == s) {
        free.push_back(place[operand]);
        last[operand] = SIZE_MAX;  // handles an operand that occurs twice
      }
  }
}

}  // namespace baton
