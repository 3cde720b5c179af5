// Ticks and names along the axes of a drawing, and the mark of what is chosen.

// 1, 2 and 5 times powers of ten; fewer or more where that is too many or too few.
function ticksOf(low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
    for (const digit of [1, 2, 5]) ticks.push(digit * 10 ** power);
  }
  const within = ticks.filter((tick) => tick >= low && tick <= high);
  if (within.length > 7) return within.filter((tick) => Math.abs(Math.log10(tick) % 1) < 1e-9);
  if (within.length > 2) return within;
  return evenTicks(low, high, 5).filter((tick) => tick >= low);
}

function evenTicks(low, high, count) {
  const rough = (high - low) / count,
    power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough);
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high * (1 + 1e-12); tick += step) ticks.push(tick);
  return ticks;
}

// Names beside their heights, pushed apart where they would touch.
function spread(names, room) {
  names.sort((a, b) => a.y - b.y);
  for (let i = 1; i < names.length; ++i) names[i].y = Math.max(names[i].y, names[i - 1].y + 14);
  for (let i = names.length - 1, floor = room; i >= 0; --i, floor = names[i + 1].y - 14)
    names[i].y = Math.min(names[i].y, floor);
  return names;
}

// `watchers` and `chosen` are the page's.
function markChosen(drawing, shapes) {
  const show = (item) => shapes.forEach(([shape, of]) => shape.classList.toggle('chosen', of === item));
  watchers.push((item) => drawing.isConnected && show(item));
  if (chosen) show(chosen);
}
