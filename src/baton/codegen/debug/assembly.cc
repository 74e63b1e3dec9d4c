#include "baton/codegen/debug/assembly.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "baton/support/base/environment.h"
#include "baton/support/base/files.h"
#include "baton/support/error.h"
#include "baton/support/subprocess.h"

namespace baton {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// ".LBB0_3:   # %name" and "# %bb.3:   # %name": a jump target, and a block reached by fall-through only.
bool begins_block(const std::string& line) { return line.starts_with(".LBB") || line.starts_with("# %bb."); }

std::string block_name(const std::string& line) {
  const size_t colon = line.find(':');
  const size_t at = colon == std::string::npos ? colon : line.find("# %", colon);
  if (at == std::string::npos) return "";
  std::string name = line.substr(at + 3);
  if (!name.empty() && name[0] == '"') return name.substr(1, name.find('"', 1) - 1);
  return name.substr(0, name.find_first_of(" \t"));
}

/// The largest "Depth=N" in a block's comments.
int depth_in(const std::string& line) {
  int depth = 0;
  for (size_t at = line.find("Depth="); at != std::string::npos; at = line.find("Depth=", at + 1))
    depth = std::max(depth, std::atoi(line.c_str() + at + 6));
  return depth;
}

bool is_comment(const std::string& line) {
  const size_t at = line.find_first_not_of(" \t");
  return at == std::string::npos || line[at] == '#';
}

}  // namespace

Assembly parse_assembly(const std::string& text) {
  Assembly assembly;
  assembly.lines = lines_of(text);
  AssemblyFunction* function = nullptr;
  bool heading = false;  // in the comments after a block's label
  for (size_t i = 0; i < assembly.lines.size(); ++i) {
    const std::string& line = assembly.lines[i];
    if (const size_t at = line.find("# @");
        at != std::string::npos && !line.empty() && !std::isspace(static_cast<unsigned char>(line[0]))) {
      assembly.functions.push_back({line.substr(0, line.find(':')), i, {}, {}});
      function = &assembly.functions.back();
      if (function->symbol.starts_with('"'))
        function->symbol = function->symbol.substr(1, function->symbol.size() - 2);
      continue;
    }
    if (!function) continue;
    if (line.starts_with(".Lfunc_end")) {
      if (!function->blocks.empty()) function->blocks.back().last = i;
      function = nullptr;
      continue;
    }
    if (begins_block(line)) {
      if (!function->blocks.empty()) function->blocks.back().last = i;
      function->blocks.push_back({block_name(line), depth_in(line), i, i});
      heading = true;
    } else if (heading && is_comment(line)) {
      function->blocks.back().depth = std::max(function->blocks.back().depth, depth_in(line));
    } else {
      heading = false;
      if (line.starts_with("\t.p2align") || line.starts_with("\t.balign")) function->paddings.push_back(i);
    }
  }
  return assembly;
}

std::string instruction_of(const std::string& line) {
  if (line.size() < 2 || line[0] != '\t' || line[1] == '.' || line[1] == '#') return "";
  std::string text =
      line.substr(1, line.find('#') == std::string::npos ? std::string::npos : line.find('#') - 1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  return text;
}

std::string with_inserted(const Assembly& assembly, const std::map<size_t, std::string>& before) {
  std::string text;
  for (size_t i = 0; i < assembly.lines.size(); ++i) {
    if (const auto at = before.find(i); at != before.end()) text += at->second;
    text += assembly.lines[i] + "\n";
  }
  return text;
}

std::string find_assembler() {
  const std::string chosen = environment()->assembler;
  return find_program(chosen.empty() ? "as" : chosen);
}

Result<std::string> assemble(const std::string& text) {
  const std::string assembler = find_assembler();
  if (assembler.empty()) {
    if (const std::string chosen = environment()->assembler; !chosen.empty())
      return Status::unavailable("BATON_ASSEMBLER names `" + chosen +
                                 "`, which is no program that can be run");
    return Status::unavailable("no assembler was found (`as`): install binutils, or set BATON_ASSEMBLER");
  }
  TemporaryFolder folder;
  if (Status status = folder.create("kernels"); !status.ok()) return status;
  if (Status status = folder.write("kernel.s", text); !status.ok()) return status;
  const std::string object = folder.path("kernel.o"), errors = folder.path("errors");
  const int code = run_program({assembler, "-o", object, folder.path("kernel.s")}, errors);
  if (code == 0) return read_file(object);
  const std::string reason = start_of(errors);
  return Status::io("`" + assembler + "` refuses the assembly of a kernel: " +
                    (reason.empty() ? "exit status " + std::to_string(code) : reason));
}

}  // namespace baton
