// A program that loses the GPU's context, hangs or dies costs its own verdict and no other: work is done in a process
// that is started again without it.
#pragma once

#include "gpu/kernels/work.h"

namespace solstice::random_kernels {

// In processes of this executable (`--child`), which get `arguments` too. `text_of` tells the program of one that died.
Result<std::vector<Verdict>> supervise(const std::vector<Item>& items, const std::vector<std::string>& arguments,
                                       const std::function<std::string(const Item&)>& text_of,
                                       const std::function<void(const Verdict&)>& done);

// The child's side: items come in lines, what happens goes out in lines.
int serve_items(Work& work);

}  // namespace solstice::random_kernels
