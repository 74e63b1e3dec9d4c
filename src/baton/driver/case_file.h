#pragma once
// A model's arrays in one .npz: "params/NAME", "inputs/NAME" and "outputs/output0", ... Together with a
// module they form a self-contained test case.
#include <string>

#include "baton/support/base/params_blob.h"

namespace baton {

struct CaseFile {
  NamedArrays params, inputs, outputs;
};

/// Files without such names hold weights or inputs: see the functions below. Throws Error for a file that is
/// not .npz, and for one that mixes names with and without a section.
CaseFile read_case(const std::string& path);

/// The model inputs in a file: its section "inputs", or the whole file when it has no sections.
NamedArrays read_inputs_file(const std::string& path);

/// Writes `text` to `module_path` and the arrays to `arrays_path`: both or neither, and never partially.
/// Throws Error when the disk is full or the folder is not writable.
void write_case(const std::string& module_path, const std::string& text, const std::string& arrays_path,
                const CaseFile& arrays);

/// Writes `text` to `path` atomically.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace baton
