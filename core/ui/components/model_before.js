// The browser's tab remembers the name of the model in use: the server forgets it with the session,
// at a reload and when it is started again. A key is not remembered anywhere.

const PLACE = "believe_model";

export default function ({ data: [{ name, chosen, before }], setStateValue }) {
  if (chosen) {
    sessionStorage.setItem(PLACE, name);
    return;
  }
  const last = sessionStorage.getItem(PLACE);
  if (last && last !== name && last !== before) setStateValue("before", last);
}
