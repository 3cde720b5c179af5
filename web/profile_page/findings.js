// Findings, the gravest first, and the questions that nobody could answer.

function placeText(place) {
  const kernel = place.kernel || 'the program';
  const parts = [place.part ? `${place.part} of ${kernel}` : kernel];
  parts.push(place.step && place.step !== place.kernel ? place.step : '', place.file || '');
  parts.push(place.line > 0 ? `line ${place.line}` : '');
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

// Bytes and large counts with a prefix.
function valueText(evidence) {
  const {value, unit} = evidence;
  if (unit === '%') return digits(value, 4) + ' %';
  if (value >= 1e5) return unit === 'B' ? scaled(value, 'B') : `${scaled(value, '')} ${unit || ''}`.trimEnd();
  return `${digits(value, 4)} ${unit || ''}`.trimEnd();
}

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

const kOpenFindings = 3; // further ones are folded

function findingItem(finding, rank) {
  const evidence = finding.evidence.map((each) =>
    el('li', {}, `${each.what} ${valueText(each)} `, el('span', {class: 'tag'}, each.source)),
  );
  const part = (title, ...items) => (items.length ? [el('h4', {}, title), el('ul', {}, ...items)] : []);
  const gain = gainText(finding.gain);
  const places = [finding.place.kernel, ...(finding.also || [])].filter((name) => name);
  const summary = el(
    'summary',
    {},
    el('span', {class: `severity ${finding.severity}`}, finding.severity),
    ` ${placeText(finding.place)} `,
    el('span', {class: 'tag'}, finding.tool),
    el('span', {class: 'cause'}, finding.cause),
  );
  const body = [
    finding.place.equation ? el('p', {}, el('code', {}, finding.place.equation)) : null,
    gain ? el('p', {class: 'gain'}, gain) : null,
    ...part('Evidence', ...evidence),
    ...part('To try', ...finding.actions.map(actionItem)),
    el('p', {class: 'hint'}, `Confidence ${finding.confidence}; rests on ${finding.sources.join(', ')}`),
    places.length ? el('p', {class: 'buttons'}, ...places.map(kernelButton)) : null,
  ];
  const details = el('details', {open: rank < kOpenFindings}, summary, ...body);
  return el('li', {class: `finding ${finding.severity}`}, details);
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
