#pragma once
// Compares two builds of a model, operator by operator. Kernels cannot be compared, since each build fuses
// differently; source operators are the same in both. The JSON form is a contract: design note 0010.
#include <string>
#include <vector>

#include "baton/profile/measure/significance.h"
#include "baton/profile/report/portions.h"
#include "baton/support/json.h"

namespace baton {

/// One side of a comparison.
struct DiffSide {
  std::string label, model, target, version;  ///< label: the user's name for it
  int threads = 1, opt_level = 3;             ///< opt_level -1: unknown (an artifact)
  double cv = 0, load = 0;
  std::string precision = {};  ///< empty: not known
};

/// An operator in one of the builds.
struct DiffPlace {
  bool has_kernel = false;
  PortionBy by = PortionBy::kWhole;  ///< how its time was derived from its kernels'
  std::vector<uint32_t> nodes;       ///< its kernels
  std::string instead;  ///< without a kernel: "folded", "retired", "a view" (of its input), "no kernel"
};

struct DiffOperator {
  uint32_t id = 0;
  std::string op, source, module;
  uint32_t line = 0;
  Compared us;
  DiffPlace a, b;
  std::vector<uint32_t> only_a, only_b;  ///< operators fused with it in one of the builds only
};

/// Operators and the kernels that compute them: the smallest sets with the same operators in both builds.
/// Their times compare without any split.
struct DiffGroup {
  std::vector<uint32_t> operators;         ///< ids
  std::vector<uint32_t> a_nodes, b_nodes;  ///< in execution order; one may be empty
  Compared us;
  Compared rest;  ///< of it: load, store and loop control, not attributed to operators
};

/// Compiler-added kernels, grouped by causes and reason.
struct DiffOwn {
  std::string reason;
  std::vector<uint32_t> made_for;
  std::vector<uint32_t> a_nodes, b_nodes;
  Compared us;
};

struct ProfileDiff {
  DiffSide a, b;
  bool paired = false;  ///< measured in alternation, in one process
  std::vector<DiffOperator> operators;
  std::vector<DiffGroup> groups;  ///< in A's execution order, then those without kernels in A
  std::vector<DiffOwn> own;
  Compared operators_us, rest_us, own_us;  ///< these three add up to sum_us
  Compared sum_us, end_to_end_us;
  std::vector<std::string> notes;
};

/// Throws Error when the reports are of different models, naming the first difference, or when one has no
/// origins to join by.
ProfileDiff diff(const ProfileReport& a, const ProfileReport& b, const std::string& a_label,
                 const std::string& b_label, bool paired = false);

/// `a` and `b`: the compared reports, for modules.
Json to_json(const ProfileDiff& diff, const ProfileReport& a, const ProfileReport& b);

/// Text form, at most 120 columns wide. `a` and `b`: the compared reports, for kernel names.
void write_table(std::ostream& out, const ProfileDiff& diff, const ProfileReport& a, const ProfileReport& b);

}  // namespace baton
