/* The report: a table for people, or one JSON object. */
#include "check.h"
#include <stdio.h>

static void put_string(const char *text) {
  putchar('"');
  for (const unsigned char *c = (const unsigned char *)text; *c; c++)
    if (*c == '"' || *c == '\\')
      printf("\\%c", *c);
    else if (*c < 32)
      printf("\\u%04x", *c);
    else
      putchar(*c);
  putchar('"');
}

static void put_field(const char *name, const char *text) {
  printf("\"%s\": ", name);
  put_string(text);
}

void kr_check_report_open(bool json, const char *version, uint64_t seed) {
  if (json) {
    printf("{");
    put_field("version", version);
    printf(", \"seed\": %llu, \"backends\": [", (unsigned long long)seed);
  } else {
    printf("krafla-check %s, --seed %llu\n", version, (unsigned long long)seed);
  }
}

static void put_json(const kr_check_backend *backend, bool first) {
  printf("%s\n  {", first ? "" : ",");
  put_field("name", backend->name);
  printf(", ");
  put_field("path", backend->path);
  printf(", \"rank\": %d, ", backend->rank);
  put_field("features", backend->features);
  printf(", ");
  put_field("skipped", backend->reason);
  printf(", \"kernels\": [");
  const char *comma = "";
  for (size_t i = 0; i < backend->n_results; i++) {
    const kr_check_result *r = &backend->results[i];
    if (r->cases == 0) continue;
    printf("%s\n    {", comma);
    put_field("name", r->kernel);
    printf(", \"cases\": %lld, \"equal\": %s, ", (long long)r->cases, r->equal ? "true" : "false");
    put_field("message", r->message);
    if (r->speed.speed > 0) {
      printf(", \"speed\": %.4g, ", r->speed.speed);
      put_field("unit", r->unit);
      printf(", \"ratio_to_scalar\": %.4g", r->speed.speed / r->speed.reference);
    }
    if (r->speed.bandwidth > 0)
      printf(", \"read_bandwidth\": %.4g, \"share\": %.4g", r->speed.bandwidth, r->speed.share);
    printf("}");
    comma = ",";
  }
  printf("]}");
}

static void put_table(const kr_check_backend *backend, bool timed) {
  printf("\n%s, rank %d, %s\n", backend->name, backend->rank,
         backend->path[0] ? backend->path : "built in");
  if (backend->reason[0]) {
    printf("  skipped: %s\n", backend->reason);
    return;
  }
  printf("  needs %s; %s\n", backend->features[0] ? backend->features : "no CPU feature",
         backend->provenance);
  printf("  %-14s %5s  %-9s", "kernel", "cases", "result");
  printf(timed ? " %16s %8s %10s\n" : "\n", "speed", "/scalar", "/bandwidth");
  size_t missing = 0;
  for (size_t i = 0; i < backend->n_results; i++) {
    const kr_check_result *r = &backend->results[i];
    if (r->cases == 0) {
      missing++;
      continue;
    }
    printf("  %-14s %5lld  %-9s", r->kernel, (long long)r->cases,
           r->equal ? "same bits" : "DIFFERS");
    if (r->speed.speed > 0)
      printf(" %9.2f %-6s %7.2fx", r->speed.speed, r->unit, r->speed.speed / r->speed.reference);
    if (r->speed.bandwidth > 0) printf(" %8.0f %%", 100 * r->speed.share);
    printf("\n");
    if (!r->equal) printf("    %s: %s\n", r->kernel, r->message);
  }
  if (missing) printf("  %zu kernels are left to the backends below\n", missing);
  double bandwidth = 0;
  for (size_t i = 0; i < backend->n_results; i++)
    if (backend->results[i].speed.bandwidth > bandwidth)
      bandwidth = backend->results[i].speed.bandwidth;
  if (bandwidth > 0)
    printf("  read bandwidth %.1f GB/s, one thread, a plain sum of the weights\n", bandwidth);
}

void kr_check_report_backend(bool json, const kr_check_backend *backend, bool first, bool timed) {
  if (json)
    put_json(backend, first);
  else
    put_table(backend, timed);
  fflush(stdout);
}

void kr_check_report_close(bool json, int code) {
  if (json)
    printf("\n], \"equal\": %s}\n", code == 0 ? "true" : "false");
  else if (code <= 1)
    printf("\n%s\n", code == 0 ? "all equal" : "NOT EQUAL");
}
