# cmake -DINPUT=<object> -DSOURCE=<.c> -DHEADER=<.h> -DOUTPUT=<.cc> -P EmbedShim.cmake: the bytes of the kernel shim as a
# C++ source, and its own source with its header in place, for other processors. A script, and not the assembler's
# .incbin, since ccache does not see through that.

file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(..........................................................................................)" "\\1\n    "
       bytes "${bytes}")
file(READ "${SOURCE}" source)
file(READ "${HEADER}" header)
string(REPLACE "#include \"baton/support/base/kernel_table.h\"" "${header}" source "${source}")
file(WRITE "${OUTPUT}" "// Made by cmake/EmbedShim.cmake.
#include \"baton/support/base/kernel_shim.h\"

namespace baton {
namespace {

alignas(8) constexpr unsigned char kShim[] = {
    ${bytes}};

constexpr char kShimSource[] = R\"source(${source})source\";

}  // namespace

std::span<const unsigned char> kernel_shim_object() { return kShim; }
std::string_view kernel_shim_source() { return kShimSource; }

}  // namespace baton
")
