// Rows of bars: what the model says after each answer that it was told.

const LEAST_NAMED = 0.12; // the share of a bar in which a name can be read
const LEAST_LISTED = 0.01; // below a bar

const restOf = ({ says }) => Math.max(0, 1 - says.reduce((sum, share) => sum + share, 0));

function draw(root, { answers, rows, words }) {
  const list = element("ol", { class: rows.some(({ at }) => at !== null) ? "rows ended" : "rows" });
  const before = rows.find(({ told }) => told === null)?.in_words ?? [];
  const bars = [];
  for (const { told, at, says, in_words } of rows) {
    const rest = restOf({ says });
    const ownAnswer = at === 0; // the likeliest, whether it is told or not
    const label = told === null ? words.nothing : words.told.replace("{}", () => told);
    const bar = element("div", { class: "bar", role: "img" });
    const spoken = [];
    says.forEach((share, i) => {
      if (share >= 0.0005) bar.append(part(answers[i], share, in_words[i], i, i === at && !ownAnswer));
      if (share >= 0.005) spoken.push(`${answers[i]} ${in_words[i]}`);
    });
    if (rest >= 0.0005) bar.append(part(words.else, rest, in_words.at(-1), -1, false));
    if (rest >= 0.005) spoken.push(`${words.else} ${in_words.at(-1)}`);
    const below = element("div", { class: "below", "aria-hidden": true });
    bars.push({ bar, below });
    bar.setAttribute("aria-label", `${label}, ${words.says}: ${spoken.join(", ")}.`);
    // At the end, how likely it says what it was told: before, and then.
    const end = told === null ? [words.share] : at === null ? [] : [`${before[at]} → `, element("b", {}, in_words[at])];
    list.append(
      element("li", { class: told === null ? "row nothing" : ownAnswer ? "row itself" : "row" },
        element("div", { class: "name" }, label), bar, element("div", { class: "end", "aria-hidden": true }, ...end), below),
    );
  }
  root.append(list);
  // On a telephone, what a bar has no room to name stands below it.
  const top = (each) => each.getBoundingClientRect().top;
  const isNamed = (part) => part.firstElementChild !== null && top(part.firstElementChild) <= top(part);
  const listUnnamed = () => bars.forEach(({ bar, below }) => {
    const parts = [...bar.children].filter((each) =>
      each.rank >= 0 && each.share >= LEAST_LISTED && !isNamed(each) && !each.classList.contains("told")); // that stands above
    below.replaceChildren(...parts.map((each) => element("span", {}, each.title)));
  });
  new ResizeObserver(listUnnamed).observe(list);
  // What some row has no room to name: by its place, for tints of narrow parts look alike.
  const isUnnamed = (share) => share >= 0.0005 && share < LEAST_NAMED;
  const keys = [];
  const order = answers.filter((_, i) => rows.some(({ says }) => says[i] >= 0.0005));
  if (rows.some(({ says }) => says.some(isUnnamed))) {
    keys.push(element("span", { class: "order" }, `${words.order} ${order.join(" · ")}`));
  }
  if (rows.some((row) => isUnnamed(restOf(row)))) keys.push(key(words.else, "else"));
  if (rows.some(({ at }) => at === 0)) keys.push(key(words.itself, "itself"));
  if (rows.some(({ at, says }) => at > 0 && says[at] >= 0.0005)) keys.push(key(words.again, "again"));
  if (keys.length) root.append(element("p", { class: "legend", "aria-hidden": true }, ...keys));
}

const key = (name, kind) => element("span", {}, element("i", { class: kind }), name);

function part(name, share, inWords, rank, isTold) {
  const shade = shadeOf(rank);
  const kind = isTold ? "told" : rank < 0 ? "else" : shade === 100 ? "own dark" : "own";
  const label = element("span", {}, element("span", {}, name), ` ${inWords}`);
  const named = share >= LEAST_NAMED ? [label] : [];
  const made = element("div", { class: `part ${kind}`, title: `${name} ${inWords}` }, ...named);
  Object.assign(made, { share, rank });
  made.style.width = `${100 * share}%`;
  made.style.setProperty("--shade", `${shade}%`);
  return made;
}
