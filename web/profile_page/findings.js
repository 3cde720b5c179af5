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

const MOST_STEPS = 8;

// Launches that a question is open for; none: it is for all.
function stepsText(steps) {
  const shown = steps.slice(0, MOST_STEPS).join(', ');
  return steps.length > MOST_STEPS ? `${shown} and ${steps.length - MOST_STEPS} more` : shown;
}

// Questions of one source that are open for the same launches and the same reason.
function sourceItem(questions) {
  const first = questions[0];
  const where = first.steps ? ` for ${stepsText(first.steps)}` : '';
  return el(
    'div',
    {class: 'source'},
    el('h3', {}, `Without ${first.source}${where}`),
    el('p', {}, `Not read: ${first.why || 'it is not there'}.`),
    first.opens ? el('p', {class: 'opens'}, 'To open: ', el('code', {}, first.opens)) : null,
    el('ul', {}, ...questions.map((each) => el('li', {}, each.question, ' ', el('span', {class: 'tag'}, each.tool)))),
  );
}

function drawOpen() {
  const groups = new Map();
  for (const question of profile.open) {
    const key = JSON.stringify([question.source, question.steps || [], question.why]);
    groups.set(key, [...(groups.get(key) || []), question]);
  }
  const parts = [...groups.keys()].sort().map((key) => sourceItem(groups.get(key)));
  if (profile.faults.length) {
    const faults = profile.faults.map((fault) => el('li', {}, fault));
    parts.push(el('div', {class: 'source'}, el('h3', {}, 'Tools that failed'), el('ul', {}, ...faults)));
  }
  at('open-section').hidden = parts.length === 0;
  at('open').replaceChildren(...parts);
}
