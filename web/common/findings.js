// Findings as every page shows them: severity, place and cause; evidence, bound of the gain and actions below.

function placeText(place) {
  const kernel = place.kernel || 'the program';
  const parts = [place.part ? `${place.part} of ${kernel}` : kernel];
  parts.push(place.step && place.step !== place.kernel ? place.step : '', place.file || '');
  parts.push(place.line > 0 ? `line ${place.line}` : '');
  return parts.filter((part) => part).join(', ');
}

// Bytes and large counts with a prefix.
function valueText(evidence) {
  const {value, unit} = evidence;
  if (unit === '%') return digits(value, 4) + ' %';
  if (value >= 1e5) return unit === 'B' ? scaled(value, 'B') : `${scaled(value, '')} ${unit || ''}`.trimEnd();
  return `${digits(value, 4)} ${unit || ''}`.trimEnd();
}

// Actions that say the same of different kernels are one.
function groupedActions(actions) {
  const groups = new Map();
  for (const action of actions) {
    const key = JSON.stringify([action.kind, action.text, action.knobs, action.rewrite, action.with]);
    const group = groups.get(key);
    if (group) group.more++;
    else groups.set(key, {action, more: 0});
  }
  return [...groups.values()];
}

function actionItem({action, more}) {
  const knobs = pairsText(action.knobs);
  const rest = more ? `, and the same for ${more} more` : '';
  const where = action.kernel ? ` (${action.kernel}${knobs ? ': ' + knobs : ''}${rest})` : rest;
  const kind = action.kind === 'text' ? 'advice' : action.kind;
  return el('li', {}, `${action.text}${where} `, el('span', {class: 'tag'}, kind));
}

function gainText(gain) {
  if (gain.open) return gain.because;
  if (!(gain.program > 1)) return null;
  const kernel = gain.kernel > 1 ? `, ${factorText(gain.kernel)} of the kernel` : '';
  return `at most ${factorText(gain.program)} of the whole${kernel}: ${gain.because}`;
}

const kOpenFindings = 3; // further ones are folded
const kListedFindings = 40; // and those beyond, all together

function findingItem(finding, rank, wayTo) {
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
    ...part('To try', ...groupedActions(finding.actions).map(actionItem)),
    el('p', {class: 'hint'}, `Confidence ${finding.confidence}; rests on ${finding.sources.join(', ')}`),
    wayTo && places.length ? el('p', {class: 'buttons'}, ...places.map(wayTo)) : null,
  ];
  const details = el('details', {open: rank < kOpenFindings}, summary, ...body);
  return el('li', {class: `finding ${finding.severity}`}, details);
}

// A list of them, the gravest first as they come. `wayTo(name)`, where a page has one, is an element that leads to the
// kernel of this name.
function findingsList(findings, wayTo) {
  const items = findings.map((finding, rank) => findingItem(finding, rank, wayTo));
  if (!items.length) return el('p', {class: 'hint'}, 'No tool found anything.');
  const listed = (from, to) => el('ol', {class: 'finding-list'}, ...items.slice(from, to));
  const first = listed(0, kListedFindings);
  if (items.length <= kListedFindings) return first;
  const rest = folded(`${items.length - kListedFindings} more of less weight`, false, listed(kListedFindings));
  return el('div', {}, first, rest);
}
