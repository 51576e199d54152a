// All problems of the clip, its history, and what is to be said at the moment.
import { count, field, make } from "./dom.js";

const SAID_MS = 6000;

export class Found {
  constructor(desk, acts) {
    Object.assign(this, { desk, acts });
    desk.on("found annotation", () => this.update());
    desk.say = (words, bad = false) => this.say(words, bad);
    this.update();
  }
  update() {
    const { problems, history } = this.desk;
    const errors = problems.filter(({ severity }) => severity === "error").length;
    field("problem-count").textContent = problems.length
      ? [errors && count(errors, "error"), problems.length - errors && count(problems.length - errors, "warning")]
          .filter(Boolean)
          .join(", ")
      : "none";
    field("problem-count").className = `tag ${errors ? "bad" : problems.length ? "warn" : ""}`;
    field("problem-list").replaceChildren(
      ...[...problems]
        .sort((a, b) => a.severity.localeCompare(b.severity))
        .map((problem) =>
          make(
            "li",
            { className: problem.severity },
            make(
              "button",
              { type: "button", className: "line", onclick: () => this.acts.lookAtProblem(problem) },
              make("strong", { textContent: problem.place }),
              ` ${problem.message}`,
            ),
          ),
        ),
    );
    field("history-count").textContent = String(history.length);
    field("history-list").replaceChildren(
      ...[...history]
        .reverse()
        .slice(0, 200)
        .map(({ who, when, what }) =>
          make(
            "li",
            {},
            make("time", {
              dateTime: when,
              textContent: new Date(when).toLocaleString([], { dateStyle: "short", timeStyle: "short" }),
            }),
            make("span", {}, make("strong", { textContent: who }), ` ${what}`),
          ),
        ),
    );
  }
  say(words, bad) {
    const said = field("said");
    said.textContent = words;
    said.classList.toggle("bad", bad);
    said.hidden = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      said.hidden = true;
    }, SAID_MS);
  }
}
