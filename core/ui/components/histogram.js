// The scores of right and wrong answers, under a line that is dragged. Drawn by `threshold.js`.

/** Return plot and axis, and where a value lies; `show(at)` puts the line to a place, `move` is told of it. */
function histogram({ bins, low, high, places, certified, selected, words, belief }, move, keep) {
  const numbers = bins.flatMap(({ right, wrong }) => [right, wrong]).sort((one, other) => other - one);
  // Bars that tower over all the others would hide them: these are cut, and say how many they are.
  const most = Math.max(1, ...numbers.filter((number) => number <= 3 * (numbers[2] || numbers[0])));
  const isCut = numbers[0] > most, limit = isCut ? 1.5 * most : most; // above, their numbers have room
  const up = Math.min(limit, Math.max(1, ...bins.map((bin) => bin.right)));
  const down = Math.min(limit, Math.max(1, ...bins.map((bin) => bin.wrong)));
  const height = (number) => `${(100 * number) / (up + down)}%`;
  const span = high / 2 - low / 2; // the difference itself can be too large for a number
  const across = (value) => `${(100 * (value / 2 - low / 2)) / span}%`;
  const plot = element("div", { class: "plot", role: "img", "aria-label": words.alt });
  plot.style.setProperty("--zero", height(up));
  const splits = bins.some((bin) => "believed" in bin);
  for (const { start, end, right, wrong, believed = 0, believed_wrong = 0 } of bins) {
    for (const [side, whole, part] of [["right", right, believed], ["wrong", wrong, believed_wrong]]) {
      const top = Math.min(whole, limit), middle = Math.max(0, top - (whole - part)); // the longer part is cut
      for (const [kind, number, from, to] of [["believed", part, 0, middle], ["served", whole - part, middle, top]]) {
        if (!number) continue;
        const bar = element("div", { class: `bar ${side} ${kind}` });
        bar.title = `${short(start)} – ${short(end)}: ${number.toLocaleString("en")} ${words[side]}${splits && number < whole ? `, ${words[kind]}` : ""}`;
        bar.style.left = across(start);
        bar.style.width = `calc(${(100 * (end / 2 - start / 2)) / span}% - 1px)`;
        bar.style.height = height(to - from);
        bar.style.setProperty("--from", height(from));
        if (whole > limit && to > from && from === 0) bar.append(element("i", { class: "cut" }));
        plot.append(bar);
      }
      if (whole <= limit) continue;
      const label = element("span", { class: `many ${side}` }, whole.toLocaleString("en"));
      const isLast = end / 2 - low / 2 > 0.9 * span;
      label.style[isLast ? "right" : "left"] = isLast ? `calc(100% - ${across(start)})` : across(end);
      plot.append(label);
    }
  }
  const band = element("div", { class: "band" });
  const line = element("div", { class: places.movable ? "line movable" : "line" }, element("span", {}, words.withheld));
  const origin = element("div", { class: "line certified" });
  const veil = element("div", { class: "veil" });
  plot.append(veil, band, origin, line);
  if (belief !== null) {
    const limit = element("div", { class: "line believe" }, element("span", {}, words.belief));
    limit.style.left = across(belief);
    plot.append(limit);
  }
  const falls = places.rows[0] > places.rows.at(-1); // larger scores are surer, and answered
  const answered = element("div", { class: "answered" });
  for (const each of [plot, answered]) each.classList.toggle("falls", falls);
  if (certified === null) origin.hidden = true;
  else origin.style.left = across(places.values[certified]);
  const axis = element("div", { "aria-hidden": "true" },
    element("div", { class: "axis" }, ...ticks().map((value) => {
      const tick = element("span", {}, short(value));
      tick.style.left = across(value);
      return tick;
    })), element("div", { class: "title" }, words.title));
  cover(selected);
  if (places.movable) line.addEventListener("pointerdown", drag);
  plot.addEventListener("pointerdown", select);
  const parts = element("div", { class: splits ? "histogram splits" : "histogram" },
    element("div", { class: "key" }, element("span", { class: "plain" }, isCut ? words.cut : words.scale),
      ...["right", "wrong", ...(splits ? ["believed", "served"] : []), "pale"].map((name) => element("span", { class: name }, words[`${name}_key`] ?? words[name]))),
    answered,
    element("div", { class: "framed" }, counts(), plot));

  function show(at) {
    const value = places.values[at];
    line.style.left = across(value);
    veil.style.left = falls ? "0" : across(value);
    veil.style.right = falls ? `calc(100% - ${across(value)})` : "0";
    line.classList.toggle("late", falls || value / 2 - low / 2 > 0.8 * span);
    plot.style.setProperty("--limit", across(value));
    answered.textContent = `${falls ? words.above : words.below} ${places.texts[at]}`;
  }

  function under(event) {
    const { left, width } = plot.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - left) / width, 0), 1);
    return low + 2 * span * share;
  }

  function follow(target, event, moved, ended) {
    target.setPointerCapture(event.pointerId);
    target.onpointermove = moved;
    target.onpointerup = target.onpointercancel = (last) => {
      target.onpointermove = target.onpointerup = target.onpointercancel = null;
      ended(last);
    };
  }

  function drag(event) {
    event.stopPropagation();
    event.preventDefault();
    follow(line, event, (moved) => {
      const value = under(moved);
      const home = places.values[places.start];
      // Near its own place it falls back into it.
      const isBack = Math.abs(value / 2 - home / 2) < span / 100;
      move(isBack ? places.start : nearest(places.values, value), false);
    }, () => move(null, true));
  }

  function cover(range) {
    band.hidden = !range;
    if (!range) return;
    band.style.left = across(range[0]);
    band.style.width = `${(100 * (range[1] / 2 - range[0] / 2)) / span}%`;
  }

  function select(event) {
    const from = under(event);
    let range = null;
    follow(plot, event, (moved) => {
      const to = under(moved);
      range = from < to ? [from, to] : [to, from];
      cover(range);
    }, () => {
      cover(range);
      keep("selected", range); // a click alone selects nothing
    });
  }

  /** Numbers of questions, right ones up and wrong ones down, no two on top of another. */
  function counts() {
    const round = (number) => Math.max(...[1, 2, 5].flatMap((digit) => [...Array(7).keys()].map((power) => digit * 10 ** power))
      .filter((each) => each <= Math.max(number, 1)));
    const marks = element("div", { class: "up", "aria-hidden": "true" });
    const places = [], right = Math.min(up, most);
    for (const number of [0, -round(right), -round(right / 2), round(Math.min(down, most))]) {
      const place = (100 * (up + number)) / (up + down);
      if (places.some((other) => Math.abs(other - place) < 9.5)) continue;
      places.push(place);
      const mark = element("span", {}, Math.abs(number).toLocaleString("en"));
      mark.style.top = `${place}%`;
      marks.append(mark);
    }
    return marks;
  }

  function ticks() {
    if (!Number.isFinite(2 * span)) return [low, high];
    const rough = (2 * span) / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
    const first = Math.ceil(low / step);
    const marks = [];
    for (let i = first; i * step <= high && marks.length < 10; i++) marks.push(i * step);
    return marks;
  }

  function short(value) {
    if (value && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)) return value.toPrecision(3);
    return String(Number(value.toFixed(3))).replace("-", "−");
  }

  return { parts, axis, across, show };
}

/** Return the index of the value that lies nearest, in a rising list. */
function nearest(values, value) {
  let from = 0, to = values.length - 1;
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if (values[middle] <= value) from = middle;
    else to = middle;
  }
  return value / 2 - values[from] / 2 <= values[to] / 2 - value / 2 ? from : to;
}
