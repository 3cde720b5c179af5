// Findings, the gravest first, and the questions that nobody could answer.

function placeText(place) {
  const parts = [place.kernel ? '' : 'the program', place.step && place.step !== place.kernel ? place.step : ''];
  parts.push(place.part, place.line > 0 ? `line ${place.line}` : '');
  return parts.filter((part) => part).join(', ');
}

// Goes to the kernel that a finding is on.
function kernelButton(name) {
  const kernel = kernels.find((each) => each.kernel === name);
  if (!kernel) return el('code', {}, name);
  const button = el('button', {type: 'button'}, name);
  button.addEventListener('click', () => choose(kernel));
  return button;
}

const unitText = (evidence) => (evidence.unit === '%' ? ' %' : evidence.unit ? ' ' + evidence.unit : '');

function actionItem(action) {
  const knobs = pairsText(action.knobs);
  const where = action.kernel ? ` (${action.kernel}${knobs ? ': ' + knobs : ''})` : '';
  const kind = action.kind === 'text' ? 'advice' : action.kind;
  return el('li', {}, `${action.text}${where} `, el('span', {class: 'tag'}, kind));
}

function gainText(gain) {
  if (!(gain.program > 1)) return null;
  const kernel = gain.kernel > 1 ? `, ${factorText(gain.kernel)} of the kernel` : '';
  return `at most ${factorText(gain.program)} of the whole${kernel}: ${gain.because}`;
}

function findingItem(finding) {
  const evidence = finding.evidence.map((each) =>
    el('li', {}, `${each.what} ${digits(each.value, 4)}${unitText(each)} `, el('span', {class: 'tag'}, each.source)),
  );
  const part = (title, ...content) => [el('h4', {}, title), ...content];
  const gain = gainText(finding.gain);
  return el(
    'li',
    {class: `finding ${finding.severity}`},
    el(
      'p',
      {class: 'where'},
      el('span', {class: `severity ${finding.severity}`}, finding.severity),
      finding.place.kernel ? kernelButton(finding.place.kernel) : null,
      ` ${placeText(finding.place)} `,
      el('span', {class: 'tag'}, finding.tool),
    ),
    el('p', {class: 'cause'}, finding.cause),
    finding.place.equation ? el('p', {}, el('code', {}, finding.place.equation)) : null,
    gain ? el('p', {class: 'gain'}, gain) : null,
    ...part('Evidence', el('ul', {}, ...evidence)),
    ...(finding.actions.length ? part('To try', el('ul', {}, ...finding.actions.map(actionItem))) : []),
    el('p', {class: 'hint'}, `Confidence ${finding.confidence}; rests on ${finding.sources.join(', ')}`),
    (finding.also || []).length ? el('p', {class: 'hint'}, 'Also: ', ...finding.also.map(kernelButton)) : null,
  );
}

function drawFindings() {
  const items = profile.findings.map(findingItem);
  at('findings').replaceChildren(...items);
  if (!items.length) at('findings').replaceWith(el('p', {class: 'hint'}, 'No tool found anything.'));
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
  for (const question of profile.open) bySource.set(question.source, [...(bySource.get(question.source) || []), question]);
  const parts = [...bySource].sort().map(([source, questions]) => sourceItem(source, questions));
  if (profile.faults.length) {
    const faults = profile.faults.map((fault) => el('li', {}, fault));
    parts.push(el('div', {class: 'source'}, el('h3', {}, 'Tools that failed'), el('ul', {}, ...faults)));
  }
  at('open-section').hidden = parts.length === 0;
  at('open').replaceChildren(...parts);
}
