// A threshold that is dragged: numbers, curve and rows follow without asking the server, which learns
// of the place once it is left alone.

const WAIT = 300; // milliseconds

function draw(root, content, send, keep) {
  const { places, certified, now, words } = content;
  const range = element("input", {
    type: "range", min: 0, max: places.values.length - 1, step: 1, id: "place", disabled: "",
  });
  range.disabled = !places.movable;
  let at = nearest(places.values, now), sent = at, timer = null, busy = false;
  const numbers = Object.fromEntries(["answers", "wrong", "promised"].map((name) => [name, element("dd")]));
  const back = element("button", { type: "button", class: "back" }, words.back);
  const bars = histogram(content, move, keep);
  const risk = content.curve && curve(content, bars.across);
  const beside = content.rows.length > 0 && margin(content, (place) => send("opened", place));
  root.append(
    element("div", { class: "control" },
      element("label", { for: "place" }, words.control), back,
      element("dl", { class: "numbers" }, ...Object.entries(numbers).map(
        ([name, value]) => element("div", { class: name }, element("dt", {}, words[`${name}_label`]), value)))),
    // One axis for all three: the control, the scores under it, and what they get wrong.
    element("div", { class: "pictures" }, range, bars.parts, ...(risk ? [risk.parts] : []), bars.axis),
    ...(beside ? [beside.parts] : []),
  );

  function show() {
    const promise = places.promised[at] ? words.promise : words.nothing;
    numbers.answers.textContent = places.answered[at];
    numbers.wrong.textContent = places.wrong[at];
    numbers.promised.textContent = promise;
    root.classList.toggle("unpromised", !places.promised[at]);
    back.hidden = at === places.start;
    range.value = at;
    range.setAttribute("aria-valuetext", words.spoken
      .replace("{threshold}", places.texts[at]).replace("{answers}", places.answered[at])
      .replace("{wrong}", places.wrong[at]).replace("{promise}", promise));
    bars.show(at);
    if (risk) risk.show(at);
    if (beside) beside.show(at);
  }

  function move(to, ended) {
    if (to !== null) at = to;
    busy = !ended;
    if (to !== null) show();
    clearTimeout(timer);
    timer = ended ? setTimeout(tell, WAIT) : null;
  }

  function tell() {
    timer = null;
    if (at === sent) return;
    sent = at;
    send("moved", places.values[at]);
  }

  range.addEventListener("input", () => move(Number(range.value), false));
  range.addEventListener("change", () => move(Number(range.value), true));
  back.addEventListener("click", () => {
    move(places.start, true);
    range.focus();
  });
  root.follow = (value) => {
    if (busy || timer !== null) return; // a person is at it
    at = sent = nearest(places.values, value);
    show();
  };
  show();
}
