// The browser's tab remembers the name of the model in use: the server forgets it with the session,
// at a reload and when it is started again. A key is not remembered anywhere.

const PLACE = "believe_model";

export default function ({ data, setStateValue }) {
  if (data.chosen) {
    sessionStorage.setItem(PLACE, data.name);
    return;
  }
  const before = sessionStorage.getItem(PLACE);
  if (before && before !== data.name && before !== data.before) setStateValue("before", before);
}
