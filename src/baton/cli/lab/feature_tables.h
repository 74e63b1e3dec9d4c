#pragma once
// What predictors are trained with, as flat tables: for predictors of one's own.
#include <vector>

#include "baton/predict/dataset.h"
#include "baton/profile/write/files.h"
#include "baton/profile/write/tables.h"

namespace baton::cli {

/// `kernels`: one row per kernel of the data set, numbered, with its time and weight, the base that Baton's
/// predictors start from, and all features (docs/prediction.md); unknown ones are empty. `models`: one row
/// per model, with its time. `calls`: how often each model calls each kernel in a run.
std::vector<ReportTable> feature_tables(const Dataset& data);
/// The files that they are written to.
std::vector<FileKind> feature_kinds();

}  // namespace baton::cli
