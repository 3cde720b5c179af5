#include "mutate_input.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "mutate_json.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace solstice::fuzz {

size_t mutate_input(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  static std::string last_text;
  static Json last;
  std::mt19937 random(seed);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text != last_text) {  // mostly the next change of what was changed before
    const auto json = parse_json(text);
    if (!json.ok()) return LLVMFuzzerMutate(data, size, max_size);
    last_text = text;
    last = *json;
  }
  if (random() % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  Json next = mutated(last, random);
  std::string next_text = next.dump();
  if (next_text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  last = std::move(next);
  last_text = std::move(next_text);
  std::copy(last_text.begin(), last_text.end(), data);
  return last_text.size();
}

}  // namespace solstice::fuzz
