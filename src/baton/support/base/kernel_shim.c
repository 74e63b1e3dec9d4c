/* Linked into every library of kernels. Gives Halide's code the functions it calls, hidden, so that they meet
   no other library's; each calls through a table that the loader fills. Compiled when Baton is built and
   carried inside libbaton_runtime (kernel_shim.h), so that a machine needs only a linker to build a library.
 */
#include "baton/support/base/kernel_table.h"

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN struct baton_kernel_table baton_kernel_table_of_this_library = {
    BATON_KERNEL_TABLE_VERSION, 0, 0, 0, 0, 0};

/* The name the loader looks for. An alias, so that the functions below reach the table without the global
 * offset table. */
extern struct baton_kernel_table baton_kernel_table
    __attribute__((alias("baton_kernel_table_of_this_library"), visibility("default")));

#define table baton_kernel_table_of_this_library

HIDDEN void* halide_malloc(void* user, size_t bytes) {
  (void)user;
  return table.allocate(bytes);
}

HIDDEN void halide_free(void* user, void* block) {
  (void)user;
  table.release(block);
}

HIDDEN int halide_do_par_for(void* user, int (*task)(void*, int, uint8_t*), int min, int extent,
                             uint8_t* closure) {
  return table.parallel_for(task, user, min, extent, closure);
}

HIDDEN int baton_mark_fenced(int id) { return table.mark_fenced(id); }

/* Kernels are built without checks; this one call remains in some of them. The code is Halide's. */
HIDDEN int halide_error_out_of_memory(void* user) {
  (void)user;
  return -11;
}
