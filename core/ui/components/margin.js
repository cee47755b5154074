// The rows on both sides of a threshold: the last ones answered, and the first ones withheld.

/** Return the table; `show(at)` fills it with the rows beside a place. `open` is told of a row. */
function margin({ rows, places, words }, open) {
  const kinds = { all: rows.map((_, i) => i) };
  for (const kind of ["right", "wrong"]) kinds[kind] = kinds.all.filter((i) => rows[i].kind === kind);
  const choice = element("select", { "aria-label": words.which });
  for (const kind of Object.keys(kinds)) choice.append(element("option", { value: kind }, words[`rows_${kind}`]));
  const body = element("tbody");
  const drawn = Array.from({ length: 2 * words.beside }, (_, i) => row(i));
  const border = element("td", { colspan: words.headings.length });
  const lines = drawn.map(({ line }) => line);
  lines.splice(words.beside, 0, element("tr", { class: "border" }, border));
  body.append(...lines);
  const heads = words.headings.map((text) => element("th", { scope: "col" }, text));
  const parts = element("div", { class: "margin" },
    element("div", { class: "key" }, element("strong", {}, words.rows), choice),
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body));
  let here = 0;
  choice.addEventListener("change", () => show(here));

  function row(i) {
    const cells = words.headings.map(() => element("td"));
    const ask = element("button", { type: "button", class: "open", title: words.open });
    const entry = { line: element("tr", { class: i < words.beside ? "served" : "withheld" }, ...cells), cells, ask };
    ask.addEventListener("click", () => open(entry.place));
    return entry;
  }

  function show(at) {
    here = at;
    const among = kinds[choice.value];
    const first = count(among, places.rows[at]) - words.beside;
    border.textContent = words.border.replace("{}", places.texts[at]);
    drawn.forEach(({ line, cells, ask }, i) => {
      const content = rows[among[first + i]];
      line.hidden = !content;
      if (!content) return;
      drawn[i].place = content.place;
      ask.textContent = content.cells[0];
      if (content.asks) cells[0].replaceChildren(ask);
      else cells[0].textContent = content.cells[0];
      content.cells.slice(1).forEach((text, j) => { cells[j + 1].textContent = text; });
      line.dataset.kind = content.kind;
    });
  }

  return { parts, show };
}

/** Return how many numbers of a rising list are below a limit. */
function count(numbers, limit) {
  let from = 0, to = numbers.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (numbers[middle] < limit) from = middle + 1;
    else to = middle;
  }
  return from;
}
