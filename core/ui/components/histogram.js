// The scores of right and wrong answers, with λ to drag over them and a range to select.

function draw(root, { bins, low, high, lines, cuts, selected, words }, send, keep) {
  const up = Math.sqrt(Math.max(1, ...bins.map((bin) => bin.right)));
  const down = Math.sqrt(Math.max(1, ...bins.map((bin) => bin.wrong)));
  const span = high / 2 - low / 2; // the difference itself can be too large for a number
  const at = (value) => `${(100 * (value / 2 - low / 2)) / span}%`;
  const plot = element("div", { class: "plot", role: "img", "aria-label": words.alt });
  plot.style.setProperty("--zero", `${(100 * up) / (up + down)}%`);
  for (const { start, end, right, wrong } of bins) {
    for (const [kind, number] of [["right", right], ["wrong", wrong]]) {
      const bar = element("div", { class: `bar ${kind}` });
      bar.title = `${short(start)} – ${short(end)}: ${number.toLocaleString("en")} ${kind}`;
      bar.style.left = at(start);
      bar.style.width = `calc(${(100 * (end / 2 - start / 2)) / span}% - 1px)`;
      // Roots: a pile of zeros must not hide the rest.
      bar.style.height = `${(100 * Math.sqrt(number)) / (up + down)}%`;
      plot.append(bar);
    }
  }
  const band = element("div", { class: "band" });
  plot.append(band);
  for (const { value, text, movable } of lines) {
    const label = element("span", {}, text);
    const line = element("div", { class: movable && cuts ? "line movable" : "line" }, label);
    place(line, value);
    if (movable && cuts) line.addEventListener("pointerdown", (event) => drag(event, line, label));
    plot.append(line);
  }
  const axis = element("div", { class: "axis", "aria-hidden": "true" });
  for (const value of ticks()) {
    const tick = element("span", {}, short(value));
    tick.style.left = at(value);
    axis.append(tick);
  }
  const live = element("p", { class: "live", role: "status" }, words.rest);
  root.append(
    element("div", { class: "key" }, element("span", { class: "right" }, words.right),
      element("span", { class: "wrong" }, words.wrong)),
    plot, axis, element("div", { class: "title" }, words.title), live,
  );
  cover(selected);

  function place(line, value) {
    line.style.left = at(value);
    line.classList.toggle("late", value / 2 - low / 2 > 0.6 * span);
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

  function drag(event, line, label) {
    event.stopPropagation();
    event.preventDefault();
    const last = cuts.answered.length - 1;
    let value;
    follow(line, event, (moved) => {
      const step = Math.round((last * (under(moved) / 2 - low / 2)) / span);
      value = low + (2 * span * step) / last;
      // Near its own place it falls back into it.
      const isBack = Math.abs(value / 2 - cuts.start / 2) < span / 100;
      if (isBack) value = cuts.start;
      place(line, value);
      label.textContent = `λ = ${short(value)}`;
      live.textContent = isBack
        ? words.rest
        : words.live.replace("{}", cuts.answered[step]).replace("{}", cuts.wrong[step]);
    }, () => value !== undefined && send("moved", value));
  }

  function cover(range) {
    band.hidden = !range;
    if (!range) return;
    band.style.left = at(range[0]);
    band.style.width = `${(100 * (range[1] / 2 - range[0] / 2)) / span}%`;
  }

  plot.addEventListener("pointerdown", (event) => {
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
  });

  function ticks() {
    if (!Number.isFinite(2 * span)) return [low, high];
    const rough = (2 * span) / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
    const first = Math.ceil(low / step);
    const found = [];
    for (let i = first; i * step <= high && found.length < 10; i++) found.push(i * step);
    return found;
  }

  function short(value) {
    if (value && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)) return value.toPrecision(3);
    return String(Number(value.toFixed(3))).replace("-", "−");
  }
}
