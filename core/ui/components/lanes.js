// The lanes of the home page. All numbers come with the page, so a step of the control draws anew
// without asking the server.

const TYPING = 12; // milliseconds a character

function draw(root, { lanes, times, words }, send) {
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
