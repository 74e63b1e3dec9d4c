#pragma once
// A mapping of a program: which backend computes each operator. What `baton map` finds, kept in a file that
// can be edited, and applied as regions of the program. Its JSON form: docs/design/0040-mapping.md.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "baton/ir/module.h"
#include "baton/pass/build_context.h"
#include "baton/schedule/layer_variant.h"
#include "baton/support/json.h"

namespace baton {

/// What an operator would cost on a backend that could compute it.
struct MappedAlternative {
  std::string backend;
  std::string variant = {};  ///< of a layer on the host: variant_name()
  double us = 0;             ///< of the cheapest kernel there that computes it, with what is fused with it
  double more_us = 0;        ///< by which the best mapping with the operator there is slower, copies included
  /// That this mapping makes between devices and the best one does not, with their bytes and their time.
  int transfers = 0;
  double transfer_bytes = 0, transfer_us = 0;
  int moves = 0;  ///< other operators that it computes elsewhere than the best one
  friend bool operator==(const MappedAlternative&, const MappedAlternative&) = default;
};

struct MappedOperator {
  uint32_t id = 0;           ///< in the program's origin table
  std::string label;         ///< "%12 nn.conv2d": for people, and to tell another program
  std::string backend;       ///< "dnnl"; empty: no kernel computes it, it was folded or dropped
  std::string variant = {};  ///< of a layer on the host: variant_name(); "": as the build chooses
  double us = 0;             ///< what it costs there, its share of a kernel by operations; 0: not known
  std::vector<MappedAlternative> alternatives = {};
  friend bool operator==(const MappedOperator&, const MappedOperator&) = default;
};

struct Mapping {
  std::string version;   ///< of Baton
  std::string model;     ///< as given
  uint64_t program = 0;  ///< program_hash()
  std::string machine;   ///< the processor that it was found on
  int threads = 0;       ///< of the runs
  int opt_level = 3;
  std::string host = "llvm";                ///< the backend of operators outside regions
  double modelled_us = 0, measured_us = 0;  ///< of a run; 0: not known
  std::vector<MappedOperator> operators;    ///< all of the program's, by id
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

/// A hash of main: its operators, attributes, types and how they are connected. Weights, names and lines do
/// not count.
uint64_t program_hash(const IRModule& module);

std::string mapping_json(const Mapping& mapping);  ///< as a file: one line per operator
Json mapping_value(const Mapping& mapping);
/// Throws Error for what is no mapping, is of a later schema, with operators missing or twice, or with a
/// backend or variant that is not there. `name`: of the file, in messages.
Mapping mapping_of(const Json& json, const std::string& name);
Mapping load_mapping(const std::string& path);

/// Throws Error, naming what differs, when the mapping is of another program.
void check_mapping(const Mapping& mapping, const IRModule& module, const std::string& name);
/// What makes its times those of another build: another machine, or another level.
std::vector<std::string> mapping_notes(const Mapping& mapping, const BuildContext& context);

/// The program with regions for the backends of `backend_of` other than `host`; by operator id of `module`'s
/// origin table, empty where no kernel computes the operator. Calls that compute several operators go to the
/// backend of the first that has one. `variant_of`: by operator id too, how layers of the host are computed,
/// where they can be: their layouts are then written into the program, and a build leaves them. Empty: as the
/// build chooses. Throws Error for variants where the context's level or passes change no layouts.
IRModule apply_mapping(const IRModule& module, const std::vector<std::string>& backend_of,
                       const std::vector<LayerVariant>& variant_of, const std::string& host,
                       const BuildContext& context);
/// `module`: with its weights as constants where it has them. Throws as check_mapping(), and for a variant in
/// which the operator cannot be computed.
IRModule apply_mapping(const IRModule& module, const Mapping& mapping, const BuildContext& context);

}  // namespace baton
