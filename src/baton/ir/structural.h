#pragma once
// Structural equality and hash. Origins, spans, inferred types and variable names are ignored; free variables
// equal only themselves, unless `map_free_vars`. The hash is the same on every machine and in every run.
#include <cstdint>

#include "baton/ir/module.h"

namespace baton {

bool structural_equal(const Expr& a, const Expr& b, bool map_free_vars = false);
bool structural_equal(const TypeDataNode& a, const TypeDataNode& b);
bool structural_equal(const IRModuleNode& a, const IRModuleNode& b, bool map_free_vars = false);

/// Equal expressions have equal hashes; free variables hash by the order of their first use. A node used
/// twice hashes unlike two equal nodes. 64 bits: a table keyed by them compares what it finds.
uint64_t structural_hash(const Expr& expr);
uint64_t structural_hash(const IRModuleNode& module);

}  // namespace baton
