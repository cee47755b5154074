// Three matrices with one chosen cell, and what stands behind that cell.

const NUMBERED = 7; // answers, for which numbers fit into the cells
const LABELLED = 24; // answers, for which rows and columns can be named
const LONGEST = 60; // letters above a column, on three lines
const CELL = 44, BESIDE = 36, SINGLE = 600; // pixels; for a mouse, all three may stand beside
const LABEL = 9.5, SHORT_LABEL = 6, NARROW = 30; // letters
const SUM = 2.8, GAP = 1.5; // letters, as in the style sheet

const minus = (text) => text.replace("-", "−");
const signed = (value, digits) => minus((value >= 0 ? "+" : "") + value.toFixed(digits));

function draw(root, { names, shares, shares_in_words, matrices, reach, prompts, texts, likelihoods, likelihoods_are, words, small, scale: ends }) {
  const m = names.length;
  const maps = element("div", { class: "maps" });
  const choice = element("div", { class: "choice", role: "radiogroup", "aria-label": words.which });
  const detail = element("div", { class: "detail", "aria-live": "polite" });
  const cells = []; // by row and column, the same place in all matrices
  const labelled = m <= LABELLED;
  const numbered = !small || m <= NUMBERED;
  const summed = m <= NUMBERED;

  for (const [at, { key, title, cells: values }] of matrices.entries()) {
    const pick = element("input", { type: "radio", name: `which_${small}`, value: key });
    pick.checked = at === 0;
    pick.addEventListener("change", () => { maps.dataset.shown = key; });
    choice.append(element("label", {}, pick, ` ${words[key]}`));
    const heading = element("div", { class: "line title" }, element("div", { class: "before" }, words.clusters), element("div", {}, title));
    maps.append(element("section", { class: "map", "data-key": key }, heading, grid(key, title, values), ...scale(key)));
  }
  maps.dataset.shown = matrices[0].key;
  root.classList.toggle("small", small);
  root.classList.toggle("bare", !labelled);
  root.style.setProperty("--m", m);
  fit(root.clientWidth); // before it is shown: cells of no size fill the page
  root.append(choice, maps, detail);
  cells[0][0].joint.tabIndex = cells[0][0].product.tabIndex = cells[0][0].contribution.tabIndex = 0;
  new ResizeObserver(([{ contentRect }]) => fit(contentRect.width)).observe(root);

  // Cells as large as three matrices beside each other allow; else one is shown.
  function fit(width) {
    const letters = parseFloat(getComputedStyle(root).fontSize);
    const label = (width < NARROW * letters ? SHORT_LABEL : LABEL) * letters;
    const sum = summed ? SUM * letters : 0;
    const beside = (width - label - 3 * sum - 2 * GAP * letters) / (3 * m);
    const crowded = summed && beside < BESIDE && (width - label - sum) / m < CELL; // on a telephone
    const alone = (width - label - (crowded ? 0 : sum)) / m;
    root.classList.toggle("summed", summed && !crowded);
    root.classList.toggle("crowded", crowded);
    root.classList.toggle("beside", beside >= BESIDE);
    root.classList.toggle("single", small ? width < SINGLE : beside < BESIDE);
    root.style.setProperty("--label", `${label}px`);
    root.style.setProperty("--cell", `${Math.floor(beside >= BESIDE ? Math.min(beside, CELL) : CELL)}px`);
  }

  function grid(key, title, values) {
    const made = element("div", { class: "grid", role: "grid", "aria-label": title });
    const total = (parts) => element("div", { class: "total", role: "gridcell" }, short(parts.reduce((sum, value) => sum + value, 0), key));
    if (labelled) {
      const head = element("div", { class: "line", role: "row" },
        element("div", { class: "before corner", role: "columnheader" }, `${words.pair} ↓`));
      for (const name of [...names, ...(summed ? [words.sum] : [])]) {
        const whole = name.length <= LONGEST ? name : `${name.slice(0, LONGEST)}…`;
        head.append(element("div", { class: "over", role: "columnheader", title: name }, element("span", {}, whole)));
      }
      made.append(head);
    }
    values.forEach((row, i) => {
      const line = element("div", { class: "line", role: "row" });
      if (labelled) line.append(cluster(i));
      row.forEach((value, j) => {
        const cell = element("div", { class: "cell", role: "gridcell", tabindex: -1 });
        paint(cell, key, value);
        const said = key === "contribution" ? `${signed(value, 4)} ${words.nats}` : value.toFixed(4);
        cell.setAttribute("aria-label", `${words.told} ${names[i]}, ${words.then} ${names[j]}: ${said}`);
        if (numbered) cell.textContent = short(value, key);
        cell.addEventListener("click", () => choose(i, j));
        cell.addEventListener("pointerenter", () => mark(i, j, "near", true));
        cell.addEventListener("pointerleave", () => mark(i, j, "near", false));
        cell.addEventListener("keydown", (event) => move(event, key, i, j));
        ((cells[i] ??= [])[j] ??= {})[key] = cell;
        line.append(cell);
      });
      if (summed) line.append(total(row));
      made.append(line);
    });
    if (summed) {
      const foot = element("div", { class: "line", role: "row" }, element("div", { class: "before corner", role: "rowheader" }, words.sum));
      for (let j = 0; j < m; j++) foot.append(total(values.map((row) => row[j])));
      foot.append(total(values.flat()));
      made.append(foot);
    }
    return made;
  }

  // A row's name is its cluster, with a bar as long as its share.
  function cluster(i) {
    const bar = element("div", { class: "bar" });
    bar.style.width = `${100 * shares[i]}%`;
    return element("div", { class: "before", role: "rowheader", title: names[i] },
      element("div", { class: "name" }, names[i]),
      element("div", { class: "share" }, element("div", { class: "track" }, bar), shares_in_words[i]));
  }

  // One scale where every cell has its number.
  function scale(key) {
    if (numbered && key !== "joint") return [];
    const isSigned = key === "contribution";
    const [start, end] = isSigned ? [signed(-reach[key], 3), signed(reach[key], 3)] : ["0", short(reach[key], key)];
    return [element("div", { class: `scale ${key}` }, start, element("div", { class: "colours" }), end,
      element("span", {}, isSigned ? ends : words.shared))];
  }

  function short(value, key) {
    if (key !== "contribution") return value >= 0.005 ? `${Math.round(100 * value)}%` : "< 1%";
    return Math.abs(value) < 0.0005 ? "0" : signed(value, 3).replace("0.", ".");
  }

  function paint(cell, key, value) {
    const part = Math.min(Math.abs(value) / reach[key], 1);
    const share = key === "contribution" ? Math.sqrt(part) : part; // as on the scale of doubt: small ones are seen
    const ink = key !== "contribution" ? "var(--own)" : value > 0 ? "var(--ink)" : "var(--takes)";
    cell.style.setProperty("--ground", `color-mix(in srgb, ${ink} ${Math.round(100 * share)}%, var(--st-secondary-background-color))`);
  }

  function mark(i, j, name, on) {
    for (const cell of Object.values(cells[i][j])) cell.classList.toggle(name, on);
  }

  function move(event, key, i, j) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const row = Math.min(Math.max(i + step[0], 0), m - 1);
    const column = Math.min(Math.max(j + step[1], 0), m - 1);
    choose(row, column);
    cells[row][column][key].focus();
  }

  let chosen = null;
  function choose(i, j) {
    if (chosen) {
      mark(...chosen, "chosen", false);
    }
    const [before, beforehand] = chosen ?? [0, 0];
    for (const cell of Object.values(cells[before][beforehand])) cell.tabIndex = -1;
    chosen = [i, j];
    mark(i, j, "chosen", true);
    for (const cell of Object.values(cells[i][j])) cell.tabIndex = 0;
    const [joint, product, contribution] = matrices.map(({ cells: values }) => values[i][j]);
    const number = (name, value, note) =>
      element("div", { class: "number" }, element("span", {}, name), element("b", {}, value), ...(note ? [element("small", {}, note)] : []));
    const list = element("table", {}, element("caption", {}, words.texts),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, words.then), element("th", { scope: "col" }, likelihoods_are))));
    const body = element("tbody");
    texts[j].forEach((text, at) => {
      const value = likelihoods[i][j][at];
      body.append(element("tr", {}, element("td", {}, text), element("td", {}, value === null ? "−∞" : minus(value.toFixed(4)))));
    });
    list.append(body);
    const pair = element("div", { class: "pair" }, `${words.pair} `, element("b", { class: "told" }, names[i]), `, ${words.then} `, element("b", { class: "own" }, names[j]));
    detail.replaceChildren(
      element("div", {}, pair,
        element("div", { class: "numbers" }, number(words.joint, joint.toFixed(4)), number(words.product, product.toFixed(4)),
          number(words.contribution, `${signed(contribution, 4)} ${words.nats}`, words.formula))),
      element("div", {}, element("div", { class: "label" }, words.prompt), element("pre", { tabindex: 0 }, prompts[i])),
      list,
    );
  }
}
