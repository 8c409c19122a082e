/* A fused multiply-add, asked for by name, for fused.py to see: no flag may allow what the contract
 * forbids, not even here. */
float kr_fused(const float *a, const float *b, int n);

float kr_fused(const float *a, const float *b, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum = __builtin_fmaf(a[i], b[i], sum);
  return sum;
}
