#include "diagnose/sass/opcodes.h"

#include <algorithm>
#include <unordered_map>

namespace solstice::diagnose::sass {
namespace {

// Opcodes of one kind and pipe, separated by blanks.
struct OpcodeRow {
  Kind kind;
  Pipe pipe;
  std::string_view names;
};

constexpr OpcodeRow kOpcodeRows[] = {
    {Kind::kWgmma, Pipe::kTensor, "HGMMA IGMMA QGMMA BGMMA"},
    {Kind::kMma, Pipe::kTensor, "HMMA IMMA BMMA DMMA QMMA"},
    {Kind::kFp32, Pipe::kFma, "FADD FADD32I FFMA FFMA32I FMUL FMUL32I FSWZADD"},
    {Kind::kFp32, Pipe::kAlu, "FMNMX"},
    {Kind::kFp64, Pipe::kFp64, "DADD DFMA DMUL DSETP DMNMX"},
    {Kind::kFp16, Pipe::kFp16, "HADD2 HADD2_32I HFMA2 HFMA2_32I HMUL2 HMUL2_32I"},
    {Kind::kFp16, Pipe::kAlu, "HMNMX2 VHMNMX"},
    {Kind::kInt, Pipe::kFma, "IMAD IMUL IMUL32I IDP IDP4A"},
    {Kind::kInt, Pipe::kAlu,
     "IADD IADD3 IADD32I IABS IMNMX ISCADD ISCADD32I LEA LOP LOP3 LOP32I SHF SHL SHR BMSK SGXT VABSDIFF VABSDIFF4 "
     "VIADD VIADDMNMX VIMNMX VIMNMX3"},
    {Kind::kInt, Pipe::kXu, "POPC FLO BREV"},
    {Kind::kInt, Pipe::kUniform,
     "UBMSK UBREV UFLO UIADD3 UIMAD ULEA ULOP ULOP3 ULOP32I UPOPC USGXT USHF USHL USHR UIMNMX UIABS UVIADD UVIMNMX"},
    {Kind::kMufu, Pipe::kXu, "MUFU"},
    {Kind::kConvert, Pipe::kXu, "F2F F2I I2F I2I FRND"},
    {Kind::kConvert, Pipe::kAlu, "F2FP I2FP F2IP I2IP"},
    {Kind::kConvert, Pipe::kUniform, "UF2FP"},
    {Kind::kMove, Pipe::kAlu, "MOV MOV32I SEL FSEL PRMT P2R R2P CS2R MOVM LEPC"},
    {Kind::kMove, Pipe::kUniform, "UMOV USEL UPRMT UP2UR UR2UP UCLEA"},
    {Kind::kMove, Pipe::kAdu, "R2UR S2UR B2R BMOV RPCMOV R2B"},
    {Kind::kMove, Pipe::kLsu, "S2R GETLMEMBASE SETLMEMBASE SETCTAID"},
    {Kind::kCompare, Pipe::kAlu, "ISETP FSETP FSET FCHK ISET HSET2 HSETP2 PLOP3 PSETP FCMP ICMP"},
    {Kind::kCompare, Pipe::kUniform, "UISETP UPLOP3 UPSETP"},
    {Kind::kControl, Pipe::kCbu,
     "BRA BREAK BRX BRXU BSSY BSYNC CALL RET EXIT JMP JMX JMXU KILL BPT WARPSYNC YIELD RTT"},
    {Kind::kControl, Pipe::kNone, "NOP ELECT ENDCOLLECTIVE PREEXIT PMTRIG USETMAXREG WARPGROUPSET ACQSHMINIT QSPC"},
    {Kind::kBarrier, Pipe::kAdu, "BAR UCGABAR_ARV UCGABAR_WAIT"},
    {Kind::kBarrier, Pipe::kLsu, "SYNCS ARRIVES"},
    {Kind::kWait, Pipe::kNone, "DEPBAR NANOSLEEP ACQBULK"},
    {Kind::kFence, Pipe::kLsu, "MEMBAR FENCE ERRBAR CGAERRBAR CCTL CCTLL CCTLT"},
    {Kind::kFence, Pipe::kNone, "WARPGROUP"},
    {Kind::kShuffle, Pipe::kLsu, "SHFL"},
    {Kind::kShuffle, Pipe::kAlu, "VOTE"},
    {Kind::kShuffle, Pipe::kAdu, "MATCH REDUX CREDUX"},
    {Kind::kShuffle, Pipe::kUniform, "VOTEU"},
    {Kind::kAtomic, Pipe::kLsu, "ATOM ATOMG ATOMS RED REDG REDS REDAS SUATOM SURED"},
    {Kind::kTma, Pipe::kTma, "UTMALDG UTMASTG UTMAREDG UTMAPF UTMACCTL UBLKCP UBLKPF UBLKRED"},
    {Kind::kWait, Pipe::kTma, "UTMACMDFLUSH"},
    {Kind::kAsyncCopy, Pipe::kLsu, "LDGSTS LDGDEPBAR"},
    {Kind::kLoad, Pipe::kLsu, "LD LDG LDGMC LDS LDL LDSM SULD"},
    {Kind::kLoad, Pipe::kTex, "TEX TLD TLD4 TMML TXD TXQ"},
    {Kind::kStore, Pipe::kLsu, "ST STG STS STL STSM STAS SUST"},
    {Kind::kConstant, Pipe::kAdu, "LDC"},
    {Kind::kConstant, Pipe::kUniform, "ULDC LDCU"},
};

std::unordered_map<std::string_view, OpcodeClass> opcode_table() {
  std::unordered_map<std::string_view, OpcodeClass> table;
  for (const OpcodeRow& row : kOpcodeRows) {
    for (size_t at = 0; at < row.names.size();) {
      const size_t end = std::min(row.names.find(' ', at), row.names.size());
      table.emplace(row.names.substr(at, end - at), OpcodeClass{row.kind, row.pipe});
      at = end + 1;
    }
  }
  return table;
}

// Opcodes that are several instructions.
Kind kind_by_modifier(std::string_view base, std::string_view opcode, Kind kind) {
  if (base == "SYNCS" && has_modifier(opcode, "PHASECHK")) return Kind::kWait;
  if (base == "WARPGROUP" && has_modifier(opcode, "DEPBAR")) return Kind::kWait;
  if (base == "ARRIVES" && has_modifier(opcode, "LDGSTSBAR")) return Kind::kAsyncCopy;
  return kind;
}

}  // namespace

std::vector<const char*> enum_names(Kind) {
  return {"unknown", "wgmma",   "mma",  "fp32",       "fp64",    "fp16",    "int",     "address",
          "mufu",    "convert", "move", "compare",    "control", "barrier", "wait",    "fence",
          "shuffle", "atomic",  "tma",  "async_copy", "load",    "store",   "constant"};
}

std::vector<const char*> enum_names(Pipe) {
  return {"none", "tensor", "fma", "alu", "fp64", "fp16", "xu", "lsu", "tex", "tma", "uniform", "adu", "cbu"};
}

std::string_view base_of(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }

bool has_modifier(std::string_view opcode, std::string_view modifier) {
  for (size_t dot = opcode.find('.'); dot != std::string_view::npos; dot = opcode.find('.', dot + 1)) {
    const std::string_view rest = opcode.substr(dot + 1);
    if (rest.substr(0, rest.find('.')) == modifier) return true;
  }
  return false;
}

OpcodeClass class_of(std::string_view opcode) {
  static const std::unordered_map<std::string_view, OpcodeClass> table = opcode_table();
  const std::string_view base = base_of(opcode);
  const auto found = table.find(base);
  if (found == table.end()) return {};
  return {kind_by_modifier(base, opcode, found->second.kind), found->second.pipe};
}

}  // namespace solstice::diagnose::sass
