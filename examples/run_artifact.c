/* Runs an artifact with Baton's runtime alone, on any machine that the runtime was built for:

       run_artifact MODEL.baton [--out PREFIX] [--runs N] NAME=FILE.npy ...

   Every input is read from a .npy file (row-major, little-endian, of the input's type; its shape is the
   file's where the model leaves extents open); output i is written to PREFIX<i>.npy (default prefix:
   "output"). With --runs, the shortest of N runs is printed in milliseconds. Needs runtime/c_api.h and
   libbaton_runtime.so only (tools/make_runtime builds both). The exit status is 0, or 1 after a message. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "baton/runtime/c_api.h"

#define MOST_DIMENSIONS 32

struct type_name {
  const char* name; /* the runtime's */
  const char* npy;  /* numpy's, in the header of a file */
  size_t bytes;
};

static const struct type_name kTypes[] = {
    {"float32", "<f4", 4}, {"float64", "<f8", 8}, {"float16", "<f2", 2}, {"int8", "|i1", 1},
    {"int16", "<i2", 2},   {"int32", "<i4", 4},   {"int64", "<i8", 8},   {"uint8", "|u1", 1},
    {"uint16", "<u2", 2},  {"uint32", "<u4", 4},  {"uint64", "<u8", 8},  {"bool", "|b1", 1},
};

static const struct type_name* find_type(const char* name) {
  for (size_t i = 0; name && i < sizeof kTypes / sizeof kTypes[0]; ++i)
    if (strcmp(kTypes[i].name, name) == 0) return &kTypes[i];
  return NULL;
}

static int complain(const char* about, const char* why) {
  fprintf(stderr, "run_artifact: %s: %s\n", about, why);
  return 1;
}

/* Writes "(2, 3)", "(2,)" or "()", as numpy does. */
static void shape_text(const int64_t* shape, int dimensions, char* text, size_t size) {
  size_t at = (size_t)snprintf(text, size, "(");
  for (int i = 0; i < dimensions && at < size; ++i)
    at += (size_t)snprintf(text + at, size - at, i ? ", %lld" : "%lld", (long long)shape[i]);
  if (at < size) snprintf(text + at, size - at, dimensions == 1 ? ",)" : ")");
}

static size_t byte_count(const int64_t* shape, int dimensions, size_t item) {
  size_t bytes = item;
  for (int i = 0; i < dimensions; ++i) bytes *= (size_t)shape[i];
  return bytes;
}

/* "(2, 3)" as extents; how many, or -1. */
static int read_shape(const char* text, int64_t* shape) {
  int dimensions = 0;
  for (const char* at = text + 1; *at && *at != ')'; ++dimensions) {
    char* end = NULL;
    if (dimensions == MOST_DIMENSIONS) return -1;
    shape[dimensions] = strtoll(at, &end, 10);
    if (end == at || shape[dimensions] < 0) return -1;
    for (at = end; *at == ',' || *at == ' ';) ++at;
  }
  return dimensions;
}

/* The bytes that follow the header of a .npy file, which must be of that type, and the shape that it says;
   null after a message. */
static void* read_npy(const char* path, const struct type_name* type, int64_t* shape, int* dimensions) {
  char header[65536];
  size_t bytes = 0;
  unsigned char start[12];
  FILE* file = fopen(path, "rb");
  if (!file) return complain(path, "cannot be opened"), NULL;
  void* data = NULL;
  size_t length = 0;
  const char* why = "is no .npy file";
  if (fread(start, 1, 10, file) == 10 && memcmp(start, "\x93NUMPY", 6) == 0) {
    length = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1 && fread(start + 10, 1, 2, file) == 2)
      length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    if (length < sizeof header && fread(header, 1, length, file) == length) {
      char wanted[64];
      header[length] = 0;
      snprintf(wanted, sizeof wanted, "'descr': '%s'", type->npy);
      const char* extents = strstr(header, "'shape': (");
      *dimensions = extents ? read_shape(extents + 9, shape) : -1;
      why = !strstr(header, wanted)                   ? "has another element type than the input"
            : *dimensions < 0                         ? "has no shape that can be read"
            : strstr(header, "'fortran_order': True") ? "is in column-major order"
                                                      : NULL;
      if (!why) bytes = byte_count(shape, *dimensions, type->bytes);
    }
  }
  if (!why) {
    data = malloc(bytes ? bytes : 1);
    if (!data || fread(data, 1, bytes, file) != bytes) {
      why = data ? "is shorter than its header says" : "does not fit into memory";
      free(data);
      data = NULL;
    }
  }
  fclose(file);
  if (why) complain(path, why);
  return data;
}

static int write_npy(const char* path, const struct type_name* type, const char* shape, const void* data,
                     size_t bytes) {
  char header[512];
  int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                        type->npy, shape);
  while ((10 + length + 1) % 64) header[length++] = ' ';
  header[length++] = '\n';
  const unsigned char start[10] = {
      0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(length & 255), (unsigned char)(length >> 8)};
  FILE* file = fopen(path, "wb");
  if (!file) return complain(path, "cannot be written");
  int good = fwrite(start, 1, 10, file) == 10 && fwrite(header, 1, (size_t)length, file) == (size_t)length &&
             fwrite(data, 1, bytes, file) == bytes;
  good = fclose(file) == 0 && good;
  return good ? 0 : complain(path, "cannot be written");
}

static int set_input(baton_model* model, int index, const char* path) {
  int64_t shape[MOST_DIMENSIONS];
  int dimensions = 0;
  const struct type_name* type = find_type(baton_input_dtype(model, index));
  if (!type) return complain(path, "the input's element type has no .npy form");
  void* data = read_npy(path, type, shape, &dimensions);
  if (!data) return 1;
  const int failed = baton_set_input_shape(model, index, shape, dimensions) ||
                     baton_set_input(model, index, data, byte_count(shape, dimensions, type->bytes));
  free(data);
  return failed ? complain(path, baton_last_error()) : 0;
}

static int write_output(const baton_model* model, int index, const char* prefix) {
  char path[4096], text[256];
  const int64_t* shape = NULL;
  size_t bytes = 0;
  const int dimensions = baton_output_shape(model, index, &shape);
  const struct type_name* type = find_type(baton_output_dtype(model, index));
  const void* data = baton_output_data(model, index, &bytes);
  snprintf(path, sizeof path, "%s%d.npy", prefix, index);
  if (!type || !data)
    return complain(path, type ? baton_last_error() : "the output's element type has no .npy form");
  shape_text(shape, dimensions, text, sizeof text);
  return write_npy(path, type, text, data, bytes);
}

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int use(baton_model* model, const char* prefix, int runs, char** inputs, int count) {
  char* given = calloc((size_t)baton_num_inputs(model) + 1, 1);
  if (!given) return complain("inputs", "do not fit into memory");
  int failed = 0;
  for (int i = 0; i < count && !failed; ++i) {
    char* equal = strchr(inputs[i], '=');
    if (!equal) failed = complain(inputs[i], "write NAME=FILE.npy");
    if (failed) break;
    *equal = 0;
    const int index = baton_input_index(model, inputs[i]);
    failed =
        index < 0 ? complain(inputs[i], "the model has no such input") : set_input(model, index, equal + 1);
    if (index >= 0) given[index] = 1;
  }
  for (int i = 0; i < baton_num_inputs(model) && !failed; ++i)
    if (!given[i]) failed = complain(baton_input_name(model, i), "this input is not given");
  free(given);
  double best = 0;
  for (int run = 0; run < runs && !failed; ++run) {
    const double start = now_ms();
    if (baton_run(model)) failed = complain("run", baton_last_error());
    const double took = now_ms() - start;
    if (run == 0 || took < best) best = took;
  }
  for (int i = 0; i < baton_num_outputs(model) && !failed; ++i) failed = write_output(model, i, prefix);
  if (!failed && runs > 1) printf("%.6f ms\n", best);
  return failed;
}

int main(int count, char** words) {
  const char* prefix = "output";
  int runs = 1, at = 2;
  if (count < 2)
    return complain("usage", "run_artifact MODEL.baton [--out PREFIX] [--runs N] NAME=FILE.npy ...");
  for (; at + 1 < count && strncmp(words[at], "--", 2) == 0; at += 2) {
    if (strcmp(words[at], "--out") == 0)
      prefix = words[at + 1];
    else if (strcmp(words[at], "--runs") == 0 && atoi(words[at + 1]) > 0)
      runs = atoi(words[at + 1]);
    else
      return complain(words[at], "there are --out PREFIX and --runs N");
  }
  baton_model* model = baton_model_load(words[1]);
  if (!model) return complain(words[1], baton_last_error());
  const int failed = use(model, prefix, runs, words + at, count - at);
  baton_model_free(model);
  return failed;
}
