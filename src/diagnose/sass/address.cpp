#include "diagnose/sass/address.h"

#include "diagnose/sass/operands.h"

namespace solstice::diagnose::sass {
namespace {

// Loops in loops whose addresses go round once more than these are marked in part.
constexpr int kMostSweeps = 8;

class AddressMarker {
 public:
  AddressMarker(Function& function, const Flow& flow) : function_(function), flow_(flow) {}

  void run() {
    for (const Instruction& at : function_.instructions) uses_.push_back(uses_of(at));
    wanted_.assign(flow_.blocks.size(), {});
    for (int i = 0; i < kMostSweeps && sweep(); ++i) continue;
  }

 private:
  bool sweep() {
    bool changed = false;
    for (size_t b = flow_.blocks.size(); b-- > 0;) {
      const Block& block = flow_.blocks[b];
      Registers wanted;
      for (const int next : block.next) wanted |= wanted_[static_cast<size_t>(next)];
      for (size_t i = block.end; i-- > block.first;) step(i, wanted);
      changed = changed || wanted != wanted_[b];
      wanted_[b] = wanted;
    }
    return changed;
  }

  // From after an instruction to before it: the registers whose values end in addresses.
  void step(size_t i, Registers& wanted) {
    Instruction& at = function_.instructions[i];
    const Uses& uses = uses_[i];
    const bool makes = (uses.writes & wanted).any();
    if (at.predicate.empty()) wanted &= ~uses.writes;
    wanted |= uses.addresses;
    const bool integer = at.kind == Kind::kInt || at.kind == Kind::kAddress;
    if (!makes || (!integer && at.kind != Kind::kMove)) return;
    wanted |= uses.reads;
    if (integer) at.kind = Kind::kAddress;
  }

  Function& function_;
  const Flow& flow_;
  std::vector<Uses> uses_;
  std::vector<Registers> wanted_;  // before each block
};

}  // namespace

void mark_addresses(Function& function, const Flow& flow) { AddressMarker(function, flow).run(); }

}  // namespace solstice::diagnose::sass
