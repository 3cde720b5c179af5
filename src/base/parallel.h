// A loop over independent work in several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace solstice {

// Calls body(0) to body(count - 1), in any order, in as many threads as there are processors; returns when all are
// done. The body throws nothing.
void for_each_parallel(size_t count, const std::function<void(size_t)>& body);

}  // namespace solstice
