// What is known of the chosen node.

// Lines that stayed (' '), went ('-') and came ('+'): by the longest common subsequence.
function diffOf(before, after) {
  const a = before.split('\n'),
    b = after.split('\n');
  const common = Array.from({length: a.length + 1}, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; --i) {
    for (let j = b.length - 1; j >= 0; --j) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const lines = [];
  let i = 0,
    j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) (lines.push([' ', a[i++]]), ++j);
    else if (i < a.length && (j >= b.length || common[i + 1][j] >= common[i][j + 1])) lines.push(['-', a[i++]]);
    else lines.push(['+', b[j++]]);
  }
  return lines;
}

// Without the equal lines that are further than three from a change.
function diffBlock(before, after) {
  const kContext = 3,
    lines = diffOf(before, after);
  const near = lines.map((line, i) =>
    lines.slice(Math.max(0, i - kContext), i + kContext + 1).some((other) => other[0] !== ' '),
  );
  if (!near.includes(true)) return el('p', {class: 'hint'}, 'The program is the same.');
  const block = el('pre', {class: 'diff', tabindex: 0});
  for (let i = 0; i < lines.length; ++i) {
    if (near[i]) {
      const [sign, text] = lines[i];
      block.append(el('span', {class: sign === '+' ? 'plus' : sign === '-' ? 'minus' : null}, `${sign} ${text}`));
      continue;
    }
    const begin = i;
    while (i + 1 < lines.length && !near[i + 1]) ++i;
    block.append(el('span', {class: 'gap'}, `\u22ef ${counted(i - begin + 1, 'equal line')}`));
  }
  return block;
}

function changes(node) {
  if (node.parent === 0)
    return el('p', {class: 'hint'}, "It was made from the problem itself, whose text the run's events do not hold.");
  return diffBlock(nodes[node.parent].program, node.program);
}

function predictionText(node) {
  if (node.predicted === null) return 'none';
  if (!node.usable || node.state === 'predicted') return timeText(node.predicted);
  const ratio = (node.time / node.predicted).toFixed(2);
  return `${timeText(node.predicted)}, measured ${timeText(node.time)}: ${ratio} times as long`;
}

const medianOf = (values) => {
  const sorted = values.slice().sort((a, b) => a - b),
    half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

function tookText(attempt) {
  const parts = attempt.cost > 0 ? [timeText(attempt.cost)] : [];
  if (attempt.joules > 0) parts.push(`${digits(attempt.joules, 3)} J`);
  return parts.join(', ') || '-';
}

function attemptsTable(node) {
  const table = el(
    'table',
    {},
    el('tr', {}, ...['precision', 'came to', 'time', 'took', 'noise'].map((text) => el('th', {}, text))),
  );
  for (const attempt of node.attempts) {
    const state = attempt.state ? attempt.state + (attempt.lost ? ', late' : '') : attempt.lost ? 'lost' : 'no result';
    table.append(
      el(
        'tr',
        {},
        el('td', {}, attempt.precision),
        el('td', {}, state + gpuText(attempt)),
        el('td', {}, timeText(attempt.time)),
        el('td', {}, tookText(attempt)),
        el('td', {}, attempt.noise > 0 ? `${digits(attempt.noise * 100, 2)} %` : '-'),
      ),
    );
  }
  return el('div', {class: 'wide'}, table);
}

// Each sample as a dot on one axis for all attempts, their medians as ticks.
function samplesOf(node, width) {
  const sampled = node.attempts.filter((attempt) => Array.isArray(attempt.samples) && attempt.samples.length);
  if (sampled.length === 0)
    return el('p', {class: 'hint'}, predictedRun ? 'No samples: nothing was measured.' : 'No samples were kept.');
  const all = sampled.flatMap((attempt) => attempt.samples);
  // The samples fill the axis; the prediction stands on it where that leaves them apart.
  const range = Math.max(...all) - Math.min(...all),
    predicted = node.predicted;
  const near = predicted !== null && predicted > Math.min(...all) - range && predicted < Math.max(...all) + range;
  if (near) all.push(predicted);
  const least = Math.min(...all),
    most = Math.max(...all),
    spare = (most - least) * 0.04 || most * 0.01;
  const note =
    predicted === null
      ? ''
      : near
        ? '; dashed: the prediction'
        : `; the prediction, ${timeText(predicted)}, lies ${predicted < least ? 'left' : 'right'} of them`;
  const pitch = 22,
    height = sampled.length * pitch + 40;
  const x = (time) => 64 + ((time - least + spare) / (most - least + 2 * spare)) * (width - 76);
  const drawing = svg('svg', {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'aria-label': 'Timing samples',
  });
  if (near) {
    drawing.append(
      svg(
        'path',
        {class: 'rung', d: `M${x(predicted)} 0V${height - 36}`},
        svg('title', {}, `predicted ${timeText(predicted)}`),
      ),
    );
  }
  sampled.forEach((attempt, row) => {
    const y = row * pitch + 12,
      median = medianOf(attempt.samples);
    drawing.append(
      svg('text', {class: 'dim', x: 0, y: y + 4}, attempt.precision),
      ...attempt.samples.map((time) => svg('circle', {class: 'sample', cx: x(time), cy: y, r: 3.5})),
      svg('path', {class: 'median', d: `M${x(median)} ${y - 8}v16`}, svg('title', {}, `median ${timeText(median)}`)),
    );
  });
  drawing.append(
    svg('text', {class: 'dim', x: 64, y: height - 20}, timeText(least)),
    svg('text', {class: 'dim', x: width - 12, y: height - 20, 'text-anchor': 'end'}, timeText(most)),
    svg('text', {class: 'dim', x: 0, y: height - 4}, `ticks: medians${note}`),
  );
  return drawing;
}

function verdictTable(verdict) {
  const table = el(
    'table',
    {},
    el(
      'tr',
      {},
      ...['case', 'pass', 'output', 'verdict', 'normwise', 'limit', 'elementwise', 'limit'].map((text) =>
        el('th', {}, text),
      ),
    ),
  );
  const number = (value) => (typeof value === 'number' ? value.toExponential(1) : '-');
  for (const item of verdict.cases || []) {
    for (const output of item.outputs && item.outputs.length ? item.outputs : [{output: '-', outcome: item.outcome}]) {
      table.append(
        el(
          'tr',
          {},
          el('td', {}, item.name),
          el('td', {}, String(item.pass)),
          el('td', {}, output.output),
          el('td', {class: output.outcome === 'passed' ? null : 'bad'}, output.outcome),
          el('td', {}, number(output.normwise)),
          el('td', {}, number(output.limit_normwise)),
          el('td', {}, number(output.elementwise)),
          el('td', {}, number(output.limit_elementwise)),
        ),
      );
    }
  }
  return el('div', {class: 'wide'}, table);
}

function kernelsTable(modules) {
  const table = el(
    'table',
    {},
    el('tr', {}, ...['kernel', 'registers', 'shared bytes', 'spilled bytes'].map((text) => el('th', {}, text))),
  );
  for (const kernel of modules.flatMap((module) => module.kernels || [])) {
    table.append(
      el(
        'tr',
        {},
        el('td', {class: 'mono'}, kernel.entry),
        el('td', {}, String(kernel.registers)),
        el('td', {}, String(kernel.shared_bytes)),
        el('td', {}, String(kernel.spill_stores + kernel.spill_loads)),
      ),
    );
  }
  return el('div', {class: 'wide'}, table);
}

// Where the time of a trial goes, a row a kernel; measured where it was, else predicted.
function timeTable(table) {
  const measured = table.rows.some((row) => row.measured !== undefined);
  const names = ['kernel', 'family', 'computes', ...(measured ? ['measured'] : [])];
  names.push('predicted', 'bound', 'over bound', 'limited by', 'share');
  const cells = (row) => [
    row.kernel,
    [row.family, row.math].filter(Boolean).join(' ') || '-',
    row.computes || '',
    ...(measured ? [timeText(row.measured)] : []),
    timeText(row.predicted),
    timeText(row.bound),
    factorText(row.over_bound),
    row.limited_by || '-',
    row.share ? `${(100 * row.share).toFixed(1)} %` : '-',
  ];
  const time = table.measured === undefined ? table.predicted : table.measured;
  const total = {kernel: 'total', ...table, over_bound: table.bound > 0 ? time / table.bound : null, share: 1};
  const list = el('table', {class: 'times'}, el('tr', {}, ...names.map((text) => el('th', {}, text))));
  for (const row of [...table.rows, total]) list.append(el('tr', {}, ...cells(row).map((text) => el('td', {}, text))));
  return el('div', {class: 'wide'}, list);
}

function missingFamilies(table) {
  const lines = table.rows.filter((row) => row.missing);
  return lines.map((row) =>
    el(
      'p',
      {class: 'why'},
      `${row.kernel}: ${row.missing} runs as ${row.family}` +
        (row.over_bound ? `: ${factorText(row.over_bound)} of the bound` : ''),
    ),
  );
}

function relatives(node) {
  const bar = el('p', {class: 'buttons'});
  const to = (other, text) => {
    const button = el('button', {type: 'button'}, text);
    button.addEventListener('click', () => choose(other));
    bar.append(button);
  };
  if (node.parent !== null) to(nodes[node.parent], node.parent === 0 ? '\u2190 original' : `\u2190 ${node.parent}`);
  const kMost = 12;
  for (const child of node.children.slice(0, kMost)) to(child, `${child.node} \u2192`);
  if (node.children.length > kMost) bar.append(`and ${node.children.length - kMost} more`);
  return bar;
}

function showNode(node) {
  const panel = at('node'),
    parts = [];
  panel.scrollTop = 0;
  if (node.node === 0) {
    parts.push(
      el('h2', {}, 'The original'),
      facts([
        ['problem', run.run.problem],
        ['time', original ? timeText(original) : 'not timed'],
        ['derived from it', counted(node.children.length, 'trial')],
      ]),
      relatives(node),
    );
    panel.replaceChildren(...parts);
    return;
  }
  parts.push(el('h2', {}, `Trial ${node.node}: ${figures(node)}${node.best ? ', the best' : ''}`), relatives(node));
  if (node.detail) parts.push(el('p', {class: node.usable ? null : 'why'}, node.detail));
  parts.push(
    facts([
      ['move', node.reason],
      ['by', node.origin],
      ['equations', node.equations || "the problem's own"],
      ['state', [node.state, ...flagsOf(node)].join(', ')],
      ['predicted', predictionText(node)],
      ['over the original', node.factor === null ? null : factorText(node.factor)],
      ['meaning', node.record.meaning],
      ['tokens', node.tokens > 0 ? String(node.tokens) : null],
    ]),
  );
  parts.push(el('h3', {}, node.parent === 0 ? 'Changes' : `Changes from ${node.parent}`), changes(node));
  parts.push(el('h3', {}, 'Program'), el('pre', {id: 'program', tabindex: 0}, node.program));
  if (node.record.table)
    parts.push(
      el('h3', {}, 'Where the time goes'),
      timeTable(node.record.table),
      ...missingFamilies(node.record.table),
    );
  for (const fault of node.record.diagnosis_faults || []) parts.push(el('p', {class: 'why'}, `tool failed: ${fault}`));
  if (node.record.findings_fault) parts.push(el('p', {class: 'why'}, node.record.findings_fault));
  if (node.record.findings && node.record.findings.length)
    parts.push(el('h3', {}, 'What stands in the way'), findingsList(node.record.findings));
  parts.push(el('h3', {}, 'Measurements'), attemptsTable(node));
  const samples = el('div', {});
  parts.push(samples);
  const verdict = node.record.verdict;
  if (verdict)
    parts.push(
      el('h3', {}, `Verdict: ${verdict.outcome}`),
      folded(counted((verdict.cases || []).length, 'case'), !node.usable, verdictTable(verdict)),
    );
  if (node.record.modules && node.record.modules.length)
    parts.push(el('h3', {}, 'Compiled'), kernelsTable(node.record.modules));
  panel.replaceChildren(...parts);
  samples.append(samplesOf(node, Math.max(samples.clientWidth, 200)));
}
