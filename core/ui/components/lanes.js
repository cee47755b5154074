// The lanes of the home page. All numbers come with the page, so a step of the control draws anew
// without asking the server.

const ONCE = 1; // the step at which every lane is contradicted once
const LIMIT = 60; // percent of a track at which its limit stands
const LOOK = 1500; // milliseconds to look before the control moves by itself

function draw(root, { lanes, times, words }, send) {
  const range = element("input", {
    type: "range", min: 0, max: times.length - 1, step: 1, id: "times",
  });
  range.value = root.dataset.step ?? (calm() ? ONCE : 0);
  const count = element("output", { for: "times" });
  root.append(
    element("div", { class: "control" }, element("label", { for: "times" }, words.control), range, count),
  );
  const list = element("ol", { class: "lanes" });
  const drawn = lanes.map((lane, at) => {
    const open = element("button", { type: "button", class: "open", title: words.open }, lane.question);
    open.addEventListener("click", () => send("opened", at));
    const putIn = element("div", { class: "put-in" });
    const { shown, show } = answers(lane, words);
    const stamp = element("div", { class: `stamp ${lane.stamp.style}`, title: lane.stamp.when }, lane.stamp.label);
    const dot = element("span", {});
    dot.style.left = `${Math.min(100, LIMIT * lane.of_limit)}%`;
    const doubt = element("div", { class: "measured beside-limit", role: "img", title: lane.doubt, "aria-label": lane.doubt }, dot);
    doubt.style.setProperty("--limit", `${LIMIT}%`);
    doubt.style.setProperty("--believed", `${LIMIT * lane.believed}%`);
    const why = element("div", { class: "why" }, lane.why);
    const item = element("li", { class: "lane" },
      element("div", {}, open, putIn), shown, element("div", { class: "judged" }, stamp, ...(lane.doubt ? [doubt] : []), why));
    list.append(item);
    return { lane, item, putIn, show };
  });
  const [asked, own, told, verdict] = words.columns.map((name) => element("span", {}, name));
  root.append(element("div", { class: "head", "aria-hidden": true }, asked, element("div", {}, own, told), verdict), list);

  function step(animated) {
    const at = Number(range.value);
    root.dataset.step = at;
    count.value = `${times[at]} ×`;
    range.setAttribute("aria-valuetext", words.valuetext.replace("{}", times[at]));
    for (const { lane, item, putIn, show } of drawn) {
      show(at);
      item.classList.toggle("stamped", at > 0);
      type(putIn, at ? lane.prompt : "", animated);
    }
  }
  range.addEventListener("input", () => {
    root.dataset.moved = "by hand";
    step(true);
  });
  step(false);
  if (Number(range.value) || root.dataset.moved) return;
  setTimeout(() => {
    if (root.dataset.moved || !range.isConnected) return;
    root.dataset.moved = "by itself";
    range.value = ONCE;
    step(true);
  }, LOOK);
}
