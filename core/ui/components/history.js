// Saved results, the latest of each question; the older ones of the same are folded beneath it.

function draw(root, { groups, words, now }, send, setState) {
  const boxes = new Map();
  // Of who looks at it, as their clock has it.
  const clock = (at) => at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const date = (at) => at.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
  const day = (at) => {
    const now = new Date();
    if (date(at) === date(now)) return words.today;
    return date(at) === date(new Date(now - 864e5)) ? words.yesterday : date(at);
  };
  const tick = () => setState("ticked", [...boxes].filter(([, box]) => box.checked).map(([id]) => id));

  function row(result, older) {
    const box = element("input", { type: "checkbox", title: words.ticked, "aria-label": `${words.tick} ${result.title}` });
    box.addEventListener("change", tick);
    boxes.set(result.id, box);
    const open = element("button", { type: "button", class: "title", title: result.title, "aria-label": `${words.open} ${result.title}` }, result.title);
    open.addEventListener("click", () => send("opened", result.id));
    const at = new Date(result.at);
    const about = [result.model_in_short, clock(at)];
    if (older === undefined) about.splice(1, 0, day(at)); // beneath another of any day
    const icon = element("span", { class: "icon", role: "img", "aria-label": result.kind, translate: "no" }, result.icon);
    const meta = element("div", { class: "meta", title: result.model }, ...(result.stamp ? [icon] : []), about.join(" · "));
    if (older) meta.append(" · ", fold(older, result.times));
    return element("div", { class: "result" }, box,
      element("div", { class: "verdict" }, ...(result.stamp ? [element("span", { class: `stamp ${result.stamp.style}`, title: result.stamp.when }, result.stamp.label)] : [icon, result.kind]),
        ...(result.why ? [element("div", { class: "why" }, result.why)] : [])),
      element("div", { class: "asked" }, open, meta),
      element("div", { class: `came of-${result.stamp?.style}`, title: result.came }, result.came, ...(result.truth ? ["\u2002", element("span", { class: `truth ${result.truth}` }, result.truth)] : [])),
      element("div", { class: "doubt", title: result.numbers }, ...(result.part === null ? [] : [scale(result)]), element("span", {}, result.doubt),
        ...(result.policy ? [element("div", { class: "policy" }, result.policy)] : [])));
  }

  const scale = ({ part, limit, believed }) => {
    const dot = element("span", {});
    const track = element("div", { class: "beside-limit" }, dot);
    dot.style.left = `${100 * part}%`;
    track.style.setProperty("--limit", `${100 * limit}%`);
    track.style.setProperty("--believed", `${100 * believed}%`);
    return track;
  };

  const fold = (older, times) => {
    const count = element("button", { type: "button", class: "count", "aria-expanded": false }, times);
    count.addEventListener("click", () => {
      older.hidden = !older.hidden;
      count.setAttribute("aria-expanded", !older.hidden);
    });
    return count;
  };

  root.append(element("div", { class: "head", "aria-hidden": true },
    ...["", ...words.columns].map((name) => element("span", {}, name))));
  let list, last;
  for (const [latest, ...before] of groups) {
    const name = day(new Date(latest.at));
    if (name !== last) {
      last = name;
      root.append(element("h2", {}, name), list = element("ol", { class: "list" }));
    }
    const older = before.length ? element("ol", { class: "older" }) : null;
    const item = element("li", {}, row(latest, older));
    if (older) {
      older.hidden = true;
      older.append(...before.map((each) => element("li", {}, row(each))));
      item.append(older);
    }
    list.append(item);
  }
  root.follow = (ticked) => boxes.forEach((box, id) => { box.checked = ticked.includes(id); });
  root.follow(now);
}
