// Findings, the gravest first, and the questions that nobody could answer.

// Goes to the kernel that a finding is on.
function kernelButton(name) {
  const kernel = kernels.find((each) => each.kernel === name);
  if (!kernel) return el('code', {}, name);
  const button = el('button', {type: 'button'}, name);
  button.addEventListener('click', () => choose(kernel));
  return button;
}

function drawFindings() {
  at('findings').replaceChildren(findingsList(profile.findings, kernelButton));
}

function sourceItem(source, questions) {
  const first = questions[0];
  return el(
    'div',
    {class: 'source'},
    el('h3', {}, `Without ${source}`),
    el('p', {}, `Not read: ${first.why || 'it is not there'}.`),
    first.opens ? el('p', {class: 'opens'}, 'To open: ', el('code', {}, first.opens)) : null,
    el('ul', {}, ...questions.map((each) => el('li', {}, each.question, ' ', el('span', {class: 'tag'}, each.tool)))),
  );
}

function drawOpen() {
  const bySource = new Map();
  for (const question of profile.open) {
    bySource.set(question.source, [...(bySource.get(question.source) || []), question]);
  }
  const parts = [...bySource].sort().map(([source, questions]) => sourceItem(source, questions));
  if (profile.faults.length) {
    const faults = profile.faults.map((fault) => el('li', {}, fault));
    parts.push(el('div', {class: 'source'}, el('h3', {}, 'Tools that failed'), el('ul', {}, ...faults)));
  }
  at('open-section').hidden = parts.length === 0;
  at('open').replaceChildren(...parts);
}
