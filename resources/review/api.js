// The server's answers. A refusal is an error with its status, what the server says of it (`why`) and the whole answer (`told`).
export class Refused extends Error {
  constructor(status, told) {
    super(told.why ?? `The server answered ${status}.`);
    this.status = status;
    this.told = told;
  }
}

/** No answer at all: the server is gone or the network between is. */
export class Silent extends Error {}

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new Silent("The server does not answer.");
  }
  let told = {};
  try {
    told = await answer.json();
  } catch {
    if (answer.ok) throw new Silent("The server's answer was cut off.");
  }
  if (!answer.ok) throw new Refused(answer.status, told);
  return told;
}

export const read = (path) => ask(path, {});
export const send = (path, body, more = {}) =>
  ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    ...more,
  });
export const clipPath = (clip_id) => `/api/clips/${encodeURIComponent(clip_id)}`;
