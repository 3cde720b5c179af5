#include "rt/workspace.h"

#include <algorithm>

namespace solstice::rt {

WorkspaceLayout lay_out_workspace(const Plan& plan, int64_t gap) {
  const auto align = [](int64_t at, int64_t alignment) { return (at + alignment - 1) / alignment * alignment; };
  WorkspaceLayout out;
  out.bytes = gap;
  for (const PlanBuffer& buffer : plan.buffers) {
    out.offsets.push_back(-1);
    if (buffer.kind != BufferKind::kWorkspace) continue;
    // The allocation is only aligned to kWorkspaceAlignment; validate() lets no buffer ask for more.
    out.bytes = align(out.bytes, std::max(buffer.alignment, kWorkspaceAlignment));
    out.offsets.back() = out.bytes;
    out.bytes += buffer.bytes + gap;
  }
  out.bytes = align(out.bytes, kWorkspaceAlignment);
  return out;
}

}  // namespace solstice::rt
