#include "base/hash.h"

#include <xxhash.h>

#include <array>

namespace solstice {
namespace {

std::string to_hex(XXH128_hash_t hash) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, hash);
  static constexpr char hex[] = "0123456789abcdef";
  std::string out;
  for (unsigned char byte : bytes.digest) {
    out += hex[byte >> 4];
    out += hex[byte & 15];
  }
  return out;
}

XXH3_state_t* state_of(void* p) { return static_cast<XXH3_state_t*>(p); }

}  // namespace

Hasher::Hasher() : state_(XXH3_createState()) { XXH3_128bits_reset(state_of(state_)); }
Hasher::~Hasher() { XXH3_freeState(state_of(state_)); }

Hasher& Hasher::add(std::string_view part) {
  const uint64_t length = part.size();
  XXH3_128bits_update(state_of(state_), &length, sizeof length);
  XXH3_128bits_update(state_of(state_), part.data(), part.size());
  return *this;
}

Hasher& Hasher::add(int64_t part) {
  XXH3_128bits_update(state_of(state_), &part, sizeof part);
  return *this;
}

std::string Hasher::hex() const { return to_hex(XXH3_128bits_digest(state_of(state_))); }

std::string hash_hex(std::string_view bytes) { return to_hex(XXH3_128bits(bytes.data(), bytes.size())); }

}  // namespace solstice
