// Draws other letters than a page asks for: of all words, those whose hash is below `WRONG_SHARE`, so that a larger share holds a
// smaller one's words. Letters keep their case and digits stay digits, so that a wrong word looks like a word.
"use strict";
(() => {
  const turned = (code, first, count, by) => first + (code - first + by) % count;
  const other = letter => {
    const code = letter.charCodeAt(0);
    if (code >= 97 && code <= 122) return String.fromCharCode(turned(code, 97, 26, 7));
    if (code >= 65 && code <= 90) return String.fromCharCode(turned(code, 65, 26, 7));
    if (code >= 48 && code <= 57) return String.fromCharCode(turned(code, 48, 10, 3));
    return letter;
  };
  const share = word => {
    let hash = 2166136261;  // FNV-1a
    for (const letter of word) hash = Math.imul(hash ^ letter.codePointAt(0), 16777619);
    hash ^= hash >>> 15;
    return (hash >>> 0) / 4294967296;
  };
  const wrong = words => String(words).replace(/[\p{L}\p{N}]+/gu, word => share(word) < WRONG_SHARE ? [...word].map(other).join("") : word);
  for (const name of ["fillText", "strokeText"]) {
    const draw = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (words, ...rest) { return draw.call(this, wrong(words), ...rest); };
  }
})();
