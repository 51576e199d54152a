// SVG's own animations of one window, and the shadow roots in which there may be more of all kinds.

/** All shadow roots of this window: those that scripts attach, and from `look()` on those that the page was written with. */
function shadowRoots() {
  const roots = [], inElement = getter(Element.prototype, "shadowRoot");
  const find = method(DocumentFragment.prototype, "querySelectorAll"), findHere = bound(document, "querySelectorAll");
  const add = root => {
    for (let i = 0; i < roots.length; i++) if (roots[i] === root) return;
    append(roots, root);
    lookInto(find(root, "*"));
  };
  function lookInto(elements) {
    for (let i = 0; i < elements.length; i++) {
      const root = inElement(elements[i]);
      if (root !== null) add(root);
    }
  }
  replace(Element.prototype, "attachShadow", (self, args, native) => {
    const root = apply(native, self, args);
    add(root);
    return root;
  });
  return { roots, look: () => lookInto(findHere("*")) };
}

/** SVG's own animations: each outermost <svg> is paused and set, by a record `{base, at, paused, shown}` in milliseconds. */
function holdSmil(clock, roots) {
  const proto = SVGSVGElement.prototype, SVG = "http://www.w3.org/2000/svg", records = new WeakMap();
  const recordOf = bound(records, "get"), remember = bound(records, "set");
  const [pause, setTime] = ["pauseAnimations", "setCurrentTime"].map(name => method(proto, name));
  const owner = getter(SVGElement.prototype, "ownerSVGElement"), inRoot = method(DocumentFragment.prototype, "querySelectorAll");
  const byName = name => document.getElementsByTagNameNS(SVG, name);
  const svgs = byName("svg"), moving = ["animate", "set", "animateTransform", "animateMotion"].map(byName);

  const place = record => record.paused ? record.base : record.base + clock.now() - record.at;
  function outermost(svg) {
    for (let outer = owner(svg); outer; outer = owner(svg)) svg = outer;
    return svg;
  }
  function seen(svg) {
    let record = recordOf(svg);
    if (record === undefined) {
      record = { base: 0, at: clock.now(), paused: false, shown: null };
      remember(svg, record);
      pause(svg);
    }
    return record;
  }
  function show(svg, record) {
    const time = place(record);
    if (record.shown === time) return;
    record.shown = time;
    setTime(svg, time / 1000);
  }
  function holdThese(list) {
    for (let i = 0; i < list.length; i++) {
      if (owner(list[i])) continue;
      const record = seen(list[i]);
      if (!record.paused) show(list[i], record);
    }
  }
  function hold() {
    if (svgs.length && (moving[0].length || moving[1].length || moving[2].length || moving[3].length)) holdThese(svgs);
    for (let i = 0; i < roots.length; i++) holdThese(inRoot(roots[i], "svg"));
  }

  replace(proto, "setCurrentTime", (self, args, native) => {
    apply(native, self, args);
    const record = seen(outermost(self));
    record.base = record.shown = args[0] * 1000;
    record.at = clock.now();
  });
  replace(proto, "pauseAnimations", self => {
    const record = seen(outermost(self));
    record.base = place(record);
    record.paused = true;
  });
  replace(proto, "unpauseAnimations", self => {
    const record = seen(outermost(self));
    if (record.paused) record.at = clock.now();
    record.paused = false;
  });
  replace(proto, "animationsPaused", self => seen(outermost(self)).paused);
  replace(proto, "getCurrentTime", self => place(seen(outermost(self))) / 1000);
  for (const name of ["beginElement", "beginElementAt", "endElement", "endElementAt", "getCurrentTime", "getStartTime"]) {
    replace(SVGAnimationElement.prototype, name, (self, args, native) => {
      const around = owner(self); // it counts from its drawing's time, which is the clock's even if it has just been made
      if (around) holdThese([outermost(around)]);
      return apply(native, self, args);
    });
  }
  return { hold };
}
