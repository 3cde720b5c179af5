// Content hashes (XXH3, 128 bits) for cache keys and file names. Not for secrets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace solstice {

// Feeds labelled parts, so that ("ab", "c") and ("a", "bc") differ.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  Hasher& add(std::string_view part);
  Hasher& add(int64_t part);
  std::string hex() const;  // 32 digits

 private:
  void* state_;
};

std::string hash_hex(std::string_view bytes);

}  // namespace solstice
