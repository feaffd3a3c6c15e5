// The scan, compiled for: portable.
#define NULLFOREST_ISA portable
#include "kernels/scan_kernel_body.hpp"

namespace nullforest {

void scan_portable(ScanTask& task) { scan<PlainPick>(task); }

}  // namespace nullforest
