#pragma once
// The same model under two builds, operator by operator. Kernels of two builds cannot be compared, for each
// fuses in its own way; operators of the source can: they are the same in both. The JSON form is a contract:
// design note 0010.
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "baton/profile/measure/significance.h"
#include "baton/profile/report/portions.h"

namespace baton {

/// What a side of a difference was.
struct DiffSide {
  std::string label, model, target, version;  ///< label: how the user calls it
  int threads = 1, opt_level = 3;             ///< opt_level -1: not known, of an artifact
  double cv = 0, load = 0;
};

/// An operator in one of the builds.
struct DiffPlace {
  bool has_kernel = false;
  PortionBy by = PortionBy::kWhole;  ///< how its time was told from its kernels'
  std::vector<uint32_t> nodes;       ///< its kernels
  std::string instead;  ///< without a kernel: "folded", "retired", "a view" (of its input), "no kernel"
};

struct DiffOperator {
  uint32_t id = 0;
  std::string op, source;
  uint32_t line = 0;
  Compared us;
  DiffPlace a, b;
  std::vector<uint32_t> only_a, only_b;  ///< operators it shares a kernel with in one of the builds only
};

/// Operators and the kernels that compute them: the least sets that are the same operators in both builds.
/// Their times compare without any split.
struct DiffGroup {
  std::vector<uint32_t> operators;         ///< ids
  std::vector<uint32_t> a_nodes, b_nodes;  ///< in the order of execution; one may be empty
  Compared us;
  Compared rest;  ///< of it: load, store and loop control, which belong to no operator
};

/// A kernel of the compiler's own. Those made for the same operators for the same reason stand together.
struct DiffOwn {
  std::string reason;
  std::vector<uint32_t> made_for;
  std::vector<uint32_t> a_nodes, b_nodes;
  Compared us;
};

struct ProfileDiff {
  DiffSide a, b;
  bool paired = false;  ///< measured in turn, in one process
  std::vector<DiffOperator> operators;
  std::vector<DiffGroup> groups;  ///< in the order of execution in A, then what A has no kernels for
  std::vector<DiffOwn> own;
  Compared operators_us, rest_us, own_us;  ///< these three add up to sum_us
  Compared sum_us, end_to_end_us;
  std::vector<std::string> notes;
};

/// Throws Error when the two are of different models, with the first difference, and when one has no origins
/// to join by.
ProfileDiff diff(const ProfileReport& a, const ProfileReport& b, const std::string& a_label,
                 const std::string& b_label, bool paired = false);

nlohmann::ordered_json to_json(const ProfileDiff& diff);

/// For people, at most 120 columns. `a` and `b`: what it was made from, for the names of kernels.
void write_table(std::ostream& out, const ProfileDiff& diff, const ProfileReport& a, const ProfileReport& b);

}  // namespace baton
