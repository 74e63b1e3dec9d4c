#pragma once
// Times of several engines beside each other, node by node of an ONNX file. Engines fuse differently, so that
// a time may be of several nodes: the rows are the smallest sets of nodes that every engine times on their
// own.
#include <optional>
#include <string>
#include <vector>

#include "baton/profile/foreign/join.h"
#include "baton/profile/report/rows.h"
#include "baton/support/json.h"

namespace baton {

struct NodesRow {
  std::vector<uint32_t> nodes;  ///< indices of ByNode::nodes, ascending
  std::vector<double> us;       ///< of each engine, with what it added for these nodes (changes of layout)
};

struct EngineColumn {
  std::string name, version;
  double end_to_end_us = 0;  ///< as it measured while it timed its steps
  double sum_us = 0;         ///< of its steps
  double joined_us = 0;      ///< of these, in rows
  struct Unjoined {
    std::string name, op;
    double us = 0;
  };
  std::vector<Unjoined> unjoined;  ///< the longest first
};

struct ByNode {
  std::vector<onnx::SourceNode> nodes;
  std::vector<EngineColumn> engines;  ///< Baton's first
  std::vector<NodesRow> rows;         ///< those of the longest time first
  std::vector<double> own_us;         ///< Baton's, of each node alone

  Json json() const;
  /// A line per row and a head; rows below 0.2 % of every engine's run are counted in a last line.
  std::string table() const;
};

/// `ours`: of the same file.
ByNode by_node(std::vector<onnx::SourceNode> nodes, const ProfileReport& ours,
               const std::vector<EngineProfile>& others);

}  // namespace baton
