// The lanes and the challenge of the home page. All numbers come with the page, so a step of a
// control draws anew without asking the server. Every text is set as text, never as HTML.

const TYPING = 12; // milliseconds a character

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const shown = JSON.stringify(data);
  if (root.shown === shown) return; // the page ran again, and nothing here has changed
  root.shown = shown;
  root.replaceChildren();
  const send = (name, value) => setTriggerValue(name, value);
  if (data.lanes) drawLanes(root, data, send);
  else drawChallenge(root, data);
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function percent(share) {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  if (share > 0.999 && share < 1) return "> 99.9 %";
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}

// ------------------------------------------------------------------------------- the lanes

function drawLanes(root, { lanes, times, words }, send) {
  const range = element("input", {
    type: "range", min: 0, max: times.length - 1, step: 1, id: "times",
  });
  range.value = root.dataset.step ?? 0;
  const count = element("output", { for: "times" });
  root.append(
    element("div", { class: "control" }, element("label", { for: "times" }, words.control), range, count),
  );
  const list = element("ol", { class: "lanes" });
  const drawn = lanes.map((lane, at) => {
    const open = element("button", { type: "button", class: "open", title: words.open }, lane.question);
    open.addEventListener("click", () => send("opened", at));
    const putIn = element("div", { class: "put-in" });
    const own = element("span", { class: "own" });
    const told = element("span", { class: "told" });
    const ownBar = element("span", { class: "own" });
    const toldBar = element("span", { class: "told" });
    const bar = element("div", { class: "bar", role: "img" }, ownBar, element("span", { class: "other" }), toldBar);
    const stamp = element("div", { class: `stamp ${lane.stamp}` }, words[lane.stamp]);
    const item = element("li", { class: "lane" },
      element("div", {}, open, putIn),
      element("div", { class: "answers" }, element("div", { class: "ends" }, own, told), bar),
      stamp,
    );
    list.append(item);
    return { lane, item, putIn, own, told, ownBar, toldBar, bar };
  });
  root.append(list);

  function step(animated) {
    const at = Number(range.value);
    root.dataset.step = at;
    count.value = `${times[at]} ×`;
    range.setAttribute("aria-valuetext", words.valuetext.replace("{}", times[at]));
    for (const part of drawn) {
      const { lane } = part;
      const { own, told } = lane.steps[at];
      const other = Math.max(0, 1 - own - told);
      part.own.textContent = `${lane.own} ${percent(own)}`;
      part.told.textContent = at ? `${lane.told} ${percent(told)}` : "";
      part.ownBar.style.width = `${100 * own}%`;
      part.toldBar.style.width = at ? `${100 * told}%` : "0";
      part.bar.setAttribute("aria-label",
        `${lane.question} ${lane.own} ${percent(own)}, ${lane.told} ${percent(told)}, ` +
        `${words.other} ${percent(other)}.`);
      part.item.classList.toggle("falls", animated);
      part.item.classList.toggle("stamped", at > 0);
      type(part.putIn, at ? words.told.replace("{}", lane.told) : "", animated);
    }
  }
  range.addEventListener("input", () => step(true));
  step(false);
}

/** Type a sentence out, from where it stands if it stands there already. */
function type(place, sentence, animated) {
  cancelAnimationFrame(place.typing);
  if (place.sentence === sentence) {
    place.textContent = sentence;
    return;
  }
  place.sentence = sentence;
  if (!animated || calm()) {
    place.textContent = sentence;
    return;
  }
  const began = performance.now();
  const go = (now) => {
    const length = Math.ceil((now - began) / TYPING);
    place.textContent = sentence.slice(0, length);
    if (length < sentence.length) place.typing = requestAnimationFrame(go);
  };
  place.typing = requestAnimationFrame(go);
}

// --------------------------------------------------------------------------- the challenge

function drawChallenge(root, { cases, measures, widest, words }) {
  let measure = root.dataset.measure ?? measures[0].key;
  const fieldset = element("fieldset", { class: "measures" }, element("legend", {}, words.measure));
  for (const { key, title } of measures) {
    const input = element("input", { type: "radio", name: "measure", value: key });
    input.checked = key === measure;
    input.addEventListener("change", () => {
      measure = root.dataset.measure = key;
      step();
    });
    fieldset.append(element("label", {}, input, ` ${title}`));
  }
  const plot = element("div", { class: "plot" });
  const drawn = cases.map((one) => {
    const limit = element("div", { class: "limit" });
    const dot = element("div", { class: one.right ? "dot" : "dot wrong" });
    const track = element("div", { class: "track" }, limit, dot);
    const decision = element("div", { class: "decision" });
    plot.append(element("div", { class: "name" }, one.name), track, decision);
    track.addEventListener("pointerdown", (event) => {
      track.setPointerCapture(event.pointerId);
      drag(track, event);
    });
    track.addEventListener("pointermove", (event) => {
      if (track.hasPointerCapture(event.pointerId)) drag(track, event);
    });
    return { one, limit, dot, decision };
  });
  const range = element("input", {
    type: "range", min: 0, max: widest, step: "any", "aria-label": words.threshold,
  });
  range.step = widest / 200;
  range.value = root.dataset.threshold ?? widest / 2;
  const score = element("p", { class: "score", role: "status" });
  plot.append(element("label", { class: "name" }, words.threshold), range);
  root.append(fieldset, plot, score);

  function drag(track, event) {
    const { left, width } = track.getBoundingClientRect();
    range.value = (widest * (event.clientX - left)) / width;
    step();
  }

  function step() {
    const threshold = Number(range.value);
    root.dataset.threshold = threshold;
    range.setAttribute("aria-valuetext", `${threshold.toFixed(2)} ${words.unit}`);
    let good = 0;
    for (const { one, limit, dot, decision } of drawn) {
      const doubt = one.doubts[measure];
      const answers = doubt < threshold;
      const well = answers === one.right;
      good += well;
      limit.style.left = `${(100 * threshold) / widest}%`;
      dot.style.left = `${(100 * doubt) / widest}%`;
      const said = answers ? words.answers : words.withholds;
      decision.textContent = `${said} ${one.right ? words.right : words.wrong}${well ? "" : words.bad}`;
      decision.classList.toggle("bad", !well);
    }
    score.textContent = good === cases.length ? words.won : words.score.replace("{}", good);
  }
  range.addEventListener("input", step);
  step();
}
