/* The compile-time half of a backend that is not part of Baton, as a C interface. Such a library exports

     const struct baton_compiler* baton_compiler_entry(void);

   and usually, in the same file, baton_backend_entry of baton_backend.h, which runs what this half compiles.
   Baton loads it by path: `baton --backend FILE`, `baton.load_backend(path)` in Python, or the environment
   variable BATON_BACKENDS (paths, separated by colons). It stays loaded until the process ends. From then on
   AnnotateTarget, MergeComposite and PartitionGraph know its name, and each region that it is given becomes
   one kernel.

   Functions may be called from several threads at once; no exception may leave one. Texts are UTF-8. */
#ifndef BATON_CODEGEN_BATON_COMPILER_H_
#define BATON_CODEGEN_BATON_COMPILER_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented when a struct's layout or a function's semantics change. */
#define BATON_COMPILER_ABI 1

/* A constant of a region. */
struct baton_constant {
  const char* name;  /* that of its node in the JSON: "tvmgen_default_own_main_0_const_0" */
  const char* dtype; /* "float32" */
  int32_t dimensions;
  const int64_t* shape;
  const void* data; /* dense, the last axis innermost */
  size_t bytes;
};

/* What PartitionGraph outlined, or a single call that is asked about.

   `json` has TVM's form of graph JSON: "nodes" in order of execution, each with "op" ("input", "const" or
   "kernel"), "name" (of a kernel the operator, or the composite), "inputs" ([[node, output, 0], ...]) and
   "attrs": "shape" ([[[1, 64], ...]], one for each output), "dtype" ([["float32", ...]]), "num_inputs",
   "num_outputs", and each attribute of the operator as a list of texts in a list ([["1", "1"]]). "arg_nodes"
   are inputs and constants, "heads" the results, "node_row_ptr" the number of outputs before each node. */
struct baton_region {
  const char* symbol; /* what the compiled kernel is called: "tvmgen_default_own_main_0" */
  const char* json;
  const char* relay; /* the same as Relay text, with types */
  const struct baton_constant* constants;
  size_t constant_count;
};

/* A composite for MergeComposite: calls of operators as in "nn.relu(nn.bias_add(nn.dense(*, *), *))", where
   `*` is any value and `const` a constant. Larger ones go before smaller ones. */
struct baton_composite {
  const char* name; /* "own.dense_bias_relu": begins with the backend's name and a dot */
  const char* pattern;
};

struct baton_compiler {
  uint32_t abi_version;  /* BATON_COMPILER_ABI as it was compiled with; always the first member */
  uint32_t struct_bytes; /* sizeof(struct baton_compiler) */
  const char* name;      /* "own": lower case letters, digits and _; what AnnotateTarget calls it */
  const char* doc;       /* one line */

  const char* const* operators;             /* it may take outside of composites; the last one is null */
  const struct baton_composite* composites; /* may be null; the last one has no name */

  /* Why it does not take a region of this one call; null or empty when it does. Valid until the next call on
     this thread. Null: it takes every call of its operators. */
  const char* (*refuses)(const struct baton_region* call);

  /* Compiles regions into one blob, which the run half loads, and of which it binds each symbol with the
     region's inputs in order, then its results. 0, or a code of its own: last_error() then says why. */
  int (*compile)(const struct baton_region* regions, size_t count, void** blob, size_t* bytes);
  void (*release)(void* blob);

  /* One sentence about the last failure on this thread. */
  const char* (*last_error)(void);
};

typedef const struct baton_compiler* (*baton_compiler_entry_function)(void);

#ifdef __cplusplus
}
#endif

#endif
