// The challenge of the home page: a threshold to drag over the doubts of the lanes.

const FEW = 15; // movements

function draw(root, { cases, measures, widest, words }) {
  let measure = root.dataset.measure ?? measures[0].key;
  const fieldset = element("fieldset", { class: "choice" }, element("legend", {}, words.measure));
  for (const { key, title } of measures) {
    const input = element("input", { type: "radio", name: "measure", value: key });
    input.checked = key === measure;
    input.addEventListener("change", () => {
      measure = root.dataset.measure = key;
      tries = 0;
      step();
    });
    fieldset.append(element("label", {}, input, ` ${title}`));
  }
  const plot = element("div", { class: "plot" });
  const drawn = cases.map((one) => {
    const limit = element("div", { class: "limit" });
    const dot = element("div", { class: one.right ? "dot" : "dot wrong" });
    const single = element("span", { class: "single" });
    const track = element("div", { class: "track" }, limit, single, dot);
    const decision = element("div", { class: "decision" });
    plot.append(element("div", { class: "name" }, one.name), track, decision);
    track.addEventListener("pointerdown", (event) => {
      track.setPointerCapture(event.pointerId);
      drag(track, event);
    });
    track.addEventListener("pointermove", (event) => {
      if (track.hasPointerCapture(event.pointerId)) drag(track, event);
    });
    return { one, limit, single, dot, decision };
  });
  const range = element("input", {
    type: "range", min: 0, max: widest, step: "any", "aria-label": words.threshold,
  });
  range.step = widest / 200;
  range.value = root.dataset.threshold ?? widest / 2;
  const score = element("p", { class: "score", role: "status" });
  plot.append(element("label", { class: "name" }, words.threshold), range);
  const hint = element("p", { class: "hint" });
  root.append(fieldset, plot, score, hint);
  let tries = 0;

  function drag(track, event) {
    const { left, width } = track.getBoundingClientRect();
    range.value = (widest * (event.clientX - left)) / width;
    tries += 1;
    step();
  }

  function most() {
    // Between any two doubts a threshold decides alike.
    const places = [...cases.map(({ doubts }) => doubts[measure]), Infinity];
    const rights = places.map((place) =>
      cases.filter(({ doubts, right }) => doubts[measure] < place === right).length);
    return Math.max(...rights);
  }

  function step() {
    const threshold = Number(range.value);
    root.dataset.threshold = threshold;
    range.setAttribute("aria-valuetext", `${threshold.toFixed(2)} ${words.unit}`);
    let good = 0;
    for (const { one, limit, single, dot, decision } of drawn) {
      const doubt = one.doubts[measure];
      single.textContent = doubt ? "" : words.single;
      const answers = doubt < threshold;
      const well = answers === one.right;
      good += well;
      limit.style.left = `${(100 * threshold) / widest}%`;
      limit.parentElement.style.setProperty("--limit", limit.style.left);
      dot.style.left = `${(100 * doubt) / widest}%`;
      const said = answers ? words.answers : words.withholds;
      decision.textContent = `${well ? "✓" : "✗"} ${said} ${one.right ? words.right : words.wrong}`;
      decision.classList.toggle("bad", !well);
    }
    // Who has looked for a while may know that there is nothing to find.
    hint.textContent = tries > FEW && most() < cases.length ? words.hopeless : "";
    score.textContent = good === cases.length ? words.won : words.score.replace("{}", good);
  }
  range.addEventListener("input", () => {
    tries += 1;
    step();
  });
  step();
}
