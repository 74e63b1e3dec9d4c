/* The C interface of Baton's runtime (libbaton_runtime): loads an artifact and runs it. The artifact holds a
   model whose shapes are constant, or a program of the virtual machine: one with control flow, or with
   extents that are known when it runs. The same functions serve both; below, "a program" is the latter.

   Functions that return int return 0, or one of BATON_ERROR_*; those that return pointers return null on
   failure. The reason is then in baton_last_error(), per thread. Strings and shapes that are returned belong
   to the model. A model may be used by one thread at a time. */
#ifndef BATON_RUNTIME_C_API_H_
#define BATON_RUNTIME_C_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BATON_ERROR_ARGUMENT 1 /* an invalid index, name or size */
#define BATON_ERROR_DATA 2     /* the artifact is damaged, malformed or of another version */
#define BATON_ERROR_IO 3       /* a system call failed */
#define BATON_ERROR_MEMORY 4
#define BATON_ERROR_KERNEL 5      /* a kernel failed */
#define BATON_ERROR_UNAVAILABLE 6 /* not supported on this machine */

typedef struct baton_model baton_model;

/* One sentence about the last failure on this thread; "" when there was none. Valid until the next failure.
 */
const char* baton_last_error(void);

/* Loads the runtime half of a backend from its shared library (see baton_backend.h). Plug-ins beside this
   library, or in a folder listed in the environment variable BATON_PLUGINS, are found automatically. */
int baton_plugin_load(const char* path);

/* A program whose main takes or returns a value of a data type, a reference or a function is not loaded
   (BATON_ERROR_UNAVAILABLE). */
baton_model* baton_model_load(const char* path);

/* The bytes must remain valid until the model is freed. */
baton_model* baton_model_load_memory(const void* data, size_t bytes);

void baton_model_free(baton_model* model);

/* 0: the default, as many as the machine has. */
int baton_set_threads(baton_model* model, int threads);

/* Inputs are numbered as in the program that was compiled; constants are not counted. A tuple counts as its
   fields, tuples within it too: those of an input x are called x.0, x.1, ... */
int baton_num_inputs(const baton_model* model);
int baton_num_outputs(const baton_model* model);

/* Null when there is no such input. */
const char* baton_input_name(const baton_model* model, int index);

/* -1 when there is no such input. */
int baton_input_index(const baton_model* model, const char* name);

/* Number of dimensions, -1 when there is no such tensor; *shape (if shape is not null) points to the extents,
   of which those that are known only when the program runs are -1. After a run that succeeds an output of a
   program has the shape that it has there, until the next run. */
int baton_input_shape(const baton_model* model, int index, const int64_t** shape);
int baton_output_shape(const baton_model* model, int index, const int64_t** shape);

/* The name of an extent that is known only when the program runs, as "n" or "2*n + 1"; null where it has
 * none.
 */
const char* baton_input_extent_name(const baton_model* model, int index, int axis);

/* The most that an extent may be: the bound that the program was built for (`baton build --most`), for which
   memory is taken when it is loaded; of a known extent that extent. -1: no bound, or no such axis. */
int64_t baton_input_extent_most(const baton_model* model, int index, int axis);

/* "float32"; null when there is no such tensor. */
const char* baton_input_dtype(const baton_model* model, int index);
const char* baton_output_dtype(const baton_model* model, int index);

/* Says which shape an input has from now on; needed before baton_set_input() where extents are -1. An input
   whose shape changes loses its value. An error for another number of dimensions, or where a known extent
   differs or a bound is exceeded; whether inputs fit to each other is checked by the run. Extents may be 0.
 */
int baton_set_input_shape(baton_model* model, int index, const int64_t* shape, int dimensions);

/* Copies a row-major tensor in; bytes must be its exact size. An input of a known shape that is never set is
   zeros. */
int baton_set_input(baton_model* model, int index, const void* data, size_t bytes);

/* Uses the caller's memory from now on: it must be 64-byte aligned and valid until another value is set. An
   output of a program may be in this memory, too. */
int baton_bind_input(baton_model* model, int index, void* data, size_t bytes);

/* Of a program a failure leaves no outputs; it can be run again. An operator of which only the compiler has
   code (data decide the shape of its result, or one extent is 1 where another is not) is
   BATON_ERROR_UNAVAILABLE. */
int baton_run(baton_model* model);

/* Copies an output out; bytes must be its exact size. */
int baton_get_output(const baton_model* model, int index, void* data, size_t bytes);

/* The output in place: valid until the model is freed, overwritten by the next run; of a program valid until
   the next run. */
const void* baton_output_data(const baton_model* model, int index, size_t* bytes);

/* A stream of inputs through a model, no program, whose devices and links work side by side. Several inputs
   are on the way at once, each in an instance of the model: start() begins with the inputs set since the last
   one, finish() waits for the oldest and makes its outputs readable until its instance is started again. A
   failure ends all inputs on the way, and is reported once. One thread at a time may use a stream; it may be
   used beside its model, and must be freed before it. */
typedef struct baton_stream baton_stream;

/* `instances`: 0: one for each queue (device or link) of the model and one more, or as many as there is
   memory for; one for a model on the processor alone. */
baton_stream* baton_stream_create(const baton_model* model, int instances);
void baton_stream_free(baton_stream* stream);
int baton_stream_instances(const baton_stream* stream);

/* Copies a tensor of the next input in; inputs that are not set are those of an earlier one or zeros. An
   error when all instances are on the way: finish one first. */
int baton_stream_set_input(baton_stream* stream, int index, const void* data, size_t bytes);
int baton_stream_start(baton_stream* stream);
int baton_stream_finish(baton_stream* stream);

/* Copies an output of the last finished input out. */
int baton_stream_get_output(const baton_stream* stream, int index, void* data, size_t bytes);

/* Runs `runs` times and times every kernel. The results are read with the functions below. Of a program a
   call below stands for all calls of a node in a run, which may be none, and only nodes that were called
   count. What is left of the whole run is control, and memory and shapes of results. */
int baton_profile(baton_model* model, int runs);

/* Of the last baton_profile: the number of kernel calls per run (0 when there was none). */
int baton_profile_calls(const baton_model* model);

/* The node of a call: its unique name and its kernel's. Null when there is no such call. Valid until the next
   profile. */
const char* baton_profile_node_name(const baton_model* model, int call);
const char* baton_profile_kernel_name(const baton_model* model, int call);

/* Nanoseconds in one run: of one call; of the whole run. Negative when there is no such call or run. */
double baton_profile_ns(const baton_model* model, int call, int run);
double baton_profile_total_ns(const baton_model* model, int run);

#ifdef __cplusplus
}
#endif

#endif
