// The parameters of the model of PyTorch eager: what its kernels reach of a machine's ceilings, and what calls cost the
// host. One table; nothing else in src/sol/eager holds a fitted number. Fitted by hand to the originals of
// bench/families/originals.jsonl (an H200, fp32, torch 2.11), except where a line says `not fitted`.
// `solstice list families --fit` prints the error by class of operator, and that of originals that were left out.
#pragma once

namespace solstice::sol::eager {

// Of a stream of kernels.
inline constexpr double kStream = 0.99;       // of the copy ceiling: an elementwise kernel over large tensors
inline constexpr double kGap = 2e-6;          // s, from one kernel's end to the first bytes of the next
inline constexpr double kLeastKernel = 1e-6;  // s, of a kernel without work
inline constexpr double kKept = 0.5;          // of L2 that holds what the last kernels wrote or read
inline constexpr double kStrided = 0.75;      // of the copy ceiling: a copy between layouts

// On the host, in units of the machine's `eager_launch`.
inline constexpr double kLibraryCall = 4.5;  // one that goes through cuBLAS or cuDNN, or normalises
inline constexpr double kViewCall = 0.7;     // one that launches nothing
// A headline hides so many bytes' worth of writes of the host's time (measuring.md).
inline constexpr double kFlushBytes = 256.0 * (1 << 20);

// Products (cuBLAS), by tiles.
inline constexpr double kTile = 128;
inline constexpr double kPadded = 64;         // extents are rounded up to it
inline constexpr double kDepthOverhead = 16;  // elements of K that filling and draining a pipeline costs
inline constexpr double kSplitDepth = 2048;   // the K from which few tiles share it
inline constexpr double kTailShare = 0.5;     // of the last wave's idle SMs
inline constexpr double kFill = 4e-6;         // s, of a kernel's first loads and last stores
inline constexpr double kLeastTile = 4e-6;    // s, of a tile, two to an SM
inline constexpr double kUnaligned = 0.28;    // of the tensor cores' ceiling, lines that 16 bytes do not divide
inline constexpr double kGemv = 0.85;         // of the read ceiling, one row or column

// Convolutions (cuDNN). On tensor cores tensors are permuted to channels last and back.
inline constexpr double kConvTensor = 0.6;     // of the tensor cores' ceiling
inline constexpr double kConv3dTensor = 0.38;  // the same, three spatial axes
inline constexpr double kFewChannels = 0.5;    // of the CUDA cores' ceiling, below 8 channels in a group
inline constexpr double kInPadded = 16, kOutPadded = 32;
inline constexpr double kDepthwiseOutput = 5.7e-12, kDepthwiseTap = 0.42e-12;  // s, of all SMs together

// Rows.
inline constexpr double kSoftmaxShared = 48 * 1024;  // bytes of the longest row that is read once
inline constexpr double kMomentInstructions = 83;    // an element of Welford's update
inline constexpr double kMomentBlock = 2.06e9;       // bytes a second of one block
inline constexpr double kMomentBlocks = 4;           // of 512 threads on an SM
inline constexpr double kShortGroup = 512;           // elements: below it blocks are limited by their own latency
inline constexpr double kGroupStep = 2.5e-6;         // s of such a block, 32 to an SM
inline constexpr double kLongRow = 8192;             // elements of a layer norm whose row stays in registers
inline constexpr double kBatchNormBlock = 7.5e9;     // bytes of input a second, of the block of one channel
inline constexpr int kLogSumExpTail = 5;             // kernels over rows' results

// Reductions, scans, pooling, losses, attention.
inline constexpr double kReduce = 0.96;         // of the read ceiling
inline constexpr double kArgReduce = 0.72;      // the same, with the place of the extremum
inline constexpr double kScan = 0.31;           // of the copy ceiling
inline constexpr double kPoolTaps = 8.4e11;     // of max pooling, a second
inline constexpr double kLossRow = 5e-9;        // s a row of one block's negative log likelihood
inline constexpr double kAttention = 0.84;      // of the ceiling of the pipe
inline constexpr double kRecurrentStep = 5e-6;  // s, not fitted
inline constexpr double kSortPasses = 8;        // reads and writes, not fitted
inline constexpr double kFactorColumn = 2e-6;   // s, of a column of a factorisation, not fitted
inline constexpr double kFactorIterations = 8;  // over all columns, of eigenvalues and singular values, not fitted
inline constexpr int kFactorLaunches = 4;       // not fitted

}  // namespace solstice::sol::eager
