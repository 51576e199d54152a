// Runs before the page's scripts: what a page writes to its console is heard only where it tells an error, and never without end.
(() => {
  "use strict";
  const MOST = 100, LONGEST = 1000;
  const { apply } = Reflect, cut = String.prototype.slice, { error } = console;
  let said = 0;
  const say = words => {
    if (said++ >= MOST) return;
    for (let i = 0; i < words.length; i++) if (typeof words[i] === "string") words[i] = apply(cut, words[i], [0, LONGEST]);
    apply(error, console, words);
  };
  const loud = {
    error(...words) { say(words); },
    assert(holds, ...words) { if (!holds) say(["Assertion failed:", ...words]); },
  };
  for (const name of Object.keys(console)) {
    if (typeof console[name] === "function") console[name] = loud[name] ?? { [name]() {} }[name];
  }
})();
