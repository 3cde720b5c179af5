#include "rt/arena.h"

#include <algorithm>

#include "base/integer.h"
#include "rt/load.h"

namespace solstice::rt {
namespace {

constexpr int64_t kNudge = 1024;

class ArenaBuilder {
 public:
  explicit ArenaBuilder(int64_t red_zone) : red_zone_(red_zone), end_(red_zone) {}

  ArenaRange place(int64_t bytes, int64_t nudge) {
    end_ = (end_ + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment + nudge;
    const ArenaRange range{end_, bytes};
    end_ += bytes + red_zone_;
    return range;
  }
  int64_t end() const { return end_; }

 private:
  int64_t red_zone_;
  int64_t end_;
};

bool rotates(const PlanBuffer& buffer) { return buffer.kind != BufferKind::kParam; }

std::vector<ArenaRange> complement(std::vector<ArenaRange> used, int64_t bytes) {
  std::sort(used.begin(), used.end(), [](const ArenaRange& a, const ArenaRange& b) { return a.offset < b.offset; });
  std::vector<ArenaRange> out;
  int64_t at = 0;
  for (const ArenaRange& range : used) {
    if (range.offset > at) out.push_back({at, range.offset - at});
    at = std::max(at, range.offset + range.bytes);
  }
  if (at < bytes) out.push_back({at, bytes - at});
  return out;
}

}  // namespace

ArenaLayout lay_out_arena(const Plan& plan, int slots, int64_t red_zone) {
  ArenaBuilder builder(red_zone);
  ArenaLayout out;
  out.slots.resize(static_cast<size_t>(slots));
  std::vector<ArenaRange> used;
  for (int slot = 0; slot < slots; ++slot) {
    auto& places = out.slots[static_cast<size_t>(slot)];
    for (const PlanBuffer& buffer : plan.buffers) {
      if (!is_interface(buffer)) continue;
      const bool own = slot == 0 || rotates(buffer);
      places.push_back(own ? builder.place(buffer.bytes, slot * kNudge) : out.slots[0][places.size()]);
      if (own) used.push_back(places.back());
    }
  }
  const WorkspaceLayout workspace = lay_out_workspace(plan, red_zone);
  out.workspace = builder.place(workspace.bytes, 0);
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    if (workspace.offsets[i] < 0) continue;
    out.workspace_buffers.push_back({out.workspace.offset + workspace.offsets[i], plan.buffers[i].bytes});
    used.push_back(out.workspace_buffers.back());
  }
  out.bytes = round_up(builder.end(), kMappedPage);
  out.gaps = complement(std::move(used), out.bytes);
  return out;
}

}  // namespace solstice::rt
