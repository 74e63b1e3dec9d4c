#include "baton/text/std_library.h"

namespace baton::text {

// core.rly: the type of memory that memory.alloc_storage gives.
const char* const kCore = R"relay(#[version = "0.0.5"]
extern type Storage
)relay";

}  // namespace baton::text
