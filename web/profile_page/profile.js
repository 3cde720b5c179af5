// The profile that the page holds, with what follows from it. What was not read is null: it is left out, never zero.

const profile = JSON.parse(at('profile').textContent);
const subjectFacts = profile.facts;
const bounds = subjectFacts.bounds || {};
const known = (value) => value !== null && value !== undefined;

const kernels = subjectFacts.kernels.map((sheet) => ({
  ...sheet,
  found: profile.kernels[sheet.kernel] || {needs: []},
  time: known(sheet.measured) ? sheet.measured : sheet.predicted,
  isMeasured: known(sheet.measured),
}));
const wholeTime = known(subjectFacts.measured) ? subjectFacts.measured : subjectFacts.predicted;
const wholeIsMeasured = known(subjectFacts.measured);
const kernelOfStep = new Map(kernels.flatMap((kernel) => kernel.steps.map((step) => [step.step, kernel])));

// "predicted 1.2 ms" of a cost model's.
const timed = (seconds, isMeasured) => (known(seconds) ? (isMeasured ? '' : 'predicted ') + timeText(seconds) : null);

const percentText = (share) => digits(100 * share, 3) + ' %';

// The class of a kernel or the program; null where nothing is known that it could rest on.
const classOf = (found) => (found.needs.length || found.measured ? found.class : null);
// With what it rests on.
function classText(found) {
  if (!classOf(found)) return null;
  const needs = found.needs.map((need) => `${need.unit} ${timeText(need.seconds)}`);
  return [found.class, ...needs].join(', ');
}

// Sums of operations and bytes that the equations need; null where none is known.
function needed(kernel, unit) {
  const amounts = (kernel.needs || []).filter(
    (need) => need.unit === unit && (unit !== 'B' || need.resource === 'dram'),
  );
  return amounts.length ? amounts.reduce((sum, need) => sum + need.amount, 0) : null;
}

// DRAM traffic by counters, over the launches of the kernel that have them; null unless all have.
function trafficOf(kernel, metrics) {
  const steps = kernel.steps.filter((step) => !step.prepare && !step.fallback && step.entry);
  let sum = 0;
  for (const step of steps) {
    for (const metric of metrics) {
      const value = step.counters && step.counters.metrics[metric];
      if (!known(value)) return null;
      sum += value;
    }
  }
  return steps.length ? sum : null;
}

// One place that knows which kernel is chosen; whoever shows it is told.
const watchers = [];
let chosen = null;
function choose(kernel) {
  chosen = kernel;
  for (const watcher of watchers) watcher(kernel);
}
