// The scan, compiled for: avx2.
#define NULLFOREST_ISA avx2
#include "kernels/scan_kernel_body.hpp"

namespace nullforest {

void scan_avx2(ScanTask& task) { scan<PlainPick>(task); }

}  // namespace nullforest
