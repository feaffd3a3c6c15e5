// The sweep, compiled for: avx2.
#define NULLFOREST_ISA avx2
#include "kernels/sweep_kernel_body.hpp"

namespace nullforest {

void sweep_avx2(SweepTask& task) { sweep(task); }

}  // namespace nullforest
