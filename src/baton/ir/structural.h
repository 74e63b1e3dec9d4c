#pragma once
// Structural equality and hash. Origins, spans, inferred types and variable names are ignored; free variables
// equal only themselves, unless `map_free_vars`. The hash is the same on every machine and in every run.
#include <cstdint>

#include "baton/ir/module.h"

namespace baton {

bool structural_equal(const Expr& a, const Expr& b, bool map_free_vars = false);
bool structural_equal(const TypeDataNode& a, const TypeDataNode& b);
bool structural_equal(const IRModuleNode& a, const IRModuleNode& b, bool map_free_vars = false);

/// Free variables hash by the order of their first use.
uint64_t structural_hash(const Expr& expr);
uint64_t structural_hash(const IRModuleNode& module);

}  // namespace baton
