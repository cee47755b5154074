// Saved results, the latest of each question; the older ones of the same are folded beneath it.

function draw(root, { groups, words, now }, send, setState) {
  const boxes = new Map();
  const tick = () => setState("ticked", [...boxes].filter(([, box]) => box.checked).map(([id]) => id));

  function row(result, older) {
    const box = element("input", { type: "checkbox", "aria-label": `${words.tick} ${result.title}` });
    box.addEventListener("change", tick);
    boxes.set(result.id, box);
    const open = element("button", { type: "button", class: "title", title: result.title, "aria-label": `${words.open} ${result.title}` }, result.title);
    open.addEventListener("click", () => send("opened", result.id));
    const meta = element("div", { class: "meta" },
      element("span", { class: "icon", "aria-hidden": true, translate: "no" }, result.icon), result.about);
    if (older) meta.append(" · ", fold(older, result.times));
    return element("div", { class: "result" }, box,
      element("div", {}, open, meta),
      element("div", { class: "came", title: result.came }, result.came),
      element("div", { class: "verdict" }, ...(result.stamp ? [element("span", { class: `stamp ${result.stamp.look}` }, result.stamp.label)] : []),
        element("div", { class: "policy" }, result.policy)),
      element("div", { class: "doubt" }, ...(result.part === null ? [] : [scale(result.part)]), result.doubt,
        ...(result.why ? [element("div", {}, result.why)] : [])));
  }

  const scale = (part) => {
    const bar = element("span", { class: part < 0.5 ? "" : "above" });
    bar.style.width = `${100 * part}%`;
    return element("div", { class: "track" }, bar);
  };

  const fold = (older, times) => {
    const count = element("button", { type: "button", class: "count", "aria-expanded": false }, times);
    count.addEventListener("click", () => {
      older.hidden = !older.hidden;
      count.setAttribute("aria-expanded", !older.hidden);
    });
    return count;
  };

  const list = element("ol", { class: "list" });
  for (const [latest, ...before] of groups) {
    const older = before.length ? element("ol", { class: "older" }) : null;
    const item = element("li", {}, row(latest, older));
    if (older) {
      older.hidden = true;
      older.append(...before.map((each) => element("li", {}, row(each, null))));
      item.append(older);
    }
    list.append(item);
  }
  root.append(element("div", { class: "head", "aria-hidden": true },
    ...["", ...words.columns].map((name) => element("span", {}, name))), list);
  root.follow = (ticked) => boxes.forEach((box, id) => { box.checked = ticked.includes(id); });
  root.follow(now);
}
