// The run that the page holds, with what follows from it.

const run = JSON.parse(at('run').textContent);
const nodes = run.nodes;
const best = run.best === null ? null : nodes[run.best];
const summary = run.run.summary || {};
const predictions = nodes.filter((node) => node.state === 'predicted').length;
const cameIn = nodes.filter((node) => node.node > 0 && node.attempts.some((attempt) => attempt.state)).length;
const measured = nodes.some((node) => node.state === 'verified');
const predictedRun = !measured && (predictions > 0 || summary.predicted === true);

for (const node of nodes) {
  node.children = [];
  node.program = node.program.replace(/\n$/, '');
}
for (const node of nodes) if (node.parent !== null) nodes[node.parent].children.push(node);

// What a node looks like: 'original', 'usable', 'failed' or 'open' (no result, or not yet).
function kindOf(node) {
  if (node.node === 0) return 'original';
  if (node.usable) return 'usable';
  return node.state === 'in flight' || node.state === 'unfinished' || node.state === 'lost' ? 'open' : 'failed';
}

// 0 (slowest) to 6 (fastest), on a logarithmic scale over all trials whose times may be compared.
const usableTimes = nodes.filter((node) => node.node > 0 && node.comparable && node.time > 0).map((node) => node.time);
const fastest = Math.min(...usableTimes),
  slowest = Math.max(...usableTimes);
function shadeOf(time) {
  if (!(time > 0)) return 0;
  if (!(slowest > fastest)) return 6;
  const shade = Math.round((6 * Math.log(slowest / time)) / Math.log(slowest / fastest));
  return Math.min(6, Math.max(0, shade));
}

// The ladder: what is known of it, and a sentence for what is not.
const original = run.original !== null ? run.original : summary.original || null;
const bounds = summary.bounds || {};
const ladder = [],
  missing = [];
if (original) ladder.push({name: 'original', time: original});
else missing.push('The time of the original is not known: it was not timed in this run.');
for (const name of ['practical', 'work', 'io']) {
  if (bounds[name] > 0)
    ladder.push({name: name === 'practical' ? 'practical bound' : name + ' bound', time: bounds[name]});
}
const boundless = ['practical', 'work', 'io'].filter((name) => !(bounds[name] > 0));
if (boundless.length === 3) {
  missing.push('The bounds are not in this run: it has not finished, failed, or was made before bounds were stored.');
} else if (boundless.length > 0) {
  missing.push(`The run does not hold these bounds: ${boundless.join(', ')}.`);
}
if (predictedRun) missing.push("Times are a cost model's: nothing was measured.");
else if (predictions)
  missing.push(
    `Times of ${predictions} of ${cameIn} trials are a cost model's: ` +
      'they are no rivals of those that were measured.',
  );

// Every attempt of every trial, as a span of time in milliseconds. What has not ended reaches to the last thing that
// happened.
const spans = [];
let lastMoment = -Infinity;
for (const node of nodes) {
  for (const attempt of node.attempts) {
    const begun = Date.parse(attempt.begun),
      ended = attempt.ended === null ? null : Date.parse(attempt.ended);
    lastMoment = Math.max(lastMoment, begun, ended === null ? begun : ended);
    if (node.node > 0) spans.push({node, attempt, begun, ended});
  }
}
spans.sort((a, b) => a.begun - b.begun || a.node.node - b.node.node);

// Results in the order in which they came, each with the best after it. A node that is measured again has its latest
// time; once one was measured, predictions are no rivals.
const results = [];
{
  const times = new Map();
  const ended = spans
    .filter((span) => span.attempt.state)
    .sort((a, b) => a.ended - b.ended || a.node.node - b.node.node);
  for (const span of ended) {
    const usable =
      span.attempt.time !== null && (span.attempt.state === 'verified' || span.attempt.state === 'predicted');
    if (usable) times.set(span.node.node, span.attempt);
    else times.delete(span.node.node);
    const known = [...times.values()],
      verified = known.filter((attempt) => attempt.state === 'verified');
    const rivals = (verified.length ? verified : known).map((attempt) => attempt.time);
    results.push({...span, time: usable ? span.attempt.time : null, best: rivals.length ? Math.min(...rivals) : null});
  }
}

// One place that knows which node is chosen; whoever shows it is told.
const watchers = [];
let chosen = null;
function choose(node) {
  chosen = node;
  for (const watcher of watchers) watcher(node);
}

// Where a search had several.
const gpuText = (attempt) => (typeof attempt.gpu === 'number' ? ` on GPU ${attempt.gpu}` : '');
