// A question's own answer against what it is told, as one bar; and the sentence that is put in.

const NAMED = 0.2; // of a bar: what is smaller has no room for a name
const TYPING = 12; // milliseconds a character

/** Make the bar of a lane; `show(at)` draws one of its steps, and returns what the bar says. */
function answers(lane, words) {
  const own = element("span", { class: "own" });
  const told = element("span", { class: "told" });
  const ownBar = element("span", { class: "own" });
  const toldBar = element("span", { class: "told" });
  const otherBar = element("span", { class: "other" });
  const bar = element("div", { class: "bar", role: "img" },
    ownBar, otherBar, toldBar);
  const shown = element("div", { class: "answers" }, element("div", { class: "ends" }, own, told), bar);

  function show(at) {
    const share = lane.steps[at];
    const other = Math.max(0, 1 - share.own - share.told);
    const grey = at ? other : 1 - share.own; // before it is told, what it will be told is one of all
    own.textContent = `${lane.own} ${percent(share.own)}`;
    told.textContent = at ? `${lane.told} ${percent(share.told)}` : "";
    ownBar.style.width = `${100 * share.own}%`;
    toldBar.style.width = at ? `${100 * share.told}%` : "0";
    otherBar.textContent = grey > NAMED ? `${words.other} ${percent(grey)}` : "";
    const said = `${lane.own} ${percent(share.own)}, ${lane.told} ${percent(share.told)}, ` +
      `${words.other} ${percent(other)}.`;
    bar.setAttribute("aria-label", `${lane.question} ${said}`);
    return said;
  }
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
