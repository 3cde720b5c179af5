#include "toolchain/cubin.h"

#include <algorithm>
#include <cstring>

namespace solstice::toolchain {
namespace {

// ELF64, little-endian, as CUDA writes it.
struct SectionHeader {
  uint32_t name, type;
  uint64_t flags, address, offset, size;
  uint32_t link, info;
  uint64_t alignment, entry_size;
};
struct SymbolEntry {
  uint32_t name;
  uint8_t info, other;
  uint16_t section;
  uint64_t value, size;
};
static_assert(sizeof(SectionHeader) == 64 && sizeof(SymbolEntry) == 24);

constexpr uint32_t kNoBits = 8;                        // a section without bytes in the file
constexpr uint8_t kFunction = 2;                       // low half of a symbol's info
constexpr uint8_t kNoValue = 1, kByte = 2, kHalf = 3;  // formats of a record that holds its value in itself
constexpr uint8_t kSized = 4, kParameterInfo = 0x17;   // of one with a size; EIATTR_KPARAM_INFO
constexpr size_t kInfoBytes = 12;  // index (4), ordinal (2), offset (2), flags (4): the size is above bit 18
constexpr std::string_view kInfoPrefix = ".nv.info.";

Error damaged() { return fail(Code::bad_record, "a cubin is no ELF file, or is cut short"); }

template <class T>
Result<T> at(std::string_view bytes, uint64_t offset) {
  T out;
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return damaged();
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return out;
}

Result<std::string> name_at(std::string_view table, uint32_t offset) {
  if (offset >= table.size()) return damaged();
  return std::string(table.substr(offset, std::min(table.find('\0', offset), table.size()) - offset));
}

struct Section {
  std::string name;
  uint32_t link = 0;
  std::string_view content;  // empty of one without bytes in the file
};

Result<std::vector<Section>> sections_of(std::string_view cubin) {
  if (!cubin.starts_with("\x7f"
                         "ELF\x02\x01"))
    return damaged();
  SOLSTICE_TRY(const uint64_t table, at<uint64_t>(cubin, 40));
  SOLSTICE_TRY(const uint16_t step, at<uint16_t>(cubin, 58));
  SOLSTICE_TRY(const uint16_t count, at<uint16_t>(cubin, 60));
  SOLSTICE_TRY(const uint16_t names, at<uint16_t>(cubin, 62));
  std::vector<Section> out;
  std::vector<uint32_t> name_offsets;
  for (uint64_t i = 0; i < count; ++i) {
    if (table > cubin.size()) return damaged();
    SOLSTICE_TRY(const SectionHeader header, at<SectionHeader>(cubin, table + i * step));
    Section section{"", header.link, {}};
    if (header.type != kNoBits) {
      if (header.offset > cubin.size() || header.size > cubin.size() - header.offset) return damaged();
      section.content = cubin.substr(header.offset, header.size);
    }
    out.push_back(std::move(section));
    name_offsets.push_back(header.name);
  }
  if (names >= out.size()) return damaged();
  for (size_t i = 0; i < out.size(); ++i) {
    SOLSTICE_TRY(out[i].name, name_at(out[names].content, name_offsets[i]));
  }
  return out;
}

Result<std::vector<int64_t>> parameters_in(std::string_view info) {
  std::vector<std::pair<uint16_t, int64_t>> found;
  for (size_t i = 0; i < info.size();) {
    SOLSTICE_TRY(const uint8_t format, at<uint8_t>(info, i));
    SOLSTICE_TRY(const uint8_t attribute, at<uint8_t>(info, i + 1));
    SOLSTICE_TRY(const uint16_t size, at<uint16_t>(info, i + 2));
    i += 4;
    if (format == kNoValue || format == kByte || format == kHalf) continue;
    if (format != kSized || info.size() - i < size) return damaged();
    if (attribute == kParameterInfo && size == kInfoBytes) {
      SOLSTICE_TRY(const uint16_t ordinal, at<uint16_t>(info, i + 4));
      SOLSTICE_TRY(const uint32_t flags, at<uint32_t>(info, i + 8));
      found.emplace_back(ordinal, flags >> 18);
    }
    i += size;
  }
  std::sort(found.begin(), found.end());
  std::vector<int64_t> out;
  for (const auto& [ordinal, size] : found) out.push_back(size);
  return out;
}

Status read_symbols(const std::vector<Section>& sections, const Section& symbols, CubinFacts& out) {
  if (symbols.link >= sections.size()) return damaged();
  for (uint64_t i = 0; i + sizeof(SymbolEntry) <= symbols.content.size(); i += sizeof(SymbolEntry)) {
    SOLSTICE_TRY(const SymbolEntry symbol, at<SymbolEntry>(symbols.content, i));
    SOLSTICE_TRY(std::string name, name_at(sections[symbols.link].content, symbol.name));
    if ((symbol.info & 0xf) == kFunction && symbol.section == 0 && !name.empty())
      out.undefined.push_back(std::move(name));
  }
  return success();
}

}  // namespace

Result<CubinFacts> read_cubin(std::string_view cubin) {
  SOLSTICE_TRY(const std::vector<Section> sections, sections_of(cubin));
  CubinFacts out;
  for (const Section& section : sections) {
    if (section.name == ".symtab") SOLSTICE_CHECK(read_symbols(sections, section, out));
    if (!section.name.starts_with(kInfoPrefix)) continue;
    SOLSTICE_TRY(std::vector<int64_t> parameters, parameters_in(section.content));
    out.kernels.push_back({section.name.substr(kInfoPrefix.size()), std::move(parameters)});
  }
  return out;
}

}  // namespace solstice::toolchain
