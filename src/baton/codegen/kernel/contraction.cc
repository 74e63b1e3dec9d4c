#include "baton/codegen/kernel/contraction.h"

#include <cstdint>
#include <cstring>

#include <Halide.h>
#include <dlfcn.h>

// Halide knows two kinds of float arithmetic: its default, which lets LLVM assume that there is no NaN and no
// infinity, and cancel terms; and strict_float, which also forbids FMA. Kernels need the one in between. In a
// strict kernel Halide calls CodeGen_LLVM::set_strict_fp_math() before it emits instructions, which sets the
// fast-math flags of LLVM's IRBuilder to none. The function below has its symbol and comes first in the
// search order (libbaton.so depends on libHalide.so); it calls Halide's, then sets the flag `contract`. Where
// either step is not as expected (another Halide was loaded before, another LLVM), kernels are right but
// have no FMA. docs/design/0042-ieee-floats.md

namespace baton {
namespace {

thread_local bool contract_here = false;

/// llvm::FastMathFlags::AllowContract.
constexpr uint32_t kAllowContract = 1u << 5;
/// Where IRBuilderBase of LLVM 20 keeps its FastMathFlags.
constexpr size_t kFlagsOffset = 0x70;

constexpr const char* kSetStrict = "_ZN6Halide8Internal12CodeGen_LLVM18set_strict_fp_mathEv";

/// Gives access to the protected `builder`: named through a derived class it is a member of the base.
struct CodeGenAccess : Halide::Internal::CodeGen_LLVM {
  static char* builder_of(Halide::Internal::CodeGen_LLVM* codegen) {
    return reinterpret_cast<char*>((codegen->*(&CodeGenAccess::builder)).get());
  }
};

using SetStrict = void (*)(Halide::Internal::CodeGen_LLVM*);

/// Whether Halide's function clears the word at kFlagsOffset and leaves those beside it alone.
bool flags_are_there(SetStrict halides, Halide::Internal::CodeGen_LLVM* codegen) {
  constexpr uint32_t kOther = 0x2a;
  char* const flags = CodeGenAccess::builder_of(codegen) + kFlagsOffset;
  uint32_t behind = 0, after = 0, word = kOther;
  std::memcpy(&behind, flags + sizeof word, sizeof behind);
  std::memcpy(flags, &word, sizeof word);
  halides(codegen);
  std::memcpy(&word, flags, sizeof word);
  std::memcpy(&after, flags + sizeof word, sizeof after);
  return word == 0 && after == behind;
}

void set_strict_fp_math(Halide::Internal::CodeGen_LLVM* codegen) {
  static const auto halides = reinterpret_cast<SetStrict>(dlsym(RTLD_NEXT, kSetStrict));
  static const bool known = flags_are_there(halides, codegen);
  halides(codegen);
  if (!known || !contract_here) return;
  std::memcpy(CodeGenAccess::builder_of(codegen) + kFlagsOffset, &kAllowContract, sizeof kAllowContract);
}

}  // namespace

ContractionScope::ContractionScope(bool contract) : outer_(contract_here) { contract_here = contract; }
ContractionScope::~ContractionScope() { contract_here = outer_; }

}  // namespace baton

extern "C" __attribute__((visibility("default"))) void baton_set_strict_fp_math(
    Halide::Internal::CodeGen_LLVM* codegen) asm("_ZN6Halide8Internal12CodeGen_LLVM18set_strict_fp_mathEv");
void baton_set_strict_fp_math(Halide::Internal::CodeGen_LLVM* codegen) { baton::set_strict_fp_math(codegen); }
