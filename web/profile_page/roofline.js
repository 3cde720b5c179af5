// Roofline: operations a second against operations a byte of DRAM, both logarithmic. Roofs are the machine's, dots the
// kernels', and the program has a mark for its time and for each of its bounds.

const kRoofMargin = {left: 86, right: 14, top: 14, bottom: 42};
const kDramMetrics = ['dram__bytes_read.sum', 'dram__bytes_write.sum'];
const kRoofNamesFrom = 480; // pixels: in less names would lie on the dots, and stand in the legend
const roofText = (roof, unit) => `${roof.name} ${scaled(roof.rate, unit)}`;
const kProgramBounds = ['io', 'work', 'practical'];

// Every arithmetic unit that a kernel needs, at the rate of its math; where none needs tensor cores, theirs for f16.
function arithmeticRoofs() {
  const roofs = new Map();
  for (const need of kernels.flatMap((kernel) => kernel.needs || [])) {
    if (need.unit !== 'FLOP' || !(need.time > 0)) continue;
    const name = need.how && need.how !== need.resource ? `${need.resource} as ${need.how}` : need.resource;
    roofs.set(name, {name, rate: need.amount / need.time});
  }
  if (![...roofs.keys()].some((name) => name.startsWith('tensor.'))) {
    const tensor = profile.machine.ceilings['tensor.f16'];
    if (tensor) roofs.set('tensor.f16', {name: 'tensor.f16', rate: tensor.rate});
  }
  return [...roofs.values()].sort((a, b) => b.rate - a.rate);
}

const memoryRoofs = () =>
  ['l2', 'dram'].map((name) => ({name: name === 'l2' ? 'L2' : 'DRAM', rate: profile.machine.ceilings[name].rate}));

function pointOf(kernel) {
  const flops = needed(kernel, 'FLOP'),
    bytes = needed(kernel, 'B');
  if (!(flops > 0) || !(bytes > 0) || !(kernel.time > 0)) return null;
  const traffic = trafficOf(kernel, kDramMetrics);
  return {kernel, x: flops / bytes, y: flops / kernel.time, moved: traffic > 0 ? flops / traffic : null};
}

// The program's time and bounds, at the operations and bytes of all its kernels.
function programMarks() {
  const everyCall = kernels.filter((kernel) => !kernel.once);
  const sum = (unit) => everyCall.reduce((total, kernel) => total + (needed(kernel, unit) || 0), 0);
  const flops = sum('FLOP'),
    bytes = sum('B');
  if (!(flops > 0) || !(bytes > 0)) return [];
  const marks = kProgramBounds
    .filter((name) => bounds[name] > 0)
    .map((name) => ({name: `${name} bound`, time: bounds[name]}));
  if (wholeTime > 0) marks.push({name: 'program', time: wholeTime});
  return marks.map((mark) => ({...mark, x: flops / bytes, y: flops / mark.time}));
}

function roofScales(points, marks, roofs, memory, width, height) {
  const places = [...points.flatMap((point) => [point.x, point.moved]), ...marks.map((mark) => mark.x)];
  const xs = places.filter((x) => x > 0);
  const ys = [...points, ...marks].map((point) => point.y);
  const ridge = roofs[0].rate / memory[1].rate;
  const lowX = Math.min(...xs, ridge) / 4,
    highX = Math.max(...xs, ridge) * 12; // names of roofs stand at the right end
  const lowY = Math.min(...ys, lowX * memory[1].rate) / 2,
    highY = Math.max(...ys, roofs[0].rate) * 2;
  const {left, right, top, bottom} = kRoofMargin;
  return {
    lowX,
    highX,
    lowY,
    highY,
    x: (value) => left + ((width - left - right) * Math.log(value / lowX)) / Math.log(highX / lowX),
    y: (value) => top + ((height - top - bottom) * Math.log(highY / value)) / Math.log(highY / lowY),
  };
}

function drawRoofAxes(drawing, scale, width, height) {
  const {left, right, top, bottom} = kRoofMargin;
  for (const tick of ticksOf(scale.lowX, scale.highX)) {
    drawing.append(
      svg('path', {class: 'grid', d: `M${scale.x(tick)} ${top}V${height - bottom}`}),
      svg('text', {class: 'dim', x: scale.x(tick), y: height - bottom + 16, 'text-anchor': 'middle'}, digits(tick, 3)),
    );
  }
  for (const tick of ticksOf(scale.lowY, scale.highY)) {
    drawing.append(
      svg('path', {class: 'grid', d: `M${left} ${scale.y(tick)}H${width - right}`}),
      svg('text', {class: 'dim', x: left - 6, y: scale.y(tick) + 4, 'text-anchor': 'end'}, scaled(tick, 'FLOP/s')),
    );
  }
  const axis = 'FLOP a byte of DRAM';
  drawing.append(svg('text', {class: 'dim', x: width - right, y: height - 6, 'text-anchor': 'end'}, axis));
}

// Memory's roofs end where the highest arithmetic one begins, and arithmetic ones where DRAM's ends.
function drawRoofs(drawing, scale, roofs, memory, width) {
  const names = [];
  for (const roof of roofs) {
    const from = Math.max(roof.rate / memory[0].rate, scale.lowX);
    drawing.append(
      svg('path', {class: 'roof', d: `M${scale.x(from)} ${scale.y(roof.rate)}H${width - kRoofMargin.right}`}),
    );
    if (width >= kRoofNamesFrom) names.push({y: scale.y(roof.rate) - 4, text: roofText(roof, 'FLOP/s')});
  }
  for (const roof of memory) {
    const low = Math.max(scale.lowX, scale.lowY / roof.rate),
      high = Math.min(roofs[0].rate / roof.rate, scale.highX);
    if (high <= low) continue;
    const ends = [low, high].map((x) => `${scale.x(x)} ${scale.y(x * roof.rate)}`);
    drawing.append(svg('path', {class: 'roof', d: `M${ends.join('L')}`}, svg('title', {}, roofText(roof, 'B/s'))));
  }
  for (const name of spread(names, scale.y(scale.lowY) - 4)) {
    drawing.append(
      svg('text', {class: 'name', x: width - kRoofMargin.right - 4, y: name.y, 'text-anchor': 'end'}, name.text),
    );
  }
}

function showRoofLegend(points, roofs, memory, width) {
  const names = memory.map((roof) => roofText(roof, 'B/s'));
  if (width < kRoofNamesFrom) names.push(...roofs.map((roof) => roofText(roof, 'FLOP/s')));
  if (points.some((point) => !point.kernel.isMeasured)) names.push('hollow: the time is predicted');
  if (points.some((point) => point.moved)) names.push('whisker: by the DRAM bytes counted');
  at('roofline-legend').replaceChildren(...names.map((name) => el('li', {}, name)));
}

function drawMarks(drawing, scale, marks) {
  for (const mark of marks) {
    const x = scale.x(mark.x),
      y = scale.y(mark.y);
    drawing.append(
      svg(
        'path',
        {class: `mark ${mark.name === 'program' ? 'whole' : 'bound'}`, d: `M${x - 9} ${y}h18`},
        svg('title', {}, `${mark.name} ${timeText(mark.time)}`),
      ),
    );
  }
  const names = marks.map((mark) => ({y: scale.y(mark.y) + 4, text: `${mark.name} ${timeText(mark.time)}`}));
  if (!names.length) return;
  const right = scale.x(marks[0].x) < drawing.getAttribute('width') * 0.4;
  for (const name of spread(names, scale.y(scale.lowY) - 2)) {
    const place = {x: scale.x(marks[0].x) + (right ? 13 : -13), 'text-anchor': right ? 'start' : 'end'};
    drawing.append(svg('text', {class: 'name bound-name', ...place, y: name.y}, name.text));
  }
}

function drawDots(drawing, scale, points) {
  const shapes = [];
  for (const point of points) {
    const [x, y] = [scale.x(point.x), scale.y(point.y)];
    if (point.moved) {
      const there = scale.x(point.moved);
      drawing.append(
        svg('path', {class: 'moved', d: `M${x} ${y}H${there}m0 -5v10`}, svg('title', {}, 'by the DRAM bytes counted')),
      );
    }
    const text = `${point.kernel.kernel}: ${scaled(point.y, 'FLOP/s')} at ${digits(point.x, 3)} FLOP/B`;
    const dot = svg('circle', {class: `dot${point.kernel.isMeasured ? '' : ' guess'}`, cx: x, cy: y, r: 6});
    dot.append(svg('title', {}, text));
    dot.addEventListener('click', () => choose(point.kernel));
    drawing.append(dot);
    shapes.push([dot, point.kernel]);
  }
  return shapes;
}

function showRoofNotes(points) {
  const left = kernels.filter((kernel) => !points.some((point) => point.kernel === kernel));
  const notes = [];
  const idle = left.filter((kernel) => !(needed(kernel, 'FLOP') > 0)).map((kernel) => kernel.kernel);
  const unknown = left.map((kernel) => kernel.kernel).filter((name) => !idle.includes(name));
  if (idle.length) notes.push(`No floating-point operations are known of ${idle.join(', ')}.`);
  if (unknown.length) notes.push(`The time or the bytes of ${unknown.join(', ')} are not known.`);
  at('roofline-notes').replaceChildren(...notes.map((text) => el('li', {}, text)));
}

function drawRoofline() {
  const frame = at('roofline'),
    points = kernels.map(pointOf).filter((point) => point !== null),
    marks = programMarks(),
    roofs = arithmeticRoofs(),
    memory = memoryRoofs();
  showRoofNotes(points);
  if (!points.length || !roofs.length) {
    frame.replaceChildren(el('p', {class: 'hint'}, 'No kernel has a place in it.'));
    return;
  }
  const width = frame.clientWidth,
    height = Math.min(420, Math.max(300, width * 0.55));
  const scale = roofScales(points, marks, roofs, memory, width, height);
  const drawing = svg('svg', {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'aria-label': `Roofline of ${points.map((point) => point.kernel.kernel).join(', ')}`,
  });
  drawRoofAxes(drawing, scale, width, height);
  drawRoofs(drawing, scale, roofs, memory, width);
  drawMarks(drawing, scale, marks);
  const shapes = drawDots(drawing, scale, points);
  frame.replaceChildren(drawing);
  showRoofLegend(points, roofs, memory, width);
  markChosen(drawing, shapes);
}
