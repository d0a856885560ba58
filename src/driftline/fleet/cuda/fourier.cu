// Fourier features of the first space (driftline.kernels.representation), one thread per direction.

// Sets the features of each row that follow its linear ones: the cosines of all directions, then their sines.
extern "C" __global__ void set_fourier_features(int n, const double* directions, float* features) {
  const int i = blockIdx.x * (blockDim.x / N_DIRECTIONS) + threadIdx.x / N_DIRECTIONS, d = threadIdx.x % N_DIRECTIONS;
  if (i >= n || threadIdx.x >= blockDim.x / N_DIRECTIONS * N_DIRECTIONS) return;
  float* psi = features + int64(i) * N_FEATURES + 1;
  const double root = sqrt(double(P)), share = 1.0 / sqrt(double(N_DIRECTIONS));
  double angle = 0.0;
  for (int j = 0; j < P; ++j) angle += __ldg(directions + d * P + j) * double(psi[j]);
  psi[P + d] = float(cos(root * angle) * share);
  psi[P + N_DIRECTIONS + d] = float(sin(root * angle) * share);
}
