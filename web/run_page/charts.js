// Best so far against the ladder, and the time line. Both are drawn to the width they have.

const kMargin = {left: 66, right: 12, top: 12, bottom: 40};

function drawBest() {
  const frame = at('best');
  const times = results.filter((result) => result.time !== null).map((result) => result.time);
  if (times.length === 0) {
    frame.replaceChildren(
      el('p', {class: 'hint'}, results.length ? 'No trial had a result that can be used.' : 'No trial has come in.'),
    );
    return;
  }
  // What is far below all else would press the results together: it is named at the lower edge instead.
  const close = ladder
    .filter((rung) => rung.name === 'original' || rung.name === 'practical bound')
    .map((rung) => rung.time);
  const least = Math.min(...times, ...close) / 3;
  const all = times.concat(ladder.map((rung) => rung.time).filter((time) => time >= least));
  const low = Math.min(...all) / (ladder.some((rung) => rung.time < least) ? 1.35 : 1.08),
    high = Math.max(...all) * 1.08;
  const width = frame.clientWidth,
    height = 290,
    {left, right, top, bottom} = kMargin;
  const x = (order) => left + ((order + 0.5) / results.length) * (width - left - right);
  const y = (time) => top + (height - top - bottom - 14) * (Math.log(high / time) / Math.log(high / low));
  const drawing = svg('svg', {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'aria-label': `Best so far after each result: ${timeText(run.best === null ? null : best.time)} at the end`,
  });
  for (const tick of ticksOf(low, high)) {
    drawing.append(
      svg('path', {class: 'grid', d: `M${left} ${y(tick)}H${width - right}`}),
      svg('text', {class: 'dim', x: left - 6, y: y(tick) + 4, 'text-anchor': 'end'}, timeText(tick)),
    );
  }
  const names = [];
  for (const rung of ladder) {
    if (rung.time < least) {
      names.push({y: height - bottom - 16, text: `\u2193 ${rung.name} ${timeText(rung.time)}`});
      continue;
    }
    drawing.append(svg('path', {class: 'rung', d: `M${left} ${y(rung.time)}H${width - right}`}));
    names.push({y: y(rung.time) - 4, text: `${rung.name} ${timeText(rung.time)}`});
  }
  let path = '';
  results.forEach((result, order) => {
    if (result.best === null) return;
    path += path ? `H${x(order)}V${y(result.best)}` : `M${x(order)} ${y(result.best)}`;
  });
  drawing.append(svg('path', {class: 'curve', d: `${path}H${width - right}`}));
  const radius = results.length > 150 ? 2.5 : 4;
  const shapes = results.map((result, order) => {
    const shape =
      result.time === null
        ? svg('path', {class: 'dot failed', d: `M${x(order) - 3.5} ${height - bottom - 8}l7 7m0 -7l-7 7`})
        : svg('circle', {class: `dot s${shadeOf(result.time)}`, cx: x(order), cy: y(result.time), r: radius});
    shape.append(svg('title', {}, `Trial ${result.node.node}: ${result.attempt.state} ${timeText(result.time)}`));
    shape.addEventListener('click', () => choose(result.node));
    drawing.append(shape);
    return [shape, result.node];
  });
  // Names end at the right, where the curve is lowest.
  for (const name of spread(names, height - bottom - 16)) {
    drawing.append(svg('text', {class: 'name', x: width - right - 4, y: name.y, 'text-anchor': 'end'}, name.text));
  }
  drawing.append(
    svg('text', {class: 'dim', x: left, y: height - bottom + 18}, 'first result'),
    svg(
      'text',
      {class: 'dim', x: width - right, y: height - bottom + 18, 'text-anchor': 'end'},
      `result ${results.length}`,
    ),
  );
  frame.replaceChildren(drawing);
  markChosen(drawing, shapes);
}

// Milliseconds to the run's own time, in which long pauses (a run that was resumed) count as little.
function clockOf(moments) {
  const sorted = [...new Set(moments)].sort((a, b) => a - b);
  const whole = sorted[sorted.length - 1] - sorted[0];
  const places = new Map(),
    pauses = [];
  let place = 0;
  sorted.forEach((moment, i) => {
    const gap = i ? moment - sorted[i - 1] : 0,
      long = gap > 120000 && gap > whole * 0.3;
    if (long) pauses.push({after: place, took: gap});
    place += long ? 5000 : gap;
    places.set(moment, place);
  });
  return {places, pauses, end: place};
}

function drawLine() {
  const frame = at('line');
  if (spans.length === 0) {
    frame.replaceChildren(el('p', {class: 'hint'}, 'Nothing was tried.'));
    return;
  }
  const clock = clockOf(spans.flatMap((span) => [span.begun, span.ended === null ? lastMoment : span.ended]));
  const lanes = []; // when each is free again
  for (const span of spans) {
    const end = span.ended === null ? lastMoment : span.ended;
    let lane = lanes.findIndex((free) => free <= span.begun);
    if (lane < 0) lane = lanes.push(0) - 1;
    lanes[lane] = Math.max(end, span.begun + 1);
    span.lane = lane;
  }
  const {left, right, top, bottom} = {...kMargin, left: 12};
  const width = frame.clientWidth,
    pitch = lanes.length > 12 ? 9 : 18,
    height = top + lanes.length * pitch + bottom - 8;
  const x = (place) => left + (clock.end ? place / clock.end : 0) * (width - left - right);
  const drawing = svg('svg', {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'aria-label': 'When each trial was under way',
  });
  for (const tick of clock.end ? evenTicks(0, clock.end / 1000, width < 500 ? 4 : 8) : [0]) {
    const near = x(tick * 1000) > width - 30;
    drawing.append(
      svg('path', {class: 'grid', d: `M${x(tick * 1000)} ${top - 4}V${height - bottom + 12}`}),
      svg(
        'text',
        {
          class: 'dim',
          x: x(tick * 1000),
          y: height - bottom + 26,
          'text-anchor': near ? 'end' : tick ? 'middle' : 'start',
        },
        `${digits(tick, 3)} s`,
      ),
    );
  }
  const shapes = spans.map((span) => {
    const begun = x(clock.places.get(span.begun)),
      ended = x(clock.places.get(span.ended === null ? lastMoment : span.ended));
    const state =
      span.attempt.state || (span.attempt.lost ? 'lost' : run.run.state === 'running' ? 'in flight' : 'unfinished');
    const usable = state === 'verified' || state === 'predicted';
    const look = usable ? `s${shadeOf(span.attempt.time)}` : span.attempt.state ? 'failed' : 'open';
    const shape = svg(
      'rect',
      {
        class: `span ${look}`,
        x: begun,
        y: top + span.lane * pitch,
        width: Math.max(ended - begun, 3),
        height: pitch - 3,
        rx: 2,
      },
      svg(
        'title',
        {},
        `Trial ${span.node.node}, ${span.attempt.precision}: ${state}` +
          `${usable ? ' ' + timeText(span.attempt.time) : ''}${gpuText(span.attempt)}`,
      ),
    );
    shape.addEventListener('click', () => choose(span.node));
    drawing.append(shape);
    return [shape, span.node];
  });
  frame.replaceChildren(drawing);
  markChosen(drawing, shapes);
  const pauses = clock.pauses.map(
    (pause) => `a pause of ${timeText(pause.took / 1000)} after ${timeText(pause.after / 1000)}`,
  );
  at('line-note').textContent =
    'From proposal to result, in seconds; what overlaps lies in rows.' +
    (pauses.length ? ` Drawn as 5 s: ${pauses.join(', ')}.` : '');
}
