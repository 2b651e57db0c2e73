/* A step of a linear congruential generator (Numerical Recipes) for each value. */
__kernel void advance(__global uint *values) {
  const size_t i = get_global_id(0);
  values[i] = values[i] * 1664525u + 1013904223u;
}
