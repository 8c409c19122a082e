/* A sum of a product that the compiler is allowed to fuse, for fused.py. */
float kr_fused(const float *a, const float *b, int n);

float kr_fused(const float *a, const float *b, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum = a[i] * b[i] + sum;
  return sum;
}
