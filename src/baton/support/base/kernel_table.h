/* What a library of kernels needs from the program that loads it, as plain C: shared by the shim that is
   linked into every such library (kernel_shim.c) and by the loader (kernel_library.cc), which fills the table
   after dlopen. Python loads modules with RTLD_LOCAL, so a kernel could not find these functions by name. */
#ifndef BATON_RUNTIME_KERNEL_TABLE_H_
#define BATON_RUNTIME_KERNEL_TABLE_H_

#include <stddef.h>
#include <stdint.h>

/* Counts up when the struct changes its layout. */
#define BATON_KERNEL_TABLE_VERSION 1

struct baton_kernel_table {
  uint32_t version; /* set by the shim: what it was compiled for */
  uint32_t reserved;
  void* (*allocate)(size_t bytes);
  void (*release)(void* block);
  int (*parallel_for)(int (*task)(void* user, int index, uint8_t* closure), void* user, int min, int extent,
                      uint8_t* closure);
  int (*mark_fenced)(int id);
};

#endif
