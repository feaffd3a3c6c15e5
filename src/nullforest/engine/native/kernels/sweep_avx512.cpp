// The sweep, compiled for: avx512.
#define NULLFOREST_ISA avx512
#include "kernels/sweep_kernel_body.hpp"

namespace nullforest {

void sweep_avx512(SweepTask& task) { sweep(task); }

}  // namespace nullforest
