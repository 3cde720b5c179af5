#include "rt/hex.h"

#include <fmt/format.h>

namespace solstice::rt {

std::string to_hex(const cu::IpcMemHandle& handle) {
  std::string out;
  for (const char byte : handle.reserved) out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return out;
}

Result<cu::IpcMemHandle> handle_from_hex(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  cu::IpcMemHandle out{};
  if (text.size() != 2 * sizeof out.reserved || text.find_first_not_of(kDigits) != std::string_view::npos) {
    return fail(Code::bad_record, "a CUDA IPC handle is 128 hexadecimal digits");
  }
  for (size_t i = 0; i < sizeof out.reserved; ++i) {
    out.reserved[i] = static_cast<char>(kDigits.find(text[2 * i]) * 16 + kDigits.find(text[2 * i + 1]));
  }
  return out;
}

}  // namespace solstice::rt
