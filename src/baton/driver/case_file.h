#pragma once
// A model's arrays in one .npz: "params/NAME", "inputs/NAME" and "outputs/output0", .. Beside a module they
// make a case that can be run and checked alone.
#include <string>

#include "baton/support/base/params_blob.h"

namespace baton {

struct CaseFile {
  NamedArrays params, inputs, outputs;
};

/// A file without such names is one of weights, or of inputs: see the functions that follow. Throws Error for
/// a file that is none, and for one in which names with and without a section are mixed.
CaseFile read_case(const std::string& path);

/// What a file has for a model's inputs: its section "inputs", or all of it when it has no sections.
NamedArrays read_inputs_file(const std::string& path);

/// Both or neither: `text` to `module_path`, the arrays to `arrays_path`. Nothing half-written is left
/// behind. Throws Error when the disk is full or the folder cannot be written to.
void write_case(const std::string& module_path, const std::string& text, const std::string& arrays_path,
                const CaseFile& arrays);

/// `text` to `path`, whole or not at all.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace baton
