// The scores of right and wrong answers, under a line that is dragged. Drawn by `threshold.js`.

/** Return plot and axis, and where a value lies; `show(at)` puts the line to a place, `move` is told of it. */
function histogram({ bins, low, high, places, certified, selected, words }, move, keep) {
  const up = Math.sqrt(Math.max(1, ...bins.map((bin) => bin.right)));
  const down = Math.sqrt(Math.max(1, ...bins.map((bin) => bin.wrong)));
  const span = high / 2 - low / 2; // the difference itself can be too large for a number
  const across = (value) => `${(100 * (value / 2 - low / 2)) / span}%`;
  const plot = element("div", { class: "plot", role: "img", "aria-label": words.alt });
  plot.style.setProperty("--zero", `${(100 * up) / (up + down)}%`);
  const splits = bins.some((bin) => "believed" in bin);
  plot.classList.toggle("splits", splits);
  for (const { start, end, right, wrong, believed = 0 } of bins) {
    for (const [kind, number] of [["right", right], ["right believed", believed], ["wrong", wrong]]) {
      const bar = element("div", { class: `bar ${kind}` });
      bar.title = `${short(start)} – ${short(end)}: ${number.toLocaleString("en")} ${words[kind] ?? words.believed}`;
      bar.style.left = across(start);
      bar.style.width = `calc(${(100 * (end / 2 - start / 2)) / span}% - 1px)`;
      // Roots: a pile of zeros must not hide the rest.
      bar.style.height = `${(100 * Math.sqrt(number)) / (up + down)}%`;
      plot.append(bar);
    }
  }
  const band = element("div", { class: "band" });
  const line = element("div", { class: places.movable ? "line movable" : "line" }, element("span", {}, words.withheld));
  const origin = element("div", { class: "line certified" });
  const veil = element("div", { class: "veil" });
  plot.append(veil, band, origin, line);
  const falls = places.rows[0] > places.rows.at(-1); // larger scores are surer, and answered
  const answered = element("div", { class: "answered" }); // as on the scale of doubt of an inspection
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
  const parts = element("div", { class: "histogram" },
    element("div", { class: "key" }, element("span", { class: "plain" }, words.scale), ...(splits ? ["believed", "served"] : ["right"]).map((name) => element("span", { class: name }, words[name])),
      element("span", { class: "wrong" }, words.wrong), element("span", { class: "pale" }, words.pale)),
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
    const most = (root) => [1, 2, 5].flatMap((digit) => [...Array(7).keys()].map((power) => digit * 10 ** power))
      .filter((number) => Math.sqrt(number) <= root);
    const marks = element("div", { class: "up", "aria-hidden": "true" });
    const places = [];
    for (const [root, sign] of [[0, 1], [up, -1], [up / 2, -1], [down, 1]]) {
      const number = root && Math.max(...most(root));
      const place = (100 * (up + sign * Math.sqrt(number))) / (up + down);
      if (places.some((other) => Math.abs(other - place) < 11)) continue;
      places.push(place);
      const mark = element("span", {}, number.toLocaleString("en"));
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
