#include "diagnose/counters/counter_table.h"

#include <algorithm>

namespace solstice::diagnose {
namespace {

const std::vector<Counter> kCounters = {
    {"duration under ncu", "gpu__time_duration.sum", "s"},
    {"SM cycles, elapsed", "sm__cycles_elapsed.max", "cycle"},
    {"SM cycles with work, mean", "sm__cycles_active.avg", "cycle"},
    {"SM cycles with work, least", "sm__cycles_active.min", "cycle"},
    {"SM cycles with work, most", "sm__cycles_active.max", "cycle"},

    {"SM throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "share"},
    {"memory throughput", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "share"},
    {"DRAM throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "share"},
    {"L2 throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed", "share"},
    {"L1 throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active", "share"},

    {"DRAM bytes read", "dram__bytes_read.sum", "byte"},
    {"DRAM bytes written", "dram__bytes_write.sum", "byte"},

    {"L2 bytes", "lts__t_bytes.sum", "byte"},
    {"L2 requests", "lts__t_requests.sum", "request"},
    {"L2 sectors", "lts__t_sectors.sum", "sector"},
    {"L2 sectors read", "lts__t_sectors_op_read.sum", "sector"},
    {"L2 sectors written", "lts__t_sectors_op_write.sum", "sector"},
    {"L2 sectors of atomics", "lts__t_sectors_op_atom.sum", "sector"},
    {"L2 sectors of reductions", "lts__t_sectors_op_red.sum", "sector"},
    {"L2 sectors for L1", "lts__t_sectors_srcunit_tex.sum", "sector"},
    {"L2 sectors for L1 that missed", "lts__t_sectors_srcunit_tex_lookup_miss.sum", "sector"},
    {"L2 sectors filled from DRAM", "lts__d_sectors_fill_device.sum", "sector"},
    {"L2 hit rate", "lts__t_sector_hit_rate.pct", "share"},
    {"L2 hit rate of reads", "lts__t_sector_op_read_hit_rate.pct", "share"},
    {"L2 hit rate of writes", "lts__t_sector_op_write_hit_rate.pct", "share"},
    {"L2 atomic unit", "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed", "share"},

    {"bytes from L2 to L1", "l1tex__m_xbar2l1tex_read_bytes.sum", "byte"},
    {"bytes from L1 to L2", "l1tex__m_l1tex2xbar_write_bytes.sum", "byte"},
    {"bytes of plain stores to L2", "l1tex__m_l1tex2xbar_write_bytes_mem_lg_op_st.sum", "byte"},
    {"sectors of plain stores to L2", "l1tex__m_l1tex2xbar_write_sectors_mem_lg_op_st.sum", "sector"},
    {"bytes loaded by TMA", "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum", "byte"},
    {"bytes stored by TMA", "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum", "byte"},

    {"L1 hit rate", "l1tex__t_sector_hit_rate.pct", "share"},
    {"L1 hit rate of global loads", "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", "share"},
    {"global load requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request"},
    {"global store requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "request"},
    {"global load sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector"},
    {"global store sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector"},
    {"sectors a global load", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "sector/request"},
    {"sectors a global store", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
     "sector/request"},
    {"local load sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sector"},
    {"local store sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sector"},
    {"global atomic sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "sector"},
    {"global reduction sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "sector"},
    {"shared atomics", "smsp__inst_executed_op_shared_atom.sum", "inst"},

    {"shared bank conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "cycle"},
    {"shared bank conflicts of loads", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "cycle"},
    {"shared bank conflicts of stores", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "cycle"},
    {"shared wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "wavefront"},
    {"shared wavefronts of loads", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefront"},
    {"shared wavefronts of stores", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "wavefront"},

    {"tensor pipe", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "share"},
    {"tensor pipe, of all cycles", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "share"},
    {"tensor pipe, fp64", "sm__pipe_tensor_op_dmma_cycles_active.avg.pct_of_peak_sustained_active", "share"},
    {"wgmma instructions", "sm__inst_executed_pipe_tensor_op_gmma.sum", "inst"},
    {"mma instructions", "sm__inst_executed_pipe_tensor_op_hmma.sum", "inst"},
    {"fma pipe", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", "share"},
    {"alu pipe", "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active", "share"},
    {"fp64 pipe", "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active", "share"},
    {"special-function pipe", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", "share"},
    {"load and store pipe", "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", "share"},
    {"uniform pipe", "sm__inst_executed_pipe_uniform.avg.pct_of_peak_sustained_active", "share"},
    {"branch pipe", "sm__inst_executed_pipe_cbu.avg.pct_of_peak_sustained_active", "share"},
    {"fma instructions", "sm__inst_executed_pipe_fma.sum", "inst"},
    {"alu instructions", "sm__inst_executed_pipe_alu.sum", "inst"},
    {"special-function instructions", "sm__inst_executed_pipe_xu.sum", "inst"},
    {"fp64 instructions", "sm__inst_executed_pipe_fp64.sum", "inst"},
    {"load and store instructions", "sm__inst_executed_pipe_lsu.sum", "inst"},
    {"TMA instructions", "sm__inst_executed_pipe_tma.sum", "inst"},

    {"instructions executed", "smsp__inst_executed.sum", "inst"},
    {"instructions issued", "smsp__inst_issued.sum", "inst"},
    {"issue slots used", "smsp__issue_active.avg.pct_of_peak_sustained_active", "share"},
    {"branch instructions", "smsp__inst_executed_op_branch.sum", "inst"},
    {"threads an instruction", "smsp__thread_inst_executed_per_inst_executed.ratio", "thread/inst"},
    {"threads an instruction, predicated on", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
     "thread/inst"},
    {"constant cache hit rate", "idc__request_hit_rate.pct", "share"},
    {"occupancy achieved", "sm__warps_active.avg.pct_of_peak_sustained_active", "share"},
    {"warps resident a scheduler", "smsp__warps_active.avg.per_cycle_active", "warp/cycle"},
    {"warps eligible a scheduler", "smsp__warps_eligible.avg.per_cycle_active", "warp/cycle"},
    {"warp cycles an instruction", "smsp__average_warp_latency_per_inst_issued.ratio", "cycle/inst"},

    {"stalled: barrier", "smsp__warp_issue_stalled_barrier_per_warp_active.pct", "share"},
    {"stalled: branch", "smsp__warp_issue_stalled_branch_resolving_per_warp_active.pct", "share"},
    {"stalled: dispatch", "smsp__warp_issue_stalled_dispatch_stall_per_warp_active.pct", "share"},
    {"stalled: drain", "smsp__warp_issue_stalled_drain_per_warp_active.pct", "share"},
    {"stalled: wgmma", "smsp__warp_issue_stalled_gmma_per_warp_active.pct", "share"},
    {"stalled: constant cache", "smsp__warp_issue_stalled_imc_miss_per_warp_active.pct", "share"},
    {"stalled: load and store queue", "smsp__warp_issue_stalled_lg_throttle_per_warp_active.pct", "share"},
    {"stalled: long scoreboard", "smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct", "share"},
    {"stalled: pipe", "smsp__warp_issue_stalled_math_pipe_throttle_per_warp_active.pct", "share"},
    {"stalled: memory barrier", "smsp__warp_issue_stalled_membar_per_warp_active.pct", "share"},
    {"stalled: memory queue", "smsp__warp_issue_stalled_mio_throttle_per_warp_active.pct", "share"},
    {"stalled: other", "smsp__warp_issue_stalled_misc_per_warp_active.pct", "share"},
    {"stalled: no instruction", "smsp__warp_issue_stalled_no_instruction_per_warp_active.pct", "share"},
    {"eligible, not selected", "smsp__warp_issue_stalled_not_selected_per_warp_active.pct", "share"},
    {"selected", "smsp__warp_issue_stalled_selected_per_warp_active.pct", "share"},
    {"stalled: short scoreboard", "smsp__warp_issue_stalled_short_scoreboard_per_warp_active.pct", "share"},
    {"stalled: asleep", "smsp__warp_issue_stalled_sleeping_per_warp_active.pct", "share"},
    {"stalled: texture queue", "smsp__warp_issue_stalled_tex_throttle_per_warp_active.pct", "share"},
    {"stalled: fixed latency", "smsp__warp_issue_stalled_wait_per_warp_active.pct", "share"},
};

}  // namespace

const std::vector<Counter>& counter_table() { return kCounters; }

const Counter* find_counter(std::string_view metric) {
  const auto found = std::find_if(kCounters.begin(), kCounters.end(),
                                  [&](const Counter& counter) { return counter.metric == metric; });
  return found == kCounters.end() ? nullptr : &*found;
}

std::vector<std::string> counter_metrics() {
  std::vector<std::string> out;
  for (const Counter& counter : kCounters) out.emplace_back(counter.metric);
  return out;
}

std::optional<double> counter_value(const CounterFacts& facts, std::string_view metric) {
  const auto found = facts.metrics.find(std::string(metric));
  return found == facts.metrics.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace solstice::diagnose
