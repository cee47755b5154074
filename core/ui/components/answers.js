// A question's own answers against what it is told, as one bar; and the sentence that is put in.

const LEAST_LISTED = 0.005; // a share that is said of a further answer
const LEAST_NAMED = 0.02; // and that is named below a bar, where the bar has no room
const TYPING = 12; // milliseconds a character

/** Make the bar of a lane; `show(at)` draws one of its steps, and returns what the bar says. */
function answers(lane, words) {
  const own = element("span", { class: "own" });
  const told = element("span", { class: "told" });
  const part = (rank) => {
    const made = element("span", { class: "part own" }, element("span", { class: "label" }));
    made.style.setProperty("--shade", `${shadeOf(rank)}%`);
    return made;
  };
  // By their shares before, as in an inspection: what it is told has its place among the others.
  const { told: toldBefore, others: othersBefore } = lane.steps[0];
  const rank = othersBefore.filter((share) => share > toldBefore).length + 1;
  const ownBar = part(0);
  const otherBars = lane.others.map((_, i) => part(i + (i + 1 < rank ? 1 : 2)));
  const toldBar = part(rank);
  const restBar = element("span", { class: "part rest" }, element("span", { class: "label" }));
  const bars = [ownBar, ...otherBars, restBar];
  bars.splice(rank, 0, toldBar);
  const bar = element("div", { class: "bar", role: "img" }, ...bars);
  const below = element("div", { class: "below", "aria-hidden": true });
  const was = element("div", { class: "was", title: words.before, "aria-hidden": true });
  const shown = element("div", { class: `answers ${lane.stamp.style === "believe" ? "believed" : ""}` }, element("div", { class: "ends" }, own, told), bar, was, below);
  const hasNames = lane.others.some((name) => name !== lane.own); // of what is made up, none has one

  const resize = (each, share, name, label = name) => {
    each.share = share;
    each.style.width = `${100 * share}%`;
    each.title = `${name} ${percent(share)}`;
    each.firstElementChild.textContent = label;
  };

  function show(at) {
    const share = lane.steps[at];
    const sum = share.others.reduce((a, b) => a + b, share.own + share.told);
    const rest = Math.max(0, 1 - sum);
    resize(ownBar, share.own, lane.own, "");
    otherBars.forEach((each, i) => resize(each, share.others[i], lane.others[i]));
    resize(restBar, rest, words.other);
    resize(toldBar, share.told, lane.told);
    toldBar.className = at ? "part told" : "part own"; // before, it is one of the model's own
    shown.classList.toggle("untold", !at);
    const moved = (name, shares) => {
      const [before, now] = shares.map(percent);
      const from = before === now ? [] : [element("span", { class: "before" }, `${before} → `)];
      return [`${name} `, ...from, now];
    };
    own.replaceChildren(...moved(lane.own, [lane.steps[0].own, share.own]));
    told.replaceChildren(...(at ? moved(lane.told, [lane.steps[0].told, share.told]) : []));
    below.replaceChildren(...otherBars.filter((each) => hasNames && each.share >= LEAST_NAMED)
      .map((each) => element("span", {}, each.title)));
    const isListed = (each) => each === ownBar || each === toldBar || each.share >= LEAST_LISTED;
    const said = `${bars.filter(isListed).map(({ title }) => title).join(", ")}.`;
    bar.setAttribute("aria-label", `${lane.question} ${said}`);
    return said;
  }
  show(0);
  was.append(...bars.map((each) => each.cloneNode(true)));
  for (const each of was.children) each.removeAttribute("title"); // it has one of its own
  return { shown, show };
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

function percent(share) {
  // Nothing that a language model says has a probability of 0 or 1.
  if (share < 0.001) return "< 0.1%";
  if (share > 0.999) return "> 99.9%";
  return `${(100 * share).toFixed(share < 0.1 || share > 0.99 ? 1 : 0)}%`;
}
