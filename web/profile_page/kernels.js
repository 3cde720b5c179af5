// The table of kernels, and the chosen one: its equations beside what is known of its machine code.

// Columns are [heading, cell of a row]; one without any value is left out.
function tableOf(columns, rows) {
  const there = columns.filter(([, cell]) => rows.some((row) => known(cell(row)) && cell(row) !== ''));
  const line = (kind, cells) => el('tr', {}, ...cells.map((cell) => el(kind, {}, cell)));
  const heads = line(
    'th',
    there.map(([name]) => name),
  );
  const body = rows.map((row) =>
    line(
      'td',
      there.map(([, cell]) => (known(cell(row)) ? String(cell(row)) : '')),
    ),
  );
  return {body, table: el('table', {}, el('thead', {}, heads), el('tbody', {}, ...body))};
}
const wideTable = (columns, rows) => el('div', {class: 'wide'}, tableOf(columns, rows).table);

const kKernelColumns = [
  ['kernel', (kernel) => kernel.kernel],
  ['family', (kernel) => kernel.family],
  ['time', (kernel) => timed(kernel.time, kernel.isMeasured)],
  ['share', (kernel) => (kernel.time > 0 && wholeTime > 0 ? percentText(kernel.time / wholeTime) : null)],
  ['bound', (kernel) => (known(kernel.bound) ? timeText(kernel.bound) : null)],
  ['over bound', (kernel) => (kernel.time > 0 && kernel.bound > 0 ? factorText(kernel.time / kernel.bound) : null)],
  ['class', (kernel) => classOf(kernel.found)],
  ['findings', (kernel) => findingsOn(kernel).length || null],
  ['computes', (kernel) => kernel.computes],
];

const findingsOn = (kernel) =>
  profile.findings.filter(
    (finding) => finding.place.kernel === kernel.kernel || (finding.also || []).includes(kernel.kernel),
  );

function moveChoice(event) {
  const here = kernels.indexOf(chosen);
  const to = {ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: kernels.length - 1}[event.key];
  if (to === undefined) return;
  event.preventDefault();
  choose(kernels[Math.min(Math.max(to, 0), kernels.length - 1)]);
  document.querySelector('#kernels .chosen').focus();
}

function drawKernels() {
  const {body, table} = tableOf(kKernelColumns, kernels);
  body.forEach((row, i) => row.addEventListener('click', () => choose(kernels[i])));
  at('kernels').replaceChildren(...table.childNodes);
  at('kernels').addEventListener('keydown', moveChoice);
  watchers.push((kernel) =>
    body.forEach((row, i) => {
      row.classList.toggle('chosen', kernels[i] === kernel);
      row.setAttribute('aria-current', String(kernels[i] === kernel));
      row.tabIndex = kernels[i] === kernel ? 0 : -1;
    }),
  );
}

const sizeText = (size) => (size.some((extent) => extent !== 1) ? size.join(' x ') : '1');

const kStepColumns = [
  ['step', (step) => step.step],
  ['time', (step) => (known(step.measured) ? timeText(step.measured) : null)],
  ['grid', (step) => (step.entry ? sizeText(step.grid) : null)],
  ['block', (step) => (step.entry ? sizeText(step.block) : null)],
  ['cluster', (step) => (step.entry && sizeText(step.cluster) !== '1' ? sizeText(step.cluster) : null)],
  ['registers', (step) => step.registers],
  ['spill bytes', (step) => (known(step.spill_stores) ? step.spill_stores + (step.spill_loads || 0) : null)],
  ['stack bytes', (step) => step.stack_bytes],
  ['shared bytes', (step) => step.shared_bytes],
  ['warps an SM', (step) => step.occupancy && `${step.occupancy.warps_per_sm} (${step.occupancy.limited_by})`],
  ['waves', (step) => step.occupancy && digits(step.occupancy.waves, 3)],
  [
    'runs',
    (step) =>
      listText(
        [step.prepare && 'at load', step.fallback && 'as fallback', step.pdl && 'early (PDL)'].filter((text) => text),
      ),
  ],
];

function equationsOf(kernel) {
  const lines = (kernel.equations || []).map((equation) =>
    el('li', {}, el('code', {}, equation.text), equation.line > 0 ? el('small', {}, ` line ${equation.line}`) : null),
  );
  const tensors = wideTable(
    [
      ['tensor', (tensor) => tensor.name],
      ['kind', (tensor) => tensor.kind],
      ['dtype', (tensor) => tensor.dtype],
      ['bytes', (tensor) => scaled(tensor.bytes, 'B')],
      ['', (tensor) => (tensor.written ? 'written' : 'read')],
    ],
    kernel.tensors || [],
  );
  return el(
    'div',
    {class: 'equations'},
    el('h3', {}, 'Equations'),
    el('ul', {class: 'plain'}, ...lines),
    (kernel.tensors || []).length ? tensors : null,
  );
}

// Kinds of work, the most first, as bars of their counts.
function countsOf(mix) {
  const rows = Object.entries(mix.counts).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  const most = Math.max(...rows.map(([, count]) => count), 1);
  const bar = (count) =>
    svg(
      'svg',
      {class: 'bar-of', width: 90, height: 9, 'aria-hidden': 'true'},
      svg('rect', {class: 'c0', width: (90 * count) / most, height: 9}),
    );
  const lines = rows.map(([kind, count]) =>
    el('tr', {}, el('td', {}, kind), el('td', {class: 'number'}, String(count)), el('td', {}, bar(count))),
  );
  return el('div', {class: 'wide'}, el('table', {class: 'counts'}, ...lines));
}

const hex = (address) => '0x' + address.toString(16);
function loopsOf(sass) {
  const lines = sass.loops.map((loop) => {
    const place = loop.line > 0 ? `, line ${loop.line}` : '';
    const kinds = Object.entries(loop.mix.counts)
      .sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
      .slice(0, 5)
      .map(([kind, count]) => `${kind} ${count}`);
    return el(
      'li',
      {class: `depth${Math.min(loop.depth, 5)}`},
      `${loop.does || 'loop'}: ${counted(loop.mix.instructions, 'instruction')} (${kinds.join(', ')})`,
      el('small', {}, ` ${hex(loop.first)} to ${hex(loop.last)}${place}`),
    );
  });
  return el('ul', {class: 'plain loops'}, ...lines);
}

// Where machine code comes from: the part of the kernel, and what the program says there.
function codePlaceText(place) {
  const line = place.line > 0 ? `line ${place.line}` : '';
  return [place.part, place.equation || place.file, line].filter((text) => text).join(', ');
}

const sumOf = (values) => values.reduce((sum, value) => sum + value, 0);

// By place: what a tool would look for there, and the samples that the counters found.
function placesOf(step) {
  const {places = [], spots = []} = step.sass;
  const hot = (step.counters && step.counters.hot) || [];
  const rows = places.map((place, i) => {
    const mixes = spots.filter((spot) => spot.place === i).map((spot) => spot.mix);
    const accesses = mixes.flatMap((mix) => mix.accesses || []);
    const count = (test) => sumOf(accesses.filter(test).map((access) => access.count)) || null;
    const keys = ['part', 'equation', 'file', 'line'];
    const isHere = (spot) => keys.every((key) => (spot[key] || '') === (place[key] || ''));
    return {
      place,
      instructions: sumOf(mixes.map((mix) => mix.instructions)),
      loads: count((access) => access.space === 'global' && !access.store),
      stores: count((access) => access.space === 'global' && access.store),
      narrow: count((access) => access.space === 'global' && access.bits < 128),
      local: count((access) => access.space === 'local'),
      barriers: sumOf(mixes.map((mix) => mix.counts.barrier || 0)) || null,
      waits: sumOf(mixes.map((mix) => mix.counts.wait || 0)) || null,
      samples: sumOf(hot.filter(isHere).map(samplesOf)) || null,
    };
  });
  rows.sort((a, b) => (b.samples || 0) - (a.samples || 0) || b.instructions - a.instructions);
  return rows;
}

const kPlaceColumns = [
  ['part', (row) => row.place.part],
  ['equation', (row) => row.place.equation || row.place.file],
  ['line', (row) => row.place.line],
  ['instructions', (row) => row.instructions],
  ['global loads', (row) => row.loads],
  ['stores', (row) => row.stores],
  ['narrow', (row) => row.narrow],
  ['local', (row) => row.local],
  ['barriers', (row) => row.barriers],
  ['waits', (row) => row.waits],
  ['samples', (row) => row.samples],
];

const samplesOf = (spot) => Object.values(spot.samples).reduce((sum, count) => sum + count, 0);
function hotOf(step) {
  const spots = (step.counters && step.counters.hot) || [];
  if (!spots.length) return [];
  const most = (spot) => Object.entries(spot.samples).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  const columns = [
    ['address', (spot) => hex(spot.address)],
    ['place', codePlaceText],
    ['instruction', (spot) => spot.instruction],
    ['samples', samplesOf],
    [
      'waits for',
      (spot) =>
        most(spot)
          .slice(0, 3)
          .map(([reason, count]) => `${stallName(reason)} ${count}`)
          .join(', '),
    ],
  ];
  return [el('h4', {}, 'Hot spots'), wideTable(columns, spots)];
}

function countersOf(step) {
  const metrics = Object.entries((step.counters && step.counters.metrics) || {});
  if (!metrics.length) return [];
  const columns = [
    ['counter', ([name]) => name],
    ['value', ([, value]) => digits(value, 5)],
  ];
  const {of, cold, passes} = step.counters;
  const notes = [
    of ? `Read of ${of}, a launch alike.` : null,
    cold ? 'Read with empty caches; in a call L2 has what earlier launches left.' : null,
    passes ? `Passes over the launch: ${passes}.` : null,
  ].filter((note) => note);
  return [
    folded(counted(metrics.length, 'counter'), false, wideTable(columns, metrics)),
    ...notes.map((note) => el('p', {class: 'hint'}, note)),
  ];
}

function sassOf(step) {
  const sass = step.sass;
  if (!sass) return [];
  const notes = [
    sass.unknown > 0 ? `${percentText(sass.unknown)} of the instructions are unknown to the reader.` : null,
    sass.in_part ? `Loops may be missing: ${sass.in_part}.` : null,
  ].filter((note) => note);
  return [
    el('p', {class: 'hint'}, `${counted(sass.mix.instructions, 'static instruction')}, by kind of work:`),
    countsOf(sass.mix),
    ...((sass.places || []).length ? [el('h4', {}, 'Places'), wideTable(kPlaceColumns, placesOf(step))] : []),
    ...(sass.loops.length ? [el('h4', {}, 'Loops'), loopsOf(sass)] : []),
    ...notes.map((note) => el('p', {class: 'hint'}, note)),
  ];
}

function codeOf(kernel) {
  const parts = kernel.steps.map((step) => [step, [...sassOf(step), ...hotOf(step), ...countersOf(step)]]);
  const there = parts.filter(([, content]) => content.length);
  const weight = ([step]) => (step.fallback || step.prepare ? -1 : step.measured || 0);
  const first = there.reduce((most, part) => (most && weight(most) >= weight(part) ? most : part), null);
  return el(
    'div',
    {class: 'code'},
    el('h3', {}, 'Machine code'),
    ...there.map((part) => folded(part[0].step, part === first, el('div', {}, ...part[1]))),
    there.length ? null : el('p', {class: 'hint'}, 'Neither machine code nor counters were read.'),
  );
}

function showKernel(kernel) {
  const terms = (kernel.terms || []).map((term) => `${term.name} ${timeText(term.time)}`);
  const rows = [
    ['class', classText(kernel.found)],
    ['counters say', kernel.found.conflict],
    ['schedule', kernel.schedule],
    ['knobs', pairsText(kernel.knobs)],
    ['computes', kernel.computes],
    ['missing', kernel.missing],
    ['form', kernel.form],
    ['measured', kernel.isMeasured ? timeText(kernel.measured) : null],
    ['predicted', known(kernel.predicted) ? timeText(kernel.predicted) : null],
    ['of which', listText(terms)],
    ['model says', kernel.limited_by],
    ['bound', known(kernel.bound) ? timeText(kernel.bound) : null],
    ['runs', kernel.once ? 'once, at load' : null],
  ];
  at('kernel').replaceChildren(
    el('h2', {}, `Kernel ${kernel.kernel}`),
    facts(rows),
    el('div', {class: 'beside'}, equationsOf(kernel), codeOf(kernel)),
    ...(kernel.steps.length ? [el('h3', {}, 'Steps'), wideTable(kStepColumns, kernel.steps)] : []),
  );
}
