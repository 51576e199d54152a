"""What a page is told by its clock, timer by timer."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from codecap.render import virtual_clock

NO_SEEK = "<script>window.seek = () => {};</script>"


def script(text: str) -> str:
    return f"<!doctype html><body><script>const log = [];\n{text}</script>{NO_SEEK}"


def test_seed_of_more_than_32_bits_is_refused():
    with pytest.raises(ValueError, match="32 bits"):
        virtual_clock.init_script(2**32)


# --- the clock


def test_timers_run_in_order_of_their_due_times_and_are_told_them(driven):
    page = driven(
        script("""
        for (const wait of [30, 10, 10.9, 20, -5]) setTimeout(name => log.push([name, performance.now()]), wait, wait);
        """)
    )
    assert page.value("log") == [[-5, 0]]
    assert page.at(0.015, "log.slice(1)") == [[10, 10], [10.9, 10]]
    assert page.at(0.029, "log.slice(3)") == [[20, 20]]
    assert page.at(1, "log.slice(4)") == [[30, 30]]


def test_an_interval_catches_up_and_date_stands_at_each_due_time(driven):
    page = driven(script("setInterval(() => log.push(Date.now()), 10)"))
    start_ms = datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000
    assert page.at(0.035, "log") == [start_ms + 10, start_ms + 20, start_ms + 30]
    assert page.value("[Date.now(), performance.now(), performance.timeOrigin]") == [start_ms + 35, 35, start_ms]


@pytest.mark.parametrize("clock", ["performance.now()", "Date.now()", "+new Date()"])
def test_a_busy_wait_ends_and_the_clock_is_back_afterwards(driven, clock):
    page = driven(
        f"""<!doctype html><script>
        const told = [];
        window.seek = () => {{
          const start = {clock};
          while ({clock} - start < 5);
          told.push({clock} - start);
          setTimeout(() => told.push({clock} - start));
        }};
        </script>"""
    )
    assert page.at(1, "told") == [pytest.approx(5, abs=0.01), 0]
    again = page.at(0.5, "told.slice(2)")
    assert page.at(1, "told.slice(4)") == page.value("told.slice(0, 2)")
    assert again == [pytest.approx(5, abs=0.01), 0]


def test_the_time_may_be_read_often_by_each_task(driven):
    reads = "for (let k = 0; k < 10000; k++) told.add(performance.now());"
    page = driven(
        f"""<!doctype html><script>
        const told = new Set(), date = new Set(), read = () => {{ {reads} }};
        window.seek = async t => {{
          if (t === 2) {{ for (let k = 0; k < 100000; k++) date.add(Date.now()); return; }}
          read();
          requestAnimationFrame(() => {{ read(); requestAnimationFrame(read); }});
          for (let k = 0; k < 5; k++) {{ await new Promise(done => setTimeout(done)); read(); }}
        }};
        </script>"""
    )
    assert page.at(1, "[...told]") == [1000]
    assert page.at(2, "date.size") == 1


def test_what_is_no_timer_waits_for_the_clock_too(driven):
    page = driven(
        script("""
        AbortSignal.timeout(40).addEventListener("abort", event => log.push([event.target.reason.name, performance.now()]));
        scheduler.postTask(() => "posted", { delay: 50 }).then(answer => log.push([answer, performance.now()]));
        try { AbortSignal.timeout(-1); } catch (error) { log.push(error.name); }
        """)
    )
    page.page.wait_for_timeout(150)
    assert page.value("log") == ["TypeError"]
    assert page.at(0.045, "log.slice(1)") == [["TimeoutError", 40]]
    assert page.at(0.06, "log.slice(2)") == [["posted", 50]]


def test_a_format_that_is_given_no_date_shows_the_clocks(driven):
    page = driven(script('const format = new Intl.DateTimeFormat("en-US", { dateStyle: "short", timeZone: "UTC" });'))
    assert page.at(86400, "[format.format(), format.format(0), format.formatToParts().map(part => part.value).join('')]") == [
        "1/2/26",
        "1/1/70",
        "1/2/26",
    ]


def test_promises_go_on_at_the_time_of_the_timer_that_they_wait_for(driven):
    page = driven(
        script("""
        const sleep = ms => new Promise(done => setTimeout(done, ms));
        (async () => { for (;;) { await sleep(10); log.push(performance.now()); } })();
        """)
    )
    assert page.at(0.045, "log") == [10, 20, 30, 40]


def test_a_long_jump_is_caught_up_only_in_part(driven):
    page = driven(script("setInterval(() => log.push(performance.now()), 10); setTimeout(() => log.push('once'), 3005)"))
    log = page.at(3600, "log")
    assert log[0] == "once"
    assert log[-1] == 3_600_000
    assert 95 <= len(log) <= 105


@pytest.mark.parametrize("loop", ["setTimeout(again)", "setInterval(() => log.push(1), 0)", "requestIdleCallback(again)"])
def test_a_chain_of_timers_without_delay_ends(driven, loop):
    page = driven(script(f"const again = () => {{ log.push(1); {loop} }}; {loop}"))
    assert 1 <= page.at(0.1, "log.length") <= 200


def test_back_in_time_repeating_timers_are_where_they_were(driven):
    page = driven(
        script("""
        let interval = 0, chain = 0;
        setInterval(() => { interval = performance.now(); }, 10);
        const again = () => { chain = performance.now(); setTimeout(again, 8); };
        again();
        """)
    )
    forwards = [page.at(k / 24, "[interval, chain, performance.now()]") for k in range(12)]
    assert forwards[6] == [250, 248, 250]
    for k in (11, 3, 8, 8, 5):
        assert page.at(k / 24, "[interval, chain, performance.now()]") == forwards[k]


def test_timers_are_cleared_by_either_name_also_while_they_run(driven):
    page = driven(
        script("""
        const one = setTimeout(() => log.push("one"), 5), two = setInterval(() => log.push("two"), 5);
        clearInterval(one);
        clearTimeout(two);
        clearTimeout(undefined);
        clearTimeout(12345);
        const own = setInterval(() => { log.push("own"); clearInterval(own); }, 5);
        setTimeout(() => clearTimeout(next), 6);
        const next = setTimeout(() => log.push("next"), 6);
        const ids = [one, two, own, next, setTimeout(() => {}), setInterval(() => {}, 1e6)];
        """)
    )
    assert page.at(1, "log") == ["own"]
    assert page.value("new Set(ids).size") == 6


def test_a_handler_may_be_text_and_none_is_refused(driven):
    page = driven(script("setTimeout('log.push(1)', 5); try { setTimeout(); } catch (error) { log.push(error.name); }"))
    assert page.at(0.01, "log") == ["TypeError", 1]


def test_animation_frames_are_told_the_frames_time_and_can_be_cancelled(driven):
    page = driven(
        script("""
        const loop = now => { log.push(now); requestAnimationFrame(loop); };
        window.start = () => {
          requestAnimationFrame(loop);
          requestAnimationFrame(() => cancelAnimationFrame(gone));
          const gone = requestAnimationFrame(() => log.push("gone"));
        };
        """)
    )
    page.value("start()")
    assert page.at(0.5, "log") == [500]
    assert page.at(0.25, "log") == [500, 250]  # a loop draws once a frame


def test_errors_of_callbacks_are_uncaught_and_stop_no_other(driven):
    page = driven(
        script("""
        setTimeout(() => { throw new RangeError("in a timer"); }, 5);
        setTimeout(() => log.push("timer"), 5);
        requestAnimationFrame(() => { throw new RangeError("in a frame"); });
        requestAnimationFrame(() => log.push("frame"));
        addEventListener("error", event => log.push(event.message));
        """)
    )
    assert page.at(0.01, "log") == ["Uncaught RangeError: in a frame", "frame", "Uncaught RangeError: in a timer", "timer"]
    assert page.errors == ["in a frame", "in a timer"]


def test_a_rejection_that_nobody_handles_is_uncaught(driven):
    page = driven(script("fetch('https://nowhere.invalid/'); fetch('https://nowhere.invalid/').catch(() => log.push('caught'))"))
    assert page.at(0, "log") == ["caught"]
    assert page.errors == ["Failed to fetch"]


def test_dates_keep_their_ways(driven):
    page = driven(script(""))
    page.seek(1.5)
    iso = "2026-01-01T00:00:01.500Z"
    assert page.value("new Date().toISOString()") == iso
    assert page.value("[new Date() instanceof Date, new Date().constructor === Date, typeof Date(), Date.length, Date.name]") == [
        True,
        True,
        "string",
        7,
        "Date",
    ]
    assert page.value("[new Date(0).getTime(), Date.UTC(1970, 0, 2), Date.parse('1970-01-01T00:00:01Z')]") == [0, 86_400_000, 1000]
    assert page.value("new (class Day extends Date { half() { return this.getTime() / 2; } })(10).half()") == 5
    assert page.value("new (class Day extends Date {})().toISOString()") == iso
    assert page.value("typeof Temporal === 'undefined' || Temporal.Now.instant().epochMilliseconds === Date.now()") is True
    assert page.value("[new Event('x').timeStamp, document.timeline.currentTime]") == [1500, 1500]
    assert page.value("[performance.mark('a').startTime, performance.measure('b', 'a').duration]") == [1500, 0]


def test_functions_look_native(driven):
    page = driven(script(""))
    lengths = {"setTimeout": 1, "clearTimeout": 0, "requestAnimationFrame": 1, "cancelAnimationFrame": 1, "requestIdleCallback": 1}
    for name, length in lengths.items():
        assert page.value(f"[{name}.name, {name}.length, /native code/.test({name}), 'prototype' in {name}]") == [
            name,
            length,
            True,
            False,
        ]


def test_random_numbers_are_those_of_the_seed_and_the_time(driven):
    draws = "[Math.random(), crypto.getRandomValues(new Uint32Array(2)).join(), crypto.randomUUID()]"
    one, two, other = driven(script("")), driven(script("")), driven(script(""), seed=25)
    first = one.at(0.5, draws)
    assert two.at(0.5, draws) == first
    assert all(this != that for this, that in zip(other.at(0.5, draws), first, strict=True))
    assert one.at(1, "Math.random()") != first[0]
    assert one.at(0.5, "Math.random()") == first[0]
    many = one.value("Array.from({length: 20000}, Math.random)")
    assert min(many) >= 0 and max(many) < 1 and abs(sum(many) / len(many) - 0.5) < 0.01
    assert len(set(one.value("Array.from({length: 1000}, () => crypto.randomUUID())"))) == 1000
    version = "/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())"
    assert one.value(version) is True
    assert one.value("(() => { try { crypto.getRandomValues([]) } catch (error) { return error.name } })()") == "TypeError"


# --- seek


def test_the_pages_own_error_comes_through(driven):
    page = driven(
        "<script>window.seek = t => { if (t === 1) throw new RangeError('thrown'); if (t === 2) return Promise.reject(7) }</script>"
    )
    assert page.seek(0) == {"state": "done", "settle": False}
    with pytest.raises(Exception, match="RangeError: thrown"):
        page.seek(1)
    with pytest.raises(Exception, match="^7$"):
        page.seek(2)
    assert page.seek(3)["state"] == "done"


def test_seek_is_looked_up_for_each_frame(driven):
    page = driven(
        "<script>log = []; window.seek = () => { log.push(1); window.seek = () => { log.push(2); delete window.seek; }; }</script>"
    )
    assert [page.seek(k)["state"] for k in range(3)] == ["done", "done", "missing"]
    assert page.value("log") == [1, 2]


@pytest.mark.parametrize(
    "late",
    [
        "setTimeout(() => setTimeout(define, 200), 200)",
        "addEventListener('load', () => requestAnimationFrame(() => requestAnimationFrame(define)))",
        "fetch('data:text/plain,x').then(answer => answer.text()).then(define)",
        "(async () => { const image = new Image(); image.src = 'data:image/svg+xml,<svg xmlns=\"http://www.w3.org/2000/svg\"/>';"
        " await image.decode(); define() })()",
        "requestIdleCallback(define)",
    ],
)
def test_seek_may_be_defined_late(driven, late):
    page = driven(
        f"<!doctype html><body><script>const define = () => {{ window.seek = () => {{}} }}; {late}</script>", wait_ms=None
    )
    assert page.ready(2000) is True
    assert page.value("performance.now()") == 0


def test_without_seek_the_wait_ends(driven):
    page = driven(
        "<!doctype html><script>let n = 0; setInterval(() => n++, 10); setTimeout(() => { window.seek = 1 }, 9000)</script>", None
    )
    assert page.ready(100) is False
    assert page.value("n") == 10
    assert page.at(0.095, "n") == 19  # waiting has taken no time
    assert page.seek(0)["state"] == "missing"


def test_what_a_pending_seek_waits_for_comes_while_the_clock_stands(driven):
    page = driven(
        script("""
        const sleep = ms => new Promise(done => setTimeout(done, ms));
        setTimeout(() => log.push("far"), 5000);
        """)
        + """<script>window.seek = async () => {
          setTimeout(() => { log.push("b"); setTimeout(() => log.push("c"), 3); }, 5);
          await sleep(10);
          log.push(performance.now());
          await sleep(400);
          await new Promise(requestAnimationFrame);
          await new Promise(requestIdleCallback);
          log.push(performance.now());
        }</script>"""
    )
    assert page.at(1, "log") == ["b", "c", 1000, 1000]


def test_a_seek_may_wait_for_the_animation_that_it_starts(driven):
    page = driven(
        "<!doctype html><p id=text>x</p><script>window.seek = () => text.animate({ opacity: [0, 1] }, 5000).finished</script>"
    )
    assert page.seek(1)["state"] == "done"
    assert page.value("getComputedStyle(text).opacity") == "1"


def test_what_a_loop_does_is_not_repeated_while_a_seek_waits(driven):
    page = driven(
        script("let draws = 0; const loop = () => { draws++; requestAnimationFrame(loop); }; loop();")
        + "<script>window.seek = t => new Promise(done => setTimeout(done, t * 1000))</script>"
    )
    before = page.at(0, "draws")
    assert 2 <= page.at(0.3, "draws") - before <= 3


def test_a_guard_against_hanging_does_not_win_against_work(driven):
    page = driven(
        """<!doctype html><script>window.seek = async () => {
          const image = new Image();
          image.src = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
          const guard = new Promise(done => setTimeout(done, 60, "guard"));
          window.won = await Promise.race([image.decode().then(() => "image"), guard]);
        }</script>"""
    )
    assert page.at(0, "won") == "image"


def test_a_guard_against_hanging_does_not_win_against_a_picture_that_takes_long(driven):
    page = driven(
        """<!doctype html><script>window.seek = async () => {
          const rects = Array.from({ length: 30000 }, (_, k) => `<rect x="${k}" width="9" height="9"/>`).join("");
          const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${rects}</svg>`;
          const image = new Image(), loaded = new Promise(done => { image.onload = () => done("image"); });
          image.src = URL.createObjectURL(new Blob([picture], { type: "image/svg+xml" }));
          window.won = await Promise.race([loaded, new Promise(done => setTimeout(done, 60, "guard"))]);
        }</script>"""
    )
    assert [page.at(time_s, "won") for time_s in (0, 1, 2)] == ["image"] * 3


def test_a_loop_that_always_loads_pictures_does_not_keep_a_timer_from_running(driven):
    page = driven(
        """<!doctype html><script>
        let n = 0;
        const picture = () => `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><!-- ${n++} --></svg>`;
        const load = () => { new Image().src = `data:image/svg+xml,${encodeURIComponent(picture())}`; };
        const loop = () => { load(); requestAnimationFrame(loop); };
        loop();
        window.seek = () => new Promise(done => setTimeout(() => done(n), 40));
        </script>"""
    )
    began = time.perf_counter()
    assert page.seek(1)["state"] == "done"
    assert time.perf_counter() - began < 5


def test_a_page_that_replaces_natives_breaks_only_itself(driven):
    page = driven(
        """<!doctype html><body><script>
        const bad = () => { throw new Error("replaced"); };
        const { getOwnPropertyNames, getOwnPropertyDescriptor } = Object;
        const kinds = [Map, Set, WeakMap, WeakSet, Array, String, Promise, MessagePort, EventTarget, Function, Animation, Document];
        for (const kind of kinds) {
          for (const name of getOwnPropertyNames(kind.prototype)) {
            const found = getOwnPropertyDescriptor(kind.prototype, name);
            if (name !== "constructor" && typeof found.value === "function" && found.writable) kind.prototype[name] = bad;
          }
        }
        Reflect.apply = Object.defineProperty = Object.freeze = Math.max = Math.floor = performance.now = Date.now = bad;
        window.Promise = window.Proxy = window.MessageChannel = window.Animation = window.WeakMap = bad;
        window.reportError = window.queueMicrotask = bad;
        let n = 0;
        window.seek = () => { n++; requestAnimationFrame(() => { n += 10; }); setTimeout(() => { n += 100; }, 0); };
        </script>"""
    )
    assert page.seek(0.5) == {"state": "done", "settle": False}
    assert page.value("n") == 111


def test_the_control_cannot_be_replaced_or_found_by_enumeration(driven):
    page = driven(script(f"try {{ window.{virtual_clock.CONTROL} = 1 }} catch {{}} window.{virtual_clock.CONTROL}.seek = 1;"))
    assert page.value(f"Object.keys(window).includes('{virtual_clock.CONTROL}')") is False
    assert page.seek(0)["state"] == "done"


def test_a_frame_of_a_plain_page_costs_less_than_a_millisecond(driven):
    page = driven(script(""))
    seeks = f"(async () => {{ for (let k = 0; k < 200; k++) await window.{virtual_clock.CONTROL}.seek(k / 24); }})()"
    took_s = []
    for _ in range(4):
        began = time.perf_counter()
        page.value(seeks)
        took_s.append(time.perf_counter() - began)
    assert min(took_s) / 200 < 0.001
