// Fills the page, once; what depends on the width again where that changes.

function showTiles() {
  const tile = (name, value, note) => {
    if (!known(value)) return;
    at('tiles').append(el('div', {}, el('dt', {}, name), el('dd', {}, value, note ? el('small', {}, note) : null)));
  };
  const isOver = wholeTime > 0 && bounds.practical > 0;
  const over = isOver ? `${factorText(wholeTime / bounds.practical)} of practical` : null;
  if (known(wholeTime)) tile(wholeIsMeasured ? 'time of a call' : 'predicted time', timeText(wholeTime), over);
  if (known(profile.original)) {
    const factor = wholeIsMeasured && wholeTime > 0 ? factorText(profile.original / wholeTime) : null;
    tile('PyTorch eager', timeText(profile.original), factor);
  }
  const by = {practical: bounds.practical_by};
  for (const name of ['practical', 'work', 'io'])
    if (known(bounds[name])) tile(`${name} bound`, timeText(bounds[name]), by[name]);
  tile('bounded by', classOf(profile.program), profile.program.conflict);
}

function showHeader() {
  at('title').textContent = profile.title;
  const where = subjectFacts.device || `${profile.machine.title}, by its cost models: nothing ran`;
  const bound = classText(profile.program);
  at('outcome').textContent = `${where}.${bound ? ` Bounded by ${bound}.` : ''}`;
  at('notes').replaceChildren(...profile.notes.map((note) => el('li', {}, note)));
  showTiles();
  addFacts(at('about'), [
    ['machine', `${profile.machine.title} (${subjectFacts.machine})`],
    ['device', subjectFacts.device],
    ['numerics', subjectFacts.numerics],
    ['weights', subjectFacts.frozen ? 'frozen' : 'live'],
    ['error', known(subjectFacts.error) ? `${digits(subjectFacts.error, 3)} of the policy's limit` : null],
    ['host, a launch', known(subjectFacts.host_launch) ? timeText(subjectFacts.host_launch) : null],
    ['solstice', subjectFacts.version],
    ...subjectFacts.sources.map((source) => [
      `source ${source.name}`,
      source.there ? `read${source.why ? ', in part: ' + source.why : ''}` : `not read: ${source.why}`,
    ]),
  ]);
  at('program').textContent = subjectFacts.program;
}

function drawAll() {
  drawRoofline();
  drawStalls();
  drawTimeline();
}

showHeader();
drawFindings();
drawOpen();
drawStallLegend();
if (kernels.length) {
  drawKernels();
  watchers.push(showKernel);
}
drawAll();
if (kernels.length) choose(kernels.reduce((most, each) => ((each.time || 0) > (most.time || 0) ? each : most)));

let width = innerWidth;
addEventListener('resize', () => {
  if (innerWidth === width) return;
  width = innerWidth;
  drawAll();
});
