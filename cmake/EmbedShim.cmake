# cmake -DINPUT=<object> -DOUTPUT=<.cc> -P EmbedShim.cmake: the bytes of the kernel shim as a C++ source. A script, and
# not the assembler's .incbin, since ccache does not see through that.

file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(..........................................................................................)" "\\1\n    "
       bytes "${bytes}")
file(WRITE "${OUTPUT}" "// Made by cmake/EmbedShim.cmake.
#include \"baton/support/base/kernel_shim.h\"

namespace baton {
namespace {

alignas(8) constexpr unsigned char kShim[] = {
    ${bytes}};

}  // namespace

std::span<const unsigned char> kernel_shim_object() { return kShim; }

}  // namespace baton
")
