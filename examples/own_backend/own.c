/* A backend of one's own, built outside of Baton with its three headers only:

     cc -shared -fPIC -O2 -I HEADERS -o libown.so own.c     (HEADERS: python3 -c "import baton;
   print(baton.get_include())") baton.load_backend("libown.so"), or BATON_BACKENDS=$PWD/libown.so

   "own" computes dense layers in float32, with relu behind, in the memory of the host. Its blob is a list of
   records, one for each region: what to compute, and the constant weight if there is one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baton/codegen/baton_compiler.h"
#include "baton/runtime/baton_backend.h"

static _Thread_local char said[256];
static const char* last_error(void) { return said; }
static int failed(const char* why) {
  snprintf(said, sizeof said, "%s", why);
  return 1;
}

/* ---- Compiling. */

struct record {
  char symbol[128];
  int64_t rows, inner, columns; /* of (rows, inner) x (columns, inner) */
  int32_t relu, weight_given;   /* a constant weight follows the record */
};

static const char* const operators[] = {"nn.dense", NULL};
static const struct baton_composite composites[] = {{"own.dense_relu", "nn.relu(nn.dense(*, *))"},
                                                    {NULL, NULL}};

static int count_of(const char* text, const char* part) {
  int count = 0;
  for (const char* at = text; (at = strstr(at, part)); at += strlen(part)) ++count;
  return count;
}

/* The shape of the first node that is of this kind: "shape":[[[4,8]]] of two extents. */
static int shape_of(const char* json, const char* node, int64_t shape[2]) {
  const char* at = strstr(json, node);
  at = at ? strstr(at, "\"shape\":[[[") : NULL;
  long long a = 0, b = 0;
  if (!at || sscanf(at, "\"shape\":[[[%lld,%lld]", &a, &b) != 2) return 0;
  shape[0] = a, shape[1] = b;
  return 1;
}

/* One dense layer of float32, alone or in the composite. The graph JSON is compact: no blanks. */
static const char* refuses(const struct baton_region* region) {
  if (count_of(region->json, "\"op\":\"kernel\"") != 1) return "one layer at a time";
  if (count_of(region->json, "\"dtype\":[[\"float32\"]]") != 3) return "only dense layers of float32";
  if (!strstr(region->json, "\"inputs\":[[0,0,0],[1,0,0]]"))
    return "only data that are computed, and another weight";
  return NULL;
}

static int compile(const struct baton_region* regions, size_t count, void** blob, size_t* bytes) {
  char* all = NULL;
  *bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    const struct baton_region* region = &regions[i];
    const char* why = refuses(region);
    struct record record;
    int64_t input[2], result[2];
    memset(&record, 0, sizeof record);
    if (why || !shape_of(region->json, "\"op\":\"input\"", input) ||
        !shape_of(region->json, "\"op\":\"kernel\"", result) || region->constant_count > 1 ||
        strlen(region->symbol) >= sizeof record.symbol) {
      free(all);
      return failed(why ? why : "not the dense layer that it looks like");
    }
    strcpy(record.symbol, region->symbol);
    record.rows = result[0], record.columns = result[1], record.inner = input[1];
    record.relu = strstr(region->json, "own.dense_relu") != NULL;
    record.weight_given = (int32_t)region->constant_count;
    const size_t weight = region->constant_count ? region->constants[0].bytes : 0;
    all = realloc(all, *bytes + sizeof record + weight);
    memcpy(all + *bytes, &record, sizeof record);
    if (weight) memcpy(all + *bytes + sizeof record, region->constants[0].data, weight);
    *bytes += sizeof record + weight;
  }
  *blob = all;
  return 0;
}

const struct baton_compiler* baton_compiler_entry(void) {
  static const struct baton_compiler table = {BATON_COMPILER_ABI,
                                              sizeof table,
                                              "own",
                                              "dense layers by a loop in C",
                                              operators,
                                              composites,
                                              refuses,
                                              compile,
                                              free,
                                              last_error};
  return &table;
}

/* ---- Running. A kernel's context is its record in the loaded blob. */

static int32_t device_count(void) { return 0; } /* it computes in the memory of the host */

static int run(void* context, void** args) {
  const struct record* record = context;
  const float* data = (const float*)((struct baton_tensor*)args[0])->host;
  const float* weight =
      record->weight_given ? (const float*)(record + 1) : (const float*)((struct baton_tensor*)args[1])->host;
  float* result = (float*)((struct baton_tensor*)args[record->weight_given ? 1 : 2])->host;
  for (int64_t i = 0; i < record->rows; ++i)
    for (int64_t j = 0; j < record->columns; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < record->inner; ++k)
        sum += data[i * record->inner + k] * weight[j * record->inner + k];
      result[i * record->columns + j] = record->relu && sum < 0 ? 0 : sum;
    }
  return 0;
}

struct module {
  size_t bytes;
  char blob[];
};

static int load(const void* blob, size_t bytes, void** module) {
  struct module* loaded = malloc(sizeof *loaded + bytes);
  loaded->bytes = bytes;
  memcpy(loaded->blob, blob, bytes);
  *module = loaded;
  return 0;
}

static int bind(void* module, const char* symbol, int32_t tensors, void* queue, struct baton_bound* bound) {
  struct module* in = module;
  (void)tensors, (void)queue;
  for (size_t at = 0; at + sizeof(struct record) <= in->bytes;) {
    struct record* record = (struct record*)(in->blob + at);
    if (strcmp(record->symbol, symbol) == 0) {
      *bound = (struct baton_bound){run, record};
      return 0;
    }
    at += sizeof *record +
          (record->weight_given ? sizeof(float) * (size_t)(record->columns * record->inner) : 0);
  }
  return failed("its blob has no such region");
}

static void unbind(struct baton_bound bound) { (void)bound; }

const struct baton_backend* baton_backend_entry(const struct baton_host* host) {
  static const struct baton_backend table = {.abi_version = BATON_BACKEND_ABI,
                                             .struct_bytes = sizeof table,
                                             .name = "own",
                                             .last_error = last_error,
                                             .device_count = device_count,
                                             .load = load,
                                             .unload = free,
                                             .bind = bind,
                                             .unbind = unbind};
  (void)host;
  return &table;
}
