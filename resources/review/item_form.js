// What the forms of objects and of focal points share: decision, doubts, description, intervals. The markup is a template of the page.
import { FPS, framesBetween, timeOf, told } from "./clock.js";
import { field, make } from "./dom.js";
import { setSpan } from "./timeline.js";

const WORDS = { accept: "Accepted", edit: "Edited", reject: "Rejected", "": "Not decided" };
const MOST_STRETCHES = 6;

export class ItemForm {
  constructor(template, box, desk, acts) {
    Object.assign(this, { box, desk, acts });
    box.replaceChildren(field(template).content.cloneNode(true));
    for (const control of this.all("[data-act]")) {
      control.addEventListener("click", () => acts[control.dataset.act](control.dataset.with));
    }
    this.spans = this.part(".spans");
    this.spans.addEventListener("focusout", () => setTimeout(() => this.update())); // what was typed gives way to what holds
    this.listenToWords(this.part("#description"));
  }

  part(selector) {
    return this.box.querySelector(selector);
  }
  all(selector) {
    return this.box.querySelectorAll(selector);
  }
  get item() {
    return this.desk.item;
  }

  update() {
    const { desk } = this;
    if (!this.item) return; // gone; another form comes
    keepTyped(this.part("#description"), this.item.description);
    this.updateDecision();
    this.updateDoubts();
    if (!this.spans.contains(document.activeElement)) this.spans.replaceChildren(...this.spanRows());
    for (const control of this.all('[data-act="mode"]')) {
      control.setAttribute("aria-pressed", String(control.dataset.with === this.acts.modeNow()));
    }
    for (const control of this.all("[data-act]:not(.look), input, textarea, .objects button, .spans .remove")) {
      control.disabled = !desk.editable;
    }
    this.updateFrame();
  }

  updateDecision() {
    const { selected } = this.desk;
    const decision = this.desk.decision(selected.kind, selected.key);
    for (const control of this.all('[data-act="decide"]')) {
      const says = control.dataset.with;
      control.setAttribute("aria-pressed", String(says === decision || (says === "accept" && decision === "edit")));
    }
    this.part(".said").textContent = WORDS[decision];
    this.part(".said").dataset.said = decision;
  }

  // ---- problems of the validator, and what was measured
  updateDoubts() {
    const { desk } = this;
    const about = `${desk.selected.kind}/${desk.selected.key}`;
    const problems = desk.problems
      .filter((problem) => problem.about === about)
      .map(({ severity, message, frame }) =>
        make(
          "li",
          { className: severity },
          make("span", { textContent: message }),
          ...this.chips(Number.isInteger(frame) ? [frame] : []),
        ),
      );
    const signals = ((desk.object && desk.signals[desk.object.name]) ?? []).map((signal) =>
      make(
        "li",
        { className: "signal" },
        make("span", { textContent: signal.told || signal.signal.replaceAll("_", " ") }),
        make("span", { className: "sure", textContent: signal.value.toFixed(2), title: "0: surely right, 1: surely wrong" }),
        ...this.chips(signal.frames),
      ),
    );
    this.part(".doubts").replaceChildren(...problems, ...signals);
  }
  chips(frames) {
    return stretches(frames)
      .slice(0, MOST_STRETCHES)
      .map(([first, last]) => this.chip(first === last ? String(first) : `${first}–${last}`, first));
  }
  chip(words, frame, title = `Go to frame ${frame}, ${told(timeOf(frame))}`) {
    return make("button", { type: "button", className: "chip", title, onclick: () => this.acts.goTo(frame) }, words);
  }

  // ---- words
  listenToWords(area) {
    area.addEventListener("input", () => {
      const { kind, key } = this.desk.selected;
      const fits = kind === "objects" || area.value.trim();
      if (fits) this.desk.change(kind, key, { description: area.value }, `words ${kind}/${key}`);
      area.setCustomValidity(fits ? "" : "A focal point needs a description.");
      area.reportValidity();
    });
    area.addEventListener("blur", () => {
      this.desk.part();
      area.setCustomValidity("");
      setTimeout(() => this.update()); // words that could not be taken give way to those that hold
    });
  }

  // ---- intervals
  spanRow([start, end], place, more = null) {
    const [first, stop] = framesBetween(start, end, this.desk.clip.frames);
    const frames = [Math.round(start * FPS), Math.round(end * FPS)];
    const go = (sign, frame, title) =>
      make("button", { type: "button", className: "plain icon", title, onclick: () => this.acts.goTo(frame) }, sign);
    return make(
      "div",
      { className: "span-row" },
      go("⇤", first, "Go to its first frame"),
      this.timeInput(start, "Start in seconds", (frame) => this.setFrames(place, [frame, frames[1]])),
      "–",
      this.timeInput(end, "End in seconds", (frame) => this.setFrames(place, [frames[0], frame])),
      go("⇥", stop - 1, "Go to its last frame"),
      more,
    );
  }
  timeInput(seconds, name, changed) {
    const limits = { type: "number", step: "any", min: 0, max: this.desk.seconds };
    const input = make("input", { ...limits, value: seconds.toFixed(3), "aria-label": name });
    input.addEventListener("change", () => changed(Math.round(Number(input.value) * FPS)));
    return input;
  }
  setFrames(place, [first, stop]) {
    if (first >= 0 && first < stop && stop <= this.desk.clip.frames) setSpan(this.desk, place, [timeOf(first), timeOf(stop)]);
    else this.desk.say("An interval begins before it ends, within the clip.");
  }
}

/** Frames that follow on one another, as [first, last]. */
function stretches(frames) {
  const found = [];
  for (const frame of [...frames].sort((a, b) => a - b)) {
    if (found.length && frame - found.at(-1)[1] <= 1) found.at(-1)[1] = frame;
    else found.push([frame, frame]);
  }
  return found;
}

/** A field that somebody types in keeps what is typed. */
export function keepTyped(input, value) {
  if (document.activeElement !== input && input.value !== value) input.value = value;
}
