// The sweep, compiled for: portable.
#define NULLFOREST_ISA portable
#include "kernels/sweep_kernel_body.hpp"

namespace nullforest {

void sweep_portable(SweepTask& task) { sweep(task); }

}  // namespace nullforest
