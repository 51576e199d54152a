// puppeteer-capture as its manual shows it: launch, capture, start, waitForTimeout, stop.
// node puppeteer_capture.cjs PAGE_URL OUT.mp4 FRAMES WIDTH HEIGHT BROWSER FFMPEG
const path = require("node:path");
const {createRequire} = require("node:module");
const {capture, launch} = createRequire(path.join(process.cwd(), "package.json"))("puppeteer-capture");

const FPS = 24;
const [url, out, frames, width, height, executablePath, ffmpeg] = process.argv.slice(2);

(async () => {
  const browser = await launch({executablePath, args: ["--no-sandbox"]});
  const page = await browser.newPage();
  await page.setViewport({width: Number(width), height: Number(height), deviceScaleFactor: 1});
  const recorder = await capture(page, {fps: FPS, ffmpeg});
  let recorded = 0;
  const all = new Promise(done => recorder.on("frameRecorded", () => {
    recorded += 1;
    if (recorded === Number(frames)) recorder.dropCapturedFrames = true;
    if (recorded >= Number(frames)) done();
  }));
  await page.goto(url, {waitUntil: "networkidle0"});
  recorder.on("captureStarted", () => page.evaluate(() => window.begin()));  // any earlier, and the first frames are past at the start
  await recorder.start(out);
  await all;
  await recorder.stop();
  await recorder.detach();
  await browser.close();
})().catch(error => { console.error(error); process.exit(1); });
