// Streamlit gives a chart up to four buttons that show only under the mouse. Here they are one stop of
// the Tab key, and arrow keys lead from one to the next.

const TOOLBAR = '[data-testid="stElementToolbar"]';
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export default function () {
  if (document.documentElement.dataset.believeToolbars) return; // the page ran again
  document.documentElement.dataset.believeToolbars = "one stop each";
  document.addEventListener("keydown", (event) => {
    if (event.key === "Tab") {
      for (const toolbar of document.querySelectorAll(TOOLBAR)) {
        const buttons = [...toolbar.querySelectorAll("button")];
        const stop = buttons.includes(document.activeElement) ? document.activeElement : buttons[0];
        for (const button of buttons) button.tabIndex = button === stop ? 0 : -1;
      }
      return;
    }
    const toolbar = event.target instanceof Element && event.target.closest(TOOLBAR);
    if (!toolbar || !STEPS[event.key]) return;
    const buttons = [...toolbar.querySelectorAll("button")];
    const next = buttons.indexOf(document.activeElement) + STEPS[event.key];
    event.preventDefault();
    buttons.at(next % buttons.length).focus();
  }, true);
}
