/* The runtime half of a backend, as a C interface: a table of functions for devices, memory, copies, queues
   and code. The CPU implements the same table inside the runtime (processor.cc); others are shared libraries
   `libbaton_plugin_NAME.so` that need only this header and export

     const struct baton_backend* baton_backend_entry(const struct baton_host* host);

   The library is loaded once and stays until the process ends. Functions that return int return 0 or a code
   of their own; last_error() then says why. Every function may be called from several threads at once, for
   different queues; no exception may leave one. */
#ifndef BATON_RUNTIME_BATON_BACKEND_H_
#define BATON_RUNTIME_BATON_BACKEND_H_

#include <stddef.h>
#include <stdint.h>

#include "baton/support/base/kernel_table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented when a struct's layout or a function's semantics change. */
#define BATON_BACKEND_ABI 1

/* Denotes the host in copy(): the handle is then a host address. */
#define BATON_HOST (-1)

/* Device kinds from here on are simulated devices: kinds below are DLPack's. Their clock is not the time that
   passes here, so profiles read it for copies too, and say that such times are simulated. */
#define BATON_FIRST_SIMULATED_KIND 1024
#define BATON_LAST_KIND 33554431

struct baton_dimension {
  int32_t min, extent, stride; /* the stride in elements */
  uint32_t flags;
};

/* A tensor argument of a kernel, with the layout of Halide's buffers. Exactly one of `memory` and `host` is
   set. */
struct baton_tensor {
  uint64_t memory; /* handle of the device's memory; 0: the tensor is on the host */
  const void* reserved;
  uint8_t* host;
  uint64_t flags;
  struct {
    uint8_t code; /* 0 int, 1 uint, 2 float, 3 handle, 4 bfloat */
    uint8_t bits;
    uint16_t lanes;
  } type;
  int32_t dimensions;
  struct baton_dimension* dim; /* dim[0] is the last axis of the tensor */
  void* padding;
};

/* A kernel: args are pointers to one baton_tensor per tensor, inputs in order, then outputs. */
typedef int (*baton_function)(void* context, void** args);

/* A kernel bound to its state: a queue, a primitive, scratch memory. */
struct baton_bound {
  baton_function function;
  void* context;
};

/* Services of the runtime for backends. Valid until the process ends. Members are only ever added at the end,
   without a new ABI version: struct_bytes tells which are there. */
struct baton_host {
  uint32_t abi_version;
  uint32_t struct_bytes;
  const struct baton_kernel_table*
      services;             /* memory, threads and marks, for code that runs on the processor */
  int32_t (*threads)(void); /* how many threads a call on this thread may use, itself included */
};

/* A part of a kernel: of a library's region one primitive. Texts live until the next baton_backend.parts of
   the kernel, or until it is unbound. */
struct baton_part {
  int32_t step;               /* of the kernel's code that it was made for, counted from 0; -1: none */
  const char* name;           /* "convolution", "reorder" */
  const char* reason;         /* of a change of layout: what needs it; else empty */
  const char* implementation; /* as the library names it: "jit:avx512_core"; may be empty */
  const char* layouts; /* of its operands and its result: "aBcd16b ABcd16b16a -> aBcd16b"; may be empty */
};

struct baton_backend {
  uint32_t abi_version;  /* BATON_BACKEND_ABI as the backend was compiled with; always the first member */
  uint32_t struct_bytes; /* sizeof(struct baton_backend) */
  const char* name;      /* "cuda"; its name in plans and artifacts */

  /* One sentence about the last failure on this thread. */
  const char* (*last_error)(void);

  /* ---- Devices, numbered from 0. None: the backend computes in the memory of the host, and the functions
     down to event_ns may be null. */
  int32_t (*device_count)(void);
  int32_t (*device_kind)(int32_t device); /* DLPack's number: 1 processor, 2 cuda, 4 opencl, 12 other, ... */
  const char* (*device_name)(int32_t device);

  /* ---- Memory. A handle is not 0; otherwise it is opaque. */
  int (*allocate)(int32_t device, size_t bytes, uint64_t* memory);
  void (*release)(int32_t device, uint64_t memory);

  /* Copies between any two of the host and the backend's devices, in order with `queue`. Synchronous when one
     side is the host; otherwise enqueued. */
  int (*copy)(void* queue, int32_t from_device, uint64_t from, int32_t to_device, uint64_t to, size_t bytes);

  /* ---- Queues: in-order command queues. */
  int (*queue_create)(int32_t device, void** queue);
  void (*queue_destroy)(void* queue); /* after it is empty */
  int (*queue_wait)(void* queue);     /* also reports failed commands */

  /* ---- Events: timestamps of the device's clock. */
  int (*event_create)(void* queue, void** event);
  void (*event_destroy)(void* event);
  int (*event_record)(void* event, void* queue);
  int (*event_ns)(void* start, void* stop, double* ns); /* both must have completed */

  /* ---- Code. The blob is the output of the backend's compile-time half; it may be freed after load returns.
   */
  int (*load)(const void* blob, size_t bytes, void** module);
  void (*unload)(void* module); /* after all its kernels are unbound */

  /* Binds the named kernel, with that number of tensors, to `queue` (null for a backend without devices);
     each call enqueues it. The tensors' addresses may change between calls. */
  int (*bind)(void* module, const char* symbol, int32_t tensors, void* queue, struct baton_bound* bound);
  void (*unbind)(struct baton_bound bound);

  /* ---- Parts of kernels, to measure them; null: kernels have none. From here on members are only ever added
     at the end, without a new ABI version: struct_bytes tells which are there. */

  /* The parts of a bound kernel in the order in which they run, for as many threads as a call may use now.
     The array has the lifetime of its texts. */
  int (*parts)(struct baton_bound bound, const struct baton_part** parts, int32_t* count);

  /* Calls the kernel like bound.function, and writes how many nanoseconds each part took. */
  int (*run_parts)(struct baton_bound bound, void** args, double* ns);

  /* ---- How many bytes of memory a device has, used ones included; null: not known. */
  int (*memory_bytes)(int32_t device, uint64_t* bytes);
};

typedef const struct baton_backend* (*baton_backend_entry_function)(const struct baton_host* host);

#ifdef __cplusplus
}
#endif

#endif
