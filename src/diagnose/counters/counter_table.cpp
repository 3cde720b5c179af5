#include "diagnose/counters/counter_table.h"

#include <algorithm>

namespace solstice::diagnose {
namespace {

constexpr std::string_view kBound = "class of a kernel", kDram = "DRAM saturated", kReads = "L1 and L2 re-reads",
                           kThrash = "L2 thrashing", kSectors = "sectors per request",
                           kPartial = "partial-sector writes", kLocal = "local memory", kBanks = "bank conflicts",
                           kPipe = "pipe or issue bound", kTensor = "tensor cores fed slowly", kOccupancy = "occupancy",
                           kBalance = "imbalance between SMs", kDivergence = "divergence", kAtomics = "atomics",
                           kStall = "dominant warp stall", kBarrier = "barrier stall";

const std::vector<Counter> kCounters = {
    {"duration under ncu", "gpu__time_duration.sum", "s", kBound},
    {"SM cycles, elapsed", "sm__cycles_elapsed.max", "cycle", kBound},
    {"SM cycles with work, mean", "sm__cycles_active.avg", "cycle", kBalance},
    {"SM cycles with work, least", "sm__cycles_active.min", "cycle", kBalance},
    {"SM cycles with work, most", "sm__cycles_active.max", "cycle", kBalance},

    {"SM throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "share", kBound},
    {"memory throughput", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "share", kBound},
    {"DRAM throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "share", kDram},
    {"L2 throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed", "share", kBound},
    {"L1 throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active", "share", kBound},

    {"DRAM bytes read", "dram__bytes_read.sum", "byte", kDram},
    {"DRAM bytes written", "dram__bytes_write.sum", "byte", kDram},

    {"L2 bytes", "lts__t_bytes.sum", "byte", kReads},
    {"L2 requests", "lts__t_requests.sum", "request", kReads},
    {"L2 sectors", "lts__t_sectors.sum", "sector", kReads},
    {"L2 sectors read", "lts__t_sectors_op_read.sum", "sector", kReads},
    {"L2 sectors written", "lts__t_sectors_op_write.sum", "sector", kPartial},
    {"L2 sectors of atomics", "lts__t_sectors_op_atom.sum", "sector", kAtomics},
    {"L2 sectors of reductions", "lts__t_sectors_op_red.sum", "sector", kAtomics},
    {"L2 sectors for L1", "lts__t_sectors_srcunit_tex.sum", "sector", kReads},
    {"L2 sectors for L1 that missed", "lts__t_sectors_srcunit_tex_lookup_miss.sum", "sector", kThrash},
    {"L2 sectors filled from DRAM", "lts__d_sectors_fill_device.sum", "sector", kThrash},
    {"L2 hit rate", "lts__t_sector_hit_rate.pct", "share", kThrash},
    {"L2 hit rate of reads", "lts__t_sector_op_read_hit_rate.pct", "share", kThrash},
    {"L2 hit rate of writes", "lts__t_sector_op_write_hit_rate.pct", "share", kPartial},
    {"L2 atomic unit", "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed", "share", kAtomics},

    {"bytes from L2 to L1", "l1tex__m_xbar2l1tex_read_bytes.sum", "byte", kReads},
    {"bytes from L1 to L2", "l1tex__m_l1tex2xbar_write_bytes.sum", "byte", kPartial},
    {"bytes of plain stores to L2", "l1tex__m_l1tex2xbar_write_bytes_mem_lg_op_st.sum", "byte", kPartial},
    {"sectors of plain stores to L2", "l1tex__m_l1tex2xbar_write_sectors_mem_lg_op_st.sum", "sector", kPartial},
    {"bytes loaded by TMA", "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum", "byte", kReads},
    {"bytes stored by TMA", "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum", "byte", kReads},

    {"L1 hit rate", "l1tex__t_sector_hit_rate.pct", "share", kReads},
    {"L1 hit rate of global loads", "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", "share", kReads},
    {"global load requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request", kSectors},
    {"global store requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "request", kSectors},
    {"global load sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", kSectors},
    {"global store sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector", kSectors},
    {"sectors a global load", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "sector/request",
     kSectors},
    {"sectors a global store", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "sector/request",
     kSectors},
    {"bytes used of a loaded sector", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", "byte/sector",
     kSectors, true},
    {"bytes used of a stored sector", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", "byte/sector",
     kPartial, true},
    {"local load sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sector", kLocal},
    {"local store sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sector", kLocal},
    {"global atomic sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "sector", kAtomics},
    {"global reduction sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "sector", kAtomics},
    {"shared atomics", "smsp__inst_executed_op_shared_atom.sum", "inst", kAtomics},

    {"shared bank conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "cycle", kBanks},
    {"shared bank conflicts of loads", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "cycle", kBanks},
    {"shared bank conflicts of stores", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "cycle", kBanks},
    {"shared wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "wavefront", kBanks},
    {"shared wavefronts of loads", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefront", kBanks},
    {"shared wavefronts of stores", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "wavefront", kBanks},

    {"tensor pipe", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "share", kTensor},
    {"tensor pipe, of all cycles", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "share", kTensor},
    {"tensor pipe, fp64", "sm__pipe_tensor_op_dmma_cycles_active.avg.pct_of_peak_sustained_active", "share", kTensor},
    {"wgmma instructions", "sm__inst_executed_pipe_tensor_op_gmma.sum", "inst", kTensor},
    {"mma instructions", "sm__inst_executed_pipe_tensor_op_hmma.sum", "inst", kTensor},
    {"fma pipe", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", "share", kPipe},
    {"alu pipe", "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active", "share", kPipe},
    {"fp64 pipe", "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active", "share", kPipe},
    {"special-function pipe", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", "share", kPipe},
    {"load and store pipe", "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", "share", kPipe},
    {"uniform pipe", "sm__inst_executed_pipe_uniform.avg.pct_of_peak_sustained_active", "share", kPipe},
    {"branch pipe", "sm__inst_executed_pipe_cbu.avg.pct_of_peak_sustained_active", "share", kPipe},
    {"fma instructions", "sm__inst_executed_pipe_fma.sum", "inst", kPipe},
    {"alu instructions", "sm__inst_executed_pipe_alu.sum", "inst", kPipe},
    {"special-function instructions", "sm__inst_executed_pipe_xu.sum", "inst", kPipe},
    {"fp64 instructions", "sm__inst_executed_pipe_fp64.sum", "inst", kPipe},
    {"load and store instructions", "sm__inst_executed_pipe_lsu.sum", "inst", kPipe},
    {"TMA instructions", "sm__inst_executed_pipe_tma.sum", "inst", kPipe},

    {"instructions executed", "smsp__inst_executed.sum", "inst", kPipe},
    {"instructions issued", "smsp__inst_issued.sum", "inst", kPipe},
    {"issue slots used", "smsp__issue_active.avg.pct_of_peak_sustained_active", "share", kPipe},
    {"branch instructions", "smsp__inst_executed_op_branch.sum", "inst", kDivergence},
    {"threads an instruction", "smsp__thread_inst_executed_per_inst_executed.ratio", "thread/inst", kDivergence},
    {"threads an instruction, predicated on", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
     "thread/inst", kDivergence},
    {"constant cache hit rate", "idc__request_hit_rate.pct", "share", kReads},
    {"occupancy achieved", "sm__warps_active.avg.pct_of_peak_sustained_active", "share", kOccupancy},
    {"warps resident a scheduler", "smsp__warps_active.avg.per_cycle_active", "warp/cycle", kOccupancy},
    {"warps eligible a scheduler", "smsp__warps_eligible.avg.per_cycle_active", "warp/cycle", kOccupancy},
    {"warp cycles an instruction", "smsp__average_warp_latency_per_inst_issued.ratio", "cycle/inst", kStall},

    {"stalled: barrier", "smsp__warp_issue_stalled_barrier_per_warp_active.pct", "share", kBarrier},
    {"stalled: branch", "smsp__warp_issue_stalled_branch_resolving_per_warp_active.pct", "share", kStall},
    {"stalled: dispatch", "smsp__warp_issue_stalled_dispatch_stall_per_warp_active.pct", "share", kStall},
    {"stalled: drain", "smsp__warp_issue_stalled_drain_per_warp_active.pct", "share", kStall},
    {"stalled: wgmma", "smsp__warp_issue_stalled_gmma_per_warp_active.pct", "share", kStall},
    {"stalled: constant cache", "smsp__warp_issue_stalled_imc_miss_per_warp_active.pct", "share", kStall},
    {"stalled: load and store queue", "smsp__warp_issue_stalled_lg_throttle_per_warp_active.pct", "share", kStall},
    {"stalled: long scoreboard", "smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct", "share", kStall},
    {"stalled: pipe", "smsp__warp_issue_stalled_math_pipe_throttle_per_warp_active.pct", "share", kStall},
    {"stalled: memory barrier", "smsp__warp_issue_stalled_membar_per_warp_active.pct", "share", kStall},
    {"stalled: memory queue", "smsp__warp_issue_stalled_mio_throttle_per_warp_active.pct", "share", kStall},
    {"stalled: other", "smsp__warp_issue_stalled_misc_per_warp_active.pct", "share", kStall},
    {"stalled: no instruction", "smsp__warp_issue_stalled_no_instruction_per_warp_active.pct", "share", kStall},
    {"eligible, not selected", "smsp__warp_issue_stalled_not_selected_per_warp_active.pct", "share", kStall},
    {"selected", "smsp__warp_issue_stalled_selected_per_warp_active.pct", "share", kStall},
    {"stalled: short scoreboard", "smsp__warp_issue_stalled_short_scoreboard_per_warp_active.pct", "share", kStall},
    {"stalled: asleep", "smsp__warp_issue_stalled_sleeping_per_warp_active.pct", "share", kStall},
    {"stalled: texture queue", "smsp__warp_issue_stalled_tex_throttle_per_warp_active.pct", "share", kStall},
    {"stalled: fixed latency", "smsp__warp_issue_stalled_wait_per_warp_active.pct", "share", kStall},
};

}  // namespace

const std::vector<Counter>& counter_table() { return kCounters; }

const Counter* find_counter(std::string_view metric) {
  const auto found = std::find_if(kCounters.begin(), kCounters.end(),
                                  [&](const Counter& counter) { return counter.metric == metric; });
  return found == kCounters.end() ? nullptr : &*found;
}

std::vector<std::string> counter_metrics(const std::vector<std::string>& questions) {
  std::vector<std::string> out;
  for (const Counter& counter : kCounters) {
    const bool asked =
        questions.empty() || std::find(questions.begin(), questions.end(), counter.question) != questions.end();
    if (asked && !counter.rewrites) out.emplace_back(counter.metric);
  }
  return out;
}

std::optional<double> counter_value(const CounterFacts& facts, std::string_view metric) {
  const auto found = facts.metrics.find(std::string(metric));
  return found == facts.metrics.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace solstice::diagnose
