// Stall stack and time line. Both are drawn to the width they have, and left out where nothing was read.

const kColours = 7;
const kLeastStall = 0.01; // of a launch's samples: less is drawn with the others

// Launches that were sampled, each with its kernel: not those alike.
const stalledSteps = kernels.flatMap((kernel) =>
  kernel.steps
    .filter((step) => step.counters && !step.counters.of && Object.keys(step.counters.stalls || {}).length)
    .map((step) => ({kernel, step, stalls: step.counters.stalls})),
);

// Reasons by their largest share, the first of which have colours of their own.
const stallReasons = (() => {
  const most = new Map();
  for (const {stalls} of stalledSteps) {
    for (const [reason, share] of Object.entries(stalls)) most.set(reason, Math.max(most.get(reason) || 0, share));
  }
  return [...most].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([reason]) => reason);
})();
const stallColour = (reason) => {
  if (reason === 'selected') return 'selected';
  const rank = stallReasons.filter((other) => other !== 'selected').indexOf(reason);
  return rank >= 0 && rank < kColours ? `c${rank}` : 'rest';
};
const stallName = (reason) => (reason === 'selected' ? 'issues' : reason.replace(/_/g, ' '));

function stallParts(stalls) {
  const total = Object.values(stalls).reduce((sum, share) => sum + share, 0);
  const parts = stallReasons
    .filter((reason) => stalls[reason] >= kLeastStall * total && stallColour(reason) !== 'rest')
    .map((reason) => ({name: stallName(reason), colour: stallColour(reason), share: stalls[reason] / total}));
  const rest = 1 - parts.reduce((sum, part) => sum + part.share, 0);
  return rest > 1e-6 ? [...parts, {name: 'others', colour: 'rest', share: rest}] : parts;
}

function drawStalls() {
  at('stalls-section').hidden = stalledSteps.length === 0;
  if (!stalledSteps.length) return;
  const frame = at('stalls'),
    width = frame.clientWidth,
    pitch = 44,
    height = stalledSteps.length * pitch;
  const drawing = svg('svg', {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'aria-label': `Shares of what warps wait for: ${stalledSteps.map(stallText).join('; ')}`,
  });
  const shapes = [];
  stalledSteps.forEach((each, row) => {
    drawing.append(svg('text', {x: 0, y: row * pitch + 13}, clipped(each.step.step, Math.floor(width / 7))));
    let place = 0;
    for (const part of stallParts(each.stalls)) {
      const shape = svg(
        'rect',
        {class: `part ${part.colour}`, x: place * width, y: row * pitch + 18, width: part.share * width, height: 18},
        svg('title', {}, `${each.step.step}: ${part.name} ${percentText(part.share)}`),
      );
      shape.addEventListener('click', () => choose(each.kernel));
      drawing.append(shape);
      place += part.share;
      shapes.push([shape, each.kernel]);
    }
  });
  frame.replaceChildren(drawing);
  markChosen(drawing, shapes);
}

const stallText = ({step, stalls}) =>
  `${step.step}: ${stallParts(stalls)
    .map((part) => `${part.name} ${percentText(part.share)}`)
    .join(', ')}`;

function drawStallLegend() {
  const swatch = (colour) => svg('svg', {width: 12, height: 12}, svg('rect', {class: colour, width: 12, height: 12}));
  const seen = new Map(stalledSteps.flatMap(({stalls}) => stallParts(stalls).map((part) => [part.name, part.colour])));
  at('stalls-legend').replaceChildren(...[...seen].map(([name, colour]) => el('li', {}, swatch(colour), name)));
}

// Stretches of a call in which nothing runs.
const timeline = [...(subjectFacts.timeline || [])].sort((a, b) => a.start - b.start || a.end - b.end);
function gapsOf(entries) {
  const gaps = [];
  let end = null,
    last = null;
  for (const entry of entries) {
    if (end !== null && entry.start > end) gaps.push({from: end, to: entry.start, after: last.step});
    if (end === null || entry.end > end) [end, last] = [entry.end, entry];
  }
  return gaps;
}

// The first row that is free at an entry's start.
function rowsOf(entries) {
  const free = [];
  return entries.map((entry) => {
    let row = free.findIndex((end) => end <= entry.start);
    if (row < 0) row = free.push(0) - 1;
    free[row] = entry.end;
    return {...entry, row};
  });
}

function drawTimelineAxis(drawing, x, end, width, height) {
  for (const tick of evenTicks(0, end * 1e6, width < 500 ? 3 : 8)) {
    const near = x(tick / 1e6) > width - 40;
    const place = {x: x(tick / 1e6), y: height - 4, 'text-anchor': near ? 'end' : tick ? 'middle' : 'start'};
    drawing.append(
      svg('path', {class: 'grid', d: `M${x(tick / 1e6)} 0V${height - 18}`}),
      svg('text', {class: 'dim', ...place}, `${digits(tick, 4)} us`),
    );
  }
}

function entryShape(entry, x, top, pitch) {
  const kernel = kernelOfStep.get(entry.step);
  const colour = kernel ? `c${kernels.indexOf(kernel) % kColours}` : 'rest';
  const size = {x: x(entry.start), y: top, width: Math.max(x(entry.end) - x(entry.start), 1), height: pitch - 4};
  const text = `${entry.step}: ${timeText(entry.end - entry.start)} from ${timeText(entry.start)}`;
  const shape = svg('rect', {class: `part ${colour}`, ...size}, svg('title', {}, text));
  if (kernel) shape.addEventListener('click', () => choose(kernel));
  return [shape, kernel];
}

function drawTimeline() {
  at('line-section').hidden = timeline.length === 0;
  if (!timeline.length) return;
  const frame = at('line'),
    rows = rowsOf(timeline),
    gaps = gapsOf(timeline);
  const end = Math.max(...timeline.map((entry) => entry.end)),
    pitch = 24,
    width = frame.clientWidth,
    height = (1 + Math.max(...rows.map((entry) => entry.row))) * pitch + 24;
  const x = (time) => (end > 0 ? (time / end) * (width - 2) : 0);
  const drawing = svg('svg', {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'aria-label': `Time line of a call: ${counted(timeline.length, 'step')}`,
  });
  if (end > 0) drawTimelineAxis(drawing, x, end, width, height);
  for (const gap of gaps) {
    const size = {x: x(gap.from), y: 0, width: Math.max(x(gap.to) - x(gap.from), 1), height: height - 18};
    const text = `nothing runs: ${timeText(gap.to - gap.from)} after ${gap.after}`;
    drawing.append(svg('rect', {class: 'pause', ...size}, svg('title', {}, text)));
  }
  const shapes = rows.map((entry) => entryShape(entry, x, entry.row * pitch + 2, pitch));
  drawing.append(...shapes.map(([shape]) => shape));
  frame.replaceChildren(drawing);
  markChosen(drawing, shapes);
  at('line-note').textContent = gapsText(gaps, end);
}

function gapsText(gaps, end) {
  if (!gaps.length) return 'Something runs all the time.';
  const longest = gaps.reduce((most, gap) => (gap.to - gap.from > most.to - most.from ? gap : most));
  const sum = gaps.reduce((total, gap) => total + gap.to - gap.from, 0);
  return (
    `${counted(gaps.length, 'gap')}, ${timeText(sum)} together (${percentText(sum / end)} of the call); ` +
    `the longest, ${timeText(longest.to - longest.from)}, is after ${longest.after}.`
  );
}
