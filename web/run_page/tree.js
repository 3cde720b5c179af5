// The tree: a row a node, children below their parent, indented.

const kRow = 24,
  kLeft = 18;
const deepest = Math.max(...nodes.map((node) => node.depth));
const indent = Math.max(9, Math.min(20, 480 / deepest));

function markOf(node, x, y) {
  const kind = kindOf(node);
  if (kind === 'original') return svg('rect', {class: 'mark origin', x: x - 5.5, y: y - 5.5, width: 11, height: 11});
  if (kind === 'failed') return svg('path', {class: 'failed', d: `M${x - 4.5} ${y - 4.5}l9 9m0 -9l-9 9`});
  if (kind === 'open') return svg('circle', {class: 'open', cx: x, cy: y, r: 5.5});
  return svg('circle', {class: `mark s${shadeOf(node.time)}`, cx: x, cy: y, r: 6});
}

// Depth first, as rows from top to bottom.
function rowsOf(root) {
  const rows = [],
    open = [root];
  while (open.length) {
    const node = open.pop();
    rows.push(node);
    open.push(...node.children.slice().reverse());
  }
  return rows;
}

const rows = rowsOf(nodes[0]);
rows.forEach((node, row) => {
  node.row = row;
  node.x = kLeft + node.depth * indent;
  node.y = row * kRow + kRow / 2 + 4;
});

function figures(node) {
  if (node.node === 0) return original ? timeText(original) : 'not timed';
  if (kindOf(node) !== 'usable') return node.state;
  return timeText(node.time) + (node.factor === null ? '' : `, ${factorText(node.factor)}`);
}

function flagsOf(node) {
  const flags = [];
  if (node.best) flags.push('best');
  if (kindOf(node) !== 'open' && node.in_flight)
    flags.push(run.run.state === 'running' ? 'measured again' : 'second measurement unfinished');
  if (kindOf(node) !== 'open' && node.lost) flags.push('second measurement lost');
  if (node.spent && node.node > 0) flags.push(node.nothing_left === undefined ? 'spent' : 'nothing left');
  return flags;
}

function labelOf(node) {
  const name = node.node === 0 ? 'The original' : `Trial ${node.node}`;
  return [name, figures(node), ...flagsOf(node), node.reason].filter((text) => text).join(', ');
}

function rowOf(node, width) {
  const text = svg(
    'text',
    {x: node.x + 14, y: node.y + 4, 'xml:space': 'preserve'},
    svg('tspan', {class: 'strong'}, node.node === 0 ? 'original' : String(node.node)),
    svg('tspan', {dx: 8}, figures(node)),
  );
  const flags = flagsOf(node);
  if (flags.length) text.append(svg('tspan', {dx: 8, class: 'strong'}, flags.join(', ')));
  if (node.reason) text.append(svg('tspan', {dx: 8, class: 'dim'}, clipped(node.reason, 120)));
  const item = svg(
    'g',
    {
      id: `item-${node.node}`,
      class: 'item',
      role: 'treeitem',
      'aria-level': node.depth + 1,
      'aria-selected': 'false',
      'aria-label': labelOf(node),
      'aria-expanded': node.children.length ? 'true' : null,
    },
    svg('rect', {class: 'row', x: 1, y: node.y - kRow / 2, width: width - 2, height: kRow, rx: 4}),
    node.best ? svg('circle', {class: 'ring', cx: node.x, cy: node.y, r: 9}) : null,
    markOf(node, node.x, node.y),
    text,
  );
  item.addEventListener('click', () => choose(node));
  return item;
}

function edgesOf() {
  const edges = [[], []]; // the path to the best above the others
  for (const node of rows.slice(1)) {
    const parent = nodes[node.parent],
      path = node.on_path && parent.on_path;
    edges[path ? 1 : 0].push(
      svg('path', {class: path ? 'edge path' : 'edge', d: `M${parent.x} ${parent.y + 7}V${node.y}H${node.x - 8}`}),
    );
  }
  return edges.flat();
}

function step(node, key) {
  switch (key) {
    case 'ArrowUp':
      return rows[node.row - 1];
    case 'ArrowDown':
      return rows[node.row + 1];
    case 'ArrowLeft':
      return node.parent === null ? null : nodes[node.parent];
    case 'ArrowRight':
      return node.children[0];
    case 'Home':
      return nodes[0];
    case 'End':
      return rows[rows.length - 1];
    case 'b':
      return best;
    default:
      return undefined;
  }
}

function drawTree() {
  const frame = at('tree');
  const width = Math.max(frame.clientWidth - 2, kLeft + deepest * indent + 620),
    height = rows.length * kRow + 8;
  const drawing = svg('svg', {
    viewBox: `0 0 ${width} ${height}`,
    role: 'tree',
    tabindex: 0,
    'aria-label': 'Search tree',
  });
  // Rows lie behind the edges so that a chosen one does not cover them.
  drawing.append(...rows.map((node) => rowOf(node, width)));
  const edges = svg('g', {'aria-hidden': 'true', 'pointer-events': 'none'}, ...edgesOf());
  drawing.append(edges);
  frame.replaceChildren(drawing);

  let zoom = 1;
  const resize = (to) => {
    zoom = Math.min(3, Math.max(0.2, to));
    drawing.setAttribute('width', width * zoom);
    drawing.setAttribute('height', height * zoom);
  };
  resize(1);
  at('smaller').addEventListener('click', () => resize(zoom / 1.25));
  at('larger').addEventListener('click', () => resize(zoom * 1.25));
  at('usual').addEventListener('click', () => resize(1));

  drawing.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = step(chosen, event.key);
    if (next === undefined && !event.key.startsWith('Arrow')) return;
    event.preventDefault();
    if (next) choose(next);
  });
  watchers.push((node) => {
    for (const item of drawing.querySelectorAll('.item.chosen')) {
      item.classList.remove('chosen');
      item.setAttribute('aria-selected', 'false');
    }
    const item = at(`item-${node.node}`);
    item.classList.add('chosen');
    item.setAttribute('aria-selected', 'true');
    drawing.setAttribute('aria-activedescendant', item.id);
    // Within its frame only: the page itself stays where it is.
    const x = node.x * zoom,
      y = node.y * zoom;
    if (x - 80 < frame.scrollLeft || x + 240 > frame.scrollLeft + frame.clientWidth)
      frame.scrollLeft = x - Math.min(160, frame.clientWidth / 3);
    if (y - kRow < frame.scrollTop) frame.scrollTop = y - kRow * 2;
    if (y + kRow > frame.scrollTop + frame.clientHeight) frame.scrollTop = y + kRow * 2 - frame.clientHeight;
  });
}

function drawLegend() {
  const entry = (mark, text) => el('li', {}, svg('svg', {width: 18, height: 18, 'aria-hidden': 'true'}, mark), text);
  const dot = (shade) => svg('circle', {class: `mark s${shade}`, cx: 9, cy: 9, r: 6});
  const entries = [];
  if (usableTimes.length) entries.push(entry(dot(6), `fastest, ${timeText(fastest)}`));
  if (slowest > fastest) entries.push(entry(dot(0), `slowest, ${timeText(slowest)}`));
  if (nodes.some((node) => kindOf(node) === 'failed'))
    entries.push(entry(svg('path', {class: 'failed', d: 'M4.5 4.5l9 9m0 -9l-9 9'}), 'failed'));
  if (nodes.some((node) => kindOf(node) === 'open')) {
    entries.push(entry(svg('circle', {class: 'open', cx: 9, cy: 9, r: 5.5}), 'no result'));
  }
  if (best) entries.push(entry(svg('path', {class: 'edge path', d: 'M1 9H17'}), 'the way to the best'));
  at('legend').replaceChildren(...entries);
}
