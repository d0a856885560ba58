// Forms: for a key, for a new stream, and for confirming what cannot be taken back at once.

import { call, streamPath } from "./api.js";
import { h, setText } from "./dom.js";

let nDialogs = 0;

/** Return a form that asks for a key. */
export function signInForm(onSignedIn) {
  const problem = h("p", { class: "problem", role: "alert" });
  const field = h("input", { id: "api-key", type: "password", autocomplete: "current-password", required: true });
  const submit = async (event) => {
    event.preventDefault();
    setText(problem, "");
    try {
      await call("POST", "session", { key: field.value.trim() });
      onSignedIn();
    } catch (error) {
      setText(problem, error.status === 401 ? "This key is not valid." : error.message);
      field.select();
    }
  };
  return h(
    "form",
    { class: "message", submit },
    h("h1", { tabindex: "-1" }, "Sign in"),
    h(
      "p",
      {},
      "This server needs a key. Whoever runs it can create one: ",
      h("code", {}, "driftline keys create NAME"),
      ".",
    ),
    h("label", { for: "api-key" }, "Key"),
    field,
    problem,
    h("button", { class: "button primary" }, "Sign in"),
  );
}

/** Open a dialog; `act` is called when it is confirmed, and the dialog stays open with the message of an error it throws. */
function openDialog({ title, contents, action, isDangerous, act }) {
  const id = `dialog-${++nDialogs}`;
  const problem = h("p", { class: "problem", role: "alert" });
  const confirm = h("button", { class: `button primary${isDangerous ? " danger" : ""}` }, action);
  const cancel = h("button", { class: "button", type: "button", click: () => dialog.close() }, "Cancel");
  const submit = async (event) => {
    event.preventDefault();
    confirm.disabled = true;
    setText(problem, "");
    try {
      await act();
      dialog.close();
    } catch (error) {
      setText(problem, error.message);
    } finally {
      confirm.disabled = false;
    }
  };
  const form = h(
    "form",
    { submit },
    h("h2", { id }, title),
    ...contents,
    problem,
    h("div", { class: "actions" }, cancel, confirm),
  );
  const dialog = h("dialog", { "aria-labelledby": id, close: () => dialog.remove() }, form);
  document.body.append(dialog);
  dialog.showModal();
}

/** Ask before something is done. */
export function confirmed({ title, text, action, isDangerous, act }) {
  openDialog({ title, contents: [h("p", {}, text)], action, isDangerous, act });
}

/** Ask for the name and the features of a new stream, and create it. */
export function createStream() {
  const name = h("input", {
    id: "stream-name",
    required: true,
    maxlength: 100,
    pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": "stream-name-note",
  });
  const features = h(
    "select",
    { id: "stream-features" },
    h("option", { value: "auto" }, "Automatic: the most accurate"),
    h("option", { value: "linear" }, "Linear: the quickest"),
  );
  openDialog({
    title: "New stream",
    contents: [
      h("label", { for: "stream-name" }, "Name"),
      name,
      h(
        "p",
        { class: "note", id: "stream-name-note" },
        "Letters, digits, “.”, “_” and “-”; first a letter or a digit.",
      ),
      h("label", { for: "stream-features" }, "Features"),
      features,
      h(
        "p",
        { class: "note" },
        "Its columns are those of the first rows. All settings: ",
        h("a", { href: "docs" }, "the description of the API"),
        ".",
      ),
    ],
    action: "Create",
    act: async () => {
      await call("POST", "streams", { name: name.value, parameters: { features: features.value } });
      location.hash = `#/${streamPath(name.value)}`;
    },
  });
}
