// Error among the answered against the share answered, with a point that follows the threshold.

const SVG = "http://www.w3.org/2000/svg";

/** Return the plot; `show(at)` puts the point to a place. */
function curve({ curve: { coverage, error, lower, upper, target, most }, places, certified, words }) {
  const right = (share) => 100 * share;
  const down = (share) => 100 * (1 - Math.min(share / most, 1));
  const svg = shape("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" });
  const points = (values) => coverage.map((share, i) => `${right(share)},${down(values[i])}`);
  svg.append(
    shape("polygon", { class: "spread", points: [...points(lower), ...points(upper).reverse()].join(" ") }),
    shape("polyline", { class: "course", points: points(error).join(" ") }),
  );
  const limit = element("div", { class: "limit" }, element("span", {}, words.target));
  limit.style.top = `${down(target)}%`;
  const home = element("div", { class: "mark certified" });
  const mark = element("div", { class: "mark moved" });
  const plot = element("div", { class: "plot", role: "img", "aria-label": words.curve }, svg, limit, home, mark);
  const up = element("div", { class: "up", "aria-hidden": "true" });
  for (const share of [0, most / 2, most]) {
    const tick = element("span", {}, `${Number((100 * share).toFixed(most < 0.04 ? 1 : 0))}%`);
    tick.style.top = `${down(share)}%`;
    up.append(tick);
  }
  const axis = element("div", { class: "axis", "aria-hidden": "true" });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const tick = element("span", {}, `${100 * share}%`);
    tick.style.left = `${100 * share}%`;
    axis.append(tick);
  }
  place(home, certified);

  function place(point, at) {
    point.hidden = at === null || places.errors[at] === null;
    if (point.hidden) return;
    point.style.left = `${right(places.shares[at])}%`;
    point.style.top = `${down(places.errors[at])}%`;
  }

  const parts = element("div", { class: "curve" },
    element("div", { class: "key" }, element("span", { class: "plain" }, words.error)),
    element("div", { class: "framed" }, up, plot), axis,
    element("div", { class: "title" }, words.coverage));
  return { parts, show: (at) => place(mark, at) };
}

function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}
