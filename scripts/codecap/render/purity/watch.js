// Notes what a page makes pictures and fonts of. Runs before the page's scripts, in its own world; SEEN and MOST are given.
const exported = new Set(); // keys of addresses that hold what the page's own canvases show
const ofCanvas = new WeakSet();
const decoded = new Set();
const fonts = new Set();
const key = (address) => `${address.length}:${address.slice(-64)}`;
const note = (notes, text) => notes.size < MOST && notes.add(String(text).slice(0, 300));
const around = (holder, name, then) => {
  if (holder && typeof holder[name] === "function") {
    holder[name] = new Proxy(holder[name], {
      apply: (made, self, given) => then(Reflect.apply(made, self, given), given),
      construct: (made, given, target) => then(Reflect.construct(made, given, target), given),
    });
  }
};

around(self.HTMLCanvasElement?.prototype, "toDataURL", (address) => (note(exported, key(address)), address));
around(self.OffscreenCanvas?.prototype, "convertToBlob", (made) => made.then((blob) => (ofCanvas.add(blob), blob)));
if (self.HTMLCanvasElement) {
  const prototype = self.HTMLCanvasElement.prototype;
  prototype.toBlob = new Proxy(prototype.toBlob, {
    apply: (made, self, [then, ...rest]) =>
      Reflect.apply(made, self, [typeof then === "function" ? (blob) => (blob && ofCanvas.add(blob), then(blob)) : then, ...rest]),
  });
}
around(URL, "createObjectURL", (address, [blob]) => (ofCanvas.has(blob) && note(exported, key(address)), address));
around(self, "createImageBitmap", (made, [source]) => {
  if (source instanceof Blob && !ofCanvas.has(source) && !source.type.startsWith("image/svg")) note(decoded, "createImageBitmap");
  return made;
});
for (const name of ["ImageDecoder", "VideoDecoder"]) around(self, name, (made) => (note(decoded, name), made));
around(self, "FontFace", (made, [family, source]) => {
  if (typeof source !== "string" || source.includes("url(")) note(fonts, family);
  return made;
});
Object.defineProperty(self, SEEN, {
  value: () => ({ exported: [...exported], decoded: [...decoded], fonts: [...fonts] }),
});
