// Fills the page, once; what depends on the width again where that changes.

function showHeader() {
  const of = run.run;
  at('title').textContent = of.problem;
  at('outcome').textContent =
    (of.state === 'finished' || of.state === 'interrupted' && of.outcome !== 'none' ? of.outcome : of.state) +
    (of.reason ? ': ' + of.reason : '');
  const tile = (name, value, note) =>
    at('tiles').append(el('div', {}, el('dt', {}, name), el('dd', {}, value, note ? el('small', {}, note) : null)));
  const failed = nodes.filter((node) => kindOf(node) === 'failed').length,
    open = nodes.filter((node) => kindOf(node) === 'open').length;
  const guess = original ? null : summary.predicted_original;
  tile('original', original ? timeText(original) : 'not timed', guess ? `predicted ${timeText(guess)}` : null);
  tile('best', best ? timeText(best.time) : 'none', best ? `trial ${best.node}, ${best.state}` : null);
  if (best && best.factor !== null) tile('over the original', factorText(best.factor), 'kernels, in the search');
  if (best && bounds.practical > 0)
    tile('of the practical bound', factorText(best.time / bounds.practical), timeText(bounds.practical));
  tile(
    'trials',
    String(nodes.length - 1 - open),
    [failed ? `${failed} failed` : null, open ? `${open} more without a result` : null]
      .filter((text) => text)
      .join(', '),
  );
  addFacts(at('about'), [
    ['run', of.id],
    ['policy', `${of.policy || 'not recorded'}, seed ${of.seed}`],
    ['machine', `${of.machine || 'not recorded'} (${of.device})`],
    ['started', of.started],
    ['finished', of.finished],
    ['not tried', run.skipped ? `${run.skipped}: no gain was expected` : null],
    ['file', of.file],
    ['folder', of.folder],
    ['command', (of.command || []).join(' ')],
    ...Object.entries(of.versions || {}),
  ]);
  at('missing').replaceChildren(...missing.map((text) => el('li', {}, text)));
}

// What is whose, where PyTorch runs a part of the module.
function showParts() {
  const rows = summary.parts || [];
  if (!rows.length) return;
  const percent = (share) => (share === null ? '-' : (100 * share).toFixed(1) + ' %');
  const ours = rows.reduce((sum, row) => sum + (row.ours ? row.share || 0 : 0), 0);
  const heads = ['part', 'whose', 'time', 'in PyTorch', 'share', 'place', "why it stays PyTorch's"];
  const lines = rows.map((row) => [
    row.what,
    row.ours ? 'ours' : "PyTorch's",
    timeText(row.time),
    timeText(row.original),
    percent(row.share),
    row.place || '',
    row.why || '',
  ]);
  const cells = (kind, texts) => el('tr', {}, ...texts.map((text) => el(kind, {}, text)));
  const table = el('table', {}, cells('th', heads), ...lines.map((line) => cells('td', line)));
  const title = `Parts: ${percent(ours)} of the replacement's time is ours`;
  at('parts').append(folded(title, true, el('div', {class: 'wide'}, table)));
}

showHeader();
showParts();
drawLegend();
drawTree();
watchers.push(showNode);
drawBest();
drawLine();
choose(best || nodes[0]);

let width = innerWidth;
addEventListener('resize', () => {
  if (innerWidth === width) return;
  width = innerWidth;
  drawBest();
  drawLine();
  showNode(chosen);
});
