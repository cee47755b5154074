// Error among the answered, wherever the threshold stands, with a point that follows it.

const SVG = "http://www.w3.org/2000/svg";

/** Return the plot; `show(at)` puts the point to a place. */
function curve({ curve: { lower, upper, target, most }, places, words }, across) {
  const down = (share) => 100 * (1 - Math.min(share / most, 1));
  const svg = shape("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" });
  const answered = places.values.map((_, i) => i).filter((i) => places.errors[i] !== null);
  const points = (shares) => answered.map((i) => `${parseFloat(across(places.values[i]))},${down(shares[i])}`);
  svg.append(
    shape("polygon", { class: "spread", points: [...points(lower), ...points(upper).reverse()].join(" ") }),
    shape("polyline", { class: "course", points: points(places.errors).join(" ") }),
  );
  const falls = places.errors[answered[0]] > places.errors[answered.at(-1)];
  // Named where the course is far above it.
  const limit = element("div", { class: `limit ${falls ? "early" : ""}` }, element("span", {}, words.target));
  limit.style.top = `${down(target)}%`;
  const mark = element("div", { class: "mark" });
  const line = element("div", { class: "line" });
  const plot = element("div", { class: "plot", role: "img", "aria-label": words.curve }, svg, limit, line, mark);
  const up = element("div", { class: "up", "aria-hidden": "true" });
  const step = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01].find((each) => 2 * each <= most) ?? most;
  for (let share = 0; share <= most; share += step) {
    const tick = element("span", {}, `${Number((100 * share).toFixed(1))}%`);
    tick.style.top = `${down(share)}%`;
    up.append(tick);
  }

  function place(point, at) {
    point.hidden = at === null || places.errors[at] === null;
    if (point.hidden) return;
    point.style.left = across(places.values[at]);
    point.style.top = `${down(places.errors[at])}%`;
  }

  const parts = element("div", { class: "curve" },
    element("div", { class: "key" }, element("span", { class: "plain" }, `${words.error}; ${words.band}`)),
    element("div", { class: "framed" }, up, plot));
  return {
    parts,
    show(at) {
      line.style.left = across(places.values[at]);
      place(mark, at);
    },
  };
}

function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}
