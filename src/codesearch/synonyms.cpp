#include "codesearch/synonyms.h"

#include <algorithm>
#include <array>

#include "codesearch/words.h"

namespace solstice::codesearch {
namespace {

// One group a line, ways to say it separated by commas. Only what code and its comments do say.
constexpr const char* kGroups[] = {
    "wgmma, gmma, warpgroup mma, warp group mma, wgmma.mma_async",
    "tma, tensor memory accelerator, cp.async.bulk.tensor, bulk tensor copy",
    "mbarrier, transaction barrier, clustertransactionbarrier, async barrier",
    "stmatrix, stsm",
    "ldmatrix, ldsm",
    "cp.async, cp_async, async copy, asynchronous copy",
    "pingpong, ping pong",
    "streamk, stream k",
    "splitk, split k",
    "smem, shared memory",
    "gmem, global memory",
    "tmem, tensor memory",
    "rmem, registers",
    "sm90, hopper, h100, h200",
    "sm80, ampere, a100",
    "sm100, blackwell, b200",
    "sm89, ada",
    "sm75, turing",
    "fp8, e4m3, e5m2, float8",
    "e4m3, float_e4m3_t",
    "e5m2, float_e5m2_t",
    "bf16, bfloat16, bfloat162, nv_bfloat16",
    "fp16, half, f16, float16",
    "half2, f16x2, fp16x2",
    "fp32, f32, float32",
    "tf32, tfloat32, tfloat32_t",
    "int4, s4, int4b_t",
    "int8, s8",
    "fmha, flash attention, attention, flashattention",
    "pdl, programmatic dependent launch, griddepcontrol, griddepcontrol.wait, grid dependency",
    "setmaxnreg, reg alloc, reg dealloc, register reconfiguration",
    "persistent, persist",
    "evt, epilogue visitor, visitor tree, epilogue visitor tree",
    "softmax, soft max",
    "topk, top k",
    "layernorm, layer norm, layer normalization",
    "rmsnorm, rms norm, rms",
    "moe, mixture of experts, experts",
    "im2col, implicit gemm",
    "cta, thread block, threadblock",
    "multiprocessor, sm, streaming multiprocessor",
    "shuffle, shfl",
    "reduce, reduction",
    "convert, conversion, cvt",
    "lookback, look back, decoupled lookback",
    "prefix scan, prefix sum, scan",
    "epilogue, epi",
    "mainloop, main loop",
    "warpspecialized, warp specialized, warp specialization",
    "fast division, fastdivmod, fast divmod, divmod",
    "divisor, divmod, division, divide, div",
    "round to nearest, rn",
    "saturate, saturation, satfinite, sat",
    "multicast, mcast",
    "descriptor, desc",
    "accumulator, accum, accumulate, acc",
    "swizzle, swizzling",
    "pointer, ptr",
    "tile scheduler, tilescheduler",
    "blocked to striped, blockedtostriped",
    "atomic add, atomicadd",
    "cache hint, cachehint, cache_hint",
    "k major, kmajor, k-major",
    "mn major, mnmajor",
    "gather, gathered",
    "transpose, transposed, trans",
    "ceiling, ceil",
    "three, 3",
    "two, 2",
    "fixup, fix up",
    "occupancy, occ",
    "matmul, gemm, matrix multiply, matrix product",
    "mma, mma.sync, tensor core",
    "grouped, group, ptr_array",
    "fence, membar",
    "cooperative groups, cooperative_groups",
    "segmented, segment",
    "silu, swish",
    "elementwise, element wise, pointwise",
    "warp group, warpgroup",
};

constexpr std::array kSilent = {"a",    "an",    "the",   "of",   "in",   "on",    "at",     "to",    "for",   "with",
                                "and",  "or",    "not",   "is",   "are",  "be",    "was",    "it",    "its",   "that",
                                "this", "these", "how",   "do",   "does", "what",  "where",  "which", "when",  "why",
                                "who",  "can",   "i",     "my",   "me",   "we",    "you",    "by",    "as",    "from",
                                "into", "using", "use",   "used", "uses", "there", "find",   "show",  "want",  "need",
                                "some", "any",   "every", "each", "has",  "have",  "code",   "file",  "gives", "give",
                                "get",  "make",  "so",    "if",   "no",   "few",   "another"};

std::vector<SynonymGroup> read_groups() {
  std::vector<SynonymGroup> out;
  for (std::string_view line : kGroups) {
    SynonymGroup group;
    while (!line.empty()) {
      const size_t comma = std::min(line.find(", "), line.size());
      Phrase phrase;
      for (const QuestionWord& word : question_words(line.substr(0, comma))) phrase.push_back(word.whole);
      if (!phrase.empty()) group.phrases.push_back(std::move(phrase));
      line.remove_prefix(std::min(comma + 2, line.size()));
    }
    out.push_back(std::move(group));
  }
  return out;
}

}  // namespace

const std::vector<SynonymGroup>& synonym_groups() {
  static const std::vector<SynonymGroup> groups = read_groups();
  return groups;
}

bool says_nothing(std::string_view word) {
  if (word.size() < 2) return true;
  return std::find(kSilent.begin(), kSilent.end(), word) != kSilent.end();
}

}  // namespace solstice::codesearch
