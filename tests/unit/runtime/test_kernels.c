/* Kernels for the tests of the runtime, by hand, with the interface that Halide's have. */
#include <HalideRuntime.h>
#include <string.h>

#include "baton/runtime/c_api.h" /* so that it is compiled as C once */

extern int baton_mark_fenced(int id);

static halide_buffer_t* buffer(void** args, int i) { return (halide_buffer_t*)args[i]; }

static float* data(void** args, int i) { return (float*)buffer(args, i)->host; }

static int elements(const halide_buffer_t* b) {
  int count = 1;
  for (int i = 0; i < b->dimensions; ++i) count *= b->dim[i].extent;
  return count;
}

int empty_argv(void** args) {
  (void)args;
  return 0;
}

int fail_argv(void** args) {
  (void)args;
  return -7;
}

/* out = in + 1 */
int add_one_argv(void** args) {
  for (int i = 0; i < elements(buffer(args, 1)); ++i) data(args, 1)[i] = data(args, 0)[i] + 1;
  return 0;
}

/* out = a + b */
int add_argv(void** args) {
  for (int i = 0; i < elements(buffer(args, 2)); ++i) data(args, 2)[i] = data(args, 0)[i] + data(args, 1)[i];
  return 0;
}

/* low, high = x - 1, x + 1 */
int around_argv(void** args) {
  for (int i = 0; i < elements(buffer(args, 0)); ++i) {
    data(args, 1)[i] = data(args, 0)[i] - 1;
    data(args, 2)[i] = data(args, 0)[i] + 1;
  }
  return 0;
}

/* out (int32) = type code, type bits, dimensions, then extent and stride of each dimension, innermost first
 */
int describe_argv(void** args) {
  const halide_buffer_t* in = buffer(args, 0);
  int32_t* out = (int32_t*)buffer(args, 1)->host;
  *out++ = in->type.code;
  *out++ = in->type.bits;
  *out++ = in->dimensions;
  for (int i = 0; i < in->dimensions; ++i) {
    *out++ = in->dim[i].extent;
    *out++ = in->dim[i].stride;
  }
  return 0;
}

static int square(void* user, int i, uint8_t* closure) {
  void** args = (void**)closure;
  (void)user;
  baton_mark_fenced(3);
  data(args, 1)[i] = data(args, 0)[i] * data(args, 0)[i];
  baton_mark_fenced(0);
  return 0;
}

/* out = in * in: through scratch memory, a parallel loop and marks, the functions that the shim gives */
int square_argv(void** args) {
  const int count = elements(buffer(args, 1));
  float* copy = (float*)halide_malloc(NULL, sizeof(float) * (size_t)count);
  halide_buffer_t scratch = *buffer(args, 0);
  void* inner[2] = {&scratch, args[1]};
  int code;
  memcpy(copy, data(args, 0), sizeof(float) * (size_t)count);
  scratch.host = (uint8_t*)copy;
  code = halide_do_par_for(NULL, square, 0, count, (uint8_t*)inner);
  halide_free(NULL, copy);
  return code;
}
