#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace solstice {

void for_each_parallel(size_t count, const std::function<void(size_t)>& body) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) body(i);
  };
  const size_t processors = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> others;
  for (size_t i = 1; i < std::min(count, processors); ++i) others.emplace_back(work);
  work();
}

}  // namespace solstice
